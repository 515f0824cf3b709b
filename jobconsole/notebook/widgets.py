"""The widgets: table, inbox, dashboard, and for one operation timeline and progress (UX 1b, 3.5).

Only this file decides which parts a widget consists of, and what Python learns from it: `selected`, `op`, `df()`. How they look
is the business of `static/`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import inbox_items
from jobconsole.core.telling.outcome import Outcome
from jobconsole.core.telling.terminal_text import inert
from jobconsole.notebook import still, texts
from jobconsole.notebook.feed import Feed, News
from jobconsole.notebook.items import Items
from jobconsole.notebook.live import Live
from jobconsole.notebook.pages import Pages, Query
from jobconsole.notebook.record import Record
from jobconsole.notebook.tail import Tail

if TYPE_CHECKING:
    import pandas

Frame = Callable[[list[Operation]], "pandas.DataFrame"]
Hand = Callable[[Operation], Operation]
MOST_SELECTED = 10_000
WAKING = 0.5  # seconds between two looks of an awaiting cell


class Table(Live):
    """Operations as a live table. Rows that a person marks are in `selected`, the one that is open is `op`."""

    _kind: ClassVar[str] = "table"
    selected = traitlets.List(traitlets.Unicode()).tag(sync=True)
    opened = traitlets.Unicode().tag(sync=True)

    def __init__(self, feed: Feed, palettes: Mapping[str, Any], by: str, hand: Hand, frame: Frame) -> None:
        self._pages = Pages()
        self._hand, self._frame = hand, frame
        super().__init__(feed, palettes, by)
        self.observe(self._open, "opened")

    # ---- what Python learns ---------------------------------------------------------------------------------------------
    @property
    def op(self) -> Operation | None:
        """The operation that is open in the widget, else the first one that is marked."""
        for operation_id in (self.opened, *self.selected):
            found = self._feed.picture.operations.get(operation_id)
            if found is not None:
                return self._hand(found)
        return None

    def df(self) -> pandas.DataFrame:
        """The marked operations, or all where none is marked, as a typed DataFrame; its texts as in `console.to_frame`."""
        operations = self._feed.picture.operations
        marked = [operations[each] for each in self.selected if each in operations]
        return self._frame(marked if self.selected else list(operations.values()))

    def filter(self, text: str, *, phase: str = "") -> None:
        """Show what passes a filter, as the field above the table does; a person may change it.

        `text` is in the dashboard's language: `needs:you`, `state:failed`, `!provider:x`, `age>2h`, `"two words"`; all terms
        must match. Raises `InvalidValue` with the mend where a term is none, there is no such phase, or `text` is no text
        or longer than 200 characters; then the table stays as it was.
        """
        query = Query.asked(text, phase)
        with self._building:
            self._pages.ask(query, self._feed.picture, self._feed.now())
            self.send(self._full())

    @traitlets.validate("selected")
    def _bound(self, proposal: Any) -> list[str]:
        return list(dict.fromkeys(proposal["value"]))[:MOST_SELECTED]

    # ---- what it shows --------------------------------------------------------------------------------------------------
    async def _read(self, news: News) -> None:
        if self._record is not None and (news.is_reload or self._record.operation_id in news.operation_ids):
            await self._record.read(self._feed.desk)

    def _whole(self, now: datetime) -> dict[str, Any]:
        return {**self._pages.full(self._feed.picture, now), **self._detail(now)}

    def _changes(self, news: News, now: datetime) -> dict[str, Any]:
        if not news.is_reload and not news.operation_ids:
            return self._pages.aged(self._feed.picture, now)
        is_open_changed = self._record is not None and self._record.operation_id in news.operation_ids
        return {**self._pages.patch(self._feed.picture, news, now), **(self._detail(now) if is_open_changed else {})}

    def _detail(self, now: datetime) -> dict[str, Any]:
        return {"detail": self._record.full(self._feed.picture, now) if self._record else None}

    def _open(self, change: Any) -> None:
        self._start(self._show(str(change["new"])[:128]))

    async def _show(self, operation_id: str) -> None:
        async with self._order:
            self._record = Record(operation_id) if operation_id else None
            if self._record is not None:
                await self._record.read(self._feed.desk)
            self.send({"type": "detail", **self._detail(self._feed.now())})

    async def _answer(self, content: dict[str, Any]) -> None:
        if content.get("type") == "query":
            with self._building:
                now = self._feed.now()
                self._tell(self._pages.ask(Query.of(content), self._feed.picture, now), now)
        else:
            await super()._answer(content)

    def _still(self) -> still.Still:
        picture, now = self._feed.picture, self._feed.now()
        hidden, asked = len(picture.operations), inert(self._pages.filtered_by)
        empty = texts.NO_MATCH.format(filter=asked, hidden=f"{hidden:,}") if hidden else texts.NO_OPERATIONS
        return still.operations_still(self._pages.arranged(picture, now), now, empty=empty)


class Inbox(Live):
    """What needs a person, as cards with their options."""

    _kind: ClassVar[str] = "inbox"

    def __init__(self, feed: Feed, palettes: Mapping[str, Any], by: str) -> None:
        self._items = Items()
        super().__init__(feed, palettes, by)

    def _whole(self, now: datetime) -> dict[str, Any]:
        return {**self._items.full(self._feed.picture, now), **_watched(self._feed)}

    def _changes(self, news: News, now: datetime) -> dict[str, Any]:
        return self._items.patch(self._feed.picture, now)

    def _still(self) -> still.Still:
        return _inbox_still(self._feed)


class Dashboard(Table):
    """Tabs for operations, inbox, timeline and audit, over one comm."""

    _kind: ClassVar[str] = "dashboard"

    def __init__(self, feed: Feed, palettes: Mapping[str, Any], by: str, hand: Hand, frame: Frame, tail: Tail) -> None:
        self._items, self._tail = Items(), tail
        self._has_new_lines = False
        super().__init__(feed, palettes, by, hand, frame)

    async def _read(self, news: News) -> None:
        await super()._read(news)
        self._has_new_lines = await self._tail.read(self._feed.desk)

    def _whole(self, now: datetime) -> dict[str, Any]:
        picture = self._feed.picture
        return {**super()._whole(now), **self._items.full(picture, now), **_watched(self._feed), "audit": self._tail.lines}

    def _changes(self, news: News, now: datetime) -> dict[str, Any]:
        told = {**super()._changes(news, now), **self._items.patch(self._feed.picture, now)}
        return {**told, "audit": self._tail.lines} if self._has_new_lines else told

    def _still(self) -> still.Still:
        operations = super()._still()
        asking = _inbox_still(self._feed) if any(op.escalation for op in self._feed.picture.operations.values()) else None
        if asking is None:
            return operations
        return still.Still(f"{operations.html}{asking.html}", f"{operations.text}\n\n{asking.text}")


class OfOne(Live):
    """A widget of one operation; `await` it for the outcome, which keeps no other cell and no click from running."""

    _record: Record

    def __init__(
        self,
        feed: Feed,
        palettes: Mapping[str, Any],
        by: str,
        hand: Hand,
        record: Record,
        waiting: Callable[[], Coroutine[Any, Any, Outcome]],
    ) -> None:
        self._hand, self._record, self._waiting = hand, record, waiting
        super().__init__(feed, palettes, by)

    def __await__(self) -> Generator[Any, None, Outcome]:
        """The outcome, when the operation has ended, needs a person, or the wait is over."""
        return self._outcome().__await__()

    async def _outcome(self) -> Outcome:
        """The wait in the console's loop. This one wakes meanwhile: only then does a kernel notice that it was interrupted."""
        waiting = asyncio.wrap_future(self._feed.start(self._waiting()))
        try:
            while not waiting.done():
                await asyncio.wait({waiting}, timeout=WAKING)
            return waiting.result()
        finally:
            waiting.cancel()

    @property
    def op(self) -> Operation | None:
        """The operation as it is now; None where the store has it no more."""
        found = self._feed.picture.operations.get(self._record.operation_id)
        return None if found is None else self._hand(found)

    async def _read(self, news: News) -> None:
        if news.is_reload or self._record.operation_id in news.operation_ids:
            await self._record.read(self._feed.desk)

    def _whole(self, now: datetime) -> dict[str, Any]:
        return {"detail": self._record.full(self._feed.picture, now)}

    def _changes(self, news: News, now: datetime) -> dict[str, Any]:
        is_about_it = news.is_reload or self._record.operation_id in news.operation_ids
        return self._whole(now) if is_about_it else {}

    def _still(self) -> still.Still:
        found = self.op
        if found is None:
            gone = texts.FOR_BROWSER["gone"]
            return still.operations_still([], self._feed.now(), empty=f"{self._record.operation_id}: {gone}")
        return still.operation_still(found, self._feed.now(), self._record.last_lines())


class Timeline(OfOne):
    """Requests, answers, delays and Retry-After of one operation on a time axis."""

    _kind: ClassVar[str] = "timeline"


class Progress(OfOne):
    """One operation in three lines: state, progress, budgets, and what may be chosen."""

    _kind: ClassVar[str] = "progress"


def _watched(feed: Feed) -> dict[str, int]:
    return {"watched": sum(not op.phase.is_terminal for op in feed.picture.operations.values())}


def _inbox_still(feed: Feed) -> still.Still:
    picture, now = feed.picture, feed.now()
    asking = [op for op in picture.operations.values() if op.escalation is not None or op.look is not None]
    return still.items_still(inbox_items(asking, now, picture.contracts, picture.new_digests), now, empty=texts.NOTHING_ASKS)
