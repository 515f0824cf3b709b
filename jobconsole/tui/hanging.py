"""Text that is longer than its place: what goes on stands below the text, not below the time in front of it.

Only this file decides how such a row is broken. Stories, requests and the records of the audit use it.
"""

from __future__ import annotations

from textual.content import Content

_LEAST = 10  # columns that are left for text, however narrow the place


def hanging(head: Content, text: Content, columns: int) -> tuple[Content, ...]:
    """`text` behind `head`, in lines of at most `columns`; all but the first begin where the text began."""
    room = max(_LEAST, columns - head.cell_length)
    if text.cell_length <= room:
        return (head + text,)
    first, *rest = text.wrap(room)
    blank = Content(" " * head.cell_length)
    return (head + first, *(blank + line for line in rest))
