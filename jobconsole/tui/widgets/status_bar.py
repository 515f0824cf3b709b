"""The line above the footer: what is the matter right now (UX 3.1).

Only this file decides what stands there: a paused picture, a missing worker, else when a provider last answered; on the right
how the rows are sorted and how many are hidden.
"""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from jobconsole.core.terminal_text import inert
from jobconsole.tui import texts
from jobconsole.tui.clock_face import TimeStyle, since_text
from jobconsole.tui.messages import Changed, HealthChanged, PauseChanged, Ticked
from jobconsole.tui.on_dashboard import OnDashboard


class StatusBar(OnDashboard, Widget):
    """One line; `note` is the screen's own word on the right."""

    def __init__(self) -> None:
        super().__init__()
        self.note = ""
        self._waiting = 0
        self._drawn = Text()

    def on_mount(self) -> None:
        """Hear of changes and seconds."""
        self.feed.subscribe(self)

    def on_changed(self, message: Changed) -> None:
        """An answer may have come."""
        self.renew()

    def on_ticked(self, message: Ticked) -> None:
        """Ages grow."""
        self.renew()

    def on_health_changed(self, message: HealthChanged) -> None:
        """A worker came or went."""
        self.renew()

    def on_pause_changed(self, message: PauseChanged) -> None:
        """The picture is held, or goes on."""
        self._waiting = message.waiting
        self.renew()

    def renew(self) -> None:
        """Draw anew where the text differs."""
        if self._compose_line() != self._drawn:
            self.refresh()

    def render(self) -> Text:
        """The line."""
        self._drawn = self._compose_line()
        return self._drawn

    def _compose_line(self) -> Text:
        left, right = self._left(), Text(f"{inert(self.note, 80)} ", self.dashboard.look.quiet)
        gap = self.size.width - left.cell_len - right.cell_len
        if gap < 1:
            left.truncate(self.size.width)
            return left
        left.append(" " * gap)
        left.append_text(right)
        return left

    def _left(self) -> Text:
        feed, look, holds = self.feed, self.dashboard.look, self.dashboard.holds
        if holds.waiting:
            hold = holds.waiting[-1]
            more = f" and {len(holds.waiting) - 1} more" if len(holds.waiting) > 1 else ""
            text = texts.held(hold.text, holds.seconds_left(hold), more)
            return Text(f" {text} ", look.needs_you + Style(bold=True, reverse=True))
        if feed.is_paused:
            return Text(f" {texts.paused(self._waiting)}", look.needs_you)
        if feed.is_loaded and not feed.has_worker:
            return Text(f" {texts.NO_WORKER}", look.needs_you)
        if not feed.health.is_writable:
            return Text(f" {inert(feed.health.why_not, 120)}", look.needs_you)
        if feed.polled_at is None:
            return Text(" no provider has answered yet", look.quiet)
        return Text(f" last answer {since_text(feed.polled_at, feed.now(), TimeStyle.AGE)} ago", look.quiet)
