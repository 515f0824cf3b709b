"""The end of the whole store's audit as story lines, the newest first: what the dashboard's audit tab shows (SPEC L2).

Only this file decides how much of the audit is read for it: the last few hundred events, and then what comes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from jobconsole.console import Desk
from jobconsole.core.keeping.line import event
from jobconsole.core.telling.story import story_lines
from jobconsole.core.telling.terminal_text import inert
from jobconsole.notebook.rows import SENTENCE

EVENTS: Final = 400
LINES: Final = 100
DAMAGED: Final = "A line of the audit is damaged: console.audit().verify() tells which."


class Tail:
    """The last lines of the story."""

    def __init__(self) -> None:
        self._events: deque[Mapping[str, Any]] = deque(maxlen=EVENTS)
        self._after, self._is_damaged = -1, False
        self.lines: list[tuple[int, str, str]] = []  # time, operation, sentence

    async def read(self, desk: Desk) -> bool:
        """Read what came since the last time; whether there was anything."""
        if self._after < 0:
            self._after = max(0, await desk.last_seq() - EVENTS)
        found = [event(line) async for line in desk.events(None, self._after)]
        new = [fields for fields in found if fields is not None]
        self._is_damaged |= len(new) < len(found)
        if not new:
            return False
        self._after = int(new[-1]["seq"])
        self._events.extend(new)
        told = [
            (int(line.at.timestamp() * 1000), line.operation_id or "", inert(line.text, SENTENCE))
            for line in story_lines(self._events)
        ]
        self.lines = told[: -LINES - 1 : -1]
        if self._is_damaged:
            self.lines.insert(0, (told[-1][0], "", DAMAGED))
        return True
