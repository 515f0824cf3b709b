"""The columns of the audit wherever it leaves as a table: what each holds, and where in a stored line it stands (SPEC L2).

Only this file decides which columns there are. `core/telling/spreadsheet.py` writes them as text, `adapters/frames` as a typed
DataFrame; both take this table, so that the two never differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from jobconsole.core.events import Kind
from jobconsole.core.judging.answer import CallError
from jobconsole.core.vocabulary import DelaySource, Delivery, Phase, StateClass

DECISIONS: Final = ("wait_until", "confirm", "succeed", "stop", "escalate")


class Holds(StrEnum):
    """What the cells of a column hold, and in which unit they are stored."""

    TEXT = "text"
    WORD = "word"  # one of a closed vocabulary
    COUNT = "count"
    TIME = "time"  # RFC 3339 UTC
    MILLISECONDS = "milliseconds"  # a duration or a boot clock
    SECONDS = "seconds"  # a duration
    SHARE = "share"  # 0..1
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `field` is the name in the stored value, inside the object `inside` where that is given."""

    name: str
    holds: Holds
    words: tuple[str, ...] = ()
    field: str = ""
    inside: str = ""

    @property
    def stored_as(self) -> str:
        """The name of the field that holds the value."""
        return self.field or self.name

    def of(self, event: Mapping[str, Any]) -> Any:
        """The value in a parsed line; None where the line has none."""
        holder = event.get(self.inside) if self.inside else event
        return holder.get(self.stored_as) if isinstance(holder, Mapping) else None


def _text(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, Holds.TEXT) for name in names)


def _counts(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, Holds.COUNT) for name in names)


def _time(name: str, field: str = "", inside: str = "") -> Column:
    return Column(name, Holds.TIME, field=field, inside=inside)


def word(name: str, vocabulary: type[StrEnum] | tuple[str, ...], inside: str = "") -> Column:
    """A column of a closed vocabulary."""
    return Column(name, Holds.WORD, tuple(str(each) for each in vocabulary), inside=inside)


AUDIT: Final = (
    *_counts("seq"),
    _time("at"),
    *_text("operation_id", "provider"),
    word("kind", Kind),
    word("phase", Phase),
    *_text("job_state"),
    _time("planned_at"),
    word("delay_source", DelaySource),
    *_counts("status_requests_used", "max_status_requests"),
    _time("deadline_at"),
    *_counts("http_status"),
    *_text("provider_request_id"),
    word("decision", DECISIONS),
    *_text("reason", "detail", "option", "effect", "reason_text", "actor"),
    *_counts("lease_token", "revision"),
    word("verdict", (*StateClass, *CallError), "observation"),
    word("delivery", Delivery, "observation"),
    Column("progress", Holds.SHARE, inside="observation"),
    Column("retry_after", Holds.SECONDS, field="retry_after_s", inside="observation"),
    Column("poll_hint", Holds.SECONDS, field="hint_s", inside="observation"),
    _time("provider_ended_at", "ended_at", "observation"),
    *_text("purpose", "action", "outcome", "account", "before_state"),
    *_counts("transport_failures_used", "rate_limits_used"),
    *_text("chain"),
    *_counts("op_seq", "tx", "batch"),
    Column("up", Holds.MILLISECONDS),
    *_text("boot", "prev_hash", "hash"),
)
"""The fields of an event (SPEC 11, STORE 1.1), and in words what it was about and what its answer told.

A value stands where the event has it; what a line lacks is missing, not guessed. `provider` is stored with an operation's first
event only.
"""
