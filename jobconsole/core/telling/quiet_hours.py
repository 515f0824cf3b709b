"""Quiet hours: the part of each day in which nobody is told of anything, in a named time zone (UX 1a, notifications).

Only this file decides which moments are quiet and when that ends. `notify_settings.py` reads them; whoever tells people asks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_HOURS = re.compile(r"\s*([01]?[0-9]|2[0-3]):([0-5][0-9])\s*-\s*([01]?[0-9]|2[0-3]):([0-5][0-9])\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `begins` to `ends` by the wall clock of `zone`, over midnight where `ends` is the earlier one; never empty.

    A time that comes twice when clocks are set back begins them at its first and ends them at its second coming. One that is
    skipped when clocks are set forward begins them with the gap, and ends them as far behind the gap as it would have stood in
    it; hours that end with the gap and would have begun in it last as long behind it as on any other day.
    """

    begins: time
    ends: time
    zone: ZoneInfo

    def end_of(self, now: datetime) -> datetime | None:
        """When the quiet hours end that hold at `now`, in UTC; None where it is not quiet."""
        today = now.astimezone(self.zone).date()
        for day in (today - timedelta(days=1), today):
            begin, end = self._on(day)
            if begin <= now < end:
                return end
        return None

    def _on(self, day: date) -> tuple[datetime, datetime]:
        """The quiet hours that begin on this day. Compared in UTC: within one zone, Python compares wall clocks."""
        last = day if self.begins < self.ends else day + timedelta(days=1)
        first_wall, last_wall = datetime.combine(day, self.begins), datetime.combine(last, self.ends)
        begin, end = self._beginning(first_wall), max(self._comings(last_wall))
        return begin, end if end > begin else begin + (last_wall - first_wall)

    def _beginning(self, wall: datetime) -> datetime:
        """When this wall clock comes first, or when the gap comes that skips it."""
        first, second = self._comings(wall)
        if first <= second:
            return first
        tick, new = timedelta(seconds=1), first.astimezone(self.zone).utcoffset()
        gap_at = bisect_left(
            range((first - second) // tick), True, key=lambda s: (second + s * tick).astimezone(self.zone).utcoffset() == new
        )
        return second + gap_at * tick

    def _comings(self, wall: datetime) -> tuple[datetime, datetime]:
        """When this wall clock comes by the offset before a change and by the one after it, in UTC; mostly the same.

        Of one that is skipped the first lies behind the gap and the second before it.
        """
        here = wall.replace(tzinfo=self.zone)
        return here.astimezone(UTC), here.replace(fold=1).astimezone(UTC)


def parse_quiet_hours(text: str, zone: ZoneInfo) -> QuietHours | None:
    """What `22:00-07:00` says in this zone; None where it is no such text, or begins and ends are the same."""
    found = _HOURS.fullmatch(text)
    if found is None:
        return None
    first_hour, first_minute, last_hour, last_minute = map(int, found.groups())
    begins, ends = time(first_hour, first_minute), time(last_hour, last_minute)
    return QuietHours(begins, ends, zone) if begins != ends else None
