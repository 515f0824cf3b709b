"""The attempts of an operation: each request that was reserved or sent, and what came back, as a timeline (SPEC L1, U2).

Only this file decides what counts as one attempt and how it is marked. Front ends draw them as `●─○─✕` and list them as
requests and answers; they read the operation's events and nothing else. Provider text is passed on as it is, because this is
data: whoever draws it makes it inert (U3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from statistics import median
from types import MappingProxyType
from typing import Any

from jobconsole.core.events import Kind
from jobconsole.core.judging.answer import CallError
from jobconsole.core.vocabulary import Phase

_CALL_ERRORS = frozenset(CallError)


class Outcome(StrEnum):
    """What became of an attempt."""

    UNDER_WAY = "under_way"
    SEEN = "seen"  # the provider said how the job stands
    NOT_SEEN = "not_seen"  # an answer that says nothing about the job, or none
    GOOD_END = "good_end"
    BAD_END = "bad_end"
    NOT_SENT = "not_sent"  # reserved and counted, but nothing left


_MARKS: Mapping[Outcome, tuple[str, str]] = MappingProxyType(
    {
        Outcome.UNDER_WAY: ("◌", "."),
        Outcome.SEEN: ("●", "o"),
        Outcome.NOT_SEEN: ("○", "-"),
        Outcome.GOOD_END: ("✔", "+"),
        Outcome.BAD_END: ("✕", "x"),
        Outcome.NOT_SENT: ("·", "_"),
    }
)
"""Unicode and ASCII, one column each; every outcome has a shape of its own (U4)."""


def mark(outcome: Outcome, *, is_ascii: bool = False) -> str:
    """One character for an outcome."""
    return _MARKS[outcome][1 if is_ascii else 0]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request. `number` counts status requests, other actions have none; `said` is the state, or what was wrong."""

    at: datetime  # when it was reserved, which is directly before it was sent
    purpose: str  # status, confirm, list, submit, cancel
    outcome: Outcome = Outcome.UNDER_WAY
    number: int | None = None
    answered_at: datetime | None = None
    http_status: int | None = None
    said: str = ""
    request_id: str | None = None
    retry_after_seconds: float | None = None
    next_at: datetime | None = None
    next_source: str | None = None

    @property
    def seconds(self) -> float | None:
        """From the reservation to the recorded answer; None while none is recorded."""
        return None if self.answered_at is None else max(0.0, (self.answered_at - self.at).total_seconds())

    @property
    def latency_seconds(self) -> float | None:
        """How long the provider took to answer this status request; None where no answer came, and for other actions."""
        return self.seconds if self.number is not None and self.http_status is not None else None


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long the provider took to answer, poll by poll, in seconds."""

    seconds: tuple[float, ...]

    @property
    def p50(self) -> float:
        """Half of the answers came as fast as this, or faster."""
        return median(self.seconds)


def latencies(found: Iterable[Attempt]) -> Latencies | None:
    """The latencies of these attempts, the oldest first; None where fewer than two are known: one tells nothing."""
    known = tuple(each.latency_seconds for each in found if each.latency_seconds is not None)
    return Latencies(known) if len(known) > 1 else None


def attempts(events: Iterable[Mapping[str, Any]]) -> list[Attempt]:
    """The attempts told by the parsed stored lines of one operation, in chain order."""
    found: list[Attempt] = []
    open_at: dict[str, int] = {}  # what is under way -> its place in `found`
    for event in events:
        kind = event.get("kind")
        if kind == Kind.CHECK_RESERVED:
            open_at["check"] = len(found)
            found.append(_reserved(event))
        elif kind == Kind.ACTION_STARTED:
            open_at[str(event.get("action"))] = len(found)
            found.append(Attempt(_moment(event["at"]), str(event.get("action"))))
        else:
            for slot in _slots(event):
                place = open_at.pop(slot, None)
                if place is not None:
                    found[place] = _ended(found[place], event)
        if kind == Kind.CLOSED and found:
            found[-1] = _last(found[-1], str(event.get("phase")))
    return found


def _slots(event: Mapping[str, Any]) -> tuple[str, ...]:
    """Which attempts this event ends."""
    kind = event.get("kind")
    if kind in (Kind.CHECK_ANSWERED, Kind.CHECK_WITHHELD, Kind.LEASE_LOST):
        return ("check",)
    if kind == Kind.SUBMIT_ANSWERED:
        return ("submit",)
    return (str(event.get("action")),) if kind == Kind.ACTION_ENDED else ()


def _reserved(event: Mapping[str, Any]) -> Attempt:
    return Attempt(_moment(event["at"]), str(event.get("purpose", "status")), number=event.get("status_requests_used"))


def _ended(attempt: Attempt, event: Mapping[str, Any]) -> Attempt:
    kind, seen = event.get("kind"), event.get("observation") or {}
    done = replace(
        attempt,
        answered_at=_moment(event["at"]),
        http_status=event.get("http_status"),
        request_id=event.get("provider_request_id"),
        retry_after_seconds=seen.get("retry_after_s"),
        next_at=_moment(planned) if (planned := event.get("planned_at") or event.get("next_at")) else None,
        next_source=event.get("delay_source"),
    )
    if kind in (Kind.CHECK_WITHHELD, Kind.LEASE_LOST):
        outcome = Outcome.NOT_SENT if kind == Kind.CHECK_WITHHELD else Outcome.NOT_SEEN
        return replace(done, outcome=outcome, said=str(event.get("reason") or kind).replace("_", " "))
    if kind == Kind.ACTION_ENDED:
        said = str(event.get("outcome") or "").replace("_", " ")
        is_taken = event.get("outcome") in ("accepted", "confirmed")
        return replace(done, outcome=Outcome.SEEN if is_taken else Outcome.NOT_SEEN, said=said)
    is_error = seen.get("verdict") in _CALL_ERRORS
    told = event.get("detail") if is_error else seen.get("state") or seen.get("verdict")
    return replace(done, outcome=Outcome.NOT_SEEN if is_error else Outcome.SEEN, said=str(told or ""))


def _last(attempt: Attempt, phase: str) -> Attempt:
    """The last look at a job that ended shows how it ended."""
    if attempt.outcome is not Outcome.SEEN:
        return attempt
    if phase in (Phase.SUCCEEDED, Phase.COMPLETED_WITH_ERRORS):
        return replace(attempt, outcome=Outcome.GOOD_END)
    return replace(attempt, outcome=Outcome.BAD_END) if phase in (Phase.FAILED, Phase.EXPIRED) else attempt


def _moment(stamped: str) -> datetime:
    return datetime.fromisoformat(stamped)
