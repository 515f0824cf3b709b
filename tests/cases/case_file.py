"""The cases as they stand in `tests/cases.jsonl`: real failures of neighbouring software, their input, and what is right.

Only this file decides how a case's variants are spelled out. Inputs are read, never retyped: what a test knows of a case beside
its id is what it asserts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

CASES_FILE = Path(__file__).parent.parent / "cases.jsonl"
LABEL = 60  # characters of a variant that its test's name shows


@dataclass(frozen=True, slots=True)
class Case:
    """One variant of a case: its input with the placeholders filled in."""

    case_id: str
    input: Mapping[str, Any]
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The one value in which this variant differs from the others."""
        (value,) = self.values.values()
        return value

    @property
    def settings(self) -> Mapping[str, Any]:
        """The neutral settings: what `demo_contract.py` maps to keys of a contract."""
        found: Mapping[str, Any] = self.input.get("settings", {})
        return found

    @property
    def steps(self) -> list[dict[str, Any]]:
        """What the provider does, request by request."""
        return list(self.input.get("steps", []))

    @property
    def label(self) -> str:
        """The test's name: the id, and the variant where there are several."""
        shown = ", ".join(value if isinstance(value, str) else json.dumps(value) for value in self.values.values())
        return f"{self.case_id}[{shown[:LABEL]}]" if self.values else self.case_id


@cache
def _all() -> dict[str, dict[str, Any]]:
    lines = CASES_FILE.read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def areas() -> dict[str, str]:
    """Case id → area, of every case in the file."""
    return {case_id: case["area"] for case_id, case in _all().items()}


def case(case_id: str) -> Case:
    """A case without variants, or with its placeholders left as they are."""
    return Case(case_id, _all()[case_id]["input"])


def variants(case_id: str) -> list[Case]:
    """Every variant of a case, in its order."""
    given = _all()[case_id]["input"]
    rows = given.get("variants_rows")
    if rows is None:
        listed = given.get("variants", {})
        rows = [{name: value} for name, values in listed.items() for value in values]
    if not rows:
        return [Case(case_id, given)]
    return [Case(case_id, _filled(given, row), row) for row in rows]


def each(case_id: str, *, without: Mapping[str, str] | None = None) -> pytest.MarkDecorator:
    """Parametrise a test by the variants of a case. `without`: values that are left out, each with the reason."""
    left_out = without or {}
    return pytest.mark.parametrize("case", list(_params(case_id, left_out)))


def _params(case_id: str, left_out: Mapping[str, str]) -> Iterator[Any]:
    for variant in variants(case_id):
        if not any(value in left_out for value in variant.values.values() if isinstance(value, str)):
            yield pytest.param(variant, id=variant.label)


def _filled(given: Any, row: Mapping[str, Any]) -> Any:
    """`given` with placeholders replaced; a header whose value is null is left out."""
    if isinstance(given, str):
        return row.get(given, given)
    if isinstance(given, dict):
        return {key: _filled(value, row) for key, value in given.items() if key not in ("variants", "variants_rows")}
    if isinstance(given, list):
        filled = [_filled(value, row) for value in given]
        return [item for item, value in zip(filled, given, strict=True) if not _is_absent_header(item, value, row)]
    return given


def _is_absent_header(item: Any, given: Any, row: Mapping[str, Any]) -> bool:
    is_header = isinstance(given, list) and len(given) == 2 and isinstance(given[1], str) and given[1] in row
    return is_header and item[1] is None
