"""The machine's clocks: `protocols.Clock` for everything that really runs.

Only this file reads the clocks that decisions use. The boot clock counts suspend (CLOCK_BOOTTIME; `time.monotonic` stops
there), so that a lease ends while its owner's machine sleeps.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", None) or getattr(time, "CLOCK_MONOTONIC", None)


class SystemClock:
    """Wall clock, boot clock and boot id of this machine."""

    def __init__(self) -> None:
        self._boot_id = _boot_id(self.up_ms())

    @property
    def boot_id(self) -> str:
        """The first eight hex digits of the kernel's boot id; where there is none, the minute of the boot."""
        return self._boot_id

    def wall(self) -> datetime:
        """Aware UTC time."""
        return datetime.now(UTC)

    def up_ms(self) -> int:
        """Milliseconds since boot, suspend included where the platform counts it."""
        seconds = time.clock_gettime(_BOOT_CLOCK) if _BOOT_CLOCK is not None else time.monotonic()
        return int(seconds * 1000)

    async def sleep_until(self, up_ms: int) -> None:
        """Return when the boot clock has reached `up_ms`.

        Sleeps at most a minute at a time: the event loop's clock stops while the machine is suspended.
        """
        while True:
            left = up_ms - self.up_ms()
            if left <= 0:
                return
            await asyncio.sleep(min(left, 60_000) / 1000)


def _boot_id(up_ms: int) -> str:
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()[:8]
    except OSError:
        return f"{round((time.time() - up_ms / 1000) / 60):08x}"
