"""A batch of commands: run on a private layer over the documents, numbered, chained and encoded, before anything is written.

Only this file decides how a command's plan becomes lines: what a command may read and write (its scope), how document ids
become wire keys, and that a command which fails leaves no trace. Every store runs a `Batch` under its lock, writes its lines,
makes them durable, and only then merges them into its documents (durable first, visible second).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from jobconsole.core.command import Command, Moment, Plan, Refusal, Scope
from jobconsole.core.events import EventDraft, Key, Kind, Table
from jobconsole.core.keeping.documents import ID_FIELDS, WIRE_NAMES, Documents, WireSet
from jobconsole.core.keeping.due import IsDead
from jobconsole.core.keeping.line import MOST_BYTES, LineTooLong, Place, Position, encode, storable

R = TypeVar("R")

_ROOM = 1024  # bytes: what `not_stored` may take, and the size below which leaving a value out saves nothing


@dataclass(frozen=True, slots=True)
class Transaction:
    """The lines of one command's events: all of them count, or none."""

    seqs: tuple[int, ...]
    lines: tuple[bytes, ...]
    sets: tuple[WireSet, ...]
    operations: tuple[str, ...]  # that its events are about
    head: Position

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(map(len, self.lines))


@dataclass(frozen=True, slots=True)
class Outcome(Generic[R]):
    """What a command said, and the transaction that it wants written; None where it has nothing to write."""

    said: Plan[R] | Refusal
    transaction: Transaction | None


@dataclass(slots=True)
class Batch:
    """The transactions of one write, all with one store time. Thrown away when it is written or given up."""

    documents: Documents
    head: Position
    now: Moment
    is_dead: IsDead
    transactions: list[Transaction] = field(default_factory=list)
    size: int = 0  # bytes of all lines so far
    _layer: Documents = field(init=False)
    _first_seq: int = field(init=False)

    def __post_init__(self) -> None:
        self._layer = Documents(below=self.documents)
        self._first_seq = self.head.seq + 1

    def run(self, scope: Scope, command: Command[R]) -> Outcome[R]:
        """Run one command on the documents as the commands before it left them.

        Whatever the command raises passes through, and so does `LookupError` for a document outside the scope and `ValueError`
        for an event that cannot be stored: then nothing of it is in the batch.
        """
        said = command(ScopedView(self._layer, scope, self.now, self.is_dead))
        return Outcome(said, self._add(said.events, scope) if said.events else None)

    def note(self, kind: Kind, actor: str, **fields: Any) -> Transaction:
        """Add one of the store's own events: evidence only."""
        return self._add((EventDraft(kind=kind, actor=actor, fields=fields),), Scope())

    def _add(self, drafts: Sequence[EventDraft], scope: Scope) -> Transaction:
        head, created = self.head, dict[Key, str]()
        tx = head.seq + len(drafts)
        lines: list[bytes] = []
        sets: list[WireSet] = []
        for draft in drafts:
            seq = head.seq + 1
            wire = self._wire_set(draft, seq, created, scope)
            place = Place(seq, tx, self._first_seq, self.now.wall, self.now.up, self.now.boot)
            fields = storable(draft.fields)
            try:
                line, digest = _encoded(draft, place, head.hash, fields, wire)
            except LineTooLong as error:
                fields, wire = _fitted(fields, wire, error.size)
                line, digest = _encoded(draft, place, head.hash, fields, wire)
            lines.append(line)
            sets.append(wire)
            head = Position(seq, digest)
        self._merge(sets)
        about = tuple(dict.fromkeys(draft.operation_id for draft in drafts if draft.operation_id is not None))
        added = Transaction(tuple(range(self.head.seq + 1, tx + 1)), tuple(lines), tuple(sets), about, head)
        self.transactions.append(added)
        self.head = head
        self.size += added.size
        return added

    def _merge(self, sets: Sequence[WireSet]) -> None:
        """Merge into the layer; what cannot be indexed fails here, and not when it is durable."""
        try:
            for wire in sets:
                self._layer.merge(wire)
        except Exception:
            self._layer = Documents(below=self.documents)
            for transaction in self.transactions:
                for wire in transaction.sets:
                    self._layer.merge(wire)
            raise

    def _wire_set(self, draft: EventDraft, seq: int, created: dict[Key, str], scope: Scope) -> WireSet:
        wire: dict[str, Mapping[str, Any] | None] = {}
        for (table, own_id), fields in draft.set.items():
            key: Key = (str(table), str(own_id))
            wire_key = created.get(key) or self._layer.key_of(*key)
            if wire_key is None:
                if fields is None:
                    continue
                wire_key = created[key] = str(seq)
                fields = {ID_FIELDS[key[0]]: key[1], **fields}
            elif key not in created and not _reaches(scope, key, self._layer):
                raise LookupError(f"a command changed {key[0]} {key[1]!r}, which its scope does not name")
            place = f"{WIRE_NAMES[key[0]]}/{wire_key}"
            if place in wire:
                raise ValueError(f"one event cannot create two documents of the table {key[0]!r}")
            wire[place] = storable(fields)
        return wire


