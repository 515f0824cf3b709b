"""The events that one line of the story tells together, and what every line needs of them (SPEC X22).

Only this file decides which event leads, when the next poll is told, and how an event without words of its own reads.
`story_line.py` and `story_people.py` write the sentences; `why.py` and its neighbours take events and their times from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from jobconsole.core.events import Kind
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import actor_text, clock_text, source_text, words
from jobconsole.core.vocabulary import DelaySource

Event: TypeAlias = Mapping[str, Any]

SHORT, LONG = 80, 200  # characters of a word, of a sentence
_BESIDE = frozenset({Kind.STATE_CHANGED, Kind.HINT_REJECTED, Kind.HELD, Kind.RELEASED})


class Group:
    """The events of one line: the leading one, and what followed from it in the same transaction."""

    __slots__ = ("events", "lead")

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.lead = next((event for event in events if event.get("kind") not in _BESIDE), events[0])

    @property
    def operation_id(self) -> str | None:
        """Whose events these are; None for the store's own."""
        found: str | None = self.lead.get("operation_id")
        return found

    @property
    def has_lease(self) -> bool:
        """Whether a request may still be under way after these events."""
        return self.events[-1].get("lease_token") is not None

    def of(self, kind: Kind) -> Event | None:
        """The group's event of this kind."""
        return next((event for event in self.events if event.get("kind") == kind), None)


def moment(stamped: str) -> datetime:
    """The time that a stored line holds."""
    return datetime.fromisoformat(stamped)


def who(event: Event) -> str:
    """Who acted, inert."""
    return inert(actor_text(str(event.get("actor", ""))), SHORT)


def next_poll(event: Event) -> str:
    """`next poll 10:20:14 from local backoff`; the date stands with it where it is another day's."""
    planned, source, at = event.get("planned_at"), event.get("delay_source"), moment(event["at"])
    if planned is None:
        limit = event.get("deadline_at")
        return f"no further poll before the deadline {clock(limit, at)}" if limit else "no further poll"
    if source == DelaySource.ACCOUNT_HOLD and moment(planned) <= at:
        return "waits with its account"
    return f"next poll {clock(planned, at)} {source_text(str(source))}"


_TOLD_BY_NAME = frozenset(
    (
        *("v", "chain", "seq", "tx", "batch", "at", "up", "boot", "operation_id", "op_seq", "kind", "actor", "set"),
        *("prev_hash", "hash", "revision", "phase", "job_state", "planned_at", "delay_source", "status_requests_used"),
        *("max_status_requests", "deadline_at", "lease_token", "key_id"),
    )
)


def plainly(group: Group) -> str:
    """An event without words of its own, of a newer version too: its kind and the fields that only it has."""
    lead = group.lead
    simple = ((key, value) for key, value in lead.items() if isinstance(value, str | int | float) and value != "")
    own = (f"{words(str(key))} {value}" for key, value in simple if key not in _TOLD_BY_NAME)
    return inert(joined(words(str(lead.get("kind"))), *own), LONG)


def clock(stamped: str | None, beside: datetime) -> str:
    """The clock of a stored time, with its date where that is not the one of `beside`."""
    return "unknown" if stamped is None else clock_text(moment(stamped), beside)


def joined(*parts: str) -> str:
    """The parts that are not empty, with commas between."""
    return ", ".join(part for part in parts if part)
