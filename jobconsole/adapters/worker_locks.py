"""Who lives: a worker is alive exactly while its lock cannot be taken (X19, STORE 1).

Only this file reads and writes `workers/`. No heartbeat is written; the kernel drops a dead worker's lock. The file of a worker
that died stays until its leases are back, because a missing file says nothing.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from enum import StrEnum
from pathlib import Path

import msgspec

from jobconsole.adapters.store_lock import close_in_child
from jobconsole.adapters.sync import create
from jobconsole.errors import InvalidValue, StoreBusy, StoreFull
from jobconsole.protocols import WorkerInfo

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Life(StrEnum):
    """What a lock file tells of its worker."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"  # no such file: it ended cleanly, or lived elsewhere


class WorkerLocks:
    """The worker locks that this handle holds, and a look at those of others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own: dict[str, int] = {}
        close_in_child(self)

    @asynccontextmanager
    async def announce(self, worker: WorkerInfo, owns: Callable[[str], bool]) -> AsyncIterator[None]:
        """Hold the worker's lock while inside. At the end the file goes, unless the worker still `owns` a lease: then it stays,
        and says to everybody that the owner is dead. Raises `StoreFull`, `StoreBusy`.
        """
        if not _ID.fullmatch(worker.worker_id):
            raise InvalidValue(f"a worker id consists of letters, digits, '.', '_' and '-': {worker.worker_id!r}")
        path = self._folder / worker.worker_id
        with _full_disk_said():
            fd = await _locked(path, worker.worker_id)
        self._own[worker.worker_id] = fd
        try:
            with _full_disk_said():
                os.ftruncate(fd, 0)
                os.pwrite(fd, msgspec.json.encode(worker), 0)
            yield
        finally:
            if self._own.pop(worker.worker_id, None) is not None:
                if not owns(f"worker:{worker.worker_id}"):
                    path.unlink(missing_ok=True)
                os.close(fd)

    def is_dead(self, owner: str) -> bool:
        """True where `owner` (`worker:ID`) is known to be gone."""
        kind, _, worker_id = owner.partition(":")
        return kind == "worker" and worker_id not in self._own and self.life(worker_id) is Life.DEAD

    def life(self, worker_id: str) -> Life:
        """Probe one worker. The lock is asked for shared: two exclusive probers would see each other."""
        if not _ID.fullmatch(worker_id):
            return Life.UNKNOWN
        try:
            fd = os.open(self._folder / worker_id, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return Life.UNKNOWN
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return Life.ALIVE
        except OSError:
            return Life.UNKNOWN
        finally:
            os.close(fd)
        return Life.DEAD

    def living(self) -> tuple[WorkerInfo, ...]:
        """All living workers, by id."""
        found = []
        for worker_id in self._ids():
            if worker_id in self._own or self.life(worker_id) is Life.ALIVE:
                try:
                    found.append(msgspec.json.decode((self._folder / worker_id).read_bytes(), type=WorkerInfo))
                except (OSError, msgspec.MsgspecError):
                    continue  # it is just announcing itself
        return tuple(found)

    def forget_dead(self, owners: Callable[[], set[str]]) -> None:
        """Remove the files of dead workers that own nothing any more; `owners` reads the owners of leases and claims.

        They are read after the probe: a worker that reserved and died in between is found dead, and found to own something.
        """
        dead = [worker_id for worker_id in self._ids() if worker_id not in self._own and self.life(worker_id) is Life.DEAD]
        owning = owners() if dead else set()
        for worker_id in dead:
            if f"worker:{worker_id}" not in owning:
                (self._folder / worker_id).unlink(missing_ok=True)

    def close_after_fork(self) -> None:
        """In a forked child: let go of the parent's locks, or they would outlive it."""
        for fd in self._own.values():
            os.close(fd)
        self._own.clear()

    @property
    def is_announced(self) -> bool:
        """Whether a worker lives in this handle."""
        return bool(self._own)

    def _ids(self) -> list[str]:
        try:
            return sorted(entry.name for entry in os.scandir(self._folder))
        except FileNotFoundError:
            return []


async def _locked(path: Path, worker_id: str) -> int:
    """The worker's lock file, locked. Somebody may be probing it for a moment, or just removing a dead one's file."""
    for _ in range(20):
        fd = create(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.stat(path).st_ino == os.fstat(fd).st_ino:
                return fd
        except (BlockingIOError, FileNotFoundError):
            pass
        os.close(fd)
        await asyncio.sleep(0.005)
    raise StoreBusy(f"a worker named {worker_id!r} is alive; nothing was changed")


@contextmanager
def _full_disk_said() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull("the disk is full: no worker can begin. Make room and try again") from error
        raise
