"""The rows of the inbox: which group an item stands in, in which order, and how it reads in two lines (SPEC H7, H13, UX 3.3).

Only this file decides that. The screen collects the items and keeps the cursor; the words are the core's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeAlias

from textual.content import Content

from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import age_mark, closing_words, is_snoozed
from jobconsole.core.telling.terminal_text import fit, inert, width
from jobconsole.core.telling.wording import counted, glyph, reason_text
from jobconsole.core.vocabulary import Phase
from jobconsole.tui.attention_section import age_style
from jobconsole.tui.clock_face import since_text, zoned_clock
from jobconsole.tui.detail_sections import Pen, hue_style

GROUPS = {"decision": "NEEDS A DECISION", "look": "TO SEE", "snoozed": "SNOOZED"}
"""The groups of the list in their order, with their headings."""

Part: TypeAlias = tuple[str, str]  # a text and its style

_INDENT: Part = ("   ", "")
_LONGEST_NAME = 16  # columns of who has it


@dataclass(frozen=True, slots=True)
class Row:
    """One item of the list, in its group. One that `is_gone` needs nobody any more, and keeps its place."""

    group: str
    since: datetime
    operation_id: str
    reason: str
    wakes_at: datetime | None = None
    is_gone: bool = False

    @property
    def order(self) -> tuple[int, datetime, str]:
        """By group; in it the oldest first, and what is snoozed by when it wakes."""
        return list(GROUPS).index(self.group), self.wakes_at or self.since, self.operation_id


def row_of(op: Operation, now: datetime) -> Row:
    """The row of an operation that stands in the inbox."""
    since = item_since(op)
    asked = op.escalation or op.look
    assert since is not None
    assert asked is not None
    reason = reason_text(asked.reason)
    if is_snoozed(op, now):
        return Row("snoozed", since, op.operation_id, reason, op.attention.snoozed_until)
    return Row("decision" if op.escalation is not None else "look", since, op.operation_id, reason)


def heading(group: str, rows: Iterable[Row]) -> str:
    """The heading of a group, with how many stand in it."""
    return f" {GROUPS[group]}  {sum(not row.is_gone for row in rows):,}"


def row_lines(row: Row, op: Operation, pen: Pen) -> tuple[Content, ...]:
    """Sign, name, who has it and the age, or when it wakes; below, the provider, the reason, and whether it waits too long."""
    if row.is_gone:
        return _gone_lines(row, op, pen)
    waited, has = pen.now - row.since, op.attention.assigned_to
    age = f"until {_clock(row.wakes_at, pen)}" if row.wakes_at is not None else since_text(row.since, pen.now, pen.style)
    age_hue = "$quiet" if row.wakes_at is not None else age_style(waited)
    with_whom = f"{fit(inert(has, 80), _LONGEST_NAME)}  " if has is not None else ""
    sign = (f" {glyph(op.phase, is_ascii=pen.is_ascii)} ", hue_style(op.phase))
    name = "$quiet bold" if row.wakes_at is not None else "bold"
    head = _spread(_name(op), sign, ((with_whom, "$accent"), (age, age_hue)), name, pen.width)
    told = f"{inert(op.provider, 40)}: {row.reason}"
    return head, _spread(told, _INDENT, ((age_mark(waited), age_style(waited)),), "$quiet", pen.width)


def _gone_lines(row: Row, op: Operation, pen: Pen) -> tuple[Content, ...]:
    sign = (f" {glyph(Phase.SUCCEEDED, is_ascii=pen.is_ascii)} ", "$quiet")
    head = _spread(_name(op), sign, (), "$quiet strike", pen.width)
    return head, _spread(closing_words(op, row.since), _INDENT, (), "$quiet", pen.width)


@lru_cache(maxsize=8_192)  # the list is laid out anew each second, and hardly a row differs
def _spread(text: str, left: Part, right: tuple[Part, ...], style: str, columns: int) -> Content:
    """`text` between what stands at its left and what stands at the right edge; it is what gives way."""
    edge = sum(width(part) for part, _ in right)
    room = columns - width(left[0]) - edge - (2 if edge else 0)
    shown = fit(text, max(4, room))
    gap = " " * max(0, columns - width(left[0]) - width(shown) - edge) if edge else ""
    return Content.assemble(left, (shown, style), gap, *right)


def _name(op: Operation) -> str:
    return inert(op.name or op.operation_id, 120)


def _clock(at: datetime, pen: Pen) -> str:
    return zoned_clock(at, pen.now, pen.style)


# ---- nothing to do -----------------------------------------------------------------------------------------------------------
def nothing_text(operations: Iterable[Operation], snoozed: Iterable[Row], pen: Pen) -> str:
    """Nobody is needed now: how many operations are watched, who answered last, what is snoozed and until when (UX 3.6)."""
    watched, last = 0, None
    for op in operations:
        watched += not op.phase.is_terminal
        if op.decided and (last is None or op.decided[-1].at > last.at):
            last = op.decided[-1]
    answered = f"last answer {_clock(last.at, pen)} by {inert(last.by, 60)}" if last is not None else "nothing was ever asked"
    text = f"Nothing needs you. {counted(watched, 'operation')} watched, {answered}."
    wakes = sorted(row.wakes_at for row in snoozed if row.wakes_at is not None)
    if not wakes:
        return text
    which = "it wakes" if len(wakes) == 1 else "the next wakes"
    return f"{text} {len(wakes):,} snoozed, {which} at {_clock(wakes[0], pen)}."
