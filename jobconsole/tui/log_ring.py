"""The last lines that jobconsole itself logged, for the log screen: a ring, bounded in lines and in their length (UX 1a).

Only this file decides how much is kept. The app puts the ring on the logger `jobconsole` for as long as it runs; records come
from any thread.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count

from jobconsole.core.telling.terminal_text import inert

LINES = 2_000
LONGEST = 4_096  # characters of a line


@dataclass(frozen=True, slots=True)
class LogLine:
    """One record, inert. `number` counts all records since the ring began."""

    number: int
    at: datetime
    level: int
    name: str
    text: str


class LogRing(logging.Handler):
    """Keeps the last `LINES` lines of level INFO and above."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._numbers = count(1)
        self.lines: deque[LogLine] = deque(maxlen=LINES)
        self.total = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, a traceback line by line."""
        at = datetime.fromtimestamp(record.created, UTC)
        for line in self.format(record).splitlines() or [""]:
            self.total = next(self._numbers)
            self.lines.append(LogLine(self.total, at, record.levelno, record.name, cut(line)))


def cut(line: str) -> str:
    """A line as it is kept: inert, at most 4 KB, and what is left out is counted."""
    if len(line) <= LONGEST:
        return inert(line)
    return f"{inert(line[:LONGEST])} … +{-(-(len(line) - LONGEST) // 1_024)} KB"
