"""The hold: what a person confirmed waits five seconds before it is decided, so that undoing it is real (UX: act, then `u`).

Only this file decides how long that is and what becomes of a hold when the dashboard is left: nothing, and that is said. Until
the time is over, the core has heard of nothing. The app owns one `Holds`; the status bar shows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count

from jobconsole.protocols import Clock

HOLD_MS = 5_000


@dataclass(slots=True, eq=False)
class Hold:
    """One act that waits: what it will do, to which operations, and until when (boot clock)."""

    number: int
    operation_ids: tuple[str, ...]
    option: str
    text: str
    until_up: int
    task: asyncio.Task[None] | None = field(default=None, repr=False)


class Holds:
    """The acts that wait, oldest first. `on_change` is called in the loop whenever there is one more or one less."""

    def __init__(self, clock: Clock, on_change: Callable[[], None]) -> None:
        self._clock, self._on_change = clock, on_change
        self._numbers = count(1)
        self.waiting: list[Hold] = []

    def begin(self, operation_ids: tuple[str, ...], option: str, text: str, act: Callable[[], Awaitable[None]]) -> Hold | None:
        """Let `act` wait. None where the same option of one of these waits already: two clicks, one act."""
        if any(self.of(operation_id, option) is not None for operation_id in operation_ids):
            return None
        hold = Hold(next(self._numbers), operation_ids, option, text, self._clock.up_ms() + HOLD_MS)
        hold.task = asyncio.create_task(self._wait(hold, act))
        self.waiting.append(hold)
        self._on_change()
        return hold

    def of(self, operation_id: str, option: str) -> Hold | None:
        """The hold of this option of an operation, alone or among others, if it waits."""
        return next((each for each in self.waiting if each.option == option and operation_id in each.operation_ids), None)

    def undo(self) -> Hold | None:
        """Give up what was begun last; returns it, None where nothing waits any more."""
        if not self.waiting:
            return None
        hold = self.waiting.pop()
        if hold.task is not None:
            hold.task.cancel()
        self._on_change()
        return hold

    def drop_all(self) -> list[Hold]:
        """Give up everything: the dashboard is left. Returns what was not done, to be told."""
        dropped = []
        while (hold := self.undo()) is not None:
            dropped.append(hold)
        return dropped[::-1]

    def seconds_left(self, hold: Hold) -> int:
        """Whole seconds until it is decided, at least 1 while it waits."""
        return max(1, -(-(hold.until_up - self._clock.up_ms()) // 1_000))

    async def _wait(self, hold: Hold, act: Callable[[], Awaitable[None]]) -> None:
        await self._clock.sleep_until(hold.until_up)
        self.waiting.remove(hold)
        self._on_change()
        await act()
