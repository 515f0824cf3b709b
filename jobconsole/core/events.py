"""Events: the facts that changed authority, budget or state, and how a fact changes a document.

Only this file decides which kinds there are (X22, STORE 1.2), which audit fields an event carries, and how `set` is merged.
Commands draft events; a store numbers, chains and writes them; replay is `apply` and knows no business rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from jobconsole.core.looks import settle
from jobconsole.core.operation import Action, Operation, Value, changes, document

_AUDITED: Final = (
    ("revision", "revision"),
    ("phase", "phase"),
    ("job_state", "last_known_state"),
    ("planned_at", "next_poll_at"),
    ("delay_source", "delay_source"),
    ("status_requests_used", "status_requests_used"),
    ("max_status_requests", "max_status_requests"),
    ("deadline_at", "deadline_at"),
)
"""Audit fields that every event of an operation carries, and what they are called in the record (SPEC 11)."""

_IS_JSON: Final = frozenset({str, int, float, bool, type(None)})

Key: TypeAlias = tuple[str, str]  # (table, id): ("operations", operation_id), ("accounts", key), ("actions", id), ...


class Table(StrEnum):
    """The tables of a store. In the checkpoint `operations` is TinyDB's `_default` (STORE 1.3)."""

    OPERATIONS = "operations"
    ACCOUNTS = "accounts"
    ACTIONS = "actions"
    DELIVERIES = "deliveries"


class Kind(StrEnum):
    """Event kinds (X22) and the store's own (STORE 1.2)."""

    SUBMITTED = "submitted"
    SUBMIT_ANSWERED = "submit_answered"
    CHECK_PLANNED = "check_planned"
    CHECK_RESERVED = "check_reserved"
    CHECK_ANSWERED = "check_answered"
    STATE_CHANGED = "state_changed"
    SIGNAL_RECEIVED = "signal_received"
    HINT_REJECTED = "hint_rejected"
    HELD = "held"
    RELEASED = "released"
    ESCALATED = "escalated"
    DECIDED = "decided"
    EXTENDED = "extended"
    CHECK_WITHHELD = "check_withheld"
    LATE_ANSWER = "late_answer"
    DECISION_REFUSED = "decision_refused"
    ACTION_REQUESTED = "action_requested"
    ACTION_STARTED = "action_started"
    ACTION_ENDED = "action_ended"
    ITEM_CHANGED = "item_changed"
    LEASE_LOST = "lease_lost"
    CLOSED = "closed"
    ARCHIVED = "archived"
    STORE_CREATED = "store_created"
    STORE_MIGRATED = "store_migrated"
    STORE_REPAIRED = "store_repaired"
    SEGMENT_CLOSED = "segment_closed"
    PROCESS_OPENED = "process_opened"
    CLOCK_JUMPED = "clock_jumped"


@dataclass(frozen=True, slots=True)
class EventDraft:
    """An event before the store gives it its place in the chain.

    `fields` are JSON values in the order in which they are written, nulls left out. `set` maps a document to the fields to
    replace; None removes the document; a document that did not exist is created from its fields.
    """

    kind: Kind
    actor: str
    operation_id: str | None = None
    op_seq: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    set: Mapping[Key, Mapping[str, Any] | None] = field(default_factory=dict)


def apply(existing: Mapping[str, Any] | None, fields: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The document after an event's `set`: top-level fields replaced whole. Returns a new dict, never mutates."""
    if fields is None:
        return None
    return {**existing, **fields} if existing else dict(fields)


class Draft:
    """The transaction that a command writes: drafts of events over one operation, and documents that change with them.

    `op` is always the operation as it will be after the events so far. Used inside one call of one command, then thrown away.
    """

    def __init__(self, actor: str, op: Operation, *, is_new: bool = False) -> None:
        self.actor, self.op, self.events = actor, op, list[EventDraft]()
        self._stored: dict[str, Any] = {} if is_new else document(op)

    def add(
        self,
        kind: Kind,
        op: Operation | None = None,
        *,
        also: Mapping[Key, Mapping[str, Any] | None] | None = None,
        **fields: Any,
    ) -> EventDraft:
        """Append an event that leaves the operation as `op` (default: unchanged). `also`: other documents' fields."""
        after = settle(replace(op or self.op, op_seq=self.op.op_seq + 1))
        stored = document(after)
        changed = changes(self._stored, stored)
        written: dict[Key, Mapping[str, Any] | None] = {(Table.OPERATIONS, after.operation_id): changed}
        written.update(also or {})
        draft = EventDraft(
            kind=kind,
            actor=self.actor,
            operation_id=after.operation_id,
            op_seq=after.op_seq,
            fields={**audit_fields(after, stored), **{k: plain(v) for k, v in fields.items() if v is not None}},
            set=written,
        )
        self.op, self._stored = after, stored
        self.events.append(draft)
        return draft


def action_set(action: Action, before: Action | None = None) -> dict[Key, Mapping[str, Any] | None]:
    """The `set` entry that stores an action."""
    fields = changes(document(before) if before else {}, document(action))
    return {(Table.ACTIONS, action.action_id): fields}


def plain(value: Any) -> Any:
    """JSON values only."""
    if type(value) in _IS_JSON:
        return value
    return document(value) if isinstance(value, Value) else msgspec.to_builtins(value)


def audit_fields(op: Operation, stored: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that every event of an operation carries, as they are after it (SPEC 11). `stored` is its document."""
    shown: dict[str, Any] = {}
    for name, own_name in _AUDITED:
        value = stored.get(own_name)
        if value is None:  # a default is left out there
            value = plain(getattr(op, own_name))
        if value is not None:
            shown[name] = value
    if op.lease is not None:
        shown["lease_token"] = op.lease.token
    return shown
