"""A line that tells of the feed: drawn anew where its text differs, however often something is heard.

Only this file decides when such a line is drawn. Header and status bar derive from it and compose their text.
"""

from __future__ import annotations

from rich.text import Text
from textual.widget import Widget

from jobconsole.tui.messages import Changed, HealthChanged, PauseChanged, Ticked
from jobconsole.tui.on_dashboard import OnDashboard


class FeedLine(OnDashboard, Widget):
    """One line. It hears the feed; an unchanged text costs no painting."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn = Text()

    def compose_line(self) -> Text:
        """The text as it should be now, as wide as the line."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Hear of changes and seconds."""
        self.feed.subscribe(self)

    def on_changed(self, message: Changed) -> None:
        """Counts and answers may differ."""
        self.renew()

    def on_ticked(self, message: Ticked) -> None:
        """Clocks and ages go on."""
        self.renew()

    def on_health_changed(self, message: HealthChanged) -> None:
        """A worker came or went."""
        self.renew()

    def on_pause_changed(self, message: PauseChanged) -> None:
        """The picture is held, or goes on."""
        self.renew()

    def renew(self) -> None:
        """Draw anew where the text differs."""
        if self.compose_line() != self._drawn:
            self.refresh()

    def render(self) -> Text:
        """The line."""
        self._drawn = self.compose_line()
        return self._drawn
