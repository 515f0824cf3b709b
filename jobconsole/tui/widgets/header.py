"""The top line: tabs, how many need a person, which store, whether a worker is alive, the clock with its zone (UX 1a).

Only this file decides what stands there and what goes first where the line is short.
"""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from jobconsole.core.terminal_text import inert
from jobconsole.tui.clock_face import TimeStyle, zone_name, zoned
from jobconsole.tui.messages import Changed, HealthChanged, Ticked
from jobconsole.tui.modes import TABS
from jobconsole.tui.on_dashboard import OnDashboard


class Header(OnDashboard, Widget):
    """One line. It hears the feed, and is drawn anew where its text changes."""

    auto_links = False  # tabs have looks of their own

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode
        self._drawn = Text()

    def on_mount(self) -> None:
        """Hear of changes and seconds."""
        self.feed.subscribe(self)
        self.watch(self.app, "time_style", self._renew, init=False)

    def on_changed(self, message: Changed) -> None:
        """Counts may differ."""
        self._renew()

    def on_ticked(self, message: Ticked) -> None:
        """The clock goes on."""
        self._renew()

    def on_health_changed(self, message: HealthChanged) -> None:
        """A worker came or went."""
        self._renew()

    def _renew(self) -> None:
        if self._compose_line() != self._drawn:
            self.refresh()

    def render(self) -> Text:
        """The line, as it fits."""
        self._drawn = self._compose_line()
        return self._drawn

    def _compose_line(self) -> Text:
        right = self._right()
        room = self.size.width - right.cell_len
        left = self._left(is_named=True)
        if left.cell_len > room:
            left = self._left(is_named=False)
        if left.cell_len > room:
            left = self._left(is_named=False, is_whole=False)
        if left.cell_len > room:
            right = self._clock()
            left.truncate(max(0, self.size.width - right.cell_len))
        left.append(" " * (self.size.width - left.cell_len - right.cell_len))
        left.append_text(right)
        return left

    def _left(self, *, is_named: bool, is_whole: bool = True) -> Text:
        look, feed = self.dashboard.look, self.feed
        line = Text(" jobconsole ", Style(bold=True) + look.accent) if is_named else Text(" ")
        for tab in TABS:
            is_here = tab.mode == self._mode
            if not is_whole and not is_here and tab.mode not in ("operations", "inbox"):
                continue
            count = {"operations": len(feed.operations), "inbox": feed.awake}.get(tab.mode)
            style = look.text + Style(bold=True, reverse=True) if is_here else look.quiet
            if tab.mode == "inbox" and count:
                style = look.needs_you + Style(bold=True, reverse=is_here)
            label = f" {tab.title} " if not count else f" {tab.title} {count:,}{'!' if tab.mode == 'inbox' else ''} "
            line.append(label, style + Style(meta={"@click": f"app.act('{tab.action_id}')"}))
        return line

    def _right(self) -> Text:
        look, feed = self.dashboard.look, self.feed
        line = Text(" ")
        if not feed.health.is_writable:
            line.append(" READ-ONLY ", look.needs_you + Style(bold=True, reverse=True))
            line.append(" ")
        if self.dashboard.profile:
            line.append(f"{inert(self.dashboard.profile, 20)}  ", look.accent)
        if not feed.has_worker:
            line.append(f"{self._dot(is_full=False)} no worker  ", look.needs_you)
        else:
            line.append(f"{self._dot(is_full=True)} worker  ", look.done)
        return line.append_text(self._clock())

    def _dot(self, *, is_full: bool) -> str:
        if self.dashboard.look.theme.is_ascii:
            return "*" if is_full else "!"
        return "●" if is_full else "○"

    def _clock(self) -> Text:
        now, look = self.feed.now(), self.dashboard.look
        style = self.dashboard.time_style if self.dashboard.time_style is not TimeStyle.AGE else TimeStyle.UTC
        return Text(f"{zoned(now, style):%H:%M:%S} {zone_name(now, style)} ", look.text)
