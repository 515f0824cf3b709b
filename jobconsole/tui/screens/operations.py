"""The operations: the table, and beside it, where there is room, the operation under the cursor (UX 3.1).

Only this file decides how these work together; the table decides how rows keep their place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.containers import Horizontal
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from jobconsole.core.telling.filter import parse_filter
from jobconsole.tui import texts
from jobconsole.tui.messages import Changed, Decided, PauseChanged, Ticked
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.subject import Subject
from jobconsole.tui.widgets.detail_pane import DetailPane
from jobconsole.tui.widgets.filter_bar import EntryLine
from jobconsole.tui.widgets.operations_table import OperationsTable
from jobconsole.tui.widgets.status_bar import StatusBar

PANE_FROM = 140  # columns for table and pane; the table keeps 96 of them
RESTED_AFTER = 0.15  # seconds after which the pane follows the cursor
LOADING_AFTER = 0.3  # seconds without a first picture until that is said


class Body(Horizontal):
    """What the table and the pane share: the screen, as far as no help stands beside it."""

    class Widened(Message):
        """It has another width."""

    def on_resize(self) -> None:
        """Tell it."""
        self.post_message(self.Widened())


class OperationsScreen(Frame):
    """The root of the dashboard."""

    mode: ClassVar[str] = "operations"
    filter_hint: ClassVar[str] = 'needs:you  state:failed  provider:x  age>2h  text  "two words"  !text'
    AUTO_FOCUS: ClassVar[str | None] = "OperationsTable"

    has_pane: reactive[bool] = reactive(True)
    _resting: Timer | None = None

    def compose_body(self) -> Iterable[Widget]:
        """The table and the pane."""
        with Body(id="operations"):
            yield OperationsTable(id="operations-table")
            yield DetailPane(id="side-pane")

    @property
    def table(self) -> OperationsTable:
        """The table."""
        return self.query_one(OperationsTable)

    # ---- what the shell asks --------------------------------------------------------------------------------------------
    def subjects(self, *, for_many: bool) -> tuple[Subject, ...]:
        """The marked operations for an action on many, else the one under the cursor."""
        if for_many:
            return self.table.subjects
        subject = self.table.cursor_subject
        return (subject,) if subject is not None else ()

    def filter_text(self) -> str | None:
        """The filter as typed."""
        return self.table.order.filter.text

    def filter_by(self, text: str) -> None:
        """Filter the rows. Raises `InvalidValue`."""
        self.table.filter_by(parse_filter(text))

    def go_back(self) -> bool:
        """Escape takes the filter away, then the marks."""
        table = self.table
        if table.order.filter.text:
            self.filter_by("")
            self.query_one(EntryLine).show_filter("")
            return True
        return table.unmark_all()

    def toggle_pane(self) -> None:
        """Show or hide the pane; where the terminal is too narrow for it, say so."""
        if not self._has_room:
            self.dashboard.say(texts.no_room_for_pane(PANE_FROM))
            return
        self.has_pane = not self.has_pane

    # ---- what happens ---------------------------------------------------------------------------------------------------
    def on_mount(self) -> None:
        """Hear the feed; say that it reads where that takes long."""
        self.feed.subscribe(self)
        self.watch(self.app, "time_style", self.table.fit, init=False)
        self.set_timer(LOADING_AFTER, self._tell_empty)

    def on_changed(self, message: Changed) -> None:
        """Rows changed."""
        self.table.take(message.operation_ids)
        self._tell_empty()

    def on_decided(self, message: Decided) -> None:
        """What was chosen for marked operations was done: their marks have served."""
        if not self.table.marked.isdisjoint(message.operation_ids):
            self.table.unmark(message.operation_ids)

    def on_ticked(self, message: Ticked) -> None:
        """Ages and countdowns move."""
        if self.is_current:
            self.table.tick()

    def on_pause_changed(self, message: PauseChanged) -> None:
        """The picture goes on: it is later now."""
        self.table.tick()

    @on(OperationsTable.Arranged)
    def _arranged(self) -> None:
        self._tell_empty()
        if not self.feed.is_loaded:
            return
        order = self.table.order
        shown, known = len(order.rows), len(self.feed.operations)
        count = f"{shown:,} of {known:,}" if shown != known else f"{known:,}"
        marks = f" · {len(self.table.marked):,} marked" if self.table.marked else ""
        status, column = self.query_one(StatusBar), order.column.heading(self.dashboard.time_style).lower()
        status.note = f"{count}{marks} · sort: {column} {'↑' if order.is_reversed else '↓'}"
        status.renew()

    @on(OperationsTable.Moved)
    def _moved(self, message: OperationsTable.Moved) -> None:
        self.subject_may_differ()
        self._show_in_pane()

    @on(Body.Widened)
    def _widened(self) -> None:
        """A wide terminal has room for the pane."""
        self.call_after_refresh(self.watch_has_pane)

    @property
    def _has_room(self) -> bool:
        """Whether the pane may stand beside the table."""
        return self.query_one(Body).size.width >= PANE_FROM

    def watch_has_pane(self) -> None:
        """The pane shows where it is wanted and has room."""
        self.query_one(DetailPane).display = self.has_pane and self._has_room
        self._show_in_pane()

    def _show_in_pane(self) -> None:
        """Once the cursor rests: whoever moves through the rows waits for none of them."""
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(RESTED_AFTER, self._show_now)

    def _show_now(self) -> None:
        pane = self.query_one(DetailPane)
        if pane.display:
            pane.show(self.table.cursor_id)

    @on(OperationsTable.Opened)
    def _opened(self, message: OperationsTable.Opened) -> None:
        self.dashboard.open_operation(message.operation_id)

    def _tell_empty(self) -> None:
        feed, wanted = self.feed, self.table.order.filter.text
        if not feed.is_loaded:
            self.table.show_empty(texts.reading())
        elif not feed.operations:
            self.table.show_empty(texts.NO_OPERATIONS)
        else:
            self.table.show_empty(texts.no_match(wanted, len(feed.operations)))
