"""What the dialogs about looking after an item have in common: something is typed, and Enter takes it.

Only this file decides when Enter takes it: nothing is destroyed by it and all of it can be taken back, so that no other key is
needed; but an Enter that comes in one burst with the text is the end of a pasted line, and takes nothing (SPEC U8).
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.key_guard import BURST_MS, KeyGuard


class TypedDialog(Dialog):
    """A harmless question about one operation, answered by typing."""

    ENTER_ACCEPTS: ClassVar[bool] = True

    def on_mount(self) -> None:
        """Typing begins at once."""
        super().on_mount()
        self.query_one("#dialog").border_subtitle = "Enter takes it · Esc leaves it as it is"
        self._burst = KeyGuard(self.desk.clock, BURST_MS)

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._burst.note()
        self.query_one("#dialog-fault", Static).update(Content(""))
        self.tell()

    def tell(self) -> None:
        """Say what the entry means, as far as it is typed."""

    def action_confirm(self) -> None:
        """Give back what was typed, where it was not pasted just now."""
        if self._burst.allows():
            super().action_confirm()
        else:
            self.refuse_burst()

    def refuse_burst(self) -> None:
        """The key came together with the text."""
        self.query_one("#dialog-fault", Static).update(Content("That key came with the text, as in a paste. Press it again."))
