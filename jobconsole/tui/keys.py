"""Other keys for the dashboard: `[keys]` of `config.toml` (UX 1a: a remappable key for each binding, by its id).

Only this file decides which bindings can have another key, and what a key is. `settings.py` calls it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from textual.binding import Binding

from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui.actions import ACTIONS
from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.widgets.cursor_list import CursorList
from jobconsole.tui.widgets.line_list import LineList

_KEY = re.compile(r"(?:(?:ctrl|shift|alt|super|hyper|meta)\+)*(?:[a-z0-9_]+|[^\s,])", re.IGNORECASE)


def binding_ids() -> frozenset[str]:
    """Every id that can have another key: actions, and moves in lists and dialogs."""
    moves = (*CursorList.BINDINGS, *LineList.BINDINGS, *Dialog.BINDINGS)
    return frozenset(ACTIONS) | {each.id for each in moves if isinstance(each, Binding) and each.id is not None}


def read_keymap(keys: Mapping[str, Any], faults: list[str]) -> dict[str, str]:
    """Another key by binding id; what is wrong with the rest is added to `faults`, a sentence each."""
    return dict(_keymap(keys, faults))


def _keymap(keys: Mapping[str, Any], faults: list[str]) -> Iterable[tuple[str, str]]:
    known = binding_ids()
    for binding_id, wanted in keys.items():
        if binding_id not in known:
            near = difflib.get_close_matches(binding_id, known, n=3)
            mend = f"did you mean {' or '.join(near)}?" if near else "`?` in the dashboard shows what there is"
            faults.append(f"config.toml: keys: {inert(binding_id, 60)} is no binding; {mend}")
        elif not isinstance(wanted, str) or not all(_KEY.fullmatch(key.strip()) for key in wanted.split(",")):
            faults.append(f'config.toml: keys: {binding_id} needs a key such as "e", "ctrl+e" or "up,k"')
        else:
            yield binding_id, ",".join(key.strip() for key in wanted.split(","))
