"""The live documents and their indexes: what every store keeps in memory (STORE 1.3, 3).

Only this file decides how a committed `set` becomes documents and how documents are found again. Stores feed it lines in chain
order, whether their own, another process's or a replay: the result depends on nothing else. Documents are replaced, never
mutated, so a snapshot is `dict(table)`, and whoever holds an old document keeps it as it was.

On the wire and in the checkpoint a document is `TABLE/KEY`: TinyDB's `_default` stands for the operations, and keys are decimal
integers (the `seq` of the creating event), because TinyDB calls `int()` on every key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, TypeVar

from jobconsole.core.command import Moment
from jobconsole.core.events import Key, Table, apply
from jobconsole.core.keeping.due import PLANNED_FROM, TERMINAL, DueQueue, IsDead, Planned, instant, is_live, planned
from jobconsole.core.keeping.ended import EndedQueue
from jobconsole.core.vocabulary import ActionState

WIRE_NAMES: Final[Mapping[str, str]] = {
    Table.OPERATIONS: "_default",
    Table.ACCOUNTS: "accounts",
    Table.ACTIONS: "actions",
    Table.DELIVERIES: "deliveries",
}
ID_FIELDS: Final[Mapping[str, str]] = {
    Table.OPERATIONS: "operation_id",
    Table.ACCOUNTS: "account_key",
    Table.ACTIONS: "action_id",
    Table.DELIVERIES: "delivery_id",
}
_TABLES: Final = {wire: str(table) for table, wire in WIRE_NAMES.items()}

_INDEXED: Final = frozenset(PLANNED_FROM) | {
    *("state", "lease", "account", "provider", "provider_job_id", "request_fingerprint", "ended_at", "look"),
}
"""Fields that the queues and `_entries` look at: a change of others costs the indexes nothing."""

_ALWAYS: Final = ("open", "lease", "action")
_ON_DEMAND: Final = ("job", "fingerprint")
"""Indexes of all documents that are made when somebody asks first, as the queues are: lists and workers need none of them."""

_Entry = tuple[str, Any]  # index, and the value under which a document stands there
_NOWHERE: Final[frozenset[_Entry]] = frozenset()

Queue = TypeVar("Queue", DueQueue, EndedQueue)
WireSet = Mapping[str, Mapping[str, Any] | None]
_Index = dict[Any, dict[Key, None]]


class Documents:
    """All documents by table and key, and the indexes over them.

    `tables` is what TinyDB calls the storage's content: `{"_default": {"47001": {...}}, "accounts": {...}, ...}`. With `below`,
    this is a layer that holds only what a batch changed (`transaction.py`); a document of the layer hides the one below.
    """

    def __init__(self, below: Documents | None = None) -> None:
        self.tables: dict[str, dict[str, dict[str, Any]]] = {wire: {} for wire in _TABLES}
        self._due: DueQueue | None = None  # made when somebody asks first: whoever only lists needs neither
        self._ended: EndedQueue | None = None
        self._below = below
        self._keys: dict[Key, str] = {}  # (table, id) -> wire key
        self._touched: set[Key] = set()
        self._indexes: dict[str, _Index] = {name: {} for name in (*_ALWAYS, *(_ON_DEMAND if below is not None else ()))}

    # ---- reading ----------------------------------------------------------------------------------------------------
    def key_of(self, table: str, key: str) -> str | None:
        """The wire key of a document, or None."""
        here = (table, key)
        if here in self._touched or self._below is None:
            return self._keys.get(here)
        return self._keys.get(here) or self._below.key_of(table, key)

    def get(self, table: str, key: str) -> Mapping[str, Any] | None:
        """A document by its id, read-only; None where there is none."""
        here = (table, key)
        if wire_key := self._keys.get(here):
            return MappingProxyType(self.tables[WIRE_NAMES[table]][wire_key])
        return None if here in self._touched or self._below is None else self._below.get(table, key)

    def all(self, table: str) -> list[Mapping[str, Any]]:
        """All documents of a table, oldest first."""
        return [MappingProxyType(doc) for doc in self.tables[WIRE_NAMES[table]].values()]

    def of_job(self, provider: str, account: str, job_id: str) -> list[Mapping[str, Any]]:
        """Operations of one external job, oldest first."""
        return self._found("job", (provider, account, job_id))

    def with_fingerprint(self, fingerprint: str) -> list[Mapping[str, Any]]:
        """Operations with this request fingerprint, oldest first."""
        return self._found("fingerprint", fingerprint)

    def open_of(self, account_key: str) -> list[Mapping[str, Any]]:
        """Operations of the account that have not ended, oldest first."""
        return self._found("open", account_key)

    def in_flight(self) -> list[Mapping[str, Any]]:
        """Operations that have not ended, oldest first (S6)."""
        keys = sorted(int(self._keys[key]) for keys in self._indexes["open"].values() for key in keys)
        table = self.tables[WIRE_NAMES[Table.OPERATIONS]]
        return [MappingProxyType(table[str(key)]) for key in keys]

    def ended_count(self) -> int:
        """How many live operations have ended."""
        return len(self.tables[WIRE_NAMES[Table.OPERATIONS]]) - sum(map(len, self._indexes["open"].values()))

    def ended_first(self, limit: int) -> list[tuple[datetime, str]]:
        """When and which operations ended that are over for everybody (`ended.py`), what ended first first."""
        if self._ended is None:
            self._ended = self._told(EndedQueue())
        return self._ended.first(limit)

    def actions_of(self, operation_id: str) -> dict[str, dict[str, Any]]:
        """The operation's actions by wire key, oldest first."""
        keys = sorted(int(self._keys[key]) for key in self._indexes["action"].get(operation_id, ()))
        return {str(key): self.tables[WIRE_NAMES[Table.ACTIONS]][str(key)] for key in keys}

    def leases(self, account_key: str) -> Iterator[Mapping[str, Any]]:
        """Leases and claims of the account, ended ones included."""
        for doc in self._found("lease", account_key):
            yield doc.get("lease") or doc

    def owners(self) -> set[str]:
        """Owners of all leases and claims, ended ones included."""
        return {str(lease.get("owner")) for account_key in self._indexes["lease"] for lease in self.leases(account_key)}

    def live_leases(self, account_key: str, now: Moment, is_dead: IsDead) -> int:
        """The account's slots in use."""
        return sum(is_live(lease, now, is_dead) for lease in self.leases(account_key))

    def due(self, now: Moment, until: datetime, limit: int, is_dead: IsDead, skip: Collection[str] = ()) -> Sequence[Planned]:
        """Operations to look at by `until` (`due.py` says which)."""
        return self._due_queue().offers(self, now, until, limit, is_dead, skip)

    def next_due(self, now: Moment, is_dead: IsDead, skip: Collection[str] = ()) -> datetime | None:
        """When the next look is; None where nothing is planned."""
        return self._due_queue().next_at(self, now, is_dead, skip)

    def snapshot(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The content as it is now: tables are copied, documents are shared, because nobody changes one."""
        return {name: dict(table) for name, table in self.tables.items()}

    def requests_used(self) -> dict[str, int]:
        """The counter of status requests of every operation."""
        docs = self.tables[WIRE_NAMES[Table.OPERATIONS]].values()
        return {str(doc["operation_id"]): int(doc.get("status_requests_used") or 0) for doc in docs}

    def forgettable(self, oldest_at: datetime) -> list[Key]:
        """Deliveries received before `oldest_at`: ids need not be remembered longer (P4)."""
        docs = self.tables[WIRE_NAMES[Table.DELIVERIES]].values()
        return [
            (Table.DELIVERIES, str(doc["delivery_id"]))
            for doc in docs
            if (received_at := doc.get("received_at")) and instant(received_at) < oldest_at
        ]

    def _due_queue(self) -> DueQueue:
        if self._due is None:
            self._due = self._told(DueQueue())
        return self._due

    def _told(self, queue: Queue) -> Queue:
        """A new queue, told what all operations are."""
        for doc in self.tables[WIRE_NAMES[Table.OPERATIONS]].values():
            queue.note(doc["operation_id"], doc)
        return queue

    # ---- merging ----------------------------------------------------------------------------------------------------
    def load(self, tables: Mapping[str, Mapping[str, dict[str, Any]]]) -> None:
        """Take over the content of a checkpoint."""
        for wire, table in _TABLES.items():
            loaded, id_field = tables.get(wire, {}), ID_FIELDS[table]
            self.tables[wire].update(loaded)
            for wire_key, doc in loaded.items():
                key: Key = (table, doc[id_field])
                self._keys[key] = wire_key
                for index, value in _always(table, doc):
                    self._enter(index, value, key)

    def merge(self, changes: WireSet) -> tuple[Key, ...]:
        """Merge one event's `set` and return the ids of what changed. Tables of a newer version are ignored."""
        changed: list[Key] = []
        for place, fields in changes.items():
            wire, _, wire_key = place.partition("/")
            table = _TABLES.get(wire)
            if table is None:
                continue
            before = self._stored(wire, wire_key)
            after = apply(before, fields)
            shown = after if after is not None else before
            if shown is not None:
                self._replace(table, wire_key, after, before, fields)
                changed.append((table, str(shown[ID_FIELDS[table]])))
        return tuple(changed)

    def merge_all(self, sets: Iterable[WireSet], operations: Iterable[str]) -> tuple[Key, ...]:
        """Merge a transaction; returns what changed and the operations that its events are about, each once."""
        changed = [key for changes in sets for key in self.merge(changes)]
        changed.extend((str(Table.OPERATIONS), operation_id) for operation_id in operations)
        return tuple(dict.fromkeys(changed))

    def _stored(self, wire: str, wire_key: str) -> dict[str, Any] | None:
        doc = self.tables[wire].get(wire_key)
        if doc is None and self._below is not None:
            doc = self._below._stored(wire, wire_key)
            if doc is not None and (_TABLES[wire], doc[ID_FIELDS[_TABLES[wire]]]) in self._touched:
                return None
        return doc

    def _replace(
        self,
        table: str,
        wire_key: str,
        after: dict[str, Any] | None,
        before: Mapping[str, Any] | None,
        fields: Mapping[str, Any] | None,
    ) -> None:
        stored = self.tables[WIRE_NAMES[table]]
        shown = after if after is not None else before
        assert shown is not None
        key: Key = (str(table), str(shown[ID_FIELDS[table]]))
        old = stored.get(wire_key)
        if after is None:
            stored.pop(wire_key, None)
            self._keys.pop(key, None)
        else:
            stored[wire_key] = after
            self._keys[key] = wire_key
        if self._below is not None:
            self._touched.add(key)
        if old is None or fields is None or not _INDEXED.isdisjoint(fields):
            self._index(key, old, after)

    def _index(self, key: Key, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
        table, own_id = key
        if table not in (Table.OPERATIONS, Table.ACTIONS):
            return
        gone, come = self._entries(table, old) if old is not None else _NOWHERE, self._entries(table, new)
        for index, value in gone - come:
            keys = self._indexes.get(index, {}).get(value, {})
            keys.pop(key, None)
            if not keys:
                self._indexes.get(index, {}).pop(value, None)
        for index, value in come - gone:
            self._enter(index, value, key)
        if table == Table.OPERATIONS and self._below is None:
            for queue in (self._due, self._ended):
                if queue is not None:
                    queue.note(own_id, new)
        elif table == Table.OPERATIONS and new is not None:
            planned(new)  # raises for a document that could not be queued: before it is durable, not after

    def _enter(self, index: str, value: Any, key: Key) -> None:
        known = self._indexes.get(index)
        if known is not None:
            known.setdefault(value, {})[key] = None

    def _entries(self, table: str, doc: Mapping[str, Any] | None) -> frozenset[_Entry]:
        """Under which value of which index the document is found."""
        if doc is None:
            return _NOWHERE
        return frozenset((*_always(table, doc), *(_on_demand(doc) if table == Table.OPERATIONS else ())))

    def _found(self, index: str, value: Any) -> list[Mapping[str, Any]]:
        keys = sorted((int(self.key_of(*key) or 0), *key) for key in self._indexed(index, value))
        return [doc for _, table, own_id in keys if (doc := self.get(table, own_id)) is not None]

    def _indexed(self, index: str, value: Any) -> Iterable[Key]:
        if index not in self._indexes:
            self._make(index)
        here: Iterable[Key] = self._indexes[index].get(value, ())
        if self._below is None:
            return here
        return [*(key for key in self._below._indexed(index, value) if key not in self._touched), *here]

    def _make(self, index: str) -> None:
        self._indexes[index] = {}
        for doc in self.tables[WIRE_NAMES[Table.OPERATIONS]].values():
            for name, value in _on_demand(doc):
                if name == index:
                    self._enter(name, value, (str(Table.OPERATIONS), doc["operation_id"]))


def _always(table: str, doc: Mapping[str, Any]) -> list[_Entry]:
    """Entries of the indexes `_ALWAYS`."""
    if table == Table.ACTIONS:
        entries: list[_Entry] = [("action", doc.get("operation_id"))]
        if doc.get("state") == ActionState.CLAIMED:
            entries.append(("lease", doc.get("account_key")))
        return entries
    if table != Table.OPERATIONS:
        return []
    entries = [("open", doc["account_key"])] if doc["phase"] not in TERMINAL else []
    if doc.get("lease"):
        entries.append(("lease", doc["account_key"]))
    return entries


def _on_demand(doc: Mapping[str, Any]) -> list[_Entry]:
    """Entries of the indexes `_ON_DEMAND`."""
    entries: list[_Entry] = [("fingerprint", doc.get("request_fingerprint"))]
    if job_id := doc.get("provider_job_id"):
        entries.append(("job", (doc["provider"], doc["account"], job_id)))
    return entries
