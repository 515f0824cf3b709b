"""The words of jobconsole: what a phase, a reason, a delay source or an option is called, and its glyph.

Only this file decides how these are said to people and programs; `views.py`, `story.py` and `why.py` build on it, so that every
surface says the same (SPEC 1: these words, and only these). The words of an outcome are in `outcome.py`. Nothing here is text
from outside: what a provider said is added, and made inert, by whoever shows it. Times are UTC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from jobconsole.core.deciding.escalation import is_past_business_deadline, needs_extension, pause_ends
from jobconsole.core.operation import Operation, Option
from jobconsole.core.vocabulary import DelaySource, Phase, Reason, StateClass

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Contract

# ---- glyphs ------------------------------------------------------------------------------------------------------------------
_GLYPHS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        Phase.SUBMITTING: ("◌", "."),
        Phase.WAITING: ("▶", ">"),
        Phase.ESCALATED: ("⚑", "!"),
        Phase.SUCCEEDED: ("✔", "+"),
        Phase.COMPLETED_WITH_ERRORS: ("◐", "~"),
        Phase.FAILED: ("✖", "x"),
        Phase.CANCELLED: ("⊘", "-"),
        Phase.EXPIRED: ("◷", "*"),
        Phase.NO_OUTCOME: ("○", "o"),
        Phase.ABANDONED: ("◇", "/"),
        StateClass.PARTIAL: ("◐", "~"),
        StateClass.NEEDS_HUMAN: ("⚑", "!"),
        StateClass.CONTRADICTION: ("≠", "#"),
        StateClass.UNKNOWN: ("?", "?"),
    }
)
"""Unicode and ASCII, one column each. Classes that share a phase's name share its glyph."""


def glyph(state: Phase | StateClass, *, is_ascii: bool = False) -> str:
    """One character for a phase or a state class; it only stands beside the word, never for it (U4)."""
    return _GLYPHS[state][1 if is_ascii else 0]


def words(name: str) -> str:
    """A stable name (`completed_with_errors`) as words: `completed with errors`."""
    return name.replace("_", " ")


def marked(state: Phase | StateClass, *, is_ascii: bool = False) -> str:
    """Glyph and word: `▶ waiting`."""
    return f"{glyph(state, is_ascii=is_ascii)} {words(state)}"


# ---- reasons and delay sources -----------------------------------------------------------------------------------------------
_REASONS: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.DEADLINE_EXCEEDED: "the deadline passed before the job's end was known",
        Reason.REQUEST_BUDGET_EXHAUSTED: "every status request that was allowed is used",
        Reason.TRANSPORT_FAILURES_EXHAUSTED: "the provider could not be seen too often",
        Reason.RATE_LIMITED: "the provider answered too often that it gets too many requests",
        Reason.UNKNOWN_STATE: "the provider named a state that its contract does not know",
        Reason.CONTRADICTORY_RESPONSE: "the provider's answer contradicts itself or the record",
        Reason.AUTHORIZATION_DENIED: "the provider refused the account's credential",
        Reason.PROVIDER_FAILURE: "the provider says that the job failed",
        Reason.JOB_NOT_FOUND: "the provider does not find the job",
        Reason.INTEGRATION_ERROR: "the job cannot be followed by its contract",
        Reason.NEEDS_HUMAN_AT_PROVIDER: "only a person at the provider can move the job",
        Reason.SUBMISSION_AMBIGUOUS: "nobody knows whether the submission was accepted",
        Reason.SUBMISSION_REFUSED: "the provider refused the submission",
        Reason.RESULT_INVALID: "the result is not what the contract promises",
        Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE: "the provider asks to wait past the deadline",
        Reason.CANCEL_UNCONFIRMED: "cancel was asked for, and nobody knows whether the job stopped",
        Reason.APPROVAL_REQUIRED: "each request of this kind needs an approval",
        Reason.EXTENSION_REQUESTED: "an agent asks for an extension",
        Reason.CANCEL_REQUESTED: "an agent asks for a cancel",
        Reason.COMPLETED_WITH_ERRORS: "the job ended, and some of its items failed",
        Reason.JOB_EXPIRED: "the provider has given the job up or forgotten it",
        Reason.NO_OUTCOME: "the job ended with neither success nor failure",
        Reason.CANCELLED_ELSEWHERE: "the job was cancelled, and nobody here asked for it",
    }
)

_SAYS_NOTHING = re.compile(r"deadline( reached)?|HTTP [0-9]{3}")

_SOURCES: Mapping[DelaySource, str] = MappingProxyType(
    {
        DelaySource.PROVIDER_RETRY_AFTER: "provider guidance",
        DelaySource.PROVIDER_POLL_HINT: "provider hint",
        DelaySource.LOCAL_BACKOFF: "local backoff",
        DelaySource.ADAPTIVE: "adaptive schedule",
        DelaySource.FINAL_CHECK: "final check before the deadline",
        DelaySource.MANUAL_EXTENSION: "a person's decision",
        DelaySource.NOT_FOUND_GRACE: "grace for a job not visible yet",
        DelaySource.ACCOUNT_HOLD: "account hold",
        DelaySource.ACCOUNT_LIMIT: "account limit",
        DelaySource.MIN_INTERVAL: "the contract's least interval",
        DelaySource.PAUSE: "a person's pause",
    }
)


def reason_text(reason: Reason) -> str:
    """Why a person is asked, as half a sentence: `every status request that was allowed is used`."""
    return _REASONS[reason]


def says_more(detail: str) -> bool:
    """Whether an escalation's sentence tells more than its reason and the HTTP code, which are shown anyway."""
    return bool(detail) and not _SAYS_NOTHING.fullmatch(detail)


