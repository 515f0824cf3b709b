"""Durations as people write them: `45s`, `1h30m`, `2.5s`.

Only this file decides what a duration looks like (CONTRACT.md), and how it is rounded where whole seconds are shown: what has
passed counts the seconds that are over, what is left also the one that has begun, so that no bound looks reached before it is.
Contracts, the command line and the Python face read them by it; front ends print them by it.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

from jobconsole.errors import InvalidValue

LONGEST = timedelta(days=36_500)  # beyond a century a duration is a mistake, and sums with dates would overflow

_MICROSECONDS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_PART = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(ms|s|m|h|d)")
_SPOKEN = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
_SECOND = timedelta(seconds=1)
_MEND = "write digits and a unit out of ms, s, m, h, d, such as 45s or 1h30m"


def parse_duration(text: str) -> timedelta:
    """The duration that `text` names: digits, optional decimals, a unit; compounds add up; positive and finite.

    Raises `InvalidValue` for anything else: no sign, no blank, no bare number, no unit twice.
    """
    total, at, units = Decimal(0), 0, set[str]()
    while part := _PART.match(text, at):
        amount, unit = part.groups()
        if unit in units:
            raise InvalidValue(f"duration {text[:40]!r} names {unit} twice; {_MEND}")
        units.add(unit)
        total += Decimal(amount) * _MICROSECONDS[unit]
        at = part.end()
    if at != len(text) or not units:
        raise InvalidValue(f"{text[:40]!r} is no duration; {_MEND}")
    if total < 1 or total > LONGEST // timedelta(microseconds=1):
        raise InvalidValue(f"duration {text[:40]!r} is out of range; it must be above zero and below a century")
    return timedelta(microseconds=int(total))


def duration_text(duration: timedelta) -> str:
    """`duration` for people and for `parse_duration`: `1h30m`, `45s`, `2.5s`, `250ms`; from a minute on whole seconds."""
    milliseconds = abs(duration) // timedelta(milliseconds=1)
    sign = "-" if duration < timedelta(0) and milliseconds else ""
    if 0 < milliseconds < 1_000:
        return f"{sign}{milliseconds}ms"
    if milliseconds < 60_000:
        return f"{sign}{milliseconds / 1_000:g}s"
    rest, parts = milliseconds // 1_000, list[str]()
    for unit, size in _SPOKEN:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return sign + "".join(parts)


def passed_text(duration: timedelta) -> str:
    """What has passed, in whole seconds that are over: `9s` for 9.9 s; `0s` where nothing has."""
    return duration_text(max(duration, timedelta(0)) // _SECOND * _SECOND)


def left_text(duration: timedelta) -> str:
    """What is left, in whole seconds of which the last has begun: `10s` for 9.1 s; `0s` where nothing is."""
    return duration_text(-(-max(duration, timedelta(0)) // _SECOND) * _SECOND)
