"""What the widgets send to a browser needs no network and is small (UX 1b)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import jobconsole.notebook
from jobconsole.notebook import assets

STATIC = Path(jobconsole.notebook.__file__).parent / "static"


def test_script_and_style_together_are_under_sixty_kilobytes() -> None:
    assert len(assets.script().encode()) + len(assets.style().encode()) < 60_000


def test_nothing_in_them_names_an_address() -> None:
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8")
        assert "http" not in text
        assert not re.search(r"\bimport\b|\bfetch\(|XMLHttpRequest|url\(|@import|WebSocket", text)


def test_text_never_becomes_markup() -> None:
    for path in STATIC.glob("*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function", path.read_text("utf-8")
        )


def test_every_file_is_joined() -> None:
    assert {path.name for path in STATIC.iterdir()} == {*assets.SCRIPTS, *assets.STYLES}


def test_what_is_only_there_for_readers_stays_behind() -> None:
    assert not re.search(r"^\s|^//|^/\*", assets.script(), re.MULTILINE)
    assert assets.script().count("export default") == 1


@pytest.mark.parametrize(
    ("line", "tight"),
    [
        ('say(node, a + b ? "x , y" : c);', 'say(node,a+b?"x , y":c);'),
        ("const two = `${a} , ${b}`;", "const two=`${a} , ${b}`;"),
        ("const both = a ? `x ${b ? `, ${b}` : 1}` : 2;", "const both = a ? `x ${b ? `, ${b}` : 1}` : 2;"),
        ("const found = text.match(/a = b/);", "const found = text.match(/a = b/);"),
        ("return (a - b) / c;", "return (a-b)/c;"),
        ("if (a && b) {", "if(a&&b){"),
    ],
)
def test_blanks_of_texts_and_patterns_stay(line: str, tight: str) -> None:
    assert assets.tight(line) == tight
