"""How the lines of the operations table are drawn: a row, the heading, and what stands on an empty table.

Only this file decides that. A `Line` knows what it was drawn from, so that the table draws a row anew only where its operation,
its place or the second has changed, and paints of it only the cells that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from jobconsole.core.operation import Operation
from jobconsole.core.telling.terminal_text import fit, inert, width
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.columns import MARGIN, Column, Place
from jobconsole.tui.row import Piece, RowContext, stale_since
from jobconsole.tui.themes import Look


@dataclass(frozen=True, slots=True)
class Standing:
    """What a row is to the person: under the cursor, with the keys going there, marked, gone from the store."""

    is_cursor: bool = False
    has_focus: bool = False
    is_marked: bool = False
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One row as it stands on the screen."""

    op: Operation
    context: RowContext
    standing: Standing
    ground: Style
    cells: tuple[tuple[Segment, ...], ...]
    strip: Strip

    @property
    def operation_id(self) -> str:
        """Whose row it is."""
        return self.op.operation_id

    def is_drawn_from(self, op: Operation, context: RowContext, standing: Standing) -> bool:
        """Whether drawing it anew would give the same."""
        return self.op is op and self.context is context and self.standing == standing


def draw(op: Operation, context: RowContext, standing: Standing, places: Sequence[Place], columns: int) -> Line:
    """The row of an operation, `columns` wide."""
    ground = _ground(op, context, standing)
    cells = tuple(_fitted(place.column.draw(op, context), place, ground) for place in places)
    segments, at = [_margin(context.look, standing, ground)], MARGIN
    for place, cell in zip(places, cells, strict=True):
        if place.start > at:
            segments.append(Segment(" " * (place.start - at), ground))
        segments.extend(cell)
        at = place.end
    if at < columns:
        segments.append(Segment(" " * (columns - at), ground))
    return Line(op, context, standing, ground, cells, Strip(segments, max(at, columns)).crop(0, columns))


def differing(old: Line | None, new: Line, places: Sequence[Place]) -> Iterator[Place] | None:
    """The places whose cells differ; None where the whole line does."""
    if old is None or old.op.operation_id != new.op.operation_id:
        return None
    if old.ground != new.ground or old.standing != new.standing or len(old.cells) != len(places):
        return None
    pairs = zip(places, old.cells, new.cells, strict=True)
    return (place for place, before, after in pairs if before != after)


def heading(
    look: Look, places: Sequence[Place], sorted_by: Column, style: TimeStyle, columns: int, *, is_reversed: bool
) -> Strip:
    """The titles; that of the column by which rows are sorted stands out, with an arrow."""
    ground = look.row + look.quiet
    segments, at = [Segment(" " * MARGIN, ground)], MARGIN
    for place in places:
        is_sorted = place.column is sorted_by
        title = place.column.heading(style) + (_arrow(look, is_reversed=is_reversed) if is_sorted else "")
        drawn = look.row + look.accent + Style(bold=True) if is_sorted else ground
        shown = fit(title, place.width)
        padded = shown.rjust(place.width) if place.column.is_right else shown.ljust(place.width)
        segments += [Segment(" " * (place.start - at), ground), Segment(padded, drawn)]
        at = place.end
    return Strip(segments).extend_cell_length(columns, ground).crop(0, columns)


def sentence(look: Look, text: str, columns: int) -> Strip:
    """One sentence in the middle of a line."""
    shown = fit(inert(text), columns)
    left = (columns - width(shown)) // 2
    strip = Strip([Segment(" " * left, look.row), Segment(shown, look.row + look.text)])
    return strip.extend_cell_length(columns, look.row)


def _ground(op: Operation, context: RowContext, standing: Standing) -> Style:
    """What lies under all cells of a row: the cursor's colour, struck out where it is gone, dim where it is stale."""
    look = context.look
    style = look.row
    if standing.is_cursor:
        style = look.cursor if standing.has_focus else look.cursor_blurred
    if standing.is_gone:
        return style + Style(strike=True)
    return style + Style(dim=True) if stale_since(op, context.now) is not None else style


def _margin(look: Look, standing: Standing, ground: Style) -> Segment:
    cursor, mark = (">", "*") if look.theme.is_ascii else ("▌", "●")
    shown = (cursor if standing.is_cursor else " ") + (mark if standing.is_marked else " ")
    return Segment(shown, ground + look.accent)


def _arrow(look: Look, *, is_reversed: bool) -> str:
    down, up = ("v", "^") if look.theme.is_ascii else ("↓", "↑")
    return f" {up}" if is_reversed else f" {down}"


def _on(ground: Style, style: Style) -> Style:
    """A piece's style on its row; on a reversed one its colour would be a patch behind the text."""
    return ground + Style(bold=style.bold) if ground.reverse else ground + style


def _fitted(pieces: list[Piece], place: Place, ground: Style) -> tuple[Segment, ...]:
    """The pieces of a cell, cut or filled to its width."""
    segments, room = [], place.width
    for text, style in pieces:
        shown = fit(text, room)
        segments.append(Segment(shown, _on(ground, style)))
        room -= width(shown)
        if room <= 0 or shown != text:
            break
    if room > 0:
        filler = Segment(" " * room, ground)
        segments = [filler, *segments] if place.column.is_right else [*segments, filler]
    return tuple(segments)
