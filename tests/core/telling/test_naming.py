"""An ending or a name stands for an operation where it fits one, and is refused where it fits several (U8)."""

from __future__ import annotations

import pytest

from jobconsole.core.operation import Operation
from jobconsole.core.telling.naming import meant
from jobconsole.errors import InvalidValue
from tests.core.desk import Desk


def known() -> list[Operation]:
    desk = Desk()
    for operation_id, name in (("op_01ABCD8F3K2A", "Q3 report"), ("op_01ABCE8F3K2A", "Q4 report"), ("nightly", "op_01")):
        desk.track(operation_id, job_id=operation_id, name=name)
    return [desk.op(operation_id) for operation_id in ("op_01ABCD8F3K2A", "op_01ABCE8F3K2A", "nightly")]


@pytest.mark.rule("U8")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("D8F3K2A", "op_01ABCD8F3K2A"),
        ("…e8f3k2a", "op_01ABCE8F3K2A"),
        ("q3 REPORT", "op_01ABCD8F3K2A"),
        ("ghtly", "nightly"),
        ("tly", None),  # three characters are no ending
        ("report", None),
        ("op_01ABC", None),  # a beginning is none
        ("", None),
        ("…", None),
    ],
)
def test_an_ending_of_four_or_a_whole_name_fits(text: str, found: str | None) -> None:
    op = meant(text, known())
    assert (op.operation_id if op else None) == found


@pytest.mark.rule("U8")
def test_what_fits_several_is_refused_with_their_ids() -> None:
    with pytest.raises(
        InvalidValue, match="'8F3K2A' fits 2 operations: op_01ABCD8F3K2A, op_01ABCE8F3K2A; give the whole id of one"
    ):
        meant("8F3K2A", known())
