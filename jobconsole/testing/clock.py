"""A clock that only moves when it is told to: `protocols.Clock` for tests."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count


class ManualClock:
    """Wall clock and boot clock under the test's control.

    `advance` moves both, `jump_wall` only the wall clock, `reboot` starts a new boot. `sleep_until` returns when the boot clock
    has been advanced so far; sleepers wake in the order of their times.
    """

    def __init__(
        self, wall: datetime = datetime(2026, 11, 29, 10, 0, tzinfo=UTC), up_ms: int = 1_000_000, boot_id: str = "boot-1"
    ) -> None:
        self._wall, self._up_ms, self._boot_id = wall, up_ms, boot_id
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = count()

    @property
    def boot_id(self) -> str:
        """The name of this boot."""
        return self._boot_id

    def wall(self) -> datetime:
        """Aware UTC time."""
        return self._wall

    def up_ms(self) -> int:
        """Milliseconds since boot."""
        return self._up_ms

    async def sleep_until(self, up_ms: int) -> None:
        """Return when the boot clock has reached `up_ms`; yields once even where it has already."""
        if up_ms <= self._up_ms:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (up_ms, next(self._numbers), woken))
        await woken

    @property
    def next_wake(self) -> int | None:
        """The boot clock at which the first sleeper wakes, in ms; None where nobody sleeps."""
        while self._sleepers and self._sleepers[0][2].done():
            heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def advance(self, by: timedelta | float) -> None:
        """Let time pass on both clocks; a number is seconds."""
        passed = by if isinstance(by, timedelta) else timedelta(seconds=by)
        self._wall += passed
        self._up_ms += round(passed / timedelta(milliseconds=1))
        self._wake()

    def jump_wall(self, by: timedelta | float) -> None:
        """Move the wall clock only, forward or back, as a person or NTP does."""
        self._wall += by if isinstance(by, timedelta) else timedelta(seconds=by)

    def reboot(self, boot_id: str, *, away: timedelta = timedelta(minutes=1)) -> None:
        """Start another boot after `away`: the boot clock begins near zero, sleepers of the old boot never wake."""
        self._boot_id, self._up_ms = boot_id, 1_000
        self._wall += away
        self._sleepers.clear()

    def _wake(self) -> None:
        while self._sleepers and self._sleepers[0][0] <= self._up_ms:
            _, _, woken = heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
