"""What all dialogs have in common: the safe button has the focus, Enter never destroys, early keys and pasted text do nothing.

Only this file decides that (SPEC U8, UX 3.4). A dialog names the operation and the revision that it was opened for, and returns
what was asked, or None where the person thought better of it. It decides nothing itself: `answering.py` does.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from jobconsole.core.operation import Operation
from jobconsole.core.terminal_text import inert
from jobconsole.core.wording import marked
from jobconsole.tui.key_guard import KeyGuard
from jobconsole.tui.on_dashboard import OnDashboard

Asked: TypeAlias = dict[str, Any]
"""What an option needs beside its name: the keywords of `Desk.decide`."""


class SafeButton(Button):
    """Leaves everything as it is."""


class ActButton(Button):
    """Does what the dialog says. Enter on it does nothing: only its key, the space bar or the mouse do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.refuse_enter", show=False),
        Binding("space", "screen.confirm", show=False),
    ]


class Dialog(OnDashboard, ModalScreen[Asked | None]):
    """Asks one thing about one operation. Subclasses give the parts between the heading and the buttons, and `asked`."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 60%;
        & > #dialog {
            width: 76; max-width: 96%; height: auto; max-height: 96%; overflow-y: auto;
            padding: 1 2 0 2;
            background: $surface;
            border: round $primary; border-title-color: $primary; border-title-style: bold;
            border-subtitle-color: $quiet;
        }
        &.-destroys > #dialog { border: round $error; border-title-color: $error; }
        & .dialog-text { height: auto; margin-bottom: 1; }
        & .dialog-fault { height: auto; color: $error; }
        & Input { margin-bottom: 1; border: round $quiet; background: $surface; &:focus { border: round $primary; } }
        & #buttons { height: 3; align-horizontal: right; & Button { margin-left: 2; min-width: 16; } }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "keep", "Back", id="dialog.back"),
        Binding("left,h", "app.focus_previous", show=False, id="dialog.previous"),
        Binding("right,l", "app.focus_next", show=False, id="dialog.next"),
    ]
    CONFIRM_KEY: ClassVar[str] = "ctrl+s"
    heading: ClassVar[str] = ""
    safe_label: ClassVar[str] = "Back"
    is_destroying: ClassVar[bool] = False

    def __init__(self, op: Operation, *, act_label: str) -> None:
        super().__init__(id="dialog-screen", classes="-destroys" if self.is_destroying else "")
        self.operation_id, self.revision = op.operation_id, op.revision
        self._op, self._act_label = op, act_label
        self._bindings.bind(self.CONFIRM_KEY, "confirm", self._act_label, priority=True)

    def compose(self) -> ComposeResult:
        """Heading, the dialog's own parts, a line for what is wrong, and the buttons."""
        with Vertical(id="dialog") as box:
            box.border_title = self.heading
            box.border_subtitle = "Esc or Enter leaves it as it is" if self.is_destroying else "Esc leaves it as it is"
            yield Static(self._subject(), classes="dialog-text", id="dialog-subject", markup=False)
            yield from self.parts()
            yield Static("", classes="dialog-fault", id="dialog-fault", markup=False)
            with Horizontal(id="buttons"):
                yield SafeButton(Content(self.safe_label), id="keep")
                key = self.CONFIRM_KEY if len(self.CONFIRM_KEY) > 1 else self.CONFIRM_KEY.upper()
                act = ActButton(Content(f"{self._act_label} ({key})"), id="act")
                act.variant = "error" if self.is_destroying else "primary"
                yield act

    def _subject(self) -> Content:
        op = self._op
        name = f"  {inert(op.name, 60)}" if op.name else ""
        facts = ", ".join((op.operation_id, op.provider, f"revision {self.revision}"))
        sign = marked(op.phase, is_ascii=self.pen(0).is_ascii)
        return Content.assemble((sign, "bold"), (name, "bold"), "\n", (facts, "$quiet"))

    def parts(self) -> ComposeResult:
        """What stands between heading and buttons."""
        yield from ()

    def asked(self) -> Asked | str:
        """What the option needs, or what is wrong with the entries."""
        return {}

    def first_focus(self) -> str:
        """Which widget has the focus at first."""
        return "#keep"

    def on_mount(self) -> None:
        """The quiet time begins."""
        self._guard = KeyGuard(self.desk.clock)
        self.query_one(self.first_focus()).focus()

    # ---- what a person does ---------------------------------------------------------------------------------------------
    def on_key(self, event: events.Key) -> None:
        """A key that does not act is part of a burst, or a mistake; one that acts asks the guard itself."""
        if event.key != "space":
            self._guard.note()

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text fires nothing."""
        self._guard.note()
        event.stop()

    def action_confirm(self) -> None:
        """Give back what was asked, where a person can have meant it."""
        if not self._guard.allows():
            return
        asked = self.asked()
        if isinstance(asked, str):
            self.query_one("#dialog-fault", Static).update(Content(asked))
            return
        self.dismiss(asked)

    def action_keep(self) -> None:
        """Leave everything as it is."""
        self.dismiss(None)

    def action_refuse_enter(self) -> None:
        """Enter on the button that acts."""
        self._guard.note()
        self.query_one("#dialog-fault", Static).update(Content(f"Enter does nothing here: {self.CONFIRM_KEY} does it."))

    @on(Button.Pressed, "#keep")
    def _kept(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_keep()

    @on(Button.Pressed, "#act")
    def _acted(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_confirm()
