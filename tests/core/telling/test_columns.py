"""The one table of the audit's columns."""

from __future__ import annotations

import pytest

from jobconsole.core.telling.columns import AUDIT, Holds
from jobconsole.core.telling.spreadsheet import COLUMNS, guarded, unguarded


def test_names_are_unique_and_a_closed_vocabulary_has_its_words() -> None:
    assert len({column.name for column in AUDIT}) == len(AUDIT)
    assert all(bool(column.words) == (column.holds is Holds.WORD) for column in AUDIT)
    assert tuple(column.name for column in AUDIT) == COLUMNS


@pytest.mark.parametrize(
    ("event", "name", "value"),
    [
        ({"http_status": 200}, "http_status", 200),
        ({}, "http_status", None),
        ({"observation": {"retry_after_s": 1.5}}, "retry_after", 1.5),
        ({"observation": {}}, "retry_after", None),
        ({"observation": "odd"}, "retry_after", None),
        ({"retry_after_s": 1.5}, "retry_after", None),
    ],
)
def test_a_value_is_found_where_the_line_has_it(event: dict[str, object], name: str, value: object) -> None:
    [column] = [column for column in AUDIT if column.name == name]
    assert column.of(event) == value


@pytest.mark.rule("U3")
@pytest.mark.parametrize("text", ["=1", "-1", "\t=1", "＝x", "running", "", "'quoted'", "a=b"])  # noqa: RUF001
def test_a_text_survives_its_guard(text: str) -> None:
    """All but one that had a guard before."""
    assert unguarded(guarded(text)) == text
