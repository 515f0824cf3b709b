"""What every screen and widget of the dashboard may ask of the app: desk, feed, answers, and how things are drawn.

Only this file turns Textual's untyped `app` into the `Stage`, so that nobody else has to.
"""

from __future__ import annotations

from typing import cast

from textual.message_pump import MessagePump

from jobconsole.console import Desk
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.feed import Feed
from jobconsole.tui.stage import Stage


class OnDashboard(MessagePump):
    """A mixin for screens and widgets."""

    @property
    def dashboard(self) -> Stage:
        """The app."""
        return cast(Stage, self.app)

    @property
    def desk(self) -> Desk:
        """The store's desk."""
        return self.dashboard.desk

    @property
    def feed(self) -> Feed:
        """What is shown of the store."""
        return self.dashboard.feed

    def pen(self, width: int) -> Pen:
        """How things are drawn just now, `width` columns wide."""
        return Pen(width, self.feed.now(), self.dashboard.theme_file.is_ascii, self.dashboard.time_style)
