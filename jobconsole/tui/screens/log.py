"""The log: what this program said about itself, followed or held still (UX 1a).

Only this file decides how it is followed: at the last line it goes on by itself, anywhere else it stands still.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import clock_text
from jobconsole.tui.log_ring import LINES, LogLine
from jobconsole.tui.messages import Ticked
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.widgets.line_list import Entry, LineList
from jobconsole.tui.widgets.status_bar import StatusBar
from jobconsole.tui.word_filter import WordFilter

_STYLES = {logging.WARNING: "$state-needs-you", logging.ERROR: "$state-failed bold", logging.CRITICAL: "$state-failed bold"}


class LogScreen(Frame):
    """The last lines, and the whole of the one under the cursor."""

    mode: ClassVar[str] = "log"
    AUTO_FOCUS: ClassVar[str | None] = "#log-list"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("f", "follow", "Follow", id="log.follow")]
    DEFAULT_CSS = """
    LogScreen {
        & #log-list { height: 1fr; }
        & #log-line { height: auto; max-height: 6; padding: 0 1; border-top: solid $rule; color: $quiet; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._filter = WordFilter()
        self._shown = -1
        self._is_following = True

    def compose_body(self) -> Iterable[Widget]:
        """The lines, and one of them in full."""
        yield LineList(id="log-list", classes="-list")
        yield Static("", id="log-line", markup=False)

    @property
    def list(self) -> LineList:
        """The lines."""
        return self.query_one("#log-list", LineList)

    def filter_text(self) -> str | None:
        """The words that a line must contain."""
        return self._filter.text

    def filter_by(self, text: str) -> None:
        """Show lines with these words."""
        self._filter = WordFilter(text)
        self._draw()

    def go_back(self) -> bool:
        """Without a filter."""
        if not self._filter:
            return False
        self.clear_filter()
        return True

    def on_mount(self) -> None:
        """Hear the time."""
        self.feed.subscribe(self)

    def on_screen_resume(self) -> None:
        """Lines came meanwhile."""
        self._draw()

    def on_ticked(self, message: Ticked) -> None:
        """New lines are shown at most once a second."""
        if self.is_current and self._is_following and self._shown != self.dashboard.log_ring.total:
            self._draw()

    def action_follow(self) -> None:
        """Go on by itself, or stand still."""
        self._is_following = not self._is_following
        self._draw()

    @on(LineList.Moved, "#log-list")
    def _moved(self, message: LineList.Moved) -> None:
        """Looking at an older line stops following; the last one goes on."""
        message.stop()
        entries = self.list.entries
        self._is_following = not entries or message.key == entries[-1].key
        line = next((each for each in self.dashboard.log_ring.lines if str(each.number) == message.key), None)
        self.query_one("#log-line", Static).update(Content(f"{line.name}: {line.text}" if line is not None else ""))
        self._tell()

    def _draw(self) -> None:
        ring = self.dashboard.log_ring
        self._shown = ring.total
        lines = [line for line in tuple(ring.lines) if self._filter.matches(line.name, line.text)]
        was_following = self._is_following
        self.list.show([Entry(str(line.number), (self._row(line),)) for line in lines], empty=self._empty())
        if was_following:
            self.list.action_last()
            self._is_following = True
        self._tell()

    def _row(self, line: LogLine) -> Content:
        level = logging.getLevelName(line.level).lower()
        return Content.assemble(
            (f" {clock_text(line.at, self.feed.now())} ", "$quiet"),
            (f"{level:<8} ", _STYLES.get(line.level, "$quiet")),
            (line.text, "" if line.level < logging.WARNING else _STYLES.get(line.level, "")),
        )

    def _empty(self) -> str:
        if self._filter:
            return f'No line matches "{inert(self._filter.text, 60)}". esc clears the filter.'
        return "jobconsole has logged nothing: all is well. What happened to jobs stands in the audit (A)."

    def _tell(self) -> None:
        ring = self.dashboard.log_ring
        dropped = ring.total - len(ring.lines)
        kept = f", {dropped:,} older ones dropped" if dropped > 0 else ""
        status = self.query_one(StatusBar)
        state = "following" if self._is_following else "standing still (f follows)"
        status.note = f"{state} · {len(ring.lines):,} of {LINES:,} lines{kept}"
        status.renew()
