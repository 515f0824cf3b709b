"""What the README shows of the dashboard is what the dashboard is: its pictures and its keys are made here, not by hand.

`UPDATE_README=1 pytest tests/tui/test_readme.py` draws the pictures and writes the table anew; without it they are compared.
"""

from __future__ import annotations

import os
import re
from html import unescape
from importlib.metadata import version
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.keys import format_key
from textual.widgets import Static

from jobconsole.tui.actions import ACTIONS
from jobconsole.tui.app import DEFAULT_THEME, Dashboard
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.widgets.line_list import LineList
from jobconsole.tui.widgets.operations_table import OperationsTable
from tests.tui.conftest import running, until
from tests.tui.staged_day import LEDGER, staged_day

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PICTURES = Path(__file__).with_name("pictures")
IS_UPDATE = bool(os.environ.get("UPDATE_README"))
SIZE = (160, 30)

_FONTS = '"Fira Code", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace'
_TABLE = re.compile(r"(?<=<!-- keys: generated -->\n).*?(?=<!-- end of keys -->)", re.DOTALL)


# ---- pictures ----------------------------------------------------------------------------------------------------------------
def picture(app: Dashboard) -> str:
    """The screen as an SVG that fetches nothing, whose ids stay, and that says which versions drew it."""
    svg = re.sub(r"terminal-\d+", "screen", app.export_screenshot(title="jobconsole"))
    svg = re.sub(r"\s*@font-face \{[^}]*\}", "", svg).replace("font-family: Fira Code, monospace", f"font-family: {_FONTS}")
    drawn_by = f"<!-- drawn by textual {version('textual')}, rich {version('rich')} -->"
    svg = re.sub(r"<!--.*?-->", drawn_by, svg, count=1)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def check(name: str, svg: str) -> None:
    """The committed picture is this one. Another version of Textual may draw it otherwise; then its words are the same."""
    path = PICTURES / name
    if IS_UPDATE:
        path.write_text(svg, encoding="utf-8")
    committed = path.read_text(encoding="utf-8")
    mend = f"{name} is not what the dashboard shows any more: look at it, then UPDATE_README=1"
    if drawn_by(committed) == drawn_by(svg):
        assert committed == svg, mend
    assert words_of(committed) == words_of(svg), mend


def drawn_by(svg: str) -> str:
    """The versions that drew it."""
    found = re.search(r"<!-- drawn by (.*?) -->", svg)
    assert found is not None
    return found[1]


def words_of(svg: str) -> str:
    """What can be read in it."""
    return " ".join(" ".join(unescape(text) for text in re.findall(r"<text [^>]*>([^<]*)</text>", svg)).split())


async def test_the_picture_of_the_dashboard_is_what_it_shows(tmp_path: Path) -> None:
    """A morning's jobs: some wait, two need a person, the others ended in each way; the pane tells of the first."""
    async with staged_day(tmp_path, DEFAULT_THEME) as app, running(app, SIZE) as pilot:
        await until(pilot, lambda: bool(str(app.screen.query_one("#side-pane #detail-story", Static).content)))
        await pilot.pause()
        svg = picture(app)
    words = words_of(svg)
    for state in ("escalated", "waiting", "succeeded", "failed", "with errors", "cancelled", "needs you"):
        assert state in words
    check("dashboard.svg", svg)


async def test_the_picture_of_the_inbox_is_what_it_shows(tmp_path: Path) -> None:
    """The card of the job that spent its checks, with its numbered options and what each would cost."""
    async with staged_day(tmp_path, DEFAULT_THEME) as app, running(app, SIZE) as pilot:
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, InboxScreen) and app.screen.list.cursor is not None)
        screen = app.screen
        assert isinstance(screen, InboxScreen)
        await pilot.press("down")
        options = screen.card.query_one("#card-options", LineList)
        await until(pilot, lambda: screen.card.operation_id == LEDGER and bool(options.entries))
        await pilot.press("enter")
        await until(pilot, lambda: options.has_focus)
        await pilot.pause()
        svg = picture(app)
    assert "checks 6 → 10" in words_of(svg)
    check("inbox.svg", svg)


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_tells_nothing_of_the_machine_that_drew_it(path: Path) -> None:
    """No paths, no addresses but made-up ones, and nothing that a viewer would fetch."""
    svg = path.read_text(encoding="utf-8")
    assert not re.search(r"/(tmp|home|Users|root|work|var|private)/", svg)
    hosts = set(re.findall(r"https?://([^/\s\"<&]+)", svg))
    assert all(host == "www.w3.org" or host.endswith(".example") for host in hosts)
    assert "url(" not in svg.replace("url(#", "")


def test_the_readme_shows_both_pictures() -> None:
    """By their place in the checkout."""
    text = README.read_text(encoding="utf-8")
    for path in PICTURES.glob("*.svg"):
        assert f"({path.relative_to(ROOT).as_posix()})" in text


# ---- keys --------------------------------------------------------------------------------------------------------------------
def keys_text() -> str:
    """Every action that has a key, as a table; below it the moves, and the words of actions that have no key."""
    rows = [("key", "command", "action", "what it does"), ("---",) * 4]
    rows += [
        (shown_keys(each.keys), f"`:{each.command}`" if each.command else "", each.title, each.hint)
        for each in ACTIONS.values()
        if each.keys
    ]
    table = "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in rows)
    moves = [each for each in OperationsTable.BINDINGS if isinstance(each, Binding)]
    told = ", ".join(f"{each.description.lower()} {shown_keys(each.key)}" for each in moves)
    rest = ", ".join(f"`:{each.command}`" for each in ACTIONS.values() if not each.keys)
    return f"{table}\n\nMoves: {told}. Commands without a key: {rest}.\n"


def shown_keys(keys: str) -> str:
    """Keys as they stand on the keyboard."""
    return " ".join(f"`{shown_key(key)}`" for key in keys.split(","))


def shown_key(key: str) -> str:
    """`ctrl+p`, `/`, `esc`."""
    modifiers, _, last = key.rpartition("+")
    names = {"escape": "esc", "space": "space", "enter": "enter", "pageup": "pgup", "pagedown": "pgdn"}
    last = names.get(last) or (format_key(last) if not last.isalpha() or len(last) > 1 else last)
    return f"{modifiers}+{last}" if modifiers else last


def test_the_table_of_keys_is_the_table_of_actions() -> None:
    """Keys, `:` words and sentences are those that the dashboard itself has."""
    text = README.read_text(encoding="utf-8")
    if IS_UPDATE:
        text = _TABLE.sub(lambda _: keys_text(), text)
        README.write_text(text, encoding="utf-8")
    assert _TABLE.findall(text) == [keys_text()]
