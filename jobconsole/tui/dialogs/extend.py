"""Extend by less than the step of the contract: minutes, checks, failures, rate limits, and what moves (X6, H9).

Only this file decides how the numbers are asked for. Whether they are enough, and inside the bounds, is the core's word.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.validation import Integer
from textual.widgets import Input, Static

from jobconsole.core.contract import Contract
from jobconsole.core.operation import Operation, Option
from jobconsole.core.wording import option_words, words
from jobconsole.tui.dialogs.dialog import Asked, Dialog
from jobconsole.tui.options import arrows

_GRANTS = ("minutes", "checks", "failures", "rate_limits")


class ExtendDialog(Dialog):
    """Asks how much of the offered extension to grant; the offer stands in the fields."""

    DEFAULT_CSS = """
    ExtendDialog {
        & #grants { height: 5; margin-bottom: 1; }
        & #grants > Vertical { width: 1fr; height: 5; margin-right: 1; }
        & #grants Input { margin: 0; }
    }
    """
    heading: ClassVar[str] = "Extend once"

    def __init__(self, op: Operation, option: Option, contract: Contract | None) -> None:
        super().__init__(op, act_label="Extend")
        self._option, self._contract = option, contract

    def parts(self) -> ComposeResult:
        """A field for each bound that the contract lets grow, and what moves."""
        with Horizontal(id="grants"):
            for name in self._offered():
                most = getattr(self._option, name)
                with Vertical():
                    yield Static(Content(words(name)), markup=False)
                    yield Input(str(most), id=f"grant-{name}", type="integer", validators=[Integer(0, most)], max_length=7)
                    yield Static(Content.styled(f"at most {most:,}", "$quiet"), markup=False)
        yield Static("", classes="dialog-text", id="dialog-change", markup=False)

    def _offered(self) -> list[str]:
        return [name for name in _GRANTS if getattr(self._option, name)]

    def first_focus(self) -> str:
        """The first number."""
        return f"#grant-{self._offered()[0]}" if self._offered() else "#keep"

    def on_mount(self) -> None:
        """Say what moves."""
        super().on_mount()
        self._tell()

    @on(Input.Changed)
    def _tell(self) -> None:
        asked = self.asked()
        told = asked if isinstance(asked, str) else self._change(asked)
        self.query_one("#dialog-change", Static).update(Content(told))
        self.query_one("#dialog-fault", Static).update(Content(""))

    def _change(self, asked: Asked) -> str:
        wanted = replace(self._option, **asked)
        return arrows(option_words(wanted, self._op, self.feed.now(), self._contract).change, self.pen(0))

    @on(Input.Submitted)
    def _next(self, event: Input.Submitted) -> None:
        """Enter goes on to the next field."""
        event.stop()
        self.focus_next()

    def asked(self) -> Asked | str:
        """The numbers, each inside the offer."""
        grants: Asked = {}
        for name in self._offered():
            text, most = self.query_one(f"#grant-{name}", Input).value, getattr(self._option, name)
            if not text.isascii() or not text.isdigit() or int(text) > most:
                return f"{words(name)}: a whole number from 0 to {most:,}."
            grants[name] = int(text)
        return grants
