"""The write path: queued commands become one batch, one write, one sync (STORE 3).

Only this file appends to the journal. Durable first, visible second: documents, futures and the feed learn of a transaction
when it is synced. One batch takes whatever is queued (group commit); a command that fails does not disturb the others; a
caller that goes away does not stop a batch.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from time import perf_counter
from typing import Any, Final, TypeVar

from jobconsole.adapters.anchors import EVERY_MS, newest_anchor, write_anchor
from jobconsole.adapters.journal import SEGMENT_BYTES, End
from jobconsole.adapters.recovery import Repair, catch_up
from jobconsole.adapters.replica import Replica
from jobconsole.adapters.store_lock import Mark, StoreLock
from jobconsole.adapters.store_presence import absence
from jobconsole.adapters.sync import Sync
from jobconsole.adapters.worker_locks import WorkerLocks
from jobconsole.core.command import Command, CommandKind, Moment, Refusal, Scope
from jobconsole.core.events import Kind
from jobconsole.core.keeping.line import timestamp
from jobconsole.core.keeping.transaction import Batch, Outcome, Transaction
from jobconsole.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreNewer, StoreReadOnly, StoreUncertain
from jobconsole.protocols import Clock, Receipt

R = TypeVar("R")

MOST_COMMANDS: Final = 256
MOST_BYTES: Final = 1024 * 1024
SPARE_BYTES: Final = 64 * 1024 * 1024
"""With less free, nothing new is begun; outcomes are still tried (STORE 3.3)."""

GATHERING_S: Final = 0.001
DRIFT_MS: Final = 2_000
_FULL = (errno.ENOSPC, errno.EDQUOT)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


@dataclass(slots=True)
class _Job:
    """One queued command and who waits for it."""

    scope: Scope
    command: Command[Any]
    kind: CommandKind
    asked_up: int
    done: asyncio.Future[Receipt[Any] | Refusal]
    outcome: Outcome[Any] | None = None

    def fail(self, error: BaseException) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def finish(self) -> None:
        if self.done.done() or self.outcome is None:
            return
        said, written = self.outcome.said, self.outcome.transaction
        if isinstance(said, Refusal):
            self.done.set_result(said)
        else:
            self.done.set_result(Receipt(said.result, written.seqs if written else (), self.asked_up))


@dataclass(slots=True)
class Writer:
    """One handle's way to write. `stopped` says why it does not write any more; empty while it does."""

    replica: Replica
    lock: StoreLock
    clock: Clock
    sync: Sync
    label: str
    workers: WorkerLocks
    segment_bytes: int = SEGMENT_BYTES
    stopped: str = ""
    sync_ms: float = 0.0
    anchored_seq: int = 0
    notes: list[str] = field(default_factory=list)
    _error: type[StoreError] = StoreReadOnly
    _queue: deque[_Job] = field(default_factory=deque)
    _drainer: asyncio.Task[None] | None = None
    _last_commands: int = 0
    _is_introduced: bool = False
    _repair: Repair | None = None  # made, and not told in the audit yet
    _last_time: Moment | None = None
    _anchored_up: int | None = None

    # ---- for the store ----------------------------------------------------------------------------------------------
    async def submit(self, scope: Scope, command: Command[R], kind: CommandKind) -> Receipt[R] | Refusal:
        """Queue a command and wait until its events are durable. Raises what `Store.transact` may raise."""
        self.check()
        asked_up = self.clock.up_ms()
        job = _Job(scope, command, kind, asked_up, asyncio.get_running_loop().create_future())
        job.done.add_done_callback(_retrieved)
        self._queue.append(job)
        if self._drainer is None or self._drainer.done():
            self._drainer = asyncio.create_task(self._drain(), name="jobconsole-store")
        return await job.done  # a caller that goes away takes its own future along, and nothing else

    @property
    def why_not(self) -> str:
        """Why this handle does not write any more; empty while it does."""
        if self.lock.is_forked:
            self.stop("this handle was opened before a fork; open the store anew in this process")
        return self.stopped

    def check(self) -> None:
        """Raise the reason where this handle does not write any more."""
        if why_not := self.why_not:
            raise self._error(why_not)

    def stop(self, why: str, error: type[StoreError] = StoreReadOnly) -> None:
        """Write nothing more, and say why."""
        if not self.stopped:
            self.stopped, self._error = why, error

    def absence(self) -> str:
        """What happened to the folder since it was opened; empty while it is there. Without it nothing is written."""
        if why := absence(self.replica, self.lock):
            self.stop(why, StoreDamaged)
        return why

    def say(self, text: str) -> None:
        """Keep something for `health`, once."""
        if text not in self.notes:
            self.notes.append(text)

    async def drained(self) -> None:
        """Return when nothing is queued."""
        while self._drainer is not None and not self._drainer.done():
            await asyncio.shield(self._drainer)

    async def open(self) -> None:
        """Take the lock once: catch up, judge the end, repair. What is damaged stops the writer; reading goes on.

        Raises `StoreBusy`.
        """
        await self.lock.acquire()
        self._locked([], is_opening=True)
        newest = newest_anchor(self.replica.folder.anchors)
        self.anchored_seq = newest.seq if newest is not None else 0

    # ---- a batch ----------------------------------------------------------------------------------------------------
    async def _drain(self) -> None:
        while self._queue:
            await asyncio.sleep(GATHERING_S if self._last_commands > 1 else 0)
            try:
                await self.lock.acquire()
            except StoreBusy as busy:
                self._fail(self._take(len(self._queue)), busy)
                return
            jobs = self._take(MOST_COMMANDS)
            self._last_commands = len(jobs)
            self._locked(jobs)

    def _take(self, most: int) -> list[_Job]:
        return [self._queue.popleft() for _ in range(min(most, len(self._queue)))]

    def _fail(self, jobs: list[_Job], error: StoreError) -> None:
        for job in jobs:
            job.fail(error)

    def _locked(self, jobs: list[_Job], *, is_opening: bool = False) -> None:
        """One turn under the lock, which is given back at the end; whatever goes wrong reaches every caller."""
        left = self.lock.mark()
        try:
            self.absence()
            self.check()
            self._mark("held", left)
            self._repair = catch_up(self.replica, left, self.clock.boot_id, is_opening=is_opening) or self._repair
            self.replica.journal.next_segment()
            self._mark("held")
            self._write(jobs)
        except StoreUncertain as error:  # the mark stays `held`: the next holder judges what became durable
            self.stop(str(error), StoreUncertain)
            self._fail(jobs + self._take(len(self._queue)), error)
            self.lock.close()
        except BaseException as error:
            refusal = self._refusal(error)
            self._fail(jobs + self._take(len(self._queue)), refusal)
            self._give_back(left if isinstance(refusal, StoreDamaged | StoreNewer) else None)
            if not isinstance(error, StoreError | OSError):
                raise
        else:
            self._mark("clean")
            self.lock.release()
            for job in jobs:
                job.finish()

    def _give_back(self, left: Mark | None) -> None:
        """Release the lock after a fault: with the mark as it was found, so that the next holder judges as this one did.

        Without one it stays `held`: something may have been written.
        """
        try:
            if left is not None:
                self.lock.write_mark(left)
        finally:
            self.lock.release()

    def _refusal(self, error: BaseException) -> StoreError:
        if isinstance(error, StoreDamaged | StoreNewer | StoreReadOnly):
            self.stop(str(error), type(error))
            return error
        if isinstance(error, StoreError):
            return error
        if isinstance(error, OSError) and error.errno in _READ_ONLY:
            self.stop(f"the folder cannot be written ({os.strerror(error.errno)}): {self.replica.folder.home}")
        elif isinstance(error, OSError) and error.errno in _FULL:
            return StoreFull("the disk is full; nothing was changed. Make room and try again")
        else:
            self.stop(f"the store failed ({error}); nothing was changed. Open it again")
        return StoreReadOnly(self.stopped)

    def _mark(self, state: str, place: Mark | None = None) -> None:
        """Write the mark: with the old place until the end of the journal is known, then with ours."""
        end = self.replica.end
        segment, offset = (place.segment, place.offset) if place is not None else (end.segment, end.offset)
        self.lock.write_mark(Mark(state, self.clock.boot_id, os.getpid(), segment, offset, self.label))

    def _write(self, jobs: list[_Job]) -> None:
        now = Moment(self.clock.wall(), self.clock.up_ms(), self.clock.boot_id)
        batch = Batch(self.replica.documents, self.replica.end.head, now, lru_cache(maxsize=None)(self.workers.is_dead))
        self._note(batch)
        is_scarce = self._is_scarce(jobs)
        for number, job in enumerate(jobs):
            if batch.size > MOST_BYTES:
                self._queue.extendleft(reversed(jobs[number:]))
                del jobs[number:]
                break
            if is_scarce and job.kind != "record":
                job.fail(
                    StoreFull(f"less than {SPARE_BYTES >> 20} MiB are free; nothing new is begun. Make room and try again")
                )
                continue
            try:
                job.outcome = batch.run(job.scope, job.command)
            except Exception as error:  # of this command alone
                job.fail(error)
        if self._repair is None and all(job.outcome is None or job.outcome.transaction is None for job in jobs):
            return
        is_closing = self.replica.end.offset + batch.size > self.segment_bytes
        if is_closing:
            batch.note(Kind.SEGMENT_CLOSED, self._actor)
        if not self._commit(batch, jobs, is_closing=is_closing):
            return
        self._is_introduced, self._last_time, self._repair = True, now, None
        if self._anchored_up is None or now.up - self._anchored_up >= EVERY_MS or self.replica.journal.is_segment_closed:
            self.anchor(self.replica.end, now.wall)

    def _note(self, batch: Batch) -> None:
        """The store's own events at the beginning of a batch; but for a repair, they are written only if something else is."""
        if (repair := self._repair) is not None:
            batch.note(
                Kind.STORE_REPAIRED,
                self._actor,
                cut_bytes=repair.cut_bytes,
                cut_sha256=repair.cut_sha256,
                after=repair.after_seq,
            )
            self.say(f"cut {repair.cut_bytes} unacknowledged bytes behind event {repair.after_seq}")
        if not self._is_introduced:
            batch.note(Kind.PROCESS_OPENED, self._actor, label=self.label, pid=os.getpid())
        last, now = self._last_time, batch.now
        if last is not None and last.boot == now.boot:
            drift = round((now.wall - last.wall).total_seconds() * 1000) - (now.up - last.up)
            if abs(drift) > DRIFT_MS:
                batch.note(Kind.CLOCK_JUMPED, self._actor, drift_ms=drift)

    def has_room(self) -> bool:
        """Whether the disk has so much free that something new may be begun."""
        return self.sync.free_bytes(self.replica.folder.home) >= SPARE_BYTES

    def _is_scarce(self, jobs: list[_Job]) -> bool:
        return any(job.kind != "record" for job in jobs) and not self.has_room()

    def _commit(self, batch: Batch, jobs: list[_Job], *, is_closing: bool) -> bool:
        """Write, sync, merge. On a full disk, what landed whole counts and the rest never was; whether anything did."""
        journal, landed = self.replica.journal, batch.transactions
        try:
            journal.append(b"".join(line for transaction in landed for line in transaction.lines))
        except OSError as error:
            if error.errno in _READ_ONLY:
                raise
            if error.errno not in _FULL:
                raise StoreUncertain(_uncertain(error)) from error
            landed = self._landed(batch)
        started = perf_counter()
        try:
            if landed is batch.transactions:
                journal.sync()
            else:
                journal.cut(sum(transaction.size for transaction in landed))
        except OSError as error:
            raise StoreUncertain(_uncertain(error)) from error
        self.sync_ms = 0.9 * self.sync_ms + 0.1 * (perf_counter() - started) * 1000
        if landed:
            is_closed = is_closing and len(landed) == len(batch.transactions)
            journal.accept(sum(transaction.size for transaction in landed), landed[-1].head, is_segment_closed=is_closed)
            self.replica.merge(landed)
        lost = {id(transaction) for transaction in batch.transactions[len(landed) :]}
        for job in jobs if lost else ():
            if job.outcome is not None and id(job.outcome.transaction) in lost:
                job.fail(StoreFull("the disk is full; nothing was changed. Make room and try again"))
        return bool(landed)

    def _landed(self, batch: Batch) -> list[Transaction]:
        """The transactions that are whole on the full disk."""
        room = len(self.replica.journal.rest())
        landed: list[Transaction] = []
        for transaction in batch.transactions:
            room -= transaction.size
            if room < 0:
                break
            landed.append(transaction)
        return landed

    # ---- beside the batch -------------------------------------------------------------------------------------------
    def anchor(self, end: End, at: datetime) -> None:
        """Write a synced end of the journal down outside the log."""
        try:
            write_anchor(self.replica.folder.anchors, end, timestamp(at))
        except OSError as error:
            self.say(f"no anchor was written: {error}")
        self._anchored_up, self.anchored_seq = self.clock.up_ms(), end.head.seq

    @property
    def _actor(self) -> str:
        return f"store:{self.label}"


def _retrieved(done: asyncio.Future[Any]) -> None:
    """A caller that went away asks for no result: its command's error is nobody's warning."""
    if not done.cancelled():
        done.exception()


def _uncertain(error: OSError) -> str:
    return (
        f"the disk failed while writing ({error}); the last changes may or may not be durable. "
        "This process does not write any more: look at the disk, then open the store again"
    )
