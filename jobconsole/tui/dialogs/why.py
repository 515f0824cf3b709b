"""Why? for any second of an operation's life (SPEC U7).

Only this file decides how the second is chosen; the answer is the core's, the same words as everywhere.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from jobconsole.core.durations import parse_duration
from jobconsole.core.moments import moment, past_clock
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import clock_text
from jobconsole.errors import InvalidValue, JobconsoleError
from jobconsole.tui.on_dashboard import OnDashboard


class WhyDialog(OnDashboard, ModalScreen[None]):
    """Tells about one second, and lets another one be typed."""

    DEFAULT_CSS = """
    WhyDialog {
        align: center middle;
        background: $background 60%;
        & > #dialog {
            width: 84; max-width: 96%; height: auto; max-height: 96%; overflow-y: auto;
            padding: 1 2; background: $surface;
            border: round $primary; border-title-color: $primary; border-title-style: bold; border-subtitle-color: $quiet;
        }
        & #why-text { height: auto; margin-bottom: 1; }
        & Input { border: round $quiet; background: $surface; &:focus { border: round $primary; } }
        & #why-hint { height: auto; color: $quiet; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.pop_screen", "Back", id="why.back")]

    def __init__(self, operation_id: str, at: datetime | None, typed: str = "") -> None:
        super().__init__()
        self._operation_id, self._at, self._typed = operation_id, at, typed.strip()

    def compose(self) -> ComposeResult:
        """The answer, and a line for another second."""
        with Vertical(id="dialog") as box:
            box.border_title, box.border_subtitle = "Why?", "Esc goes back"
            yield Static("", id="why-text", markup=False)
            yield Static("Another second: 10:20:31 (UTC), 2m (ago), or nothing for now", id="why-hint", markup=False)
            yield Input(self._typed or (clock_text(self._at, self.feed.now()) if self._at else ""), id="why-at", max_length=40)

    def on_mount(self) -> None:
        """Answer at once."""
        self.query_one(Input).focus()
        self._ask(self.second(self._typed) if self._typed else self._at)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        at = self.second(text)
        if text and at is None:
            self._tell(f"{inert(text, 40)!r} is no time. Write 10:20:31, a full time such as 2026-11-29T10:20:31Z, or 2m.")
            return
        self._ask(at)

    def second(self, text: str) -> datetime | None:
        """The second that was typed; None for now, and where it is none."""
        return second_of(text, self.feed.now())

    def _ask(self, at: datetime | None) -> None:
        self._answer(at)

    @work(exclusive=True, group="why")
    async def _answer(self, at: datetime | None) -> None:
        try:
            self._tell(await self.desk.why(self._operation_id, at))
        except JobconsoleError as error:
            self._tell(inert(str(error), 400))

    def _tell(self, text: str) -> None:
        self.query_one("#why-text", Static).update(Content(text))


def second_of(text: str, now: datetime) -> datetime | None:
    """The past second that a clock of the day (UTC), a full time, or a duration back from `now` names; None for none."""
    if (at := past_clock(text, now)) is not None:
        return at
    try:
        return moment(text) if "T" in text.upper() or "-" in text else now - parse_duration(text)
    except (InvalidValue, OverflowError):
        return None
