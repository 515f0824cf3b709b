"""The dashboard's own settings: another theme, other keys (UX 1a: a remappable key for each binding, by its id).

Only this file decides what `[ui]` and `[keys]` of `config.toml` mean. What cannot be used is told in one sentence each, and
the rest is taken:

    [ui]
    theme = "jobconsole-light"
    [keys]                         # binding id = key, or several with commas
    "operation.extend" = "E"
    "table.down" = "down,n"
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from textual.binding import Binding

from jobconsole.core.terminal_text import inert
from jobconsole.tui.actions import ACTIONS
from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.widgets.line_list import LineList
from jobconsole.tui.widgets.operations_table import OperationsTable

_KEY = re.compile(r"(?:(?:ctrl|shift|alt|super|hyper|meta)\+)*(?:[a-z0-9_]+|[^\s,])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked for, and what is wrong with the rest."""

    theme: str | None
    keymap: Mapping[str, str]
    faults: tuple[str, ...] = ()


def binding_ids() -> frozenset[str]:
    """Every id that can have another key: actions, and moves in lists and dialogs."""
    moves = (*OperationsTable.BINDINGS, *LineList.BINDINGS, *Dialog.BINDINGS)
    return frozenset(ACTIONS) | {each.id for each in moves if isinstance(each, Binding) and each.id is not None}


def read_settings(tables: Mapping[str, Any]) -> Settings:
    """The settings out of the file's tables."""
    faults: list[str] = []
    ui, keys = (_table(tables, name, faults) for name in ("ui", "keys"))
    theme = ui.get("theme")
    if theme is not None and not isinstance(theme, str):
        faults.append("config.toml: ui.theme is no text; write the name of a theme")
        theme = None
    faults.extend(f"config.toml: ui.{inert(key, 40)} is not known; known is theme" for key in ui if key != "theme")
    return Settings(theme, dict(_keymap(keys, faults)), tuple(faults))


def _table(tables: Mapping[str, Any], name: str, faults: list[str]) -> Mapping[str, Any]:
    found = tables.get(name, {})
    if isinstance(found, dict):
        return found
    faults.append(f"config.toml: {name} is no table; write [{name}]")
    return {}


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