class ScopedView:
    """What a command sees (`protocols.View`): the documents of its scope, read-only, and the store's time."""

    __slots__ = ("_documents", "_is_dead", "_scope", "now")

    def __init__(self, documents: Documents, scope: Scope, now: Moment, is_dead: IsDead) -> None:
        self._documents, self._scope, self.now, self._is_dead = documents, scope, now, is_dead

    def get(self, table: str, key: str) -> Mapping[str, Any] | None:
        """A document of the scope, or None. Raises `LookupError` where it exists outside the scope."""
        doc = self._documents.get(table, key)
        if doc is not None and not _reaches(self._scope, (str(table), key), self._documents):
            raise LookupError(f"a command read {table} {key!r}, which its scope does not name")
        return doc

    def find(self, provider: str, account: str, job_id: str) -> Sequence[Mapping[str, Any]]:
        """Operations of the external job that the scope names."""
        if self._scope.job != (provider, account, job_id):
            raise LookupError(f"a command looked for job {job_id!r}, which its scope does not name")
        return self._documents.of_job(provider, account, job_id)

    def with_fingerprint(self, fingerprint: str) -> Sequence[Mapping[str, Any]]:
        """Operations with the fingerprint that the scope names."""
        if self._scope.fingerprint != fingerprint:
            raise LookupError("a command looked for a fingerprint that its scope does not name")
        return self._documents.with_fingerprint(fingerprint)

    def live_leases(self, account_key: str) -> int:
        """The account's slots in use."""
        return self._documents.live_leases(account_key, self.now, self._is_dead)

    def held_operations(self, account_key: str) -> Sequence[str]:
        """Ids of the account's operations that have not ended, nearest deadline first."""
        docs = sorted(self._documents.open_of(account_key), key=lambda doc: str(doc["deadline_at"]))
        return [str(doc["operation_id"]) for doc in docs]

    def is_dead(self, owner: str) -> bool:
        """True where the owner is known to be gone."""
        return self._is_dead(owner)


def _reaches(scope: Scope, key: Key, documents: Documents) -> bool:
    """Whether the scope covers a document that exists.

    Named ids; the actions of a named operation; and, because a command may find them there, the operations of a named account,
    job or fingerprint.
    """
    table, own_id = key
    if own_id in getattr(scope, table):
        return True
    doc = documents.get(table, own_id)
    if doc is None:
        return True
    if table == Table.ACTIONS:
        return doc["operation_id"] in scope.operations
    if table == Table.OPERATIONS:
        job = (doc.get("provider"), doc.get("account"), doc.get("provider_job_id"))
        is_found = scope.job == job or (scope.fingerprint is not None and scope.fingerprint == doc.get("request_fingerprint"))
        return is_found or doc["account_key"] in scope.accounts
    return False


def _encoded(draft: EventDraft, place: Place, prev_hash: str, fields: Mapping[str, Any], wire: WireSet) -> tuple[bytes, str]:
    return encode(
        place,
        prev_hash,
        kind=draft.kind,
        actor=draft.actor,
        operation_id=draft.operation_id,
        op_seq=draft.op_seq,
        fields=fields,
        changes=wire,
    )


def _fitted(fields: Mapping[str, Any], wire: WireSet, size: int) -> tuple[dict[str, Any], WireSet]:
    """An event that fits one line: its largest values become null, and `not_stored` names them.

    A payload that is too large must not cost the state change that it came with.
    """
    kept = dict(fields)
    changed = {place: dict(values) if values is not None else None for place, values in wire.items()}
    holders = [("", kept), *((place, values) for place, values in changed.items() if values is not None)]
    sizes = [
        (len(msgspec.json.encode(value)), place, name, holder) for place, holder in holders for name, value in holder.items()
    ]
    left_out: list[str] = []
    for bytes_saved, place, name, holder in sorted(sizes, key=lambda one: one[:3], reverse=True):
        if size <= MOST_BYTES - _ROOM or bytes_saved < _ROOM:
            break
        holder[name] = None
        left_out.append(f"{place}.{name} ({bytes_saved} bytes)")
        size -= bytes_saved
    kept["not_stored"] = left_out
    return kept, changed


def forget(actor: str, keys: Sequence[Key]) -> Command[int]:
    """The command that removes documents which need not be remembered any longer."""

    def command(view: object) -> Plan[int]:
        draft = EventDraft(kind=Kind.ARCHIVED, actor=actor, fields={"forgotten": len(keys)}, set=dict.fromkeys(keys))
        return Plan((draft,), len(keys))

    return command
