"""Who looks after an inbox item from now on (SPEC H7).

Only this file decides how it is asked for: as a text, completed from the names that were seen in this store, or `nobody`.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from jobconsole.core.actors import LONGEST_NAME, NOBODY, person_or_nobody
from jobconsole.core.operation import Operation
from jobconsole.core.telling.terminal_text import inert
from jobconsole.errors import InvalidValue
from jobconsole.tui.dialogs.dialog import Asked
from jobconsole.tui.dialogs.typed import TypedDialog

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
    """The person that was typed, or `nobody`; None where that is no name (`core/actors.py`)."""
    try:
        return person_or_nobody(text) or NOBODY
    except InvalidValue:
        return None
