"""What all main screens have in common: header with tabs, status bar, footer, and the line for `/` and `:`.

Only this file decides how a screen is framed and what the shell may ask of it. A screen of the dashboard derives from `Frame`,
gives its body in `compose_body`, and overrides what it can do: subjects for actions, a filter, a way back.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from jobconsole.tui import texts
from jobconsole.tui.on_dashboard import OnDashboard
from jobconsole.tui.stage import Stage
from jobconsole.tui.subject import Subject
from jobconsole.tui.widgets.filter_bar import EntryLine
from jobconsole.tui.widgets.header import Header
from jobconsole.tui.widgets.key_line import KeyLine
from jobconsole.tui.widgets.status_bar import StatusBar

LEAST_WIDTH, LEAST_HEIGHT = 36, 8  # columns and lines of a terminal in which something can be read


class Frame(OnDashboard, Screen[None]):
    """One main screen. `mode` is the tab that is lit while it is shown."""

    mode: ClassVar[str] = ""
    filter_hint: ClassVar[str] = 'text  "two words"  !text'
    """What may be typed behind `/`; it stands there until something is."""
    _offered = (False, False)  # whether the key line was drawn for a selected operation, and for an inbox item

    def compose(self) -> ComposeResult:
        """Header, body, entry line, status bar, footer; and the one line of a terminal that is too small for them."""
        self._take_breakpoint()
        yield Static(id="too-small", markup=False)
        yield Header(self.mode)
        yield from self.compose_body()
        yield EntryLine()
        yield StatusBar()
        yield KeyLine()

    def _take_breakpoint(self) -> None:
        """Before the first layout: Textual's own comes after it, and rows would be drawn for a width that does not last."""
        width = self.app.size.width
        reached = [each for each in self.HORIZONTAL_BREAKPOINTS or () if width >= each[0]]
        if reached:
            self.add_class(max(reached)[1])

    def on_resize(self, event: events.Resize) -> None:
        """Say what is needed where there is too little room."""
        width, height = event.size
        is_too_small = width < LEAST_WIDTH or height < LEAST_HEIGHT
        self.set_class(is_too_small, "-too-small")
        if is_too_small:
            self.query_one("#too-small", Static).update(texts.too_small(width, height, LEAST_WIDTH, LEAST_HEIGHT))

    def compose_body(self) -> Iterable[Widget]:
        """What stands between header and status bar."""
        return ()

    def subjects(self, *, for_many: bool) -> tuple[Subject, ...]:
        """What an action acts on: the marked operations where it is `for_many`, else the one that is looked at."""
        return ()

    def subject_may_differ(self) -> None:
        """The cursor moved, or what it stands on changed: keys that need an operation, or an inbox item, follow."""
        subjects = self.subjects(for_many=False)
        offered = bool(subjects), any(each.operation_id in self.feed.asking for each in subjects)
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def moment(self) -> datetime | None:
        """The second that is looked at, for "why?"; None for now."""
        return None

    def filter_text(self) -> str | None:
        """The filter as it is; None where this screen has none."""
        return None

    def filter_by(self, text: str) -> None:
        """Filter by what was typed. Raises `InvalidValue` with the mend."""

    def go_back(self) -> bool:
        """Undo one step of looking closer; False where there is none."""
        return False

    def clear_filter(self) -> None:
        """Show everything again, and hide the line of the filter."""
        self.filter_by("")
        self.query_one(EntryLine).show_filter("")

    def focus_body(self) -> None:
        """Give the keys back to what is looked at, after something was typed."""
        self.focus_next(self.AUTO_FOCUS or "*")

    def renew_status(self) -> None:
        """What the status bar tells has changed: acts that wait, or the mouse."""
        self.query_one(StatusBar).renew()


def main_screen(app: Stage) -> Frame:
    """The main screen: the one in front, or the one under a dialog."""
    return next(screen for screen in reversed(app.screen_stack) if isinstance(screen, Frame))
