"""The options that need a reason in words: `close`, `submit_again`, `accept_result` (SPEC H5).

Only this file decides how the reason is asked for. It goes to the audit as it was typed.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from jobconsole.core.commands.effects import REASON_LIMIT
from jobconsole.core.operation import Operation
from jobconsole.tui.dialogs.dialog import Asked, Dialog
from jobconsole.tui.options import Card


class CloseDialog(Dialog):
    """Asks why, and says what the option does to the watch and to the job."""

    heading: ClassVar[str] = "A reason is needed"
    safe_label: ClassVar[str] = "Leave it as it is"
    is_destroying: ClassVar[bool] = True

    def __init__(self, op: Operation, card: Card) -> None:
        super().__init__(op, act_label=card.title.capitalize())
        self._card = card

    def parts(self) -> ComposeResult:
        """The effect, and a line for the reason."""
        title = self._card.title[:1].upper() + self._card.title[1:]
        yield Static(
            Content.assemble((f"{title}: ", "bold"), self._card.effect), classes="dialog-text", id="dialog-effect", markup=False
        )
        yield Static(Content.styled("Why? It is kept in the audit.", "$quiet"), markup=False)
        yield Input(id="reason", placeholder="the release window is over", max_length=REASON_LIMIT)

    def first_focus(self) -> str:
        """Typing begins at once; nothing that is typed can act."""
        return "#reason"

    @on(Input.Submitted, "#reason")
    def _submitted(self, event: Input.Submitted) -> None:
        """Enter goes on to the safe button."""
        event.stop()
        self.query_one("#keep").focus()

    def asked(self) -> Asked | str:
        """The reason, which must not be blank."""
        reason = self.query_one("#reason", Input).value.strip()
        return {"reason": reason} if reason else "Say why in a few words first."
