"""What the headers of an answer say about time: Retry-After in all its forms, Date, Age (B7, B19, X2).

Only this file decides which waiting time a header names, and which ones are rejected. `envelope.py` calls it on the headers as
they were sent, before they are joined. A valid wait is finite and not negative; zero and a date in the past mean "now".
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobconsole.core.judging.answer import RateLimit, RejectedHint
from jobconsole.core.judging.rate_headers import rate_limit
from jobconsole.core.moments import http_date
from jobconsole.core.numbers import why_no_number

LONGEST_WAIT_S = 315_360_000.0  # ten years: a longer one is as valid and as long, and no date overflows
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # places two-digit years where no time is known
SHOWN = 100  # characters of a rejected value that are kept

_PER_SECOND = {"retry-after": 1, "retry-after-ms": 1_000, "x-ms-retry-after-ms": 1_000}
_SECONDS = re.compile(r"0*([0-9]{1,12})(\.[0-9]+)?", re.ASCII)
_HUGE = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """What an answer's headers say. `at` is the provider's own time of the answer, ours where it sent none, or unknown."""

    at: datetime | None
    retry_after_s: float | None = None
    rejected: tuple[RejectedHint, ...] = ()
    rate: RateLimit | None = None
    age_s: float | None = None
    clock_skew_ms: int | None = None


def read_headers(headers: Sequence[tuple[str, str]], received_at: datetime | None) -> HeaderFacts:
    """The facts in `headers` (names in any case) of an answer that came at `received_at`, where that is known."""
    named = [(name.lower(), value) for name, value in headers]
    about = received_at or _ANY_TIME
    date = next((at for name, value in named if name == "date" and (at := http_date(value, about=about))), None)
    at = date or received_at
    waits: list[float] = []
    rejected: list[RejectedHint] = []
    for name, value in named:
        if name in _PER_SECOND:
            wait = _wait(name, value, at)
            if wait is None:
                rejected.append(RejectedHint(what=name, value=_shown(value), why=_why(value)))
            else:
                waits.append(wait)
    return HeaderFacts(
        at=at,
        retry_after_s=max(waits, default=None),
        rejected=tuple(rejected),
        rate=rate_limit(named, at),
        age_s=next((float(min(int(v[:12]), 10**12)) for n, v in named if n == "age" and v.isascii() and v.isdigit()), None),
        clock_skew_ms=None if date is None or received_at is None else round((date - received_at) / timedelta(milliseconds=1)),
    )


def _wait(name: str, value: str, at: datetime | None) -> float | None:
    """Seconds to wait, rounded up, at most ten years; None where `value` names no time."""
    text = value.strip(" \t")
    if _HUGE.fullmatch(text):
        return _seconds(text, _PER_SECOND[name])
    if name != "retry-after":
        return None
    if at is not None and (until := http_date(text, about=at)) is not None:
        return float(min(max(0, math.ceil((until - at).total_seconds())), LONGEST_WAIT_S))
    parts = [part.strip(" \t") for part in text.split(",")]  # several fields that a proxy joined: the longest
    if len(parts) > 1 and all(_HUGE.fullmatch(part) for part in parts):
        return max(_seconds(part, 1) for part in parts)
    return None


def _seconds(digits: str, per_second: int) -> float:
    match = _SECONDS.fullmatch(digits)
    if match is None:  # more digits than any wait has
        return LONGEST_WAIT_S
    amount = int(match[1]) + float(match[2] or 0)
    return min(float(math.ceil(amount / per_second)), LONGEST_WAIT_S)


def _why(value: str) -> str:
    return why_no_number(value) if value.strip() else "empty"


def _shown(value: str) -> str:
    return value.encode("utf-8", "replace").decode()[:SHOWN]
