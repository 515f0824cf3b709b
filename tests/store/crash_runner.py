"""Plays a script on a folder store in a forked child that kills itself at a counted step; run by `test_crash_steps.py`.

Reads one JSON task a line (`home, script, crash_at, lose, boot`); answers one JSON line with the number of steps made. What the
child tried and what was acknowledged is appended to `acks.jsonl` beside the home, unbuffered, so that it survives the child.
With `lose`, the child plays a power loss: of everything that was not synced, any sectors and any renames may be gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from jobconsole.adapters.sync import Sync
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.protocols import Retention
from jobconsole.testing.clock import ManualClock
from tests.store.made import begun, counted, ended, made

SECTOR = 512
SEGMENT_BYTES = 6_000


class SuicidalSync(Sync):
    """Counts every write, sync, cut and rename; dies before one of them, or in the middle of it where it is a write."""

    def __init__(self, crash_at: int, lose: int | None) -> None:
        self.steps, self._crash_at, self._lose = 0, crash_at, lose
        self._durable: dict[str, bytes] = {}  # content at the last sync of files that changed since
        self._renamed: list[tuple[Path, Path, bytes | None]] = []

    def write(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        self._remember(fd)
        if self._is_last():
            os.pwrite(fd, data[: len(data) // 2], offset)
            self._die()
        return super().write(fd, data, offset)

    def sync(self, fd: int) -> None:
        if self._is_last():
            self._die()
        super().sync(fd)
        self._durable.pop(_path(fd), None)

    def truncate(self, fd: int, size: int) -> None:
        self._remember(fd)
        if self._is_last():
            self._die()
        super().truncate(fd, size)

    def replace(self, source: Path, target: Path) -> None:
        if self._is_last():
            self._die()
        before = target.read_bytes() if target.exists() else None
        super().replace(source, target)
        self._renamed.append((source, target, before))

    def link(self, source: Path, target: Path) -> None:
        if self._is_last():
            self._die()
        super().link(source, target)

    def sync_folder(self, path: Path) -> None:
        if self._is_last():
            self._die()
        super().sync_folder(path)
        self._renamed = [rename for rename in self._renamed if rename[1].parent != path]

    def _is_last(self) -> bool:
        self.steps += 1
        return self.steps == self._crash_at

    def _remember(self, fd: int) -> None:
        self._durable.setdefault(_path(fd), os.pread(fd, os.fstat(fd).st_size, 0))

    def _die(self) -> None:
        if self._lose is not None:
            self._lose_power(random.Random(self._lose))
        os.kill(os.getpid(), signal.SIGKILL)

    def _lose_power(self, chance: random.Random) -> None:
        for source, target, before in reversed(self._renamed):
            if chance.random() < 0.5:
                os.rename(target, source)
                if before is not None:
                    target.write_bytes(before)
        for name, before in self._durable.items():
            path = Path(name)
            if path.exists():
                path.write_bytes(_survivors(before, path.read_bytes(), chance))


def _survivors(durable: bytes, written: bytes, chance: random.Random) -> bytes:
    """Any mix of old and new sectors, with the old, the new, or a length between."""
    size = chance.choice([len(durable), len(written), chance.randint(0, max(len(written), len(durable)))])
    size = max(size, min(len(durable), len(written)))
    mixed = bytearray(size)
    for at in range(0, size, SECTOR):
        source = written if chance.random() < 0.5 else durable
        piece = source[at : min(at + SECTOR, size)]
        mixed[at : at + len(piece)] = piece
    shorter = min(len(durable), len(written))
    same = next((at for at in range(shorter) if durable[at] != written[at]), shorter)
    mixed[:same] = durable[:same][:size]
    return bytes(mixed)


def _path(fd: int) -> str:
    return os.readlink(f"/proc/self/fd/{fd}")


async def play(task: dict[str, Any], sync: SuicidalSync) -> None:
    """Run the script: lists of actions; each list is one batch.

    `"reopen"` closes (checkpoint, anchor) and opens; `"archive"` lets eight days pass and maintains.
    """
    home = Path(task["home"])
    acks = os.open(home.with_name("acks.jsonl"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def say(what: str, of: list[Any]) -> None:
        os.write(acks, json.dumps([what, *of]).encode() + b"\n")

    async def act(store: FolderStore, kind: str, operation_id: str) -> None:
        say("tried", [kind, operation_id])
        if kind == "create":
            await begun(store, made(operation_id, max_status_requests=1_000))
        elif kind == "end":
            await ended(store, operation_id, clock.wall())
        else:
            await counted(store, operation_id)
        say("done", [kind, operation_id])

    clock = ManualClock(boot_id=task["boot"])
    store = await open_store(home, clock, label="crash", sync=sync, segment_bytes=SEGMENT_BYTES)
    for step in task["script"]:
        if step == "reopen":
            await store.close()
            store = await open_store(home, clock, label="crash", sync=sync, segment_bytes=SEGMENT_BYTES)
        elif step == "archive":
            clock.advance(timedelta(days=8))
            await store.checkpoint()  # else it becomes due beside the archiving, and steps are counted one after another
            await store.maintain(Retention())
        else:
            clock.advance(1)
            await asyncio.gather(*(act(store, kind, operation_id) for kind, operation_id in step))
    await store.close()


def main() -> None:
    """Fork a child for each task."""
    for line in sys.stdin:
        task = json.loads(line)
        steps_out, steps_in = os.pipe()
        pid = os.fork()
        if pid == 0:
            sync = SuicidalSync(task["crash_at"], task["lose"])
            try:
                asyncio.run(play(task, sync))
                os.write(steps_in, str(sync.steps).encode())
                os._exit(0)
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
                os._exit(1)
        os.close(steps_in)
        _, status = os.waitpid(pid, 0)
        steps = os.read(steps_out, 100).decode() or "0"
        os.close(steps_out)
        print(json.dumps({"steps": int(steps), "status": status}), flush=True)


if __name__ == "__main__":
    main()
