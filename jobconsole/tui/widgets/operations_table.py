"""The operations table: a virtual list that draws only what is in sight, and of that only what changed (SPEC U2, U8).

Only this file decides how rows keep their place. Cursor, marks and scroll are bound to operation ids: an update, a sort or a
filter moves rows, never the cursor to another operation. `TableOrder` keeps the order, `table_lines.py` draws.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from jobconsole.core.telling.filter import Filter
from jobconsole.tui.columns import BY_KEY, COLUMNS, Column, Place, fit_columns
from jobconsole.tui.on_dashboard import OnDashboard
from jobconsole.tui.row import RowContext
from jobconsole.tui.subject import Subject
from jobconsole.tui.table_order import TableOrder
from jobconsole.tui.widgets.cursor_list import CursorList
from jobconsole.tui.widgets.table_lines import Line, Standing, differing, draw, heading, sentence

HEADING = 1  # lines above the rows


class OperationsTable(OnDashboard, CursorList):
    """Rows of operations. It reads `feed`, and is told by its screen which ids changed and when a second has passed."""

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
        self._holds_top = True  # nobody has chosen a row yet
        self.marked: set[str] = set()
        self._places: tuple[Place, ...] = ()
        self._lines: dict[int, Line] = {}  # as they stand on the screen, by their place there
        self._scrolled: dict[str, Line] = {}  # as they stood before the last scroll, by operation
        self._row_context: RowContext | None = None
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

    def unmark(self, operation_ids: Iterable[str]) -> None:
        """Take the marks of these away."""
        self.marked = self.marked.difference(operation_ids)
        self._repaint()
        self.post_message(self.Arranged())

    def unmark_all(self) -> bool:
        """Take all marks away; False where there are none."""
        had_marks = bool(self.marked)
        self.unmark(self.marked)
        return had_marks

    def tick(self) -> None:
        """A second passed. A filter by age may let rows in or out; otherwise only times move."""
        self._row_context = None
        if self.order.filter.is_about_time:
            self.take(tuple(self.feed.operations))
        else:
            self._repaint()

    def _rearranged(self, before: int | None) -> None:
        """Rows moved: keep the cursor on its operation, and at the same height of the screen where it was in sight."""
        self.virtual_size = Size(self.size.width, len(self.order.rows) + HEADING)
        after = self.order.place(self.cursor_id)
        if self._holds_top and after:
            self._set_cursor(0)
        elif after is None:
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

    @property
    def count(self) -> int:
        """Rows, on the screen or not."""
        return len(self.order.rows)

    @property
    def place(self) -> int | None:
        """The number of the cursor's row."""
        return self.order.place(self.cursor_id)

    def place_after(self, pages: float) -> int:
        """A page leaves one row of the last one in sight."""
        return (self.place or 0) + round(pages * (self._row_count - 1))

    def stand_on(self, place: int) -> None:
        """The operation of this row gets the cursor."""
        self._holds_top = False
        self._set_cursor(place)
        self._scroll_to_cursor()
        self._repaint()

    def go_to(self, operation_id: str) -> bool:
        """Put the cursor on an operation; False where the table does not show it."""
        at = self.order.place(operation_id)
        if at is not None:
            self.stand_on(at)
        return at is not None

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

    def on_key(self) -> None:
        """Somebody looks at the row under the cursor: from now on the cursor stays on its operation (SPEC U8)."""
        self._holds_top = False

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
        """Other rows are in sight; those that stay so stand elsewhere, and need not be drawn anew."""
        self._scrolled = {line.operation_id: line for line in self._lines.values()}
        self._lines.clear()
        super().watch_scroll_y(old_value, new_value)

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def redraw(self) -> None:
        """Everything looks different: draw all of it."""
        self._row_context = None
        self._lines.clear()
        self._scrolled.clear()
        self.refresh()

    def _redraw_lines(self) -> None:
        self.refresh(Region(0, 0, self.size.width, HEADING))

    def _repaint(self) -> None:
        """Compare what is in sight with what should be, and paint the cells that differ."""
        if not self.is_mounted or not self.size.height:
            return
        for y in range(HEADING, self.size.height):
            old, new = self._lines.get(y), self._line(y)
            if new is old:
                continue
            places = differing(old, new, self._places) if new is not None else None
            if places is None:
                self.refresh(Region(0, y, self.size.width, 1))
                continue
            for place in places:
                self.refresh(Region(place.start, y, place.width, 1))

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the heading, a row, or what stands on an empty table."""
        look, order, columns = self.dashboard.look, self.order, self.size.width
        if y < HEADING:
            style = self.dashboard.time_style
            return heading(look, self._places, order.column, style, columns, is_reversed=order.is_reversed)
        line = self._line(y)
        if line is not None:
            return line.strip
        if order.rows or y != HEADING + self._row_count // 3:
            return Strip.blank(columns, look.row)
        return sentence(look, self._empty_text, columns)

    def _line(self, y: int) -> Line | None:
        """The row on this line of the screen, drawn anew only where it is not what it was drawn from."""
        number = int(self.scroll_y) + y - HEADING
        if not 0 <= number < len(self.order.rows):
            self._lines.pop(y, None)
            return None
        operation_id = self.order.rows[number]
        op, line = self.order.operation(operation_id), self._lines.get(y) or self._scrolled.pop(operation_id, None)
        is_cursor, is_gone = operation_id == self.cursor_id, operation_id not in self.feed.operations
        standing = Standing(is_cursor, is_cursor and self.has_focus, operation_id in self.marked, is_gone)
        context = self._context_now()
        if line is None or not line.is_drawn_from(op, context, standing):
            line = draw(op, context, standing, self._places, self.size.width)
        self._lines[y] = line
        return line

    def _context_now(self) -> RowContext:
        """One for all rows of a second: a key draws only the rows that it changes."""
        app = self.dashboard
        if self._row_context is None or self._row_context.accounts is not app.feed.accounts:
            self._row_context = RowContext(app.feed.shown_at, app.time_style, app.look, app.feed.accounts)
        return self._row_context
