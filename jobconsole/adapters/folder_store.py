"""The embedded store: one folder, shared safely by several processes of a machine (S3, STORE 1-5).

Only this file puts the parts together: `Replica` (what is known), `Writer` (the write path), `WorkerLocks` (who lives),
`Checkpointer`, anchors. The console opens it; everything else sees `protocols.Store`. TinyDB is the face: `database` answers
its queries from memory, and `operations.json` is a plain TinyDB file as of the last checkpoint. A sync is part of the loop
(`Writer._commit`): a slow disk holds the other work of its process as long as it lasts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from jobconsole.adapters.archive import Archive
from jobconsole.adapters.journal import StoredBlocks, stored_lines
from jobconsole.adapters.recovery import damage_behind
from jobconsole.adapters.replica import Replica
from jobconsole.adapters.store_folder import Folder, identify, machine
from jobconsole.adapters.store_presence import absence
from jobconsole.adapters.stored_events import stored_events
from jobconsole.adapters.sync import Sync, place_file
from jobconsole.adapters.worker_locks import WorkerLocks
from jobconsole.core.command import Command, CommandKind, Moment, Refusal, Scope
from jobconsole.core.events import Table
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import CHAIN
from jobconsole.core.operation import Operation, operation
from jobconsole.errors import StoreDamaged, StoreError, StoreReadOnly
from jobconsole.protocols import Change, Clock, Due, Head, Receipt, Retention, StoreHealth, WorkerInfo

if TYPE_CHECKING:  # what only writes or verifies is loaded by whoever does
    from jobconsole.adapters.checkpointer import Checkpointer
    from jobconsole.adapters.store_lock import StoreLock
    from jobconsole.adapters.tinydb_face import LiveDatabase
    from jobconsole.adapters.writer import Writer
    from jobconsole.core.keeping.archive import Archived
    from jobconsole.core.keeping.chain import Verification

R = TypeVar("R")

LOOK_S: Final = 0.25  # between two looks for what other processes wrote, where somebody listens


@dataclass(frozen=True, slots=True)
class Means:
    """What a handle writes with; a read-only handle has none."""

    lock: StoreLock
    writer: Writer
    checkpointer: Checkpointer


class FolderStore:
    """A `Store` in a folder. Opened by `open_store`; used by one event loop."""

    def __init__(
        self,
        folder: Folder,
        clock: Clock,
        sync: Sync,
        label: str,
        *,
        replica: Replica | None,
        means: Means | None,
        why_not: str,
    ) -> None:
        self._folder, self._clock, self._sync, self._label = folder, clock, sync, label
        self._archive = Archive(folder.archive, sync)
        self._replica, self._means, self._why_not = replica, means, why_not
        self._workers = means.writer.workers if means is not None else WorkerLocks(folder.workers)
        self._is_closed = False
        self._listeners = 0
        self._looker: asyncio.Task[None] | None = None

    @cached_property
    def database(self) -> LiveDatabase:
        """The live operations as a TinyDB, to search with its queries."""
        from jobconsole.adapters.tinydb_face import LiveDatabase

        return LiveDatabase(lambda: self._documents().tables)

    # ---- writing ----------------------------------------------------------------------------------------------------
    async def transact(self, scope: Scope, command: Command[R], *, kind: CommandKind) -> Receipt[R] | Refusal:
        """Run `command` on fresh, locked documents; return when its events are durable, all or none.

        Raises `StoreReadOnly`, `StoreBusy` and `StoreFull` (nothing happened), `StoreUncertain` (may have happened),
        `StoreDamaged`, and whatever the command raises.
        """
        means = self._writable()
        done = await means.writer.submit(scope, command, kind)
        means.checkpointer.consider()
        return done

    async def anchor(self) -> Head:
        """Write the head down outside the log, after a sync that makes it durable."""
        means = self._present()
        replica = means.writer.replica
        replica.look()
        end = replica.end
        replica.journal.sync()
        means.writer.anchor(end, self._clock.wall())
        return Head(CHAIN, end.head.seq, end.head.hash)

    async def checkpoint(self) -> None:
        """Write a checkpoint now, so that a stranger's TinyDB sees what is known now."""
        await self._present().checkpointer.run()

    async def maintain(self, keep: Retention) -> None:
        """Archive what ended long ago, forget old deliveries and dead workers, renew the checkpoint where it is due, anchor."""
        from jobconsole.adapters.archiver import archive_ended
        from jobconsole.core.keeping.transaction import forget

        means = self._present()
        keys = self._documents().forgettable(self._clock.wall() - keep.deliveries)
        if keys:
            scope = Scope(deliveries=tuple(delivery_id for _, delivery_id in keys))
            await means.writer.submit(scope, forget(f"store:{self._label}", keys), "record")
        self._documents()
        await archive_ended(means.writer, self._archive, keep, self._clock)
        self._workers.forget_dead(lambda: self._documents().owners())
        means.checkpointer.consider()
        await self.anchor()

    async def rebuild_archive(self) -> int:
        """Make the archive anew from the journal; returns how many operations it holds. Takes a thread."""
        from jobconsole.adapters.archiver import rebuild_archive

        replica = self._present().writer.replica
        replica.look()
        first, until = replica.identity.first_segment, replica.end
        return await asyncio.to_thread(rebuild_archive, self._folder, self._archive, self._sync, self._clock, first, until)

    async def keep_contract(self, digest: str, text: str) -> None:
        """Keep a copy of a contract, durable before it returns."""
        self._present()
        path, data = self._folder.contract(digest), text.encode()
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            place_file(self._sync, path, data)

    @asynccontextmanager
    async def announce(self, worker: WorkerInfo) -> AsyncIterator[None]:
        """Be seen as a living worker while inside."""
        self._present()
        async with self._workers.announce(worker, lambda owner: owner in self._documents().owners()):
            self._keep_looking()
            yield

    async def close(self) -> None:
        """Finish queued commands, checkpoint, anchor, give up the handle. A second call does nothing."""
        if self._is_closed:
            return
        means, replica = self._means, self._replica
        if means is not None and replica is not None:
            await means.writer.drained()
            self._is_closed = True
            if not means.lock.is_forked:
                await means.checkpointer.finish()
                if not means.writer.stopped:
                    await self._last_anchor(means, replica)
            means.lock.close()
        self._is_closed = True
        if self._looker is not None:
            self._looker.cancel()
        if replica is not None:
            replica.feed.close()
            replica.journal.close()

    async def _last_anchor(self, means: Means, replica: Replica) -> None:
        if means.writer.anchored_seq < replica.end.head.seq:
            replica.journal.sync()
            means.writer.anchor(replica.end, self._clock.wall())

    # ---- reading: as last seen, a hint ------------------------------------------------------------------------------
    async def get(self, operation_id: str) -> Operation | None:
        """The operation as last seen, or as it was archived."""
        doc = self._documents().get(Table.OPERATIONS, operation_id)
        if doc is not None:
            return operation(doc)
        archived = self._archive.get(operation_id)
        return archived.operation if archived is not None else None

    async def archived(self, operation_id: str) -> Archived | None:
        """The operation with its actions as it was archived; None where it is live or unknown."""
        return None if self.peek(Table.OPERATIONS, operation_id) is not None else self._archive.get(operation_id)

    async def archive(self) -> Sequence[Archived]:
        """Everything that was archived, month by month; takes a thread."""
        documents = self._documents()
        found = await asyncio.to_thread(lambda: [*self._archive.all()])
        return [each for each in found if documents.get(Table.OPERATIONS, each.operation_id) is None]

    def peek(self, table: str, key: str) -> Mapping[str, Any] | None:
        """Any document as last seen in memory, without waiting."""
        return self._documents().get(table, key)

    async def document(self, table: str, key: str) -> Mapping[str, Any] | None:
        """Any document as last seen."""
        return self._documents().get(table, key)

    async def documents(self, table: str) -> Sequence[Mapping[str, Any]]:
        """All documents of a table, oldest first."""
        return self._documents().all(table)

    async def due(self, until: datetime, limit: int, *, skip: Collection[str] = ()) -> Sequence[Due]:
        """Operations to look at by `until`, nearest deadline first."""
        found = self._documents().due(self._now(), until, limit, self._workers.is_dead, skip)
        return [Due(p.operation_id, p.account_key, p.due_at, p.deadline_at) for p in found]

    async def next_due(self, *, skip: Collection[str] = ()) -> datetime | None:
        """When the earliest planned look is."""
        return self._documents().next_due(self._now(), self._workers.is_dead, skip)

    async def in_flight(self, **where: str) -> Sequence[Operation]:
        """Every operation that has not ended, oldest first."""
        docs = self._documents().in_flight()
        return [operation(doc) for doc in docs if all(doc.get(name) == value for name, value in where.items())]

    async def operations(self) -> Sequence[Operation]:
        """Every live operation, oldest first."""
        return [operation(doc) for doc in self._documents().all(Table.OPERATIONS)]

    async def find(self, provider: str, account: str, job_id: str) -> Sequence[Operation]:
        """Operations of one external job: archived ones, then live ones."""
        live = [operation(doc) for doc in self._documents().of_job(provider, account, job_id)]
        known = {op.operation_id for op in live}
        archived = self._archive.of_job(provider, account, job_id)
        return [*(each.operation for each in archived if each.operation_id not in known), *live]

    async def contract_text(self, digest: str) -> str | None:
        """The kept copy of a contract as the file is now, changed or not; None where none can be read."""
        try:
            return self._folder.contract(digest).read_bytes().decode(errors="replace")
        except OSError:
            return None

    def cursor(self) -> int:
        """The `seq` of the newest line as last seen: one look, no sync."""
        self._documents()
        return self._replica.end.head.seq if self._replica is not None else 0

    async def changes(self, after: int | None = None) -> AsyncIterator[Change]:
        """Committed changes of all processes, in commit order. Those of this handle come at once, others within 250 ms.

        Raises `StoreDamaged` within 250 ms where the folder is deleted or moved away.
        """
        self._listeners += 1
        try:
            replica = await self._awaited_replica()
            self._keep_looking()
            async for change in replica.feed.changes(after):
                yield change
        finally:
            self._listeners -= 1

    async def events(self, operation_id: str | None = None, after: int | None = None) -> AsyncIterator[bytes]:
        """Stored lines, verbatim, in chain order. Reads from where the first of them can stand."""
        documents, replica = self._documents(), self._replica
        if replica is None:
            return
        begins = (after or 0) + 1
        if operation_id is not None:
            key = documents.key_of(Table.OPERATIONS, operation_id)
            archived = self._archive.get(operation_id) if key is None else None
            begins = max(begins, int(key or (archived.key if archived is not None else 1)))
        for lines in stored_events(self._folder.journal, begins, replica.end, operation_id):
            for line in lines:
                yield line
            await asyncio.sleep(0)

    async def blocks(self) -> Iterable[bytes]:
        """Stored lines, verbatim; each iteration reads the segments."""
        self._documents()
        if self._replica is None:
            return ()
        return StoredBlocks(self._folder.journal, self._replica.identity.first_segment, self._replica.end)

    async def heads(self) -> Sequence[Head]:
        """The one head, after a sync that makes it durable."""
        self._documents()
        if self._replica is None:
            return []
        end = self._replica.end
        self._replica.journal.sync()
        return [Head(CHAIN, end.head.seq, end.head.hash)]

    async def verify(self) -> Verification:
        """Verify every segment against the anchors and the records (L3, L7); takes a thread."""
        from jobconsole.adapters.anchors import read_anchors
        from jobconsole.core.keeping.chain import verify

        documents, replica = self._documents(), self._replica
        if replica is None:
            return verify(())
        if replica.journal.rest():  # somebody is writing just now, or it is a torn end
            await asyncio.sleep(LOOK_S)
            documents = self._documents()
        is_suspect = bool(replica.journal.rest() or replica.mismatch or (self._means and self._means.writer.stopped))
        lines = stored_lines(self._folder.journal, replica.identity.first_segment, None if is_suspect else replica.end)
        anchors = read_anchors(self._folder.anchors)
        store_id, used = replica.identity.store_id, documents.requests_used()

        def work() -> Verification:
            return verify(lines, anchors, store_id=store_id, requests_used=used, archived=self._archive.requests_used())

        return await asyncio.to_thread(work)

    def health(self) -> StoreHealth:
        """Whether this handle may write, and what is to be said about the store."""
        replica, means = self._replica, self._means
        notes = [*(replica.notes if replica else ("no store was created here yet",)), *(means.writer.notes if means else ())]
        if damage := self._damage():
            notes.append(damage)
        if replica is not None and replica.identity.machine not in ("", machine()):
            notes.append("this store was created on another machine: do not write to two copies of it")
        why_not = self._refusal()
        return StoreHealth(
            is_writable=not why_not,
            why_not=why_not,
            damage=damage,
            workers=self._workers.living(),
            lock_holder=str(means.lock.holder() or "") if means is not None else "",
            sync_ms=round(means.writer.sync_ms, 3) if means is not None else 0.0,
            notes=tuple(notes),
        )

    # ---- inside -----------------------------------------------------------------------------------------------------
    def _damage(self) -> str:
        """What is known to be missing or changed; a handle that writes has judged the end under the lock."""
        if self._replica is None:
            return ""
        if why := self._absence() or self._replica.mismatch:
            return why
        return damage_behind(self._replica.journal) if self._means is None else ""

    def _now(self) -> Moment:
        return Moment(self._clock.wall(), self._clock.up_ms(), self._clock.boot_id)

    def _refusal(self) -> str:
        if self._is_closed:
            return "the handle is closed"
        return self._why_not if self._means is None else self._means.writer.why_not

    def _writable(self) -> Means:
        if self._is_closed or self._means is None:
            raise StoreReadOnly(f"nothing can be written: {self._refusal()}")
        self._means.writer.check()
        return self._means

    def _present(self) -> Means:
        """As `_writable`, for what writes beside the journal: a batch looks by itself whether the folder is there."""
        self._absence()
        return self._writable()

    def _absence(self) -> str:
        """What happened to the folder since it was opened; empty while it is there."""
        if self._replica is None or self._is_closed:
            return ""
        return absence(self._replica, None) if self._means is None else self._means.writer.absence()

    async def _awaited_replica(self) -> Replica:
        """The replica, as soon as there is a store."""
        while True:
            replica = self._find_replica()
            if replica is not None:
                return replica
            await asyncio.sleep(LOOK_S)

    def _find_replica(self) -> Replica | None:
        """The replica; a read-only handle on a folder without a store looks whether one has come."""
        if self._replica is None and (identity := identify(self._folder)) is not None:
            self._replica = Replica(self._folder, identity, self._sync, is_read_only=True)
        return self._replica

    def _documents(self) -> Documents:
        """The documents after a look at what others wrote: one `fstat` where nothing has come."""
        replica = self._find_replica()
        if replica is None:
            return Documents()
        if not self._is_closed:
            replica.look()
        return replica.documents

    def _keep_looking(self) -> None:
        if self._looker is None or self._looker.done():
            self._looker = asyncio.create_task(self._look_again(), name="jobconsole-look")

    async def _look_again(self) -> None:
        while not self._is_closed and (self._listeners or self._workers.is_announced):
            await asyncio.sleep(LOOK_S)
            if self._replica is not None and (why := self._absence()):
                self._replica.feed.close(StoreDamaged(why))
                return
            with suppress(StoreError, OSError):  # whoever reads or writes next meets the same, and is told
                self._documents()
