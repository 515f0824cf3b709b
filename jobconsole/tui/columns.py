"""The columns of the operations table: which there are, what fits a given width, how each sorts (UX 3.1).

Only this file decides that. Every column has a rank: where the room ends, the highest ranks go first. The id is never cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from jobconsole.core.operation import Operation, deadline
from jobconsole.core.vocabulary import Phase
from jobconsole.tui import row
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.row import Piece, RowContext

SortKey: TypeAlias = tuple[Any, ...]

_FAR = datetime.max.replace(tzinfo=UTC)
_RANKS = {Phase.ESCALATED: 0, Phase.WAITING: 1, Phase.SUBMITTING: 1}
MARGIN = 2  # columns in front: the cursor's sign and the mark
NARROW = 60  # below this only state, id and age, and the name where it has room
_NARROW_RANK = 2
_WIDE = 146  # from here on there are two blanks between columns
_EDGE = 1  # the last column of the screen stays free: a scrollbar stands there
_GROWTH = (
    ("name", 14),
    ("provider", 11),
    ("last", 14),
    ("name", 22),
    ("last", 24),
    ("provider", 14),
    ("checks", 12),
    ("last", 400),
)
"""Which column grows, and how far, where room is left over: one after the other."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `width` is what it needs."""

    key: str
    title: str
    width: int
    rank: int
    draw: Callable[[Operation, RowContext], list[Piece]]
    sort_key: Callable[[Operation], SortKey]
    is_right: bool = False
    clock_width: int = 0  # what it needs where times are shown as clocks
    clock_title: str = ""  # and what it is called there, if that is another word

    def heading(self, style: TimeStyle) -> str:
        """What stands above it."""
        return self.clock_title if self.clock_title and style is not TimeStyle.AGE else self.title

    def needs(self, style: TimeStyle) -> int:
        """The least width for what stands in it."""
        return self.width if style is TimeStyle.AGE else max(self.width, self.clock_width)


def _started(op: Operation) -> float:
    return op.started_at.timestamp()


def _by_checks(op: Operation) -> SortKey:
    """The nearest to the end of its budget first; what ended at last."""
    return (op.phase.is_terminal, -op.status_requests_used / max(1, op.max_status_requests))


def _by_state(op: Operation) -> SortKey:
    """Those that need a person first, then those that run, then those that ended; the newest of each first."""
    return (_RANKS.get(op.phase, 2), -_started(op))


COLUMNS = (
    Column("state", "STATE", 13, 0, row.state_cell, _by_state),
    Column("id", "ID", 7, 0, row.id_cell, lambda op: (op.operation_id,)),
    Column("name", "NAME", 13, 2, row.name_cell, lambda op: ((op.name or "\uffff").casefold(),)),
    Column("provider", "PROVIDER", 8, 9, row.provider_cell, lambda op: (op.provider,)),
    Column("age", "AGE", 5, 1, row.age_cell, lambda op: (-_started(op),), is_right=True, clock_width=11, clock_title="SINCE"),
    Column("time", "TIME BUDGET", 14, 3, row.time_cell, lambda op: (op.phase.is_terminal, deadline(op))),
    Column("checks", "CHECKS", 10, 5, row.checks_cell, _by_checks),
    Column("next", "NEXT", 9, 4, row.next_cell, lambda op: (op.next_poll_at or _FAR,), clock_width=11),
    Column("source", "BECAUSE", 11, 10, row.source_cell, lambda op: (op.delay_source or "\uffff",)),
    Column("http", "HTTP", 4, 7, row.http_cell, lambda op: (-(op.last_http_status or 0),), is_right=True),
    Column("progress", "PROGRESS", 11, 8, row.progress_cell, lambda op: (-(op.progress_share or 0.0),)),
    Column("last", "LAST WORD", 12, 6, row.last_word_cell, lambda op: (op.last_known_state or "\uffff",)),
)

BY_KEY = {column.key: column for column in COLUMNS}


@dataclass(frozen=True, slots=True)
class Place:
    """A column on the screen: where it begins and how wide it is."""

    column: Column
    start: int
    width: int

    @property
    def end(self) -> int:
        """The first screen column behind it."""
        return self.start + self.width


def fit_columns(width: int, style: TimeStyle = TimeStyle.AGE) -> tuple[Place, ...]:
    """The columns that have room in `width`; what is left over goes to those that may grow."""
    gap = 2 if width >= _WIDE else 1
    width -= _EDGE
    chosen = _chosen(width - MARGIN + gap, gap, style, width < NARROW)
    widths = {column.key: column.needs(style) for column in chosen}
    spare = width - MARGIN + gap - sum(each + gap for each in widths.values())
    for key, most in _GROWTH:
        if key in widths:
            more = min(max(0, spare), max(0, most - widths[key]))
            widths[key] += more
            spare -= more
    places, start = [], MARGIN
    for column in chosen:
        places.append(Place(column, start, widths[column.key]))
        start += widths[column.key] + gap
    return tuple(places)


def _chosen(room: int, gap: int, style: TimeStyle, is_narrow: bool) -> Sequence[Column]:
    """By rank, up to the first that has no room: a wider table never lacks what a narrower one shows. In the table's order."""
    kept: list[Column] = []
    for column in sorted(COLUMNS, key=lambda column: column.rank):
        needs = column.needs(style) + gap
        if column.rank != 0 and (needs > room or (is_narrow and column.rank > _NARROW_RANK)):
            break
        kept.append(column)
        room -= needs
    return [column for column in COLUMNS if column in kept]
