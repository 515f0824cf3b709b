"""An ending or a name stands for an operation where it fits one, and is refused where it fits several (U8)."""

from __future__ import annotations

import pytest

from jobconsole.core.operation import Operation
from jobconsole.core.telling.naming import meant
from jobconsole.errors import InvalidValue
from tests.core.desk import Desk


def tracked(*named: tuple[str, str | None]) -> list[Operation]:
    """Operations with these ids and names, in this order."""
    desk = Desk()
    for operation_id, name in named:
        desk.track(operation_id, job_id=operation_id, name=name)
    return [desk.op(operation_id) for operation_id, _ in named]


def known() -> list[Operation]:
    return tracked(("op_01ABCD8F3K2A", "Q3 report"), ("op_01ABCE8F3K2A", "Q4 report"), ("nightly", "op_01"))


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


@pytest.mark.rule("U8")
@pytest.mark.parametrize(
    ("named", "typed", "fits"),
    [
        ([("eu-export", None), ("op_1", "export")], "export", "eu-export, op_1 by its name"),
        ([("op_1", "export"), ("eu-export", None)], "export", "op_1 by its name, eu-export"),
        ([("op_1", "export"), ("op_2", "Export ")], "export", "op_1 by its name, op_2 by its name"),
        ([("nightly", None), ("op_1", "Nightly")], "NIGHTLY", "nightly, op_1 by its name"),  # other letters: no whole id
    ],
)
def test_the_name_of_one_operation_and_the_ending_of_anothers_id_are_two_answers(
    named: list[tuple[str, str | None]], typed: str, fits: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        meant(typed, tracked(*named))
    assert str(refused.value) == f"{typed!r} fits 2 operations: {fits}; give the whole id of one"


@pytest.mark.rule("U8")
@pytest.mark.parametrize(
    ("named", "typed", "found"),
    [
        ([("op_1", "nightly"), ("nightly", None)], "nightly", "nightly"),
        ([("eu-nightly", None), ("nightly", None)], " nightly ", "nightly"),
        ([("eu-export", "eu-export")], "EU-export", "eu-export"),  # one operation that fits in two ways is one
        ([("eu-export", None), ("op_1", "export")], "…export", "eu-export"),  # an ending, as it is shown: no name begins so
    ],
)
def test_a_whole_id_wins_and_one_operation_is_one_however_it_fits(
    named: list[tuple[str, str | None]], typed: str, found: str
) -> None:
    op = meant(typed, tracked(*named))
    assert op is not None
    assert op.operation_id == found


@pytest.mark.rule("U8")
def test_of_many_that_fit_five_are_listed() -> None:
    with pytest.raises(InvalidValue, match=r"'part' fits 7 operations: op_0 by its name, .*, op_4 by its name and 2 more;"):
        meant("part", tracked(*[(f"op_{number}", "part") for number in range(7)]))
