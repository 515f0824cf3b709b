"""Who looks after an inbox item from now on (SPEC H7).

Only this file decides how a person is named: by a text, completed from the names that were seen in this store, or `nobody`.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from jobconsole.core.commands.attending import LONGEST_NAME
from jobconsole.core.operation import Operation
from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui.dialogs.dialog import Asked
from jobconsole.tui.dialogs.typed import TypedDialog

NOBODY = "nobody"
"""Typed in place of a name, it gives the item back."""

_SHOWN = 12  # names that are listed; all of them complete


class AssignDialog(TypedDialog):
    """Asks for a name; gives back `{"to": name}`, None for nobody."""

    heading = "Assign to"

    def __init__(self, op: Operation, people: Sequence[str]) -> None:
        super().__init__(op, act_label="Assign")
        self._people = tuple(people)

    def parts(self) -> ComposeResult:
        """Who has it, a line for the name, and what it means."""
        has = self._op.attention.assigned_to
        now = f"With {inert(has, 60)} now." if has else "With nobody now."
        yield Static(Content(f"{now} Seen here: {self._seen()}"), classes="dialog-text", id="dialog-people", markup=False)
        suggester = SuggestFromList((*self._people, NOBODY), case_sensitive=False)
        yield Input(id="name", placeholder="a name, or nobody", max_length=LONGEST_NAME, suggester=suggester)
        yield Static("", classes="dialog-text", id="dialog-change", markup=False)

    def _seen(self) -> str:
        shown = ", ".join(inert(name, 40) for name in self._people[:_SHOWN])
        more = len(self._people) - _SHOWN
        return f"{shown or 'nobody yet'}{f' and {more:,} more' if more > 0 else ''}."

    def first_focus(self) -> str:
        """The name."""
        return "#name"

    def tell(self) -> None:
        """Whom it goes to, and whether anybody of that name was seen."""
        asked = self.asked()
        told = ""
        if not isinstance(asked, str):
            to = asked["to"]
            is_new = to is not None and to not in self._people
            told = f"It goes to {inert(to or NOBODY, 60)}{', a name that was not seen here before' if is_new else ''}."
        self.query_one("#dialog-change", Static).update(Content.styled(told, "$quiet"))

    def asked(self) -> Asked | str:
        """The name."""
        name = person_named(self.query_one("#name", Input).value)
        return "Type a name, or nobody." if name is None else {"to": None if name == NOBODY else name}


def person_named(text: str) -> str | None:
    """The person that was typed; None where that is no name."""
    name = text.strip().removeprefix("person:").strip()
    return name if name and name.isprintable() and len(name) <= LONGEST_NAME else None
