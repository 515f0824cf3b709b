"""The body of a `%%submit` cell: JSON first, YAML where a library for it is installed."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from jobconsole.errors import InvalidValue
from jobconsole.notebook.cell_body import cell_id, parse_body


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("  \n", None),
        ('{"quarter": 3}', {"quarter": 3}),
        ("[1, 2]", [1, 2]),
        ("null", None),
        ('"text"', "text"),
        ("quarter: 3\nformats: [csv, pdf]\n", {"quarter": 3, "formats": ["csv", "pdf"]}),
    ],
)
def test_a_body_is_json_or_yaml(text: str, value: Any) -> None:
    assert parse_body(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"quarter": 3', "neither JSON .line 1, column 14"),
        ("due: 2026-11-30", "quote it as a text"),
        ("x: .nan", "quote it as a text"),
        ('{"x": NaN}', "NaN"),
        ("quarter 3", "only a text"),
        ("!!python/object/apply:os.system [ls]", "nor YAML"),
        ("a: b: c", "nor YAML"),
    ],
)
def test_what_is_neither_is_refused_with_its_mend(text: str, said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        parse_body(text)


def test_without_a_library_yaml_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(InvalidValue, match="pip install pyyaml"):
        parse_body("quarter: 3")


def test_the_same_content_has_the_same_id() -> None:
    one = cell_id("play", {"a": 1, "b": [2]}, {"port": "1"})
    assert one == cell_id("play", {"b": [2], "a": 1}, {"port": "1"})
    assert len({one, cell_id("play", {"a": 1}, {"port": "1"}), cell_id("play", {"a": 1, "b": [2]}, {"port": "2"})}) == 3
