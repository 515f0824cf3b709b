"""Text that is longer than its place: what goes on stands below the text, not below the time in front of it.

Only this file decides how such a row is broken. Stories, requests and the lists of the detail use it.
"""

from __future__ import annotations

from textual.content import Content

_LEAST = 10  # columns that are left for text, however narrow the place


def hanging(row: Content, indent: int, columns: int) -> tuple[Content, ...]:
    """The row in lines of at most `columns`; all but the first begin at column `indent`."""
    if row.cell_length <= columns:
        return (row,)
    first, *rest = row.wrap(columns)
    going_on = Content(" ").join(rest).wrap(max(_LEAST, columns - indent))
    return (first, *(Content(" " * indent) + line for line in going_on))
