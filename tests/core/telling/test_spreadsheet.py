"""Events as spreadsheet rows: fixed columns, and no text that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from jobconsole.core.telling.spreadsheet import COLUMNS, csv_rows
from tests.core.staged_wait import StagedWait

SPEC_11 = (
    "seq at operation_id kind phase job_state planned_at delay_source status_requests_used max_status_requests deadline_at "
    "http_status provider_request_id decision reason actor lease_token prev_hash hash chain op_seq tx batch up boot"
)


async def test_the_columns_are_fixed_and_hold_every_field_of_an_event() -> None:
    """The heading comes first, and every row is as long."""
    wait = StagedWait()
    await wait.submit()
    wait.go("10:20:05")
    await wait.check(200, {"state": "running"}, draw=0.5)
    heading, *rows = csv_rows(await wait.events())
    assert heading == list(COLUMNS)
    assert set(SPEC_11.split()) <= set(heading)
    assert {len(row) for row in rows} == {len(heading)}
    answered = next(row for row in rows if row[heading.index("kind")] == "check_answered")
    cells = dict(zip(heading, answered, strict=True))
    assert (cells["http_status"], cells["job_state"], cells["status_requests_used"]) == ("200", "running", "1")
    assert (cells["at"], cells["lease_token"]) == ("2026-11-29T10:20:05.000Z", "")


def test_an_empty_audit_is_a_heading() -> None:
    """A reader finds the columns all the same."""
    assert list(csv_rows([])) == [list(COLUMNS)]


@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\n=1", "'\n=1"),
        ("＝1", "'＝1"),  # noqa: RUF001
        ("running", "running"),
        ("a=b", "a=b"),
        ("'=1", "'=1"),
        ("", ""),
        (None, ""),
        (-5, "-5"),
        (0, "0"),
    ],
)
def test_a_text_that_would_be_a_formula_is_made_inert(value: Any, cell: str) -> None:
    """Only texts: a number of ours is a number."""
    [_, row] = csv_rows([{"job_state": value}])
    assert row[COLUMNS.index("job_state")] == cell


def test_line_breaks_and_quotes_survive_the_standard_writer() -> None:
    """Text is data."""
    text = 'a "quoted"\nline, and more'
    written = io.StringIO()
    csv.writer(written).writerows(csv_rows([{"reason_text": text}]))
    [row] = csv.DictReader(io.StringIO(written.getvalue()))
    assert row["reason_text"] == text
