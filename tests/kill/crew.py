"""The processes of the kill test, and how they are ended.

Only this file starts, watches and kills. A process is held by a pidfd, so that no signal ever reaches somebody else's process
that was given the same number.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from jobconsole.adapters.store_lock import MARK_BYTES, Mark, decoded
from jobconsole.protocols import WorkerInfo

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
POLL_S = 0.002
BREATH_S = 0.3  # between two looks at a process that is, or is to be, stopped at work
MOST_TRIES = 50


@dataclass(slots=True)
class Member:
    """One process."""

    name: str
    pid: int
    pidfd: int

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; none where it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)

    def is_over(self, patience_s: float) -> bool:
        """Whether it ends within so many seconds."""
        return bool(select.select([self.pidfd], [], [], patience_s)[0])


@dataclass(slots=True)
class Crew:
    """Workers and a feeder over one store. `kills` notes who was killed when, on the monotonic clock."""

    home: Path
    nursery: subprocess.Popen[str]
    kills: dict[str, float] = field(default_factory=dict)
    holding: int = 0  # kills of which the lock still tells that its holder died; the next holder wipes that out
    members: dict[str, Member] = field(default_factory=dict)  # by role
    started: int = 0

    def start(self, role: str, what: str, arguments: Sequence[str] = ()) -> None:
        """Start the process that plays a role from now on."""
        self.started += 1
        name = f"{role}-{self.started}"
        assert self.nursery.stdin is not None
        assert self.nursery.stdout is not None
        self.nursery.stdin.write(" ".join((what, name, *arguments)) + "\n")
        self.nursery.stdin.flush()
        pid = int(self.nursery.stdout.readline())
        self.members[role] = Member(name, pid, os.pidfd_open(pid))

    def kill(self, roles: Sequence[str]) -> None:
        """SIGKILL, all at once; returns when they are gone."""
        victims = [self.members.pop(role) for role in roles]
        for victim in victims:
            self.kills[victim.name] = time.monotonic()
            victim.signal(signal.SIGKILL)
        for victim in victims:
            assert victim.is_over(60)
            os.close(victim.pidfd)
        mark = self.mark()
        self.holding += mark is not None and mark.state == "held" and mark.pid in [victim.pid for victim in victims]

    def stall(self, role: str, leases: Callable[[int], int], *, least: int, patience_s: float = 120) -> None:
        """SIGSTOP at a moment when it has so many leases and not the lock, until others have taken all of them over.

        `leases` counts those of a process.
        """
        member = self.members[role]
        for _ in range(MOST_TRIES):
            member.signal(signal.SIGSTOP)
            mark = self.mark()
            if not (mark is not None and mark.state == "held" and mark.pid == member.pid) and leases(member.pid) >= least:
                ends = time.monotonic() + patience_s
                while leases(member.pid):
                    assert time.monotonic() < ends, f"nobody took over from {role} within {patience_s:g} s"
                    time.sleep(BREATH_S)
                member.signal(signal.SIGCONT)
                return
            member.signal(signal.SIGCONT)
            time.sleep(BREATH_S)
        raise AssertionError(f"{role} was never busy")

    def stop(self, roles: Sequence[str]) -> dict[str, float]:
        """SIGTERM; seconds that each took to end, by role."""
        begun, took = time.monotonic(), dict[str, float]()
        leaving = {role: self.members.pop(role) for role in roles}
        for member in leaving.values():
            member.signal(signal.SIGTERM)
        for role, member in leaving.items():
            assert member.is_over(60), f"{role} does not stop"
            took[role] = time.monotonic() - begun
            os.close(member.pidfd)
        return took

    def await_work(self, roles: Sequence[str], patience_s: float = 120) -> None:
        """Return when these workers have announced themselves."""
        ends = time.monotonic() + patience_s
        waiting = {self.members[role].pid for role in roles}
        while waiting:
            waiting -= set(self._announced())
            assert time.monotonic() < ends, f"no worker {waiting} was seen within {patience_s:g} s"
            time.sleep(POLL_S)

    def await_lock(self, roles: Sequence[str], patience_s: float = 0.5) -> None:
        """Return when one of these holds the store's lock, or after a while."""
        ends, pids = time.monotonic() + patience_s, [self.members[role].pid for role in roles]
        while time.monotonic() < ends:
            mark = self.mark()
            if mark is not None and mark.state == "held" and mark.pid in pids:
                return

    def mark(self) -> Mark | None:
        """What the store's lock file says of its holder."""
        try:
            with (self.home / "lock").open("rb") as file:
                return decoded(file.read(MARK_BYTES))
        except FileNotFoundError:
            return None

    def _announced(self) -> Iterator[int]:
        for path in (self.home / "workers").glob("*"):
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                yield msgspec.json.decode(path.read_bytes(), type=WorkerInfo).pid


@contextlib.contextmanager
def crew(home: Path) -> Iterator[Crew]:
    """A crew without members; whoever still lives at the end is killed."""
    script = [sys.executable, str(HERE / "nursery.py"), str(home)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}
    with subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as nursery:
        made = Crew(home, nursery)
        try:
            yield made
        finally:
            made.kill(list(made.members))
            assert nursery.stdin is not None
            nursery.stdin.close()


@contextlib.contextmanager
def provider(seed: int) -> Iterator[int]:
    """The provider in a process of its own; its port."""
    script = [sys.executable, str(HERE / "provider.py"), str(seed)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()
