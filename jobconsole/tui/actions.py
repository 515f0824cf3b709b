"""Everything a person can do in the dashboard: one table, reached alike by keys, palette, `:` commands and mouse.

Only this file decides which actions there are. Each module of actions lies beside what it works on; `keys.py` reads other keys
for them from the configuration.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from textual.binding import BindingType

from jobconsole.tui.action import Action
from jobconsole.tui.attending_actions import ATTENDING_ACTIONS
from jobconsole.tui.deciding_actions import DECIDING_ACTIONS
from jobconsole.tui.looking_actions import LOOKING_ACTIONS
from jobconsole.tui.shell_actions import LEAVE, OPEN, SHELL_ACTIONS

_EVERYWHERE = (OPEN, LEAVE, *DECIDING_ACTIONS, *SHELL_ACTIONS, *LOOKING_ACTIONS)

ACTIONS: Mapping[str, Action] = MappingProxyType({action.action_id: action for action in (*_EVERYWHERE, *ATTENDING_ACTIONS)})
"""The table by `action_id`, in the order of footer and help."""

COMMANDS: Mapping[str, Action] = MappingProxyType({action.command: action for action in ACTIONS.values() if action.command})
"""The actions that have a `:` command, by its word."""

BINDINGS: list[BindingType] = [action.binding for action in _EVERYWHERE if action.keys]
"""The key bindings of the app; those of `ATTENDING_ACTIONS` belong to the screens that show one item."""


def nearest_commands(word: str) -> list[str]:
    """The three commands nearest to a word that is none."""
    return difflib.get_close_matches(word, COMMANDS, n=3, cutoff=0.0)
