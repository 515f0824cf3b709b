"""The top line: tabs, how many need a person, which store, how its providers stand, the clock with its zone (UX 1a).

Only this file decides what stands there and what goes first where the line is short.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.style import Style
from rich.text import Text

from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui.clock_face import TimeStyle, zone_name, zoned
from jobconsole.tui.modes import TABS
from jobconsole.tui.widgets.feed_line import FeedLine


class Header(FeedLine):
    """One line, with tabs that can be clicked."""

    auto_links = False  # tabs have looks of their own

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode

    def on_mount(self) -> None:
        """The clock follows the way times are shown."""
        self.watch(self.app, "time_style", self.renew, init=False)

    def compose_line(self) -> Text:
        """Left and right as they fit: first the name goes, then words on the right, then tabs, at last all but the clock."""
        columns = self.size.width
        for left, right in self._ways():
            if left.cell_len + right.cell_len <= columns:
                break
        else:
            right = self._clock(is_short=True)
            left.truncate(max(0, columns - right.cell_len))
        left.append(" " * (columns - left.cell_len - right.cell_len))
        return left.append_text(right)

    def _ways(self) -> Iterator[tuple[Text, Text]]:
        whole = self._right()
        yield self._left(is_named=True), whole
        yield self._left(is_named=False), whole
        yield self._left(is_named=False), self._right(is_short=True)
        yield self._left(is_named=False, is_whole=False), self._right(is_short=True)

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

    def _right(self, *, is_short: bool = False) -> Text:
        look, feed = self.dashboard.look, self.feed
        line = Text(" ")
        if not feed.health.is_writable:
            line.append(" READ-ONLY ", look.needs_you + Style(bold=True, reverse=True))
            line.append(" ")
        if self.dashboard.profile:
            line.append(
                f" {inert(self.dashboard.profile, 20)} ", look.production if self.dashboard.is_production else look.accent
            )
            line.append(" ")
        line.append_text(self._providers(is_short=is_short))
        return line.append_text(self._clock(is_short=is_short))

    def _providers(self, *, is_short: bool) -> Text:
        """`● 3/4 providers`: of those in use, how many are well; without a worker nobody asks them."""
        look, healths = self.dashboard.look, self.feed.provider_healths()
        if not self.feed.has_worker and not self.feed.lacks_worker:
            return Text()  # nobody can say yet
        if not self.feed.has_worker:
            return Text(f"{self._dot(is_full=False)} no worker  ", look.needs_you)
        if not healths:
            return Text(f"{self._dot(is_full=True)} worker  ", look.done)
        well, word = sum(each.standing.is_well for each in healths), "" if is_short else " providers"
        is_well = well == len(healths)
        return Text(f"{self._dot(is_full=is_well)} {well:,}/{len(healths):,}{word}  ", look.done if is_well else look.needs_you)

    def _dot(self, *, is_full: bool) -> str:
        if self.dashboard.look.theme.is_ascii:
            return "*" if is_full else "!"
        return "●" if is_full else "○"

    def _clock(self, *, is_short: bool = False) -> Text:
        now, look = self.feed.now(), self.dashboard.look
        style = self.dashboard.time_style if self.dashboard.time_style is not TimeStyle.AGE else TimeStyle.UTC
        return Text(f"{zoned(now, style):{'%H:%M' if is_short else '%H:%M:%S'}} {zone_name(now, style)} ", look.text)
