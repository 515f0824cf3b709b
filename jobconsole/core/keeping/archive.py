"""The archive: which ended operations leave the live documents, how they are kept, and how that is made anew (STORE 1.3).

Only this file decides that. A store takes what `ripe` names, makes it durable in the archive, and then runs `archive` for each;
a crash between the two leaves a second line of the same id, and the last one counts. Nothing is lost with an archive:
`replayed` makes it from the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import msgspec

from jobconsole.core.command import Command, Plan, View
from jobconsole.core.events import EventDraft, Key, Kind, Table, audit_fields
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import Line, Position
from jobconsole.core.operation import Operation, operation

LEAST: Final = timedelta(hours=96)
"""Nothing leaves earlier, whatever is asked for: late deliveries must find their operation (P4)."""

AT_ONCE: Final = 200
"""Operations of one turn: maintenance never holds the loop for long."""


class Archived(msgspec.Struct, frozen=True, omit_defaults=True):
    """An operation's final document with its actions, by their keys in the store.

    `last_seq` and `last_hash` name the place in the chain up to which the journal gives exactly these documents.
    """

    operation_id: str
    key: str
    last_seq: int
    last_hash: str
    document: dict[str, Any]
    actions: dict[str, dict[str, Any]] = {}

    @property
    def operation(self) -> Operation:
        """The operation as it ended."""
        return operation(self.document)

    @property
    def job(self) -> tuple[str, str, str | None]:
        """The external job: provider, account, job id."""
        return self.document["provider"], self.document["account"], self.document.get("provider_job_id")

    @property
    def month(self) -> str:
        """The month in which it ended, `2026-11`: the same each time, so that all lines of an id lie together."""
        return str(self.document["ended_at"])[:7]


def ripe(
    documents: Documents, head: Position, now: datetime, *, ended: timedelta, most_ended: int, limit: int = AT_ONCE
) -> list[Archived]:
    """What is to be archived now, what ended first first: ended for longer than `ended`, or one of more than `most_ended`.

    Operations whose look is open, or with an action that is not over, are not offered. `head` is where the chain ends now.
    """
    surplus = documents.ended_count() - most_ended
    found: list[Archived] = []
    for ended_at, operation_id in documents.ended_first(limit):
        age = now - ended_at
        if age < LEAST or (age < ended and len(found) >= surplus):
            break
        found.append(_taken(documents, operation_id, head))
    return found


def _taken(documents: Documents, operation_id: str, head: Position) -> Archived:
    key, doc = documents.key_of(Table.OPERATIONS, operation_id), documents.get(Table.OPERATIONS, operation_id)
    assert key is not None
    assert doc is not None
    return Archived(operation_id, key, head.seq, head.hash, dict(doc), documents.actions_of(operation_id))


def archive(taken: Archived, actor: str) -> Command[bool]:
    """The command that removes what was archived from the live documents; nothing where it has changed since, or is gone."""
    return partial(_archive, taken, actor)


def _archive(taken: Archived, actor: str, view: View) -> Plan[bool]:
    doc = view.get(Table.OPERATIONS, taken.operation_id)
    if doc is None or doc != taken.document:
        return Plan((), False)
    removed: dict[Key, Mapping[str, Any] | None] = {(str(Table.OPERATIONS), taken.operation_id): None}
    removed.update({(str(Table.ACTIONS), str(action["action_id"])): None for action in taken.actions.values()})
    op = operation(doc)
    last = {"seq": taken.last_seq, "hash": taken.last_hash}
    draft = EventDraft(
        kind=Kind.ARCHIVED,
        actor=actor,
        operation_id=op.operation_id,
        op_seq=op.op_seq + 1,
        fields={**audit_fields(op, doc), "archive": taken.month, "last": last},
        set=removed,
    )
    return Plan((draft,), True)


class _Last(msgspec.Struct):
    seq: int
    hash: str


class _Archival(msgspec.Struct):
    """What an `archived` event says beside its line."""

    last: _Last | None = None


def replayed(lines: Iterable[tuple[bytes, Line]]) -> Iterator[Archived]:
    """What the archive must hold, from the whole journal: stored lines with what they were parsed to, in chain order."""
    documents = Documents()
    for data, line in lines:
        if line.kind == Kind.ARCHIVED and line.operation_id is not None:
            last = msgspec.json.decode(data, type=_Archival).last
            if last is not None and documents.get(Table.OPERATIONS, line.operation_id) is not None:
                yield _taken(documents, line.operation_id, Position(last.seq, last.hash))
        documents.merge(line.set)
