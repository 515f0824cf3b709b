"""Cancel at the provider, or send a submission once more: what is documented, and a safe way out (C9, UX 3.4).

Only this file decides what stands in that question; its words are the contract's and the core's.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from jobconsole.core.operation import Operation
from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.options import Card


class CancelDialog(Dialog):
    """Asks whether the provider should stop the job."""

    CONFIRM_KEY: ClassVar[str] = "C"
    heading = "Cancel at the provider?"
    safe_label = "Keep running"
    is_destroying = True

    def __init__(self, op: Operation, card: Card, typed: str = "") -> None:
        super().__init__(op, act_label="Cancel job", typed=typed)
        self._card = card

    def parts(self) -> ComposeResult:
        """The documented effect, its cost, and what an accepted cancel is not."""
        said = Content.assemble(
            ("The provider documents:\n", "$quiet"),
            (self._card.effect or "nothing about what this does", "bold"),
            (f"\n\nCosts {self._card.cost}. Checks go on until it is known how the job ended.", "$quiet"),
        )
        yield Static(said, classes="dialog-text", id="dialog-effect", markup=False)


class SureDialog(Dialog):
    """Asks whether an option is meant: `replay_submit`, or any other that a person wants to look at first."""

    CONFIRM_KEY: ClassVar[str] = "Y"
    heading = "Are you sure?"

    def __init__(self, op: Operation, card: Card) -> None:
        super().__init__(op, act_label=card.title.capitalize())
        self._card = card

    def parts(self) -> ComposeResult:
        """What the option costs, changes and does."""
        told = [part for part in (self._card.effect, self._card.change) if part]
        cost = f"\n\nCosts {self._card.cost}." if self._card.cost else ""
        yield Static(
            Content.assemble(("\n".join(told), "bold"), (cost, "$quiet")),
            classes="dialog-text",
            id="dialog-effect",
            markup=False,
        )
