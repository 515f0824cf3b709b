"""Extend by less than the step of the contract: minutes, checks, failures, rate limits, and what moves (X6, H9).

Only this file decides how the numbers are asked for.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.operation import Operation, Option
from jobconsole.core.telling.wording import words
from jobconsole.tui.dialogs.dialog import Asked
from jobconsole.tui.dialogs.grant import GrantDialog
from jobconsole.tui.dialogs.number import NumberField

_GRANTS = ("minutes", "checks", "failures", "rate_limits")


class ExtendDialog(GrantDialog):
    """Asks how much of the offered extension to grant; the offer stands in the fields."""

    DEFAULT_CSS = """
    ExtendDialog {
        & #grants { height: 4; margin-bottom: 1; }
        & #grants > Vertical { width: 1fr; height: 4; margin-right: 1; }
        & #grants Input { margin: 0; }
    }
    """
    heading = "Extend once"

    def __init__(self, op: Operation, option: Option, contract: Contract | None) -> None:
        super().__init__(op, option, contract, act_label="Extend")

    def fields(self) -> ComposeResult:
        """A field for each bound that the contract lets grow."""
        with Horizontal(id="grants"):
            for name in self._offered():
                most = getattr(self._option, name)
                with Vertical():
                    yield Static(Content.assemble(words(name), (f" of {most:,}", "$quiet")), markup=False)
                    yield NumberField(most, id=f"grant-{name}", spill=self.take_letter)

    def _offered(self) -> list[str]:
        return [name for name in _GRANTS if getattr(self._option, name)]

    def first_focus(self) -> str:
        """The first number; a letter that is typed there begins the reason."""
        return f"#grant-{self._offered()[0]}" if self._offered() else "#keep"

    def granted(self) -> Asked | str:
        """The numbers, each inside the offer."""
        grants: Asked = {}
        for name in self._offered():
            text, most = self.query_one(f"#grant-{name}", NumberField).value, getattr(self._option, name)
            if not text.isascii() or not text.isdigit() or int(text) > most:
                return f"{words(name)}: a whole number from 0 to {most:,}."
            grants[name] = int(text)
        return grants
