"""Events as rows of a spreadsheet: fixed columns, text as data (SPEC L2, U3).

Only this file decides how a cell is kept from being a formula. The command line writes the rows with the standard `csv` writer,
which quotes them; `adapters/frames` makes the texts of a frame inert with the same rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from jobconsole.core.telling.columns import AUDIT

COLUMNS: Final = tuple(column.name for column in AUDIT)

BEGINS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 (full-width signs count too)
GUARD: Final = "'"
"""What stands before a text that a spreadsheet would run otherwise."""


def csv_rows(events: Iterable[Mapping[str, Any]]) -> Iterator[list[str]]:
    """The heading, then one row for each parsed line, in the order of the chain; what a line lacks is an empty cell.

    Times are RFC 3339 UTC text as stored, numbers plain digits. A text that a spreadsheet would run begins with `'`.
    """
    yield list(COLUMNS)
    for event in events:
        yield [_cell(column.of(event)) for column in AUDIT]


def guarded(text: str) -> str:
    """The text as a cell that no spreadsheet runs."""
    return f"{GUARD}{text}" if text.startswith(BEGINS_FORMULA) else text


def unguarded(cell: str) -> str:
    """The text of a cell. One that began with `'` and a formula sign by itself loses the `'`."""
    return cell[len(GUARD) :] if cell.startswith(GUARD) and cell[len(GUARD) :].startswith(BEGINS_FORMULA) else cell


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else str(value)
