"""Since when an item asks, who was told, who looks after it, until when it rests, what was noted: text in a pane (SPEC H7).

Only this file decides how that reads. Names and notes are inert and cut; that an item waits for too long stands there in words,
so that no colour has to say it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from textual.content import Content

from jobconsole.core.telling.inbox import LATE, MESSAGES, VERY_LATE, age_mark, note_lines
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.views import View
from jobconsole.tui.clock_face import full_text
from jobconsole.tui.detail_sections import Pen, time_of

_LABEL = 10  # columns of a label
_NOTES, _NOTE_ROWS = 4, 4  # the newest notes, and rows of each; the story has all of them


def age_style(waited: timedelta) -> str:
    """The style of an age, beside the words."""
    return "$state-failed bold" if waited > VERY_LATE else "$state-needs-you" if waited > LATE else "$quiet"


def asked_since(view: View, pen: Pen) -> Content:
    """Since when somebody is asked, and whether that is too long; empty where nobody is."""
    item = view["escalation"] or view["look"]
    since = time_of(item["since"]) if item else None
    if since is None:
        return Content("")
    waited = pen.now - since
    mark = f", {age_mark(waited)} without an answer" if age_mark(waited) else ""
    return _row("asked", full_text(since, pen.now, pen.style), (mark, age_style(waited)))


def care(view: View, pen: Pen) -> Content:
    """Who was told, who looks after it, until when it rests; empty where nobody did anything."""
    attention, rows = view["attention"], []
    told, given, wakes = (time_of(attention[name]) for name in ("notified_at", "assigned_at", "snoozed_until"))
    if told is not None:
        rows.append(_row("message", f"{MESSAGES[attention['notice_result']]}, {full_text(told, pen.now, pen.style)}"))
    if attention["assigned_to"] is not None:
        at = f", since {full_text(given, pen.now, pen.style)}" if given is not None else ""
        rows.append(_row("with", (inert(attention["assigned_to"], 60), "bold"), at))
    if wakes is not None and wakes > pen.now:
        rows.append(_row("snoozed", f"until {full_text(wakes, pen.now, pen.style)}"))
    return stacked(*rows)


def notes(view: View, pen: Pen) -> Content:
    """The newest notes, the last one at the end; older ones are counted."""
    found = view["attention"]["notes"]
    rows = list(_note_rows(found[-_NOTES:], pen.now, max(20, pen.width - _LABEL)))
    if len(found) > _NOTES:
        rows.insert(0, Content.styled(f"{len(found) - _NOTES} older in the story", "$quiet"))
    return stacked(*(_row("notes" if not place else "", row) for place, row in enumerate(rows)))


def stacked(*parts: Content) -> Content:
    """What there is of these, below each other."""
    return Content("\n").join(part for part in parts if part.plain)


def _note_rows(found: list[View], now: datetime, columns: int) -> Iterator[Content]:
    for note in found:
        rows = [row for line in note_lines(note, now) for row in Content(line).wrap(columns)]
        yield from rows[:_NOTE_ROWS]
        if len(rows) > _NOTE_ROWS:
            yield Content.styled(f"… {len(rows) - _NOTE_ROWS} more rows in the story", "$quiet")


def _row(label: str, *parts: str | Content | tuple[str, str]) -> Content:
    return Content.assemble((f"{label:<{_LABEL}}", "$quiet"), *parts)
