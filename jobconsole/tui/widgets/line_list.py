"""A list of lines with a cursor, for stories, requests, inboxes, audits and logs; only what is in sight is drawn.

Only this file decides how such a list keeps its place. Cursor and scroll are bound to keys, never to rows: they survive lines
that come, go and move (SPEC U2, U8). Lines are `Content`, so that nothing in them is markup (U3).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.visual import Visual

from jobconsole.tui.widgets.cursor_list import CursorList

_ANSI_CURSOR, _ANSI_CURSOR_BLURRED = Style(reverse=True), Style(underline=True)
"""Where the terminal's own colours are used, nobody knows a shade between two of them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the list: its key, and its rows. A heading has no cursor."""

    key: str
    rows: tuple[Content, ...]
    is_heading: bool = False


class LineList(CursorList):
    """Entries in a column. `show` takes the whole list anew; what is drawn is only what can be seen."""

    DEFAULT_CSS = """
    LineList {
        height: 1fr;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        scrollbar-gutter: stable;
        & > .line-list--cursor { background: $primary 12%; }
        &:focus > .line-list--cursor { background: $primary 25%; text-style: bold; }
        &:ansi > .line-list--cursor { background: ansi_default; }
        &:ansi:focus > .line-list--cursor { background: ansi_default; }
        & > .line-list--heading { color: $quiet; text-style: bold; }
        & > .line-list--empty { color: $quiet; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-list--cursor", "line-list--heading", "line-list--empty"}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "Open", show=False, id="list.open")]

    cursor: reactive[str | None] = reactive(None)
    """The key of the entry under the cursor; None in an empty list."""

    class Moved(Message):
        """The cursor stands on another entry."""

        def __init__(self, lines: LineList, key: str | None) -> None:
            self.lines, self.key = lines, key
            super().__init__()

        @property
        def control(self) -> LineList:
            """The list, for `@on(..., selector)`."""
            return self.lines

    class Chosen(Message):
        """Enter, or a second click, on an entry."""

        def __init__(self, lines: LineList, key: str) -> None:
            self.lines, self.key = lines, key
            super().__init__()

        @property
        def control(self) -> LineList:
            """The list, for `@on(..., selector)`."""
            return self.lines

    class EndReached(Message):
        """The cursor was moved beyond the first (-1) or the last (1) entry: a list in pages may turn one."""

        def __init__(self, lines: LineList, direction: int) -> None:
            self.lines, self.direction = lines, direction
            super().__init__()

        @property
        def control(self) -> LineList:
            """The list, for `@on(..., selector)`."""
            return self.lines

    class Resized(Message):
        """Its rows have another width: who laid entries out for the old one lays them out anew."""

        def __init__(self, lines: LineList) -> None:
            self.lines = lines
            super().__init__()

        @property
        def control(self) -> LineList:
            """The list, for `@on(..., selector)`."""
            return self.lines

    def __init__(self, *, id: str | None = None, classes: str | None = None, empty: str = "") -> None:
        super().__init__(id=id, classes=classes)
        self._laid_out_for = 0
        self._entries: tuple[Entry, ...] = ()
        self._keys: tuple[str, ...] = ()  # of the entries that the cursor may stand on
        self._places: dict[str, int] = {}  # each of these keys -> entry
        self._tops: list[int] = [0]  # entry -> its first row; one more for the end
        self._rows: list[tuple[int, int]] = []  # row -> entry, part
        self._empty = empty

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is shown."""
        return self._entries

    @property
    def columns(self) -> int:
        """Columns of a row, the scrollbar left out."""
        return self.scrollable_content_region.width

    # ---- what is shown --------------------------------------------------------------------------------------------------
    def show(self, entries: Sequence[Entry], *, empty: str | None = None) -> None:
        """Show these entries: the cursor stays on its key, at its height in the window; `empty` is the text for none."""
        height_in_window = self._top_of(self.cursor) - self.scroll_offset.y
        place = self._places.get(self.cursor or "")
        self._entries = tuple(entries)
        self._empty = self._empty if empty is None else empty
        self._lay_out()
        kept = self.cursor if self.cursor in self._places else self._near(place or 0)
        if kept != self.cursor:
            self.cursor = kept
        elif kept is not None:
            self.scroll_to(y=max(0, self._top_of(kept) - height_in_window), animate=False, force=True, immediate=True)
        self.refresh()

    def _lay_out(self) -> None:
        self._places = {entry.key: number for number, entry in enumerate(self._entries) if not entry.is_heading}
        self._keys = tuple(self._places)
        self._rows = [(number, part) for number, entry in enumerate(self._entries) for part in range(len(entry.rows))]
        self._tops = [0]
        for entry in self._entries:
            self._tops.append(self._tops[-1] + len(entry.rows))
        self.virtual_size = Size(0, len(self._rows))

    @property
    def cursor_region(self) -> Region:
        """Where the entry under the cursor is, from the top of the list."""
        place = self._places.get(self.cursor or "")
        if place is None:
            return Region(0, 0, max(1, self.size.width), 1)
        return Region(0, self._tops[place], max(1, self.size.width), self._tops[place + 1] - self._tops[place])

    def _top_of(self, key: str | None) -> int:
        place = self._places.get(key or "")
        return 0 if place is None else self._tops[place]

    def _near(self, place: int) -> str | None:
        """The nearest entry that may have the cursor, where the one at `place` is gone."""
        after = [entry.key for entry in self._entries[place:] if not entry.is_heading]
        before = [entry.key for entry in self._entries[:place] if not entry.is_heading]
        return after[0] if after else before[-1] if before else None

    # ---- moving ---------------------------------------------------------------------------------------------------------
    def on_resize(self) -> None:
        """Tell it where the width has changed."""
        if self.columns != self._laid_out_for:
            self._laid_out_for = self.columns
            self.post_message(self.Resized(self))

    def watch_cursor(self, key: str | None) -> None:
        """Bring the entry into view, with the heading above the first one, and tell."""
        place = self._places.get(key or "")
        if place is not None:
            top = 0 if place <= 1 else self._tops[place]
            region = Region(0, top, max(1, self.size.width), self._tops[place + 1] - top)
            self.scroll_to_region(region, animate=False, force=True, immediate=True)
        self.refresh()
        self.post_message(self.Moved(self, key))

    @property
    def count(self) -> int:
        """Entries that are no headings."""
        return len(self._keys)

    @property
    def place(self) -> int | None:
        """The number of the cursor's key among those that are no headings."""
        return self._keys.index(self.cursor) if self.cursor in self._places else None

    def place_after(self, pages: float) -> int:
        """By the rows of the window, whatever the height of the entries."""
        rows = max(1, int(self.size.height * abs(pages)))
        row = self._top_of(self.cursor) + (rows if pages > 0 else -rows)
        entry = self._rows[min(max(0, row), len(self._rows) - 1)][0] if self._rows else 0
        numbers = tuple(self._places.values())
        return bisect_left(numbers, entry) if pages > 0 else bisect_right(numbers, entry) - 1

    def stand_on(self, place: int) -> None:
        """Its key gets the cursor."""
        self.cursor = self._keys[place]

    def pass_end(self, direction: int) -> None:
        """Tell it."""
        self.post_message(self.EndReached(self, direction))

    def action_choose(self) -> None:
        """Open the entry under the cursor."""
        if self.cursor is not None:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """The first click moves the cursor, a click on the cursor opens."""
        row = event.y + self.scroll_offset.y
        if not 0 <= row < len(self._rows):
            return
        entry = self._entries[self._rows[row][0]]
        if entry.is_heading:
            return
        if entry.key == self.cursor and event.chain > 1:
            self.action_choose()
        self.cursor = entry.key

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def render_line(self, y: int) -> Strip:
        """One row of the window."""
        width, row = self.columns, y + self.scroll_offset.y
        if not self._rows:
            return self._strip(Content(self._empty_row(y, width)), "line-list--empty", width)
        if row >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        number, part = self._rows[row]
        entry = self._entries[number]
        component = "line-list--heading" if entry.is_heading else "line-list--cursor" if entry.key == self.cursor else ""
        return self._strip(entry.rows[part], component, width)

    def _empty_row(self, y: int, width: int) -> str:
        lines = list(_wrapped(self._empty, max(1, width - 2)))
        return f" {lines[y]}" if y < len(lines) else ""

    def _strip(self, content: Content, component: str, width: int) -> Strip:
        style = self.get_visual_style(component) if component else self.visual_style
        cut = content.truncate(width, ellipsis=True) if content.cell_length > width else content
        if not cut.plain:
            return Strip([Segment(" " * width, style.rich_style)], width)
        strips = Visual.to_strips(self, cut, width, 1, style, apply_selection=False, pad=True)
        strip = strips[0] if strips else Strip.blank(width, style.rich_style)
        if component == "line-list--cursor" and self.app.native_ansi_color:
            return strip.apply_style(_ANSI_CURSOR if self.has_focus else _ANSI_CURSOR_BLURRED)
        return strip


def _wrapped(text: str, width: int) -> Iterator[str]:
    for content in Content(text).wrap(width):
        yield content.plain
