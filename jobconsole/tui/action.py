"""What an action of the dashboard is, and what a call of it is told.

Only this file decides their shape. Modules with actions make a tuple of them; `actions.py` puts them into the one table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from textual.binding import Binding

from jobconsole.tui.stage import Stage
from jobconsole.tui.subject import Subject


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an action: the app, what it acts on (the operation that was typed, else the marked ones, else the one under
    the cursor), and the text behind the command of one that takes a text."""

    app: Stage
    subjects: tuple[Subject, ...] = ()
    argument: str = ""

    @property
    def subject(self) -> Subject:
        """The one subject of an action that needs a selection and is not for many."""
        return self.subjects[0]


class Takes(Enum):
    """What may be typed behind a `:` command. What is typed there is never left aside (SPEC U8)."""

    NOTHING = "nothing"
    OPERATION = "operation"  # its id, the ending of it, or its name; that one in place of what is marked or under the cursor
    TEXT = "text"  # the action's own affair


Act: TypeAlias = Callable[[Call], None]


@dataclass(frozen=True, slots=True)
class Action:
    """One row of the table.

    `action_id` names its binding in `config.toml` and is stable. `keys` are Textual's names, comma-separated, empty for none.
    `command` is the word after `:`, and `takes` says what may stand behind it. An action that `needs_selection` is told its
    subjects; one that is not `for_many` gets the operation under the cursor alone.
    """

    action_id: str
    title: str
    act: Act
    keys: str = ""
    command: str = ""
    hint: str = ""  # one sentence for the palette
    needs_selection: bool = False
    needs_item: bool = False  # what it acts on stands in the inbox; where nothing does, its key may be another action's
    for_many: bool = False
    takes: Takes = Takes.NOTHING
    footer: str = ""  # the word in the footer; empty: not there
    is_priority: bool = False  # its key is handled before any other that was pressed after it
    is_everywhere: bool = False  # reached from dialogs and while something is typed, too

    @property
    def binding(self) -> Binding:
        """Its key binding."""
        return Binding(
            self.keys,
            f"app.act('{self.action_id}')",
            self.footer or self.title,
            show=bool(self.footer),
            id=self.action_id,
            priority=self.is_priority,
        )
