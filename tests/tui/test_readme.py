"""The README's table of keys is the table of actions: made here, not by hand. Its pictures are `test_pictures.py`'s.

`pytest tests/tui --snapshot-update` writes it anew; without that it is compared.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.keys import format_key

from jobconsole.tui.actions import ACTIONS
from jobconsole.tui.widgets.cursor_list import CursorList

README = Path(__file__).parents[2] / "README.md"
_TABLE = re.compile(r"(?<=<!-- keys: generated -->\n).*?(?=<!-- end of keys -->)", re.DOTALL)


def keys_text() -> str:
    """Every action that has a key, as a table; below it the moves, and the words of actions that have no key."""
    rows = [("key", "command", "action", "what it does"), ("---",) * 4]
    rows += [
        (shown_keys(each.keys), f"`:{each.command}`" if each.command else "", each.title, each.hint)
        for each in ACTIONS.values()
        if each.keys
    ]
    table = "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in rows)
    moves = [each for each in CursorList.BINDINGS if isinstance(each, Binding)]
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


def test_the_table_of_keys_is_the_table_of_actions(pytestconfig: pytest.Config) -> None:
    """Keys, `:` words and sentences are those that the dashboard itself has."""
    text = README.read_text(encoding="utf-8")
    if pytestconfig.option.update_snapshots:
        text = _TABLE.sub(lambda _: keys_text(), text)
        README.write_text(text, encoding="utf-8")
    assert _TABLE.findall(text) == [keys_text()]
