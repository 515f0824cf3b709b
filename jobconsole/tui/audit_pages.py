"""The audit a page at a time: a million events cost what one page costs (SPEC L2, UX 1a).

Only this file decides how pages are read and what a search matches. `screens/audit.py` shows them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from jobconsole.console import Desk
from jobconsole.core.story_line import alone, moment

PAGE = 200  # events
_CHUNK = 1_000  # events looked at in one step of a search backwards
Matches: TypeAlias = Callable[[bytes], bool]


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One event as it is listed; `line` is the stored line, verbatim."""

    seq: int
    at: datetime
    kind: str
    actor: str
    operation_id: str | None
    text: str
    line: bytes

    @property
    def fields(self) -> Mapping[str, Any]:
        """The stored fields."""
        fields: dict[str, Any] = json.loads(self.line)
        return fields


def event_of(line: bytes) -> AuditEvent:
    """The event that a stored line describes."""
    fields = json.loads(line)
    return AuditEvent(
        seq=int(fields["seq"]),
        at=moment(fields["at"]),
        kind=str(fields.get("kind", "")),
        actor=str(fields.get("actor", "")),
        operation_id=fields.get("operation_id"),
        text=alone(fields),
        line=line,
    )


def matcher(text: str) -> Matches | None:
    """What a search matches: each of its words, in any field, whatever its case; `!word` must not occur. None matches all."""
    words = text.lower().split()
    wanted = [word.encode() for word in words if not word.startswith("!")]
    unwanted = [word[1:].encode() for word in words if word.startswith("!") and len(word) > 1]
    if not wanted and not unwanted:
        return None

    def matches(line: bytes) -> bool:
        line = line.lower()
        return all(word in line for word in wanted) and not any(word in line for word in unwanted)

    return matches


async def page_after(desk: Desk, seq: int, matches: Matches | None = None, most: int = PAGE) -> list[AuditEvent]:
    """The first `most` matching events behind `seq`, oldest first."""
    found: list[AuditEvent] = []
    async for line in desk.events(None, seq):
        if matches is None or matches(line):
            found.append(event_of(line))
            if len(found) >= most:
                break
    return found


async def page_before(desk: Desk, seq: int, matches: Matches | None = None, most: int = PAGE) -> list[AuditEvent]:
    """The last `most` matching events before `seq`, oldest first."""
    found: list[AuditEvent] = []
    end = seq
    while end > 1 and len(found) < most:
        begin = max(0, end - 1 - (most if matches is None else _CHUNK))
        chunk: list[AuditEvent] = []
        async for line in desk.events(None, begin):
            if _seq(line) >= end:
                break
            if matches is None or matches(line):
                chunk.append(event_of(line))
        found = [*chunk, *found][-most:]
        end = begin + 1
    return found


def _seq(line: bytes) -> int:
    return int(json.loads(line)["seq"])
