"""What the dialogs for `extend` and `pause` have in common: numbers or a time, what that costs while it is typed, a reason.

Only this file decides that the cost stands on the screen before Enter may accept it. Whether a grant is enough, and inside the
bounds, is the core's word.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.operation import Operation, Option
from jobconsole.core.telling.wording import option_words
from jobconsole.tui.dialogs.dialog import Asked, Dialog
from jobconsole.tui.dialogs.reason import ReasonField
from jobconsole.tui.options import arrows


class GrantDialog(Dialog):
    """Asks how much of an offered option to grant. Subclasses give the `fields`, and what stands in them as `granted`."""

    ENTER_ACCEPTS: ClassVar[bool] = True

    def __init__(self, op: Operation, option: Option, contract: Contract | None, *, act_label: str) -> None:
        super().__init__(op, act_label=act_label)
        self._option, self._contract = option, contract
        self._told: Asked | str | None = None

    def fields(self) -> ComposeResult:
        """The entries, filled with the offer."""
        yield from ()

    def granted(self) -> Asked | str:
        """What is granted as fields of the option, or what is wrong with the entries."""
        return {}

    def parts(self) -> ComposeResult:
        """The entries, what they cost, and a line for the reason."""
        yield from self.fields()
        yield Static("", classes="dialog-text", id="dialog-change", markup=False)
        reason = ReasonField(self._option.name, example="tax filing is due")
        yield Static(reason.label, markup=False)
        yield reason

    def on_mount(self) -> None:
        """Say what it costs as it is offered."""
        super().on_mount()
        self._tell()

    def is_told(self) -> bool:
        """Whether the cost on the screen is that of what stands in the fields."""
        return self._told == self.granted()

    @on(Input.Changed)
    def _tell(self) -> None:
        self._told = self.granted()
        told = Content(self._told) if isinstance(self._told, str) else self._cost(self._told)
        self.query_one("#dialog-change", Static).update(told)
        self.query_one("#dialog-fault", Static).update(Content(""))

    def _cost(self, granted: Asked) -> Content:
        said = option_words(replace(self._option, **granted), self._op, self.feed.now(), self._contract)
        cost = f"{said.cost[:1].upper()}{said.cost[1:]}\n" if said.cost else ""
        return Content.assemble((cost, "bold"), arrows(said.change, self.pen(0)))

    def asked(self) -> Asked | str:
        """The grant and the reason."""
        granted, reason = self.granted(), self.query_one(ReasonField)
        return granted if isinstance(granted, str) else reason.fault or {**granted, **reason.asked}