def source_text(source: DelaySource | str) -> str:
    """Where the time of the next check comes from: `from local backoff`, `from provider guidance` (X22)."""
    return f"from {_SOURCES[DelaySource(source)] if source in _SOURCES else words(source)}"


# ---- times -------------------------------------------------------------------------------------------------------------------
def clock_text(at: datetime, beside: datetime | None = None) -> str:
    """`HH:MM:SS` in UTC, with the date in front where it is not the day of `beside`."""
    at = at.astimezone(UTC)
    is_other_day = beside is not None and at.date() != beside.astimezone(UTC).date()
    return f"{at.date().isoformat()} {at:%H:%M:%S}" if is_other_day else f"{at:%H:%M:%S}"  # %Y pads no year on Linux


def utc_text(at: datetime, beside: datetime | None = None) -> str:
    """`10:40:00 UTC`: the clock in a sentence for people; what programs read has RFC 3339 instead."""
    return f"{clock_text(at, beside)} UTC"


def counted(number: int, noun: str) -> str:
    """`1 check`, `4 checks`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def actor_text(actor: str) -> str:
    """Who acted: `ana` for `person:ana`, `worker 4711-a3` for `worker:4711-a3`."""
    kind, _, name = actor.partition(":")
    return name if kind == "person" and name else f"{kind} {name}".strip()


# ---- options -----------------------------------------------------------------------------------------------------------------
_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "extend": "extend once",
        "pause": "pause",
        "check_once": "check once",
        "cancel": "cancel at provider",
        "inspect": "inspect",
        "close": "close",
        "adopt_contract": "adopt the contract file",
        "credential_mended": "credential mended",
        "use_credential": "use another credential",
        "replay_submit": "replay the submission",
        "adopt": "adopt a job id",
        "submit_again": "submit again",
        "accept_result": "accept the result",
        "approve_once": "approve one request",
    }
)


@dataclass(frozen=True, slots=True)
class OptionWords:
    """An option in words (H2). `cost` is what it may use up, `change` what stands before and after, `text` all in one line."""

    title: str
    cost: str
    change: str
    text: str


def option_words(option: Option, op: Operation, now: datetime, contract: Contract | None = None) -> OptionWords:
    """What choosing `option` costs and does, with before → after where a limit moves.

    `contract` is the one that judges the operation; without it, a pause cannot tell that it needs an extension.
    """
    title = _TITLES.get(option.name, words(option.name))
    cost, change = _cost(option), _change(option, op, now, contract)
    if option.name == "extend":
        parts = [cost, change]
    elif option.name == "cancel":
        parts = [option.effect.rstrip("."), f"costs {cost}"]
    else:
        parts = [option.effect, change]
    return OptionWords(title, cost, change, f"{title}: {'; '.join(part for part in parts if part)}")


def _cost(option: Option) -> str:
    if option.name == "extend":
        checks = "check" if option.checks == 1 else "checks"
        return f"{counted(option.minutes, 'minute')} and {option.checks:,} more {checks}"
    if option.name == "cancel":
        return f"up to {counted(option.checks, 'check')} in {counted(option.minutes, 'minute')} to learn how it ended"
    if option.name in ("replay_submit", "submit_again"):
        return "1 submission"
    return counted(option.checks, "check") if option.checks else "no request"


def _change(option: Option, op: Operation, now: datetime, contract: Contract | None) -> str:
    if option.name == "extend":
        return ", ".join(_extended(option, op, now))
    if option.name == "pause":
        return ", ".join(_paused(option, op, now, contract))
    if option.name in ("check_once", "credential_mended", "approve_once", "adopt_contract", "use_credential"):
        return _one_request(op)
    return ""


def _extended(option: Option, op: Operation, now: datetime) -> list[str]:
    """Each limit that moves, before and after (X6)."""
    until = max(now, op.deadline_at) + timedelta(minutes=option.minutes)
    moved = [f"deadline {clock_text(op.deadline_at, now)} -> {utc_text(until, now)}"]
    for name, limit, more in (
        ("checks", op.max_status_requests, option.checks),
        ("transport failures", op.max_transport_failures, option.failures),
        ("rate-limit answers", op.max_rate_limits, option.rate_limits),
    ):
        if more:
            moved.append(f"{name} {limit:,} -> {limit + more:,}")
    moved += _past_business_deadline(op, until, now)
    times = op.granted.times
    moved.append(f"extensions {times} -> {times + 1} of {times + option.times_left}")
    return moved


def _paused(option: Option, op: Operation, now: datetime, contract: Contract | None) -> list[str]:
    """When the one check comes, and the deadline where the pause is an extension as well (X12)."""
    if option.until_at is None:
        return []
    moved = [f"one check at {utc_text(option.until_at, now)}"]
    if contract is not None and needs_extension(contract, option.until_at, op):
        until = pause_ends(contract, option.until_at)
        after = max(op.deadline_at, until)
        moved.append(f"counts as an extension: deadline {clock_text(op.deadline_at, now)} -> {utc_text(after, now)}")
        moved += _past_business_deadline(op, until, now)
    return moved


def _past_business_deadline(op: Operation, until: datetime, now: datetime) -> list[str]:
    """Watching past the business deadline is said in so many words (B14)."""
    if op.business_deadline_at is None or not is_past_business_deadline(op, until):
        return []
    return [f"past the business deadline {utc_text(op.business_deadline_at, now)}"]


def _one_request(op: Operation) -> str:
    """One more request: out of what is left, or a grant of one where the limit is spent (X8)."""
    used, most = op.status_requests_used, op.max_status_requests
    return f"checks {most:,} -> {most + 1:,}" if used >= most else f"used {used:,} -> {used + 1:,} of {most:,}"
