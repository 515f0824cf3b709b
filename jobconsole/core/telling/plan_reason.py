"""Why a check is planned for its time, and why not for an earlier one: a pair of sentences for each delay source (SPEC U7).

Only this file decides these words; `why.py` puts them together with what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.durations import duration_text
from jobconsole.core.events import Kind
from jobconsole.core.telling.event_group import Event, moment
from jobconsole.core.telling.standing import Standing
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import actor_text, clock_text, words
from jobconsole.core.vocabulary import CLOCK_SET_BACK, DelaySource

_LONGEST = 80  # characters of a name or a reason


def because(standing: Standing, beside: datetime) -> str:
    """Half a sentence after `because`, from the event that made the plan; dates stand where they differ from `beside`."""
    cause = standing.cause
    if cause is None:
        return f"its delay comes from {words(standing.source) or 'nowhere'}"
    if cause.get("kind") == Kind.CHECK_WITHHELD:
        reason = words(inert(str(cause.get("reason")), _LONGEST))
        return f"the request at {_clock(cause, beside)} was kept back ({reason}) and is tried again"
    if cause.get("reason") == CLOCK_SET_BACK:
        return f"the clock had been set back when it was {_clock(cause, beside)}, and the whole delay counts anew from there"
    say = _BECAUSE.get(standing.source)
    return say(standing, cause, beside) if say is not None else f"its delay comes from {words(standing.source)}"


def not_earlier(standing: Standing, contract: Contract | None) -> str:
    """Half a sentence after `not earlier:`."""
    if standing.source == DelaySource.LOCAL_BACKOFF and standing.cause is not None and standing.cause.get("is_tracked"):
        return "there was no record before"
    if standing.source == DelaySource.LOCAL_BACKOFF and contract is not None:
        schedule = contract.schedule
        first, most = duration_text(schedule.base), duration_text(schedule.max)
        return f"the delay grows so that the requests last (from {first}, times {schedule.factor:g}, at most {most})"
    if standing.source == DelaySource.MIN_INTERVAL and contract is not None:
        return f"the contract's least interval is {duration_text(contract.hints.min_interval)}"
    return _NOT_EARLIER.get(standing.source, "nothing asks for it")


def _retry_after(standing: Standing, cause: Event, beside: datetime) -> str:
    wait = (cause.get("observation") or {}).get("retry_after_s")
    if wait is None:
        return "a wait that the provider asked for (Retry-After) was still running"
    return f"the provider asked at {_clock(cause, beside)} to wait {wait:.0f} s (Retry-After)"


def _hint(standing: Standing, cause: Event, beside: datetime) -> str:
    hint = (cause.get("observation") or {}).get("hint_s")
    if hint is None:
        return "the provider had said when to ask again"
    return f"the provider said at {_clock(cause, beside)} to ask again after {hint:g} s"


def _backoff(standing: Standing, cause: Event, beside: datetime) -> str:
    if cause.get("is_tracked"):
        return "a job that is adopted is looked at right away"
    if standing.planned_at is None:
        return "local backoff gave this time"
    delay = duration_text(standing.planned_at - moment(cause["at"]))
    return f"local backoff drew {delay} after the answer at {_clock(cause, beside)}"


def _final_check(standing: Standing, cause: Event, beside: datetime) -> str:
    stops = clock_text(standing.stops_at, beside) if standing.stops_at else "that is set"
    return f"the delay would have passed the deadline {stops}, and one check fits just before it"


def _manual(standing: Standing, cause: Event, beside: datetime) -> str:
    return f"{_who(cause)} decided so at {_clock(cause, beside)}"


def _pause(standing: Standing, cause: Event, beside: datetime) -> str:
    return f"{_who(cause)} paused it at {_clock(cause, beside)}"


def _grace(standing: Standing, cause: Event, beside: datetime) -> str:
    return f"the provider did not find the job at {_clock(cause, beside)}, and so early that means nothing yet"


def _always(text: str) -> Callable[[Standing, Event, datetime], str]:
    return lambda standing, cause, beside: text


_BECAUSE: Mapping[str, Callable[[Standing, Event, datetime], str]] = MappingProxyType(
    {
        DelaySource.PROVIDER_RETRY_AFTER: _retry_after,
        DelaySource.PROVIDER_POLL_HINT: _hint,
        DelaySource.LOCAL_BACKOFF: _backoff,
        DelaySource.ADAPTIVE: _always("the adaptive schedule gave this time"),
        DelaySource.FINAL_CHECK: _final_check,
        DelaySource.MANUAL_EXTENSION: _manual,
        DelaySource.NOT_FOUND_GRACE: _grace,
        DelaySource.ACCOUNT_HOLD: _always("the whole account was held back until then"),
        DelaySource.ACCOUNT_LIMIT: _always("the account had no request or slot free before"),
        DelaySource.MIN_INTERVAL: _always("the contract sets a least interval between two requests"),
        DelaySource.PAUSE: _pause,
    }
)

_NOT_EARLIER: Mapping[str, str] = MappingProxyType(
    {
        DelaySource.PROVIDER_RETRY_AFTER: "a provider's wait is a minimum",
        DelaySource.PROVIDER_POLL_HINT: "a provider's hint is a minimum",
        DelaySource.LOCAL_BACKOFF: "the delay grows so that the requests last",
        DelaySource.ADAPTIVE: "the schedule expects no news before",
        DelaySource.FINAL_CHECK: "the drawn delay is longer still, and a later look sees more",
        DelaySource.MANUAL_EXTENSION: "nothing was sent until the person decided, nor against a provider's wait",
        DelaySource.NOT_FOUND_GRACE: "a new job needs time to become visible",
        DelaySource.ACCOUNT_HOLD: "a hold is for every operation of the account",
        DelaySource.ACCOUNT_LIMIT: "all operations of the account share one budget",
        DelaySource.MIN_INTERVAL: "a least interval is a minimum",
        DelaySource.PAUSE: "a pause is one check at its time and none before",
    }
)


def _who(cause: Event) -> str:
    actor = str(cause.get("actor", ""))
    return inert(actor_text(actor), _LONGEST) if actor.startswith("person:") else "a person"


def _clock(cause: Event, beside: datetime) -> str:
    return clock_text(moment(cause["at"]), beside)
