"""The store's lock: one writer at a time, over all processes and all handles (STORE 2).

Only this file takes the lock and writes its mark. `flock` belongs to the open file description: handles of one process exclude
each other as processes do, and the kernel drops it when the holder dies. The mark in the file tells the next holder whether the
last one died inside, and where it had begun; it is never synced, because it only speaks about this boot.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from jobconsole.adapters.sync import create
from jobconsole.errors import StoreBusy

MARK_BYTES: Final = 128
PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Mark:
    """Who holds or held the lock.

    `held`: the place where the journal ended when the lock was taken. `clean`: where it ended when the lock was given back.
    """

    state: str  # held, clean
    boot: str
    pid: int
    segment: int
    offset: int
    label: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.label})"

    def encoded(self) -> bytes:
        """Exactly `MARK_BYTES`, so that it is overwritten in place."""
        text = f"{self.state} {self.boot[:36]} {self.pid} {self.segment} {self.offset} {self.label}"
        return text.encode("ascii", "replace")[: MARK_BYTES - 1].ljust(MARK_BYTES - 1) + b"\n"


def decoded(data: bytes) -> Mark | None:
    """The mark in the lock file, or None where there is none."""
    parts = data.decode("ascii", "replace").split(maxsplit=5)
    if len(parts) < 5 or not all(part.isdigit() for part in parts[2:5]):
        return None
    return Mark(parts[0], parts[1], int(parts[2]), int(parts[3]), int(parts[4]), parts[5].strip() if len(parts) > 5 else "")


class StoreLock:
    """One handle's side of the lock file."""

    def __init__(self, path: Path, *, patience_s: float = PATIENCE_S) -> None:
        """Raises `OSError` where the file cannot be opened for writing (a read-only folder)."""
        self.path, self._patience_s = path, patience_s
        self._fd: int | None = create(path)
        self._waiter: _Waiter | None = None
        self.is_forked = False
        close_in_child(self)

    @property
    def number(self) -> int | None:
        """The open descriptor of the lock file, to be looked at; None where it was given up."""
        return self._fd

    async def acquire(self) -> None:
        """Take the lock. Raises `StoreBusy` after ten seconds, naming the holder; nothing happened then."""
        assert self._fd is not None
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await self._wait()

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[int] = loop.create_future()
        if self._waiter is None or not self._waiter.attach(loop, arrived):
            self._waiter = _Waiter(self.path, loop, arrived)
        try:
            fd = await asyncio.wait_for(asyncio.shield(arrived), self._patience_s)
        except TimeoutError:
            self._give_up(arrived)
            holder = self.holder()
            raise StoreBusy(
                f"the store is held by {holder or 'another process'} for more than {self._patience_s:.0f} s; "
                "nothing was changed, try again or look whether that process is stopped"
            ) from None
        except asyncio.CancelledError:
            self._give_up(arrived)
            raise
        self._waiter = None
        if self._fd is not None:
            os.close(self._fd)
        self._fd = fd

    def _give_up(self, arrived: asyncio.Future[int]) -> None:
        if self._waiter is not None:
            self._waiter.detach()
        if not arrived.cancel() and not arrived.cancelled():
            os.close(arrived.result())  # it came at the last moment

    def mark(self) -> Mark | None:
        """What the file says; None where nothing legible stands there."""
        if self._fd is None:
            return None
        return decoded(os.pread(self._fd, MARK_BYTES, 0))

    def holder(self) -> Mark | None:
        """Who holds the lock right now, as its mark says; None where nobody does."""
        if self._fd is None:
            return None
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # deleted with its folder: nobody can take it any more
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return self.mark()
        finally:
            os.close(fd)
        return None

    def write_mark(self, mark: Mark) -> None:
        """Overwrite the mark. Only the holder may."""
        assert self._fd is not None
        os.pwrite(self._fd, mark.encoded(), 0)

    def release(self) -> None:
        """Give the lock back."""
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give up the file, and the lock with it."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def close_after_fork(self) -> None:
        """In a forked child: the description is the parent's too, so closing it here unlocks nothing there."""
        self.is_forked = True
        if self._waiter is not None and self._waiter.fd is not None:
            os.close(self._waiter.fd)
        self._waiter = None
        self.close()


class _Waiter:
    """A blocking `flock` in a daemon thread, on a description of its own, handed over when it comes.

    A pool thread would hang the interpreter's exit. Whoever gives up leaves the thread waiting, and the next attempt takes it
    up again: a stopped holder costs one thread, not one per attempt.
    """

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop, arrived: asyncio.Future[int]) -> None:
        self.fd: int | None = create(path)
        self._wanted: tuple[asyncio.AbstractEventLoop, asyncio.Future[int]] | None = (loop, arrived)
        self._mutex = threading.Lock()
        threading.Thread(target=self._run, name="jobconsole-lock", daemon=True).start()

    def attach(self, loop: asyncio.AbstractEventLoop, arrived: asyncio.Future[int]) -> bool:
        """Take up the waiting again; False where it is over."""
        with self._mutex:
            if self.fd is None:
                return False
            self._wanted = (loop, arrived)
            return True

    def detach(self) -> None:
        """Nobody wants the lock at present."""
        with self._mutex:
            self._wanted = None

    def _run(self) -> None:
        assert self.fd is not None
        fcntl.flock(self.fd, fcntl.LOCK_EX)
        with self._mutex:
            fd, self.fd = self.fd, None
            wanted, self._wanted = self._wanted, None
        if wanted is None:
            os.close(fd)
            return
        loop, arrived = wanted
        try:
            loop.call_soon_threadsafe(_hand_over, arrived, fd)
        except RuntimeError:  # the loop is closed
            os.close(fd)


def _hand_over(arrived: asyncio.Future[int], fd: int) -> None:
    if arrived.done():
        os.close(fd)
    else:
        arrived.set_result(fd)


class HasDescriptors(Protocol):
    """Something that must not live on in a forked child."""

    def close_after_fork(self) -> None:
        """Close the descriptors that carry locks and refuse from now on."""


_guarded: weakref.WeakSet[HasDescriptors] = weakref.WeakSet()


def close_in_child(holder: HasDescriptors) -> None:
    """After a fork, let the child close `holder`: it could unlock for the parent, or keep a dead parent's lock alive."""
    _guarded.add(holder)


def _after_fork_in_child() -> None:
    for holder in list(_guarded):
        holder.close_after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
