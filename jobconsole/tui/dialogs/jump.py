"""To an event of the audit: by its number, or by a time.

Only this file decides how that is typed.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from jobconsole.tui import texts
from jobconsole.tui.dialogs.why import second_of
from jobconsole.tui.on_dashboard import OnDashboard


class JumpDialog(OnDashboard, ModalScreen[int | datetime | None]):
    """Asks where to; gives back a `seq` or a time."""

    DEFAULT_CSS = """
    JumpDialog {
        align: center middle;
        & > #dialog {
            width: 60; max-width: 96%; height: auto; padding: 1 2; background: $surface;
            border: round $primary; border-title-color: $primary; border-title-style: bold; border-subtitle-color: $quiet;
        }
        & Input { border: round $quiet; background: $surface; &:focus { border: round $primary; } }
        & Static { height: auto; color: $quiet; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back", id="jump.back")]

    def compose(self) -> ComposeResult:
        """A line for the place."""
        with Vertical(id="dialog") as box:
            box.border_title, box.border_subtitle = "Jump to", "Enter goes there · Esc goes back"
            yield Static("An event's number, or a time: 1042, 10:20:31 (UTC), 2h (ago)", id="jump-hint", markup=False)
            yield Input(id="jump-to", max_length=40)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        place = place_of(event.value, self.feed.now())
        if place is None:
            self.query_one("#jump-hint", Static).update(Content(texts.no_place(event.value)))
            return
        self.dismiss(place)


def place_of(text: str, now: datetime) -> int | datetime | None:
    """A `seq`, or a time; None for neither."""
    text = text.strip().replace(",", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else second_of(text, now)
