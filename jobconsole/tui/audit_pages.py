"""The audit a page at a time: a million events cost what one page costs (SPEC L2, UX 1a).

Only this file decides how pages are read, and that a damaged line is an event that says so: the audit must be readable just
when something is wrong with it. What a search matches is `audit_search.py`'s; `screens/audit.py` shows them.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from jobconsole.console import Desk
from jobconsole.core.keeping.line import event, parse
from jobconsole.core.telling.event_group import moment
from jobconsole.core.telling.story_line import alone
from jobconsole.core.telling.wording import counted
from jobconsole.tui.audit_search import Matches

PAGE = 200  # events
_CHUNK = 1_000  # events looked at in one step of a search backwards
_HEAD = re.compile(rb'\{"v":\d+,"chain":"[^"\\]*","seq":(\d{1,15}),')  # how every stored line begins
DAMAGED = "This line was changed or damaged: its hash does not fit. V tells what else is broken."


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One event as it is listed; `line` is the stored line, verbatim. `at` is None for a damaged line, which tells nothing."""

    seq: int
    at: datetime | None
    kind: str
    actor: str
    operation_id: str | None
    text: str
    line: bytes

    @property
    def fields(self) -> Mapping[str, Any]:
        """The stored fields; of a damaged line what is left of it."""
        return event(self.line) or {"line": self.line.decode(errors="replace")}


@dataclass(frozen=True, slots=True)
class Page:
    """Events in the order of the chain. `has_older` and `has_newer`: others that match may stand before or behind them."""

    events: tuple[AuditEvent, ...] = ()
    has_older: bool = False
    has_newer: bool = False

    def grown(self, news: Page) -> Page:
        """This page with what came behind it; the oldest leave where a page is full."""
        events = (*self.events, *news.events)
        has_older = self.has_older or len(events) > PAGE
        return replace(self, events=events[-PAGE:], has_older=has_older, has_newer=news.has_newer)

    def told(self, last_seq: int, *, is_search: bool) -> str:
        """How much of the audit it is: `events 301–500 of 500`, `3 events match`, `200 events that match, and older ones`."""
        if not self.events:
            return ""
        if not is_search:
            return f"events {self.events[0].seq:,}–{self.events[-1].seq:,} of {last_seq:,}"
        beyond = [word for word, is_so in (("older", self.has_older), ("newer", self.has_newer)) if is_so]
        if beyond:
            return f"{counted(len(self.events), 'event')} that match, and maybe {' and '.join(beyond)} ones"
        return f"{counted(len(self.events), 'event')} of {last_seq:,} match{'es' if len(self.events) == 1 else ''}"


def event_of(seq: int, line: bytes) -> AuditEvent:
    """The event that the stored line of this number describes."""
    stored, fields = parse(line), event(line)
    if stored is None or fields is None:
        return AuditEvent(seq, None, "", "", None, DAMAGED, line)
    return AuditEvent(seq, moment(stored.at), stored.kind, stored.actor, stored.operation_id, alone(fields), line)


async def page_after(desk: Desk, seq: int, matches: Matches | None = None, most: int = PAGE) -> Page:
    """The first `most` matching events behind `seq`, oldest first."""
    found: list[AuditEvent] = []
    async for number, line in _numbered(desk, seq):
        if matches is None or matches(line):
            if len(found) == most:
                return Page(tuple(found), has_older=seq > 0, has_newer=True)
            found.append(event_of(number, line))
    return Page(tuple(found), has_older=seq > 0)


async def page_before(desk: Desk, seq: int, matches: Matches | None = None, most: int = PAGE) -> Page:
    """The last `most` matching events before `seq`, oldest first."""
    found: list[AuditEvent] = []
    end = seq
    while end > 1 and len(found) <= most:
        begin = max(0, end - 1 - (most + 1 if matches is None else _CHUNK))
        chunk: list[AuditEvent] = []
        async for number, line in _numbered(desk, begin):
            if number >= end:
                break
            if matches is None or matches(line):
                chunk.append(event_of(number, line))
        found = [*chunk, *found]
        end = begin + 1
    return Page(tuple(found[-most:]), has_older=len(found) > most, has_newer=True)


async def newest_page(desk: Desk, last_seq: int, matches: Matches | None = None) -> Page:
    """The page that ends the audit."""
    return replace(await page_before(desk, last_seq + 1, matches), has_newer=False)


async def _numbered(desk: Desk, after: int) -> AsyncIterator[tuple[int, bytes]]:
    """Stored lines behind `after` with their numbers, which grow; one that does not tell its own is counted from the next."""
    last, untold = after, list[bytes]()
    async for line in desk.events(None, after):
        head = _HEAD.match(line)
        seq = int(head[1]) if head is not None else 0
        if seq <= last:
            untold.append(line)
            continue
        for number, each in enumerate(untold, start=seq - len(untold)):
            if number > last:
                yield number, each
        yield seq, line
        last, untold = seq, []
    for number, each in enumerate(untold, start=last + 1):
        yield number, each
