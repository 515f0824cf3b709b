"""All options of an operation, or of all that are marked, in one dialog; and what needs a name: a job id, another credential.

Only this file decides how they are asked for. Options are picked by their digit; what is missing says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from jobconsole.core.operation import Operation
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import counted, marked
from jobconsole.tui import texts
from jobconsole.tui.dialogs.dialog import Asked, Dialog
from jobconsole.tui.key_guard import KeyGuard
from jobconsole.tui.on_dashboard import OnDashboard
from jobconsole.tui.options import Card, card_entries
from jobconsole.tui.widgets.line_list import Entry, LineList


class PickDialog(OnDashboard, ModalScreen[str | None]):
    """Options as numbered cards; gives back the name of the one that was picked."""

    DEFAULT_CSS = """
    PickDialog {
        align: center middle;
        background: $background 60%;
        & > #dialog {
            width: 84; max-width: 96%; height: auto; max-height: 96%;
            padding: 1 2; background: $surface;
            border: round $primary; border-title-color: $primary; border-title-style: bold; border-subtitle-color: $quiet;
        }
        & #dialog-subject { height: auto; margin-bottom: 1; }
        & LineList { height: auto; max-height: 20; min-height: 1; background: $surface; }
    }
    """
    BINDINGS: ClassVar = [("escape,h,q", "keep", "Back")]

    def __init__(self, cards: Sequence[Card]) -> None:
        super().__init__()
        self._cards = tuple(cards)

    def subject(self) -> Content:
        """Whom it is about."""
        return Content()

    def compose(self) -> ComposeResult:
        """Whom it is about, and the cards."""
        with Vertical(id="dialog") as box:
            box.border_title, box.border_subtitle = "Options", "digit or Enter picks · Esc goes back"
            yield Static(self.subject(), id="dialog-subject", markup=False)
            yield LineList(id="choices")

    def on_mount(self) -> None:
        """Show the cards; the quiet time begins."""
        self._guard = KeyGuard(self.desk.clock)
        choices = self.query_one("#choices", LineList)
        pen = self.pen(min(84, self.app.size.width * 96 // 100) - 8)
        choices.show(card_entries(self._cards, pen), empty="Nothing can be done to it any more.")
        choices.styles.height = max(1, sum(len(entry.rows) for entry in choices.entries))
        choices.focus()

    def on_key(self, event: events.Key) -> None:
        """A digit picks its card, where a person can have meant it; Enter asks for itself when it picks."""
        if event.key == "enter":
            return
        is_meant = self._guard.allows()
        card = next((each for each in self._cards if each.is_open and str(each.number) == event.key), None)
        if card is not None:
            event.stop()
            self._pick(card.name, is_meant=is_meant)

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self._pick(event.key, is_meant=self._guard.allows())

    def _pick(self, option: str, *, is_meant: bool) -> None:
        if is_meant:
            self.dismiss(option)
        else:
            self.dashboard.say(texts.TOO_FAST, is_bad=True)

    def action_keep(self) -> None:
        """Leave everything as it is."""
        self.dismiss(None)


class ChooseDialog(PickDialog):
    """The options of one operation."""

    def __init__(self, op: Operation, cards: Sequence[Card]) -> None:
        super().__init__(cards)
        self._op = op

    def subject(self) -> Content:
        """Phase, name, id and revision."""
        op = self._op
        name = f"  {inert(op.name, 60)}" if op.name else ""
        return Content.assemble(
            (f"{marked(op.phase, is_ascii=self.pen(0).is_ascii)}{name}", "bold"),
            (f"\n{op.operation_id}, revision {op.revision}", "$quiet"),
        )


class ChooseForManyDialog(PickDialog):
    """What can be chosen for all marked operations at once."""

    def __init__(self, count: int, cards: Sequence[Card]) -> None:
        super().__init__(cards)
        self._count = count

    def subject(self) -> Content:
        """How many are marked."""
        return Content.assemble((f"{counted(self._count, 'operation')} marked", "bold"))


class JobIdDialog(Dialog):
    """Asks for the id of a job that exists at the provider."""

    heading = "Adopt a job id"

    def __init__(self, op: Operation, card: Card) -> None:
        super().__init__(op, act_label="Adopt")
        self._card = card

    def parts(self) -> ComposeResult:
        """What it does, and a line for the id."""
        yield Static(Content(self._card.effect), classes="dialog-text", id="dialog-effect", markup=False)
        yield Input(id="job-id", placeholder="the provider's id of the job", max_length=512)

    def first_focus(self) -> str:
        """The id."""
        return "#job-id"

    def asked(self) -> Asked | str:
        """The id, which must not be blank."""
        job_id = self.query_one("#job-id", Input).value.strip()
        return {"job_id": job_id} if job_id else "Type the provider's id of the job first."


class CredentialDialog(Dialog):
    """Asks which of the contract's other credentials to use: references, never values."""

    heading = "Use another credential"

    def __init__(self, op: Operation, card: Card) -> None:
        super().__init__(op, act_label="Use it")
        self._card = card

    def parts(self) -> ComposeResult:
        """What it does, and the references."""
        yield Static(Content(self._card.effect), classes="dialog-text", id="dialog-effect", markup=False)
        yield LineList(id="credentials", classes="dialog-text")

    def first_focus(self) -> str:
        """The references."""
        return "#credentials"

    def on_mount(self) -> None:
        """Show the references."""
        super().on_mount()
        references = self.query_one("#credentials", LineList)
        references.show([Entry(each, (Content(f" {inert(each, 200)}"),)) for each in self._card.credentials])
        references.styles.height = max(1, len(self._card.credentials))

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        """Enter on a reference accepts nothing; which key does, is said."""
        event.stop()
        self.refuse_enter()

    def asked(self) -> Asked | str:
        """The reference under the cursor."""
        chosen = self.query_one("#credentials", LineList).cursor
        return {"credential": chosen} if chosen is not None else "The contract names no other credential."
