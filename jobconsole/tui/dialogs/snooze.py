"""Until when an inbox item rests: one of a few usual times, or one that is typed (SPEC H7).

Only this file decides which times are offered and how another one is typed. Nothing is decided when the time comes (H10).
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from jobconsole.core.commands.attending import LONGEST_SNOOZE
from jobconsole.core.moments import moment
from jobconsole.core.operation import Operation, milliseconds
from jobconsole.tui.clock_face import full_text, zoned_clock
from jobconsole.tui.dialogs.dialog import Asked
from jobconsole.tui.dialogs.pause import time_ahead
from jobconsole.tui.dialogs.typed import TypedDialog
from jobconsole.tui.widgets.line_list import Entry, LineList

TOMORROW = "tomorrow"
_MORNING = time(8)  # of the local day
_USUAL = (("5 minutes", timedelta(minutes=5)), ("30 minutes", timedelta(minutes=30)), ("2 hours", timedelta(hours=2)))
_MEND = "Write a duration such as 45m, a time of day (UTC) such as 14:30, or 2026-12-01T09:00:00Z."


class SnoozeDialog(TypedDialog):
    """Asks until when; gives back `{"until": time}`. All that is typed goes into one line, where a lone digit is a usual time.

    So a `1` that is followed by an `m` is one minute: nothing is taken before Enter.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "look(-1)", show=False, id="dialog.up"),
        Binding("down", "look(1)", show=False, id="dialog.down"),
    ]
    LETTERS: ClassVar[str] = "#until"
    heading = "Snooze"

    def __init__(self, op: Operation) -> None:
        super().__init__(op, act_label="Snooze")
        self._times: tuple[tuple[str, datetime], ...] = ()

    def parts(self) -> ComposeResult:
        """The usual times, a line for another one, and what it means."""
        self._times = usual_times(self.feed.now())
        yield LineList(id="times", classes="dialog-text")
        yield Static(
            Content.styled("A number above, or 45m from now, 14:30 (UTC), 2026-12-01T09:00:00Z", "$quiet"), markup=False
        )
        yield Input(id="until", max_length=40, select_on_focus=False)
        yield Static("", classes="dialog-text", id="dialog-change", markup=False)

    def first_focus(self) -> str:
        """The line."""
        return "#until"

    def on_mount(self) -> None:
        """Show the usual times."""
        super().on_mount()
        times = self.query_one("#times", LineList)
        times.show([Entry(str(number), (self._row(number),)) for number in range(1, len(self._times) + 1)])
        times.styles.height = len(self._times)
        times.can_focus = False  # its arrows work from the line

    def _row(self, number: int) -> Content:
        label, at = self._times[number - 1]
        pen = self.pen(0)
        return Content.assemble(
            (f" {number} ", "bold $primary"), f" {label:<26}", (f"until {zoned_clock(at, pen.now, pen.style)}", "$quiet")
        )

    def tell(self) -> None:
        """When it wakes."""
        asked, pen = self.asked(), self.pen(0)
        is_typed = bool(self.query_one("#until", Input).value.strip())
        told = "" if isinstance(asked, str) or not is_typed else f"It wakes at {full_text(asked['until'], pen.now, pen.style)}."
        self.query_one("#dialog-change", Static).update(Content.styled(told, "$quiet"))

    def action_look(self, by: int) -> None:
        """Up or down among the usual times, in place of what is typed."""
        self.query_one("#until", Input).value = ""
        self.query_one("#times", LineList).action_move(by)

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        """By the mouse."""
        event.stop()
        self.query_one("#until", Input).value = ""
        self.action_confirm()

    def asked(self) -> Asked | str:
        """The time that was typed or has the number that was, else the one under the cursor."""
        typed, now = self.query_one("#until", Input).value.strip(), self.feed.now()
        numbers = {str(number): at for number, (_, at) in enumerate(self._times, start=1)}
        if typed and typed not in numbers:
            return asked_until(typed, now)
        until = numbers[typed or self.query_one("#times", LineList).cursor or "1"]
        return {"until": until} if until > now else "That time has come meanwhile. Choose another one."


def asked_until(text: str, now: datetime) -> Asked | str:
    """`{"until": time}` for what was typed, or what is wrong with it."""
    until = wakes_at(text, now)
    if until is None or until <= now:
        return _MEND
    return {"until": until} if until <= now + LONGEST_SNOOZE else f"That is more than {LONGEST_SNOOZE.days} days away."


def usual_times(now: datetime) -> tuple[tuple[str, datetime], ...]:
    """What is offered, with its words."""
    morning = tomorrow_morning(now)
    label = f"tomorrow {morning.astimezone():%H:%M %Z}"
    return (*((words, milliseconds(now + after)) for words, after in _USUAL), (label, morning))


def tomorrow_morning(now: datetime) -> datetime:
    """08:00 of the next local day, whatever the clocks do in between."""
    day = now.astimezone().date() + timedelta(days=1)
    return milliseconds(datetime.combine(day, _MORNING).astimezone())


def wakes_at(text: str, now: datetime) -> datetime | None:
    """The time that was typed: `45m`, `14:30` (UTC), a full time, or `tomorrow`; None for none."""
    text = text.strip()
    if text.casefold() == TOMORROW:
        return tomorrow_morning(now)
    return moment(text) if "-" in text else time_ahead(text, now)
