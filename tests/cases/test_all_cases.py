"""That no case of the areas played here is left out."""

from __future__ import annotations

from pathlib import Path

from tests.cases.case_file import areas

PLAYED = ("polling", "lifecycle", "states", "store", "cli", "security")


def test_every_case_of_these_areas_is_played() -> None:
    tests = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*_cases.py"))
    wanted = [case_id for case_id, area in areas().items() if area.startswith(PLAYED)]
    assert len(wanted) == 42
    assert [case_id for case_id in wanted if f'each("{case_id}"' not in tests and f'case("{case_id}")' not in tests] == []
