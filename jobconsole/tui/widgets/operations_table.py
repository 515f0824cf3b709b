"""The operations table: a virtual list that draws only what is in sight, and of that only what changed (SPEC U2, U8).

Only this file decides how rows keep their place. Cursor, marks and scroll are bound to operation ids: an update, a sort or a
filter moves rows, never the cursor to another operation. `TableOrder` keeps the order; a `Line` is what stands on the screen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from jobconsole.core.operation import Operation
from jobconsole.core.terminal_text import fit, inert, width
from jobconsole.tui.action import Subject
from jobconsole.tui.columns import BY_KEY, COLUMNS, Column, Place, fit_columns
from jobconsole.tui.filter import Filter
from jobconsole.tui.on_dashboard import OnDashboard
from jobconsole.tui.row import Piece, RowContext, stale_since
from jobconsole.tui.table_order import TableOrder
from jobconsole.tui.themes import Look

HEADING = 1  # lines above the rows


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it stands on the screen; two that are equal need no painting."""

    operation_id: str
    is_cursor: bool
    margin: Segment
    cells: tuple[tuple[Segment, ...], ...]
    ground: Style


class OperationsTable(OnDashboard, ScrollView, can_focus=True, inherit_bindings=False):
    """Rows of operations. It reads `feed`, and is told by its screen which ids changed and when a second has passed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="table.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="table.down"),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="table.page-up"),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="table.page-down"),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False, id="table.half-page-up"),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False, id="table.half-page-down"),
        Binding("home,g", "move(-1000000000)", "First", show=False, id="table.first"),
        Binding("end,G", "move(1000000000)", "Last", show=False, id="table.last"),
    ]

    class Moved(Message):
        """The cursor stands on another operation, or on none."""

        def __init__(self, operation_id: str | None) -> None:
            self.operation_id = operation_id
            super().__init__()

    class Opened(Message):
        """A row was clicked twice."""

        def __init__(self, operation_id: str) -> None:
            self.operation_id = operation_id
            super().__init__()

    class Arranged(Message):
        """How many rows there are, or how they are sorted or filtered, has changed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.order = TableOrder(COLUMNS[0])
        self.cursor_id: str | None = None
        self.marked: set[str] = set()
        self._places: tuple[Place, ...] = ()
        self._lines: dict[int, Line] = {}
        self._empty_text = ""

    # ---- what others ask for ------------------------------------------------------------------------------------------
    @property
    def subjects(self) -> tuple[Subject, ...]:
        """The marked operations, else the one under the cursor; each with the revision that is on the screen."""
        chosen: list[str | None] = [each for each in self.order.rows if each in self.marked]
        return tuple(
            Subject(each, self.order.operation(each).revision) for each in chosen or [self.cursor_id] if each is not None
        )

    @property
    def cursor_subject(self) -> Subject | None:
        """The operation under the cursor, marked or not; None on an empty table."""
        if self.cursor_id is None:
            return None
        return Subject(self.cursor_id, self.order.operation(self.cursor_id).revision)

    def show_empty(self, text: str) -> None:
        """What stands there when no row does."""
        if text != self._empty_text:
            self._empty_text = text
            self.redraw()

    # ---- changes --------------------------------------------------------------------------------------------------------
    def take(self, operation_ids: Iterable[str]) -> None:
        """These operations changed: rows come, go or move, and the cursor stays on its operation."""
        feed, before = self.feed, self.order.place(self.cursor_id)
        is_moved = self.order.take(feed.operations, operation_ids, feed.shown_at, keep=self.cursor_id)
        self.marked = {each for each in self.marked if each in self.order}
        if is_moved:
            self._rearranged(before)
        else:
            self._repaint()

    def filter_by(self, wanted: Filter) -> None:
        """Show only what matches."""
        before = self.order.place(self.cursor_id)
        self.order.filter_by(wanted, self.feed.operations, self.feed.shown_at)
        self._rearranged(before)

    def sort_by(self, column: Column, *, is_reversed: bool = False) -> None:
        """Another order of the rows; the cursor goes with its operation."""
        before = self.order.place(self.cursor_id)
        self.order.sort_by(column, is_reversed=is_reversed)
        self._redraw_lines()
        self._rearranged(before)

    def sort_next(self) -> None:
        """Sort by the next column on the screen."""
        shown = [place.column for place in self._places]
        at = shown.index(self.order.column) if self.order.column in shown else -1
        self.sort_by(shown[(at + 1) % len(shown)])

    def sort_named(self, key: str) -> bool:
        """Sort by the column of this name; False where there is none."""
        column = BY_KEY.get(key)
        if column is not None:
            self.sort_by(column)
        return column is not None

    def toggle_mark(self, operation_id: str) -> None:
        """Mark or unmark, and go on to the next row."""
        self.marked ^= {operation_id}
        self.action_move(1)
        self._repaint()
        self.post_message(self.Arranged())

    def unmark_all(self) -> bool:
        """Take all marks away; False where there are none."""
        had_marks = bool(self.marked)
        self.marked = set()
        self._repaint()
        self.post_message(self.Arranged())
        return had_marks

    def tick(self) -> None:
        """A second passed. A filter by age may let rows in or out; otherwise only times move."""
        if self.order.filter.is_about_time:
            self.take(tuple(self.feed.operations))
        else:
            self._repaint()

    def _rearranged(self, before: int | None) -> None:
        """Rows moved: keep the cursor on its operation, and at the same height of the screen where it was in sight."""
        self.virtual_size = Size(self.size.width, len(self.order.rows) + HEADING)
        after = self.order.place(self.cursor_id)
        if after is None:
            self._set_cursor(min(before or 0, len(self.order.rows) - 1))
        elif before is not None and after != before:
            self._keep_height(before, after)
        self._repaint()
        self.post_message(self.Arranged())

    def _keep_height(self, before: int, after: int) -> None:
        top = int(self.scroll_y)
        was_in_sight = top <= before < top + self._row_count
        if top == 0 and after < self._row_count:
            return  # at the very top new rows come into sight
        if was_in_sight:
            self.scroll_to(y=top + after - before, animate=False, immediate=True)

    # ---- the cursor ---------------------------------------------------------------------------------------------------
    @property
    def _row_count(self) -> int:
        """Rows that have room on the screen."""
        return max(1, self.size.height - HEADING)

    def _set_cursor(self, number: int) -> None:
        """Stand on a row. The numbers of the rows behind one that only lingered change with this."""
        rows = self.order.rows
        left, self.cursor_id = self.cursor_id, rows[number] if 0 <= number < len(rows) else None
        if left is not None and left != self.cursor_id and self.order.leave(left):
            self.virtual_size = Size(self.size.width, len(rows) + HEADING)
            self.post_message(self.Arranged())
        self.post_message(self.Moved(self.cursor_id))

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        rows = self.order.rows
        at = self.order.place(self.cursor_id)
        if not rows:
            return
        self._set_cursor(min(len(rows) - 1, max(0, (at if at is not None else -1) + by)))
        self._scroll_to_cursor()
        self._repaint()

    def action_page(self, pages: float) -> None:
        """Move the cursor by screens."""
        self.action_move(round(pages * (self._row_count - 1)) or 1)

    def go_to(self, operation_id: str) -> bool:
        """Put the cursor on an operation; False where the table does not show it."""
        at = self.order.place(operation_id)
        if at is None:
            return False
        self._set_cursor(at)
        self._scroll_to_cursor()
        self._repaint()
        return True

    def _scroll_to_cursor(self) -> None:
        at, top = self.order.place(self.cursor_id), int(self.scroll_y)
        if at is None:
            return
        if at < top:
            self.scroll_to(y=at, animate=False, immediate=True)
        elif at >= top + self._row_count:
            self.scroll_to(y=at - self._row_count + 1, animate=False, immediate=True)

    # ---- events ---------------------------------------------------------------------------------------------------------
    def fit(self) -> None:
        """Choose the columns that have room, and draw everything anew."""
        self._places = fit_columns(self.size.width, self.dashboard.time_style)
        self.redraw()

    def on_resize(self, event: events.Resize) -> None:
        """Other columns have room."""
        self.fit()
        self.virtual_size = Size(self.size.width, len(self.order.rows) + HEADING)
        self.redraw()
        self.call_after_refresh(self._scroll_to_cursor)

    def on_focus(self) -> None:
        """The cursor shows where keys go."""
        self._repaint()

    def on_blur(self) -> None:
        """The cursor shows where keys go."""
        self._repaint()

    def on_click(self, event: events.Click) -> None:
        """A heading sorts, a row gets the cursor, twice opens it. The row is the one that was painted (SPEC U8)."""
        if event.y < HEADING:
            place = next((each for each in self._places if each.start <= event.x < each.end), None)
            if place is not None:
                is_same = place.column is self.order.column
                self.sort_by(place.column, is_reversed=is_same and not self.order.is_reversed)
            return
        line = self._lines.get(event.y)
        if line is None or not self.go_to(line.operation_id):
            return
        if event.chain == 2:
            self.post_message(self.Opened(line.operation_id))

    def notify_style_update(self) -> None:
        """Another theme: every line looks different."""
        super().notify_style_update()
        self.redraw()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows are in sight."""
        self._lines.clear()
        super().watch_scroll_y(old_value, new_value)

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def redraw(self) -> None:
        """Everything looks different: draw all of it."""
        self._lines.clear()
        self.refresh()

    def _redraw_lines(self) -> None:
        self.refresh(Region(0, 0, self.size.width, HEADING))

    def _repaint(self) -> None:
        """Compare what is in sight with what should be, and paint the cells that differ."""
        if not self.is_mounted or not self.size.height:
            return
        context = self._row_context()
        for y in range(HEADING, self.size.height):
            old, new = self._lines.get(y), self._line(y, context)
            if new == old:
                continue
            if new is None:
                self._lines.pop(y, None)
                self.refresh(Region(0, y, self.size.width, 1))
                continue
            self._lines[y] = new
            self._paint_difference(y, old, new)

    def _paint_difference(self, y: int, old: Line | None, new: Line) -> None:
        if old is None or old.operation_id != new.operation_id or old.ground != new.ground or old.margin != new.margin:
            self.refresh(Region(0, y, self.size.width, 1))
            return
        for place, before, after in zip(self._places, old.cells, new.cells, strict=True):
            if before != after:
                self.refresh(Region(place.start, y, place.width, 1))

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the heading, a row, or what stands on an empty table."""
        look = self.dashboard.look
        if y < HEADING:
            return self._heading(look)
        line = self._lines.get(y)
        if line is None:
            line = self._line(y, self._row_context())
            if line is None:
                return self._below(y, look)
            self._lines[y] = line
        return self._strip(line)

    def _row_context(self) -> RowContext:
        app = self.dashboard
        return RowContext(app.feed.shown_at, app.time_style, app.look, app.feed.accounts)

    def _line(self, y: int, context: RowContext) -> Line | None:
        number = int(self.scroll_y) + y - HEADING
        rows = self.order.rows
        if not 0 <= number < len(rows):
            return None
        operation_id = rows[number]
        op = self.order.operation(operation_id)
        is_cursor = operation_id == self.cursor_id
        ground = self._ground(op, operation_id, context, is_cursor=is_cursor)
        cells = tuple(_fitted(place.column.draw(op, context), place, ground) for place in self._places)
        return Line(operation_id, is_cursor, self._margin(operation_id, context.look, is_cursor=is_cursor), cells, ground)

    def _ground(self, op: Operation, operation_id: str, context: RowContext, *, is_cursor: bool) -> Style:
        """What lies under all cells of a row: the cursor's colour, struck out where it vanished, dim where it is stale."""
        look = context.look
        style = (look.cursor if self.has_focus else look.cursor_blurred) if is_cursor else look.row
        if operation_id not in self.feed.operations:
            return style + Style(strike=True)
        return style + Style(dim=True) if stale_since(op, context.now) is not None else style

    def _margin(self, operation_id: str, look: Look, *, is_cursor: bool) -> Segment:
        is_ascii = look.theme.is_ascii
        cursor = (">" if is_ascii else "▌") if is_cursor else " "
        mark = ("*" if is_ascii else "●") if operation_id in self.marked else " "
        return Segment(cursor + mark, look.accent)

    def _strip(self, line: Line) -> Strip:
        blank = Segment(" ", line.ground)
        segments, at = [Segment(line.margin.text, line.ground + (line.margin.style or Style.null()))], 2
        for place, cell in zip(self._places, line.cells, strict=True):
            if place.start > at:
                segments.append(Segment(" " * (place.start - at), line.ground))
            segments.extend(cell)
            at = place.end
        if at < self.size.width:
            segments.append(Segment(blank.text * (self.size.width - at), line.ground))
        return Strip(segments, max(at, self.size.width)).crop(0, self.size.width)

    def _heading(self, look: Look) -> Strip:
        ground = look.row + look.quiet
        segments, at = [Segment("  ", ground)], 2
        for place in self._places:
            is_sorted = place.column is self.order.column
            title = place.column.title + (self._arrow(look) if is_sorted else "")
            style = look.row + look.accent + Style(bold=True) if is_sorted else ground
            shown = fit(title, place.width)
            padded = shown.rjust(place.width) if place.column.is_right else shown.ljust(place.width)
            segments += [Segment(" " * (place.start - at), ground), Segment(padded, style)]
            at = place.end
        return Strip(segments).extend_cell_length(self.size.width, ground).crop(0, self.size.width)

    def _arrow(self, look: Look) -> str:
        if look.theme.is_ascii:
            return "^" if self.order.is_reversed else "v"
        return "↑" if self.order.is_reversed else "↓"

    def _below(self, y: int, look: Look) -> Strip:
        """Under the last row nothing, except the one sentence of an empty table in the middle."""
        if self.order.rows or y != HEADING + self._row_count // 3 or not self._empty_text:
            return Strip.blank(self.size.width, look.row)
        text = fit(inert(self._empty_text), self.size.width)
        left = (self.size.width - width(text)) // 2
        return Strip([Segment(" " * left, look.row), Segment(text, look.row + look.text)]).extend_cell_length(
            self.size.width, look.row
        )


def _fitted(pieces: list[Piece], place: Place, ground: Style) -> tuple[Segment, ...]:
    """The pieces of a cell, cut or filled to its width."""
    segments, room = [], place.width
    for text, style in pieces:
        shown = fit(text, room)
        segments.append(Segment(shown, ground + style))
        room -= width(shown)
        if room <= 0 or shown != text:
            break
    if room > 0:
        filler = Segment(" " * room, ground)
        segments = [filler, *segments] if place.column.is_right else [*segments, filler]
    return tuple(segments)
