"""The line above the footer: what is the matter right now (UX 3.1).

Only this file decides what stands there: an act that can be undone, a paused picture, a missing worker, else when a provider
last answered and which of them does not; on the right the screen's own note.
"""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui import texts
from jobconsole.tui.clock_face import TimeStyle, since_text
from jobconsole.tui.messages import PauseChanged
from jobconsole.tui.widgets.feed_line import FeedLine


class StatusBar(FeedLine):
    """One line; `note` is the screen's own word on the right."""

    def __init__(self) -> None:
        super().__init__()
        self.note = ""
        self._waiting = 0

    def on_pause_changed(self, message: PauseChanged) -> None:
        """Count what waits."""
        self._waiting = message.waiting

    def compose_line(self) -> Text:
        """What is the matter on the left, the note on the right where both have room."""
        mouse = "" if self.dashboard.mouse.is_on else f"{texts.MOUSE_OFF} · "
        left, right = self._left(), Text(f"{mouse}{inert(self.note, 80)} ", self.dashboard.look.quiet)
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
        if feed.health.damage:
            return Text(f" {inert(feed.health.damage, 120)}", look.needs_you)
        if feed.lacks_worker:
            return Text(f" {texts.NO_WORKER}", look.needs_you)
        if not feed.health.is_writable:
            return Text(f" {inert(feed.health.why_not, 120)}", look.needs_you)
        if not feed.is_loaded:
            return Text()
        if feed.polled_at is None:
            return Text(" no provider has answered yet", look.quiet)
        line = Text(f" last answer {since_text(feed.polled_at, feed.now(), TimeStyle.AGE)} ago", look.quiet)
        ill = [text for each in feed.provider_healths() if (text := each.text(feed.now()))]
        if ill:
            more = f" and {len(ill) - 1} more" if len(ill) > 1 else ""
            line.append(f"  {inert(ill[0], 120)}{more}", look.needs_you)
        return line
