"""What every screen and widget of the dashboard may ask of the app: desk, feed, answers, and how things are drawn.

Only this file turns Textual's untyped `app` into the `Dashboard`, so that nobody else has to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.message_pump import MessagePump

from jobconsole.tui.detail_sections import Pen

if TYPE_CHECKING:
    from jobconsole.console import Desk
    from jobconsole.tui.app import Dashboard
    from jobconsole.tui.feed import Feed


class OnDashboard(MessagePump):
    """A mixin for screens and widgets."""

    @property
    def dashboard(self) -> Dashboard:
        """The app."""
        return cast("Dashboard", self.app)

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
