"""Events as rows of a spreadsheet: fixed columns, text as data (SPEC L2, U3).

Only this file decides the columns of the CSV export and how a cell is kept from being a formula. The command line writes the
rows with the standard `csv` writer, which quotes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

COLUMNS: Final = (
    *("seq", "at", "operation_id", "kind", "phase", "job_state", "planned_at", "delay_source"),
    *("status_requests_used", "max_status_requests", "deadline_at", "http_status", "provider_request_id"),
    *("decision", "reason", "detail", "option", "effect", "reason_text", "actor", "lease_token", "revision"),
    *("chain", "op_seq", "tx", "batch", "up", "boot", "prev_hash", "hash"),
)
"""The fields of an event (SPEC 11, STORE 1.1), and in words what it was about and why a person decided so."""

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 (full-width signs count too)


def csv_rows(events: Iterable[Mapping[str, Any]]) -> Iterator[list[str]]:
    """The heading, then one row for each parsed line, in the order of the chain; what a line lacks is an empty cell.

    Times are RFC 3339 UTC text as stored, numbers plain digits. A text that a spreadsheet would run begins with `'`.
    """
    yield list(COLUMNS)
    for event in events:
        yield [_cell(event.get(name)) for name in COLUMNS]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_BEGINS_FORMULA) else value
    return str(value)
