"""Rate-limit headers of an answer: the IETF fields and the `X-` spellings (B9).

Only this file decides what they say about the account's quota. `retry_after.py` calls it. What cannot be read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from jobconsole.core.judging.answer import RateLimit
from jobconsole.core.moments import moment
from jobconsole.core.numbers import number, whole

_RESET_IS_A_DATE_FROM = 1e9  # unix seconds since 2001; no quota resets after that many seconds
_LONGEST_RESET_S = 315_360_000.0
_FAMILIES = ("ratelimit", "x-ratelimit", "x-rate-limit")
_FIRST_NUMBER = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(?:[,;].*)?", re.ASCII | re.DOTALL)
_PARAMETER = re.compile(r"(?:^|[;,\s])(q|r|t|limit|remaining|reset)\s*=\s*([0-9]{1,15})(?![0-9.])", re.ASCII)
_LONG_NAMES = {"q": "limit", "r": "remaining", "t": "reset"}


def rate_limit(headers: Sequence[tuple[str, str]], at: datetime | None) -> RateLimit | None:
    """The quota that `headers` (lower-case names) tell, of several the one that is nearest to empty; None without any.

    `at` is the time of the answer: some services send the reset as a date.
    """
    told = [(name, value) for name, value in headers if "rate" in name]
    found = [*_structured(told), *_plain(told, at)] if told else []
    return min(found, key=_share_left, default=None)


def _structured(headers: Iterable[tuple[str, str]]) -> Iterable[RateLimit]:
    """`RateLimit: "default";r=50;t=30`, with its limit in `RateLimit-Policy: "default";q=100`; `limit=100, remaining=50`."""
    policy = next((dict(_PARAMETER.findall(value)) for name, value in headers if name == "ratelimit-policy"), {})
    for name, value in headers:
        if name != "ratelimit":
            continue
        members = [value] if "remaining" in value else value.split(",")
        for member in members:
            read = {_LONG_NAMES.get(key, key): int(digits) for key, digits in _PARAMETER.findall(member)}
            if "remaining" in read:
                limit = read.get("limit", whole(policy.get("q")))
                reset = read.get("reset")
                yield RateLimit(
                    limit=limit,
                    remaining=read["remaining"],
                    reset_seconds=None if reset is None else min(float(reset), _LONGEST_RESET_S),
                )


def _plain(headers: Iterable[tuple[str, str]], at: datetime | None) -> Iterable[RateLimit]:
    values = dict(headers)
    for family in _FAMILIES:
        remaining = whole(_first(values.get(f"{family}-remaining")))
        if remaining is not None:
            yield RateLimit(
                limit=whole(_first(values.get(f"{family}-limit"))),
                remaining=remaining,
                reset_seconds=_reset(values.get(f"{family}-reset"), at),
            )


def _first(value: str | None) -> str | None:
    match = _FIRST_NUMBER.fullmatch(value) if value is not None else None
    return match[1] if match else None


def _reset(value: str | None, at: datetime | None) -> float | None:
    """Seconds until the quota is full again: as sent, or measured against the answer's time where it is a date."""
    seconds = number(_first(value))
    if value is not None and (seconds is None or seconds >= _RESET_IS_A_DATE_FROM):
        until = moment(value if seconds is None else seconds, about=at)
        seconds = None if until is None or at is None else (until - at).total_seconds()
    return None if seconds is None else min(max(0.0, seconds), _LONGEST_RESET_S)


def _share_left(rate: RateLimit) -> float:
    return (rate.remaining or 0) / rate.limit if rate.limit else float(rate.remaining or 0)
