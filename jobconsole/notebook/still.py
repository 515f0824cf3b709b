"""The still picture of a widget: a plain table in HTML and in text, stamped with its moment (UX 1b, NB-01).

Only this file decides how operations look where no script runs: on a forge, in an export, in a file viewer, after a restart.
Foreign text is inert and escaped once; signs that a host might take for mathematics stand in elements of their own.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from jobconsole.core.durations import passed_text
from jobconsole.core.operation import Operation, deadline
from jobconsole.core.telling.inbox import InboxItem, item_lines
from jobconsole.core.telling.outcome import Outcome
from jobconsole.core.telling.terminal_text import fit, inert, width
from jobconsole.core.telling.wording import clock_text, counted, reason_text
from jobconsole.core.telling.wording import marked as phase_text

MOST: Final = 20  # rows
NOT_LIVE: Final = "A picture of that moment. Run this cell again for the live view; nothing is submitted again by showing it."
LIVE_BELOW: Final = "(the live view of the picture above)"
_COLUMNS: Final = ("State", "Operation", "Provider", "Elapsed", "Time budget", "Checks", "Last seen")
_LEFT: Final = 'style="text-align:left"'
_WIDEST: Final = 34  # columns of one cell in text


@dataclass(frozen=True, slots=True)
class Still:
    """The same in HTML and as text."""

    html: str
    text: str


def literal(text: str) -> str:
    """`text` escaped once for HTML. Each `$` and backslash stands alone in an element, so that no host sees a formula."""
    escaped = html.escape(text, quote=True)
    return escaped.replace("\\", "<span>\\</span>").replace("$", "<span>$</span>")


def marked(picture: str, view_id: str) -> str:
    """The picture with an id, by which its live widget finds it, and a word for the case that there is none any more."""
    return f'<div id="{html.escape(view_id)}">{picture}<p><small>{literal(NOT_LIVE)}</small></p></div>'


def operations_still(operations: Sequence[Operation], now: datetime, *, empty: str) -> Still:
    """A table of operations, the first 20 of them."""
    caption = f"as of {clock_text(now)} UTC, {now:%Y-%m-%d}"
    if not operations:
        return Still(_page([f"<p>{literal(empty)}</p>"], caption), f"{empty}\n{caption}")
    cells = [_cells(op, now) for op in operations[:MOST]]
    more = f"+ {len(operations) - MOST:,} more" if len(operations) > MOST else ""
    footer = "; ".join(part for part in (counted(len(operations), "operation"), more, caption) if part)
    return Still(_page([_table(_COLUMNS, cells)], footer), f"{_text_table(_COLUMNS, cells)}\n{footer}")


def items_still(items: Sequence[InboxItem], now: datetime, *, empty: str) -> Still:
    """The inbox, item by item, with what a person reads before deciding."""
    caption = f"{counted(len(items), 'item')}; as of {clock_text(now)} UTC, {now:%Y-%m-%d}"
    if not items:
        return Still(_page([f"<p>{literal(empty)}</p>"], caption), f"{empty}\n{caption}")
    told = [item_lines(item, now) for item in items[:MOST]]
    blocks = [f"<p><b>{literal(lines[0])}</b></p><ul>{_list(lines[1:])}</ul>" for lines in told]
    more = [f"+ {len(items) - MOST:,} more"] if len(items) > MOST else []
    text = "\n\n".join("\n  ".join(lines) for lines in told)
    return Still(_page([*blocks, *more], caption), "\n".join([text, *more, caption]))


def operation_still(op: Operation, now: datetime, lines: Iterable[str] = ()) -> Still:
    """One operation as a row, and below it lines of its story."""
    cells = [_cells(op, now)]
    asked = f"Needs a person: {reason_text(op.escalation.reason)}." if op.escalation else ""
    told = [line for line in (asked, *lines) if line]
    caption = f"as of {clock_text(now)} UTC, {now:%Y-%m-%d}"
    body = [_table(_COLUMNS, cells), f"<ul>{_list(told)}</ul>" if told else ""]
    return Still(_page(body, caption), "\n".join([_text_table(_COLUMNS, cells), *(f"  {line}" for line in told), caption]))


def outcome_still(outcome: Outcome) -> Still:
    """What a wait came to."""
    said = [f"{outcome.status.replace('_', ' ')}: {outcome.message}", f"operation {outcome.operation_id}"]
    if outcome.job_id:
        said.append(f"job {inert(outcome.job_id, 120)}")
    if outcome.error is not None:
        said.append(f"the provider says: {inert(outcome.error.text, 300)}")
    return Still(f"<p><b>{literal(said[0])}</b></p><ul>{_list(said[1:])}</ul>", repr(outcome))


def _cells(op: Operation, now: datetime) -> tuple[str, ...]:
    end = op.ended_at or now
    name = f"{inert(op.name, 80)} ({op.operation_id})" if op.name else op.operation_id
    seen = f"{inert(op.last_known_state or '-', 40)} {clock_text(op.observed_at, now)}" if op.observed_at else "never"
    return (
        phase_text(op.phase),
        name,
        op.provider,
        passed_text(end - op.started_at),
        f"{passed_text(end - op.started_at)} of {passed_text(deadline(op) - op.started_at)}",
        f"{op.status_requests_used} of {op.max_status_requests}",
        seen,
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col" {_LEFT}>{literal(cell)}</th>' for cell in head)
    body = "".join(f"<tr>{_row(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _row(cells: Sequence[str]) -> str:
    return "".join(f"<td {_LEFT}><bdi>{literal(cell)}</bdi></td>" for cell in cells)


def _list(lines: Iterable[str]) -> str:
    return "".join(f"<li><bdi>{literal(line)}</bdi></li>" for line in lines)


def _page(parts: Iterable[str], caption: str) -> str:
    return f"{''.join(parts)}<p><small>{literal(caption)}</small></p>"


def _text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[fit(cell, _WIDEST) for cell in row] for row in (head, *rows)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell + " " * (room - width(cell)) for cell, room in zip(row, widths, strict=True)).rstrip() for row in cells
    )
