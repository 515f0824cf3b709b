"""Other keys for the dashboard: `[keys]` of `config.toml` (UX 1a: a remappable key for each binding, by its id).

Only this file decides which bindings can have another key, and what a key is. `settings.py` calls it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual.binding import Binding, BindingType

from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui.actions import ACTIONS
from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.widgets.cursor_list import CursorList
from jobconsole.tui.widgets.line_list import LineList

_KEY = re.compile(r"(?:(?:ctrl|shift|alt|super|hyper|meta)\+)*(?:[a-z0-9_]+|[^\s,])", re.IGNORECASE)

_OPEN_LINE = "list.open"


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a person calls a binding, and its keys."""

    name: str
    keys: tuple[str, ...]


def binding_ids() -> frozenset[str]:
    """Every id that can have another key: actions, and moves in lists and dialogs."""
    moves = (*CursorList.BINDINGS, *LineList.BINDINGS, *Dialog.BINDINGS)
    return frozenset(ACTIONS) | {each.id for each in moves if isinstance(each, Binding) and each.id is not None}


def read_keymap(keys: Mapping[str, Any], faults: list[str]) -> dict[str, str]:
    """Another key by binding id; what is wrong with the rest is added to `faults`, a sentence each."""
    keymap = dict(_keymap(keys, faults))
    faults += _taken(keymap)
    return keymap


def _taken(keymap: Mapping[str, str]) -> Iterable[str]:
    """A sentence for each key that a binding of the file has in common with another one, of which only one can have it.

    Lists and the actions are there together, and lists go before; a dialog is alone. The keys of an inbox item may mean
    something else where there is none.
    """
    moves = _bound((*CursorList.BINDINGS, *LineList.BINDINGS), keymap)
    actions = _bound((each.binding for each in ACTIONS.values() if not each.needs_item), keymap)
    for together in (moves | actions, _bound(Dialog.BINDINGS, keymap)):
        of_file = [each for each in keymap if each in together]
        ranked = sorted(dict.fromkeys((*of_file, *together)), key=lambda each: each not in moves)
        shared: dict[tuple[str, ...], list[str]] = {}
        for key in dict.fromkeys(key for each in of_file for key in together[each].keys):
            shared.setdefault(tuple(each for each in ranked if key in together[each].keys), []).append(key)
        for holders, keys in shared.items():
            yield from _clash(keys, holders, keymap, together)


def _clash(
    keys: Sequence[str], holders: Sequence[str], keymap: Mapping[str, str], together: Mapping[str, _Bound]
) -> Iterable[str]:
    """The sentence for keys that these bindings share, if one of them loses by it. The first has the keys.

    Opening a line is no move in the table of operations, where an action may have its key.
    """
    in_lists, holders = (together[_OPEN_LINE].name, holders[1:]) if holders[0] == _OPEN_LINE else ("", holders)
    if not holders:
        return
    winner = together[holders[0]].name
    losers = {each: together[each] for each in holders[1:] if holders[0] in keymap or each in keymap}
    losers = {each: loser for each, loser in losers.items() if loser.name != winner}
    is_split = in_lists not in ("", winner)
    if not losers and not is_split:
        return
    lost = dict.fromkeys(loser.name for loser in losers.values() if loser.name != in_lists)
    where = f" in the table of operations and {in_lists} in other lists" if is_split else ""
    told = f"{', '.join(keys)} is {winner}{where}{', not ' if lost else ''}{' or '.join(lost)}"
    instead = {}
    for each, loser in losers.items():  # of two that do the same it is told how one is reached
        if loser.name not in instead or set(loser.keys) - set(keys):
            instead[loser.name] = f"{loser.name} {_instead(each, loser, keys)}"
    yield "; ".join(("config.toml: keys: " + told, *instead.values()))


def _instead(binding_id: str, loser: _Bound, taken: Sequence[str]) -> str:
    """How a binding is reached that does not have these keys."""
    left = [key for key in loser.keys if key not in taken]
    action = ACTIONS.get(binding_id)
    command = f"is :{action.command}" if action is not None and action.command else "has no key"
    return f"has {', '.join(left)}" if left else command


def _bound(bindings: Iterable[BindingType], keymap: Mapping[str, str]) -> dict[str, _Bound]:
    """What can have another key, by its id, with the keys that it has."""
    known = {each.id: each for each in bindings if isinstance(each, Binding) and each.id is not None}
    return {key: _Bound(each.description or key, _names(keymap.get(key, each.key))) for key, each in known.items()}


def _names(keys: str) -> tuple[str, ...]:
    """Textual's names of these keys: `?` is `question_mark`."""
    return tuple(each.key for each in Binding.make_bindings([Binding(keys, "")])) if keys else ()


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
