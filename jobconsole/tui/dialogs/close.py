"""The options that need a reason in words: `close`, `submit_again`, `accept_result` (SPEC H5).

Only this file decides what stands in that question.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from jobconsole.core.operation import Operation
from jobconsole.tui.dialogs.dialog import Asked, Dialog
from jobconsole.tui.dialogs.reason import ReasonField
from jobconsole.tui.options import Card


class CloseDialog(Dialog):
    """Asks why, and says what the option does to the watch and to the job."""

    heading = "A reason is needed"
    safe_label = "Leave it as it is"
    is_destroying = True

    def __init__(self, op: Operation, card: Card, typed: str = "") -> None:
        super().__init__(op, act_label=card.title.capitalize(), typed=typed)
        self._card = card

    def parts(self) -> ComposeResult:
        """The effect, and a line for the reason."""
        title = self._card.title[:1].upper() + self._card.title[1:]
        yield Static(
            Content.assemble((f"{title}: ", "bold"), self._card.effect), classes="dialog-text", id="dialog-effect", markup=False
        )
        field = ReasonField(self._card.name)
        yield Static(field.label, markup=False)
        yield field

    def first_focus(self) -> str:
        """Typing begins at once; nothing that is typed can act."""
        return "#reason"

    def asked(self) -> Asked | str:
        """The reason, which must not be blank."""
        field = self.query_one(ReasonField)
        return field.fault or field.asked
