"""How times are shown: one way for all screens at once, which `t` changes (UX: one formatter, the zone always in sight).

Only this file decides what an age, a countdown or a point in time looks like in the dashboard.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_BEGUN = timedelta(milliseconds=999)  # what is left counts the second that has begun (core/durations.py)


class TimeStyle(StrEnum):
    """Age says how long ago or how soon; local and UTC say when."""

    AGE = "age"
    LOCAL = "local"
    UTC = "utc"

    @property
    def next(self) -> TimeStyle:
        """The style that `t` changes to."""
        styles = list(TimeStyle)
        return styles[(styles.index(self) + 1) % len(styles)]


def age_text(age: timedelta) -> str:
    """At most six columns: `45s`, `12m`, `1h05m`, `3h20m`, `2d03h`, `41d`."""
    seconds = max(0, int(age.total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h{seconds % _HOUR // _MINUTE:02}m"
    if seconds < 10 * _DAY:
        return f"{seconds // _DAY}d{seconds % _DAY // _HOUR:02}h"
    return f"{seconds // _DAY}d"


def short_age_text(age: timedelta) -> str:
    """At most four columns, the largest unit alone: `45s`, `12m`, `3h`, `41d`."""
    seconds = max(0, int(age.total_seconds()))
    for unit, size in (("d", _DAY), ("h", _HOUR), ("m", _MINUTE)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def zoned(at: datetime, style: TimeStyle) -> datetime:
    """`at` in the zone of the style; ages are measured, so that UTC does for them."""
    return at.astimezone() if style is TimeStyle.LOCAL else at.astimezone(UTC)


def zone_name(at: datetime, style: TimeStyle) -> str:
    """`UTC`, or the local zone's own short name."""
    return (zoned(at, style).tzname() or "local") if style is TimeStyle.LOCAL else "UTC"


def clock(at: datetime, now: datetime, style: TimeStyle) -> str:
    """`HH:MM:SS`; `11-28 14:02` where it is not the day of `now`, with the year in front where it is not that either."""
    at, now = zoned(at, style), zoned(now, style)
    if at.date() == now.date():
        return f"{at:%H:%M:%S}"
    return f"{at:%m-%d %H:%M}" if at.year == now.year else f"{at.date().isoformat()} {at:%H:%M}"


def short_clock(at: datetime, now: datetime, style: TimeStyle) -> str:
    """At most eleven columns: the clock; of another year the day alone."""
    at, now = zoned(at, style), zoned(now, style)
    return clock(at, now, style) if at.year == now.year else at.date().isoformat()


def zoned_clock(at: datetime, now: datetime, style: TimeStyle) -> str:
    """The clock with its zone: `14:02:19 UTC`."""
    return f"{clock(at, now, style)} {zone_name(at, style)}"


def since_text(at: datetime, now: datetime, style: TimeStyle) -> str:
    """A time behind us: `12m`, or the clock; at most eleven columns."""
    return age_text(now - at) if style is TimeStyle.AGE else short_clock(at, now, style)


def until_text(at: datetime, now: datetime, style: TimeStyle) -> str:
    """A time ahead of us: `in 8s`, `now` once it has come, or the clock; at most eleven columns."""
    if style is not TimeStyle.AGE:
        return short_clock(at, now, style)
    return "now" if at <= now else f"in {age_text(at - now + _BEGUN)}"


def full_text(at: datetime, now: datetime, style: TimeStyle) -> str:
    """A time with its zone, and how far away it is: `14:02:19 UTC (in 8s)`, `13:50:04 UTC (12m ago)`."""
    away = f"in {age_text(at - now + _BEGUN)}" if at > now else f"{age_text(now - at)} ago"
    return f"{zoned_clock(at, now, style)} ({away})"
