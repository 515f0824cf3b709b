"""A store that forgets everything at exit: `protocols.Store` over the same documents, commands and chain as the folder store.

For tests of whatever works on a store. Several handles on one memory play several processes: `other = store.handle()`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, TypeVar

from jobconsole.core.events import Kind, Table
from jobconsole.core.keeping.archive import Archived, archive, replayed, ripe
from jobconsole.core.keeping.chain import Anchor, Verification, verify
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import CHAIN, Position, beginning, parse
from jobconsole.core.keeping.transaction import Batch, forget
from jobconsole.core.operation import Operation, operation
from jobconsole.errors import StoreReadOnly
from jobconsole.protocols import (
    Change,
    Clock,
    Command,
    CommandKind,
    Due,
    Head,
    Receipt,
    Refusal,
    Retention,
    Scope,
    StoreHealth,
    StoreTime,
    WorkerInfo,
)

R = TypeVar("R")
_numbers = count(1)


@dataclass(slots=True)
class _Memory:
    """What the handles share: what a folder is to processes."""

    store_id: str
    head: Position
    documents: Documents = field(default_factory=Documents)
    lines: list[bytes] = field(default_factory=list)
    log: list[Change] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    archive: dict[str, Archived] = field(default_factory=dict)
    contracts: dict[str, str] = field(default_factory=dict)
    workers: dict[str, WorkerInfo] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    grown: asyncio.Event = field(default_factory=asyncio.Event)


class MemoryStore:
    """A `Store` in memory. Every `transact` is a batch of one; nothing can tear, fill up or be damaged."""

    def __init__(
        self, clock: Clock, *, label: str = "test", is_read_only: bool = False, _memory: _Memory | None = None
    ) -> None:
        self._clock, self._label, self._is_read_only = clock, label, is_read_only
        self._is_closed = False
        self._announced: set[str] = set()
        if _memory is not None:
            self._memory = _memory
            return
        store_id = f"memory-{next(_numbers)}"
        self._memory = _Memory(store_id, beginning(store_id))
        self._write(Kind.STORE_CREATED, format=1, store_id=store_id)

    def handle(self, clock: Clock | None = None, *, label: str = "test", is_read_only: bool = False) -> MemoryStore:
        """Another handle on the same memory, as another process would have; it may have a clock of its own."""
        return MemoryStore(clock or self._clock, label=label, is_read_only=is_read_only, _memory=self._memory)

    def crash(self) -> None:
        """Let this handle's process die: it writes nothing more, and its workers are known to be gone."""
        self._is_closed = True
        for worker_id in self._announced:
            self._memory.workers.pop(worker_id, None)
            self._memory.dead.add(worker_id)

    # ---- writing ----------------------------------------------------------------------------------------------------
    async def transact(self, scope: Scope, command: Command[R], *, kind: CommandKind) -> Receipt[R] | Refusal:
        """Run the command and keep its events."""
        asked_up = self._clock.up_ms()
        await asyncio.sleep(0)
        self._check_writable()
        batch = self._batch()
        outcome = batch.run(scope, command)
        self._commit(batch)
        if isinstance(outcome.said, Refusal):
            return outcome.said
        seqs = outcome.transaction.seqs if outcome.transaction else ()
        return Receipt(outcome.said.result, seqs, asked_up)

    async def anchor(self) -> Head:
        """Write the head down beside the log."""
        head = self._memory.head
        self._memory.anchors.append(Anchor(seq=head.seq, hash=head.hash))
        return Head(CHAIN, head.seq, head.hash)

    async def maintain(self, keep: Retention) -> None:
        """Archive what ended long ago, forget old deliveries and anchor the head."""
        self._check_writable()
        memory, now = self._memory, self._clock.wall()
        for each in ripe(memory.documents, memory.head, now, ended=keep.ended, most_ended=keep.most_ended):
            memory.archive[each.operation_id] = each
            await self.transact(Scope(operations=(each.operation_id,)), archive(each, self._actor), kind="record")
        oldest_at = self._clock.wall() - keep.deliveries
        keys = self._memory.documents.forgettable(oldest_at)
        if keys:
            scope = Scope(deliveries=tuple(delivery_id for _, delivery_id in keys))
            await self.transact(scope, forget(self._actor, keys), kind="record")
        await self.anchor()

    async def rebuild_archive(self) -> int:
        """Make the archive anew from the log."""
        self._check_writable()
        parsed = ((data, line) for data in self._memory.lines if (line := parse(data)) is not None)
        made = {each.operation_id: each for each in replayed(parsed)}
        self._memory.archive |= made
        return len(made)

    async def keep_contract(self, digest: str, text: str) -> None:
        """Keep a copy of a contract."""
        self._check_writable()
        self._memory.contracts[digest] = text

    async def close(self) -> None:
        """Anchor the head and give up the handle."""
        if not self._is_closed and not self._is_read_only:
            await self.anchor()
        self._is_closed = True
        self._memory.grown.set()

    # ---- reading ----------------------------------------------------------------------------------------------------
    async def get(self, operation_id: str) -> Operation | None:
        """The operation as last seen, or as it was archived."""
        doc = self._memory.documents.get(Table.OPERATIONS, operation_id)
        if doc is not None:
            return operation(doc)
        archived = self._memory.archive.get(operation_id)
        return archived.operation if archived is not None else None

    async def archived(self, operation_id: str) -> Archived | None:
        """The operation with its actions as it was archived."""
        is_live = self.peek(Table.OPERATIONS, operation_id) is not None
        return None if is_live else self._memory.archive.get(operation_id)

    async def archive(self) -> Sequence[Archived]:
        """Everything that was archived."""
        return [each for each in self._memory.archive.values() if self.peek(Table.OPERATIONS, each.operation_id) is None]

    def peek(self, table: str, key: str) -> Mapping[str, Any] | None:
        """Any document as last seen in memory, without waiting."""
        return self._memory.documents.get(table, key)

    async def document(self, table: str, key: str) -> Mapping[str, Any] | None:
        """Any document as last seen."""
        return self._memory.documents.get(table, key)

    async def documents(self, table: str) -> Sequence[Mapping[str, Any]]:
        """All documents of a table, oldest first."""
        return self._memory.documents.all(table)

    async def due(self, until: datetime, limit: int, *, skip: Collection[str] = ()) -> Sequence[Due]:
        """Operations to look at by `until`, nearest deadline first."""
        found = self._memory.documents.due(self._now(), until, limit, self._is_dead, skip)
        return [Due(p.operation_id, p.account_key, p.due_at, p.deadline_at) for p in found]

    async def next_due(self, *, skip: Collection[str] = ()) -> datetime | None:
        """When the earliest planned look is."""
        return self._memory.documents.next_due(self._now(), self._is_dead, skip)

    async def in_flight(self, **where: str) -> Sequence[Operation]:
        """Every operation that has not ended, oldest first."""
        docs = self._memory.documents.in_flight()
        return [operation(doc) for doc in docs if all(doc.get(name) == value for name, value in where.items())]

    async def operations(self) -> Sequence[Operation]:
        """Every live operation, oldest first."""
        return [operation(doc) for doc in self._memory.documents.all(Table.OPERATIONS)]

    async def find(self, provider: str, account: str, job_id: str) -> Sequence[Operation]:
        """Operations of one external job: archived ones, then live ones."""
        archived = [each.operation for each in await self.archive() if each.job == (provider, account, job_id)]
        return archived + [operation(doc) for doc in self._memory.documents.of_job(provider, account, job_id)]

    def cursor(self) -> int:
        """The `seq` of the newest line."""
        return self._memory.head.seq

    async def changes(self, after: int | None = None) -> AsyncIterator[Change]:
        """Committed changes of all handles, in commit order, from now on or from a cursor."""
        memory = self._memory
        number = len(memory.log) if after is None else sum(change.cursor <= after for change in memory.log)
        while not self._is_closed:
            while number < len(memory.log):
                number += 1
                yield memory.log[number - 1]
            if not self._is_closed:
                await memory.grown.wait()

    async def events(self, operation_id: str | None = None, after: int | None = None) -> AsyncIterator[bytes]:
        """Stored lines, verbatim."""
        for line in self._memory.lines[after or 0 :]:
            parsed = parse(line) if operation_id is not None else None
            if parsed is None or parsed.operation_id == operation_id:
                yield line

    async def blocks(self) -> Iterable[bytes]:
        """Stored lines, verbatim, as one block."""
        return (b"".join(self._memory.lines),)

    async def heads(self) -> Sequence[Head]:
        """The one head."""
        return [Head(CHAIN, self._memory.head.seq, self._memory.head.hash)]

    async def verify(self) -> Verification:
        """Verify the chain against the anchors and the records."""
        memory = self._memory
        used = memory.documents.requests_used()
        archived = {each.operation_id: each.operation.status_requests_used for each in memory.archive.values()}
        return verify(memory.lines, memory.anchors, store_id=memory.store_id, requests_used=used, archived=archived)

    async def contract_text(self, digest: str) -> str | None:
        """The kept copy of a contract."""
        return self._memory.contracts.get(digest)

    @asynccontextmanager
    async def announce(self, worker: WorkerInfo) -> AsyncIterator[None]:
        """Be seen as a living worker while inside."""
        self._memory.workers[worker.worker_id] = worker
        self._memory.dead.discard(worker.worker_id)
        self._announced.add(worker.worker_id)
        try:
            yield
        finally:
            self._announced.discard(worker.worker_id)
            self._memory.workers.pop(worker.worker_id, None)

    def health(self) -> StoreHealth:
        """Who lives, and whether this handle may write."""
        why_not = "the handle is closed" if self._is_closed else "opened read-only" if self._is_read_only else ""
        return StoreHealth(is_writable=not why_not, why_not=why_not, workers=tuple(self._memory.workers.values()))

    # ---- inside -----------------------------------------------------------------------------------------------------
    @property
    def _actor(self) -> str:
        return f"store:{self._label}"

    def _now(self) -> StoreTime:
        return StoreTime(self._clock.wall(), self._clock.up_ms(), self._clock.boot_id)

    def _is_dead(self, owner: str) -> bool:
        return owner.removeprefix("worker:") in self._memory.dead

    def _check_writable(self) -> None:
        health = self.health()
        if not health.is_writable:
            raise StoreReadOnly(f"the store cannot be written: {health.why_not}")

    def _batch(self) -> Batch:
        return Batch(self._memory.documents, self._memory.head, self._now(), self._is_dead)

    def _write(self, kind: Kind, **fields: Any) -> None:
        batch = self._batch()
        batch.note(kind, self._actor, **fields)
        self._commit(batch)

    def _commit(self, batch: Batch) -> None:
        memory = self._memory
        for transaction in batch.transactions:
            memory.lines.extend(transaction.lines)
            keys = memory.documents.merge_all(transaction.sets, transaction.operations)
            if keys:
                memory.log.append(Change(transaction.head.seq, keys))
        if batch.transactions:
            memory.head = batch.head
            memory.grown.set()
            memory.grown = asyncio.Event()
