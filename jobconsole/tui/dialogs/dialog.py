"""What all dialogs have in common: the safe button has the focus, Enter never destroys, early keys and pasted text do nothing.

Only this file decides that (SPEC U8, UX 3.4), and where a person must type something before an act: what cannot be undone on a
production store, and what is about many operations. A dialog returns what was asked, or None where the person thought better of
it. It decides nothing itself: `answering.py` does.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from jobconsole.core.operation import Operation
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import marked
from jobconsole.tui import texts
from jobconsole.tui.dialogs.reason import ReasonField
from jobconsole.tui.key_guard import KeyGuard
from jobconsole.tui.on_dashboard import OnDashboard

Asked: TypeAlias = dict[str, Any]
"""What an option needs beside its name: the keywords of `Desk.decide`."""

FIELD_KEY = "ctrl+s"
"""Confirms where there are fields: a letter would be typed into them."""


class SafeButton(Button):
    """Leaves everything as it is."""


class ActButton(Button):
    """Does what the dialog says. Enter on it does nothing: only its key, the space bar or the mouse do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.refuse_enter", show=False),
        Binding("space", "screen.confirm", show=False),
    ]


class Question(OnDashboard, ModalScreen[Asked | None]):
    """Asks one thing. Subclasses give `subject`, the parts between it and the buttons, and `asked`.

    `typed` is what a person must type before the act, without regard to case; empty where nothing must be.
    """

    DEFAULT_CSS = """
    Question {
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
        &.-short > #dialog { padding: 0 2; }
        &.-short Input { margin-bottom: 0; }
        &.-short #buttons { height: 1; & Button { height: 1; border: none; } }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "keep", "Back", id="dialog.back"),
        Binding("left,h", "app.focus_previous", show=False, id="dialog.previous"),
        Binding("right,l", "app.focus_next", show=False, id="dialog.next"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - declared by Textual as an instance variable
    CONFIRM_KEY: ClassVar[str] = FIELD_KEY
    ENTER_ACCEPTS: ClassVar[bool] = False  # Enter in the last field does what the button does; never where it destroys
    LETTERS: ClassVar[str] = "#reason, #typed"  # the first of these gets what is typed where the focus takes no letters
    heading: str = ""
    safe_label: str = "Back"
    typed_label: str = ""
    typed_fault: str = ""
    is_destroying: bool = False

    def __init__(self, *, act_label: str, typed: str = "") -> None:
        super().__init__()
        self._act_label, self._typed = act_label, typed
        self._confirm_key = FIELD_KEY if typed else self.CONFIRM_KEY
        self._bindings.bind(self._confirm_key, "confirm", self._act_label, priority=True)

    def ask_anew(self, *, act_label: str, typed: str) -> None:
        """What it is about has changed while it was asked: other words, and nothing acts before they were seen."""
        self._act_label, self._typed = act_label, typed
        self._bindings.key_to_bindings.pop(self._confirm_key, None)
        self._bindings.bind(self._confirm_key, "confirm", act_label, priority=True)
        self.query_one("#dialog").border_title = self.heading
        self.query_one("#dialog-subject", Static).update(self.subject())
        self.query_one("#act", Button).label = self._button_label()
        self._guard.note()

    def compose(self) -> ComposeResult:
        """Heading, the dialog's own parts, what must be typed, a line for what is wrong, and the buttons."""
        self.set_class(self.is_destroying, "-destroys")
        with Vertical(id="dialog") as box:
            box.border_title = self.heading
            yield Static(self.subject(), classes="dialog-text", id="dialog-subject", markup=False)
            yield from self.parts()
            if self._typed:
                yield Static(Content.styled(self.typed_label, "bold"), id="dialog-typed", markup=False)
                yield Input(id="typed", max_length=len(self._typed) + 8, select_on_focus=False)
            yield Static("", classes="dialog-fault", id="dialog-fault", markup=False)
            with Horizontal(id="buttons"):
                yield SafeButton(Content(self.safe_label), id="keep")
                act = ActButton(self._button_label(), id="act")
                act.variant = "error" if self.is_destroying else "primary"
                yield act

    def _button_label(self) -> Content:
        key = self._confirm_key if len(self._confirm_key) > 1 else self._confirm_key.upper()
        return Content(f"{self._act_label} ({key})")

    def _subtitle(self) -> str:
        if not self.query(Input):
            return "Esc or Enter leaves it as it is"
        accepts = self.ENTER_ACCEPTS and not self.is_destroying
        return f"Enter {'goes on, in the last field it accepts' if accepts else 'decides nothing'} · Esc leaves it as it is"

    def subject(self) -> Content:
        """Whom it is about."""
        return Content()

    def parts(self) -> ComposeResult:
        """What stands between heading and buttons."""
        yield from ()

    def asked(self) -> Asked | str:
        """What the option needs, or what is wrong with the entries."""
        return {}

    def first_focus(self) -> str:
        """Which widget has the focus at first: what must be typed, else the safe button."""
        return "#typed" if self._typed else "#keep"

    def is_told(self) -> bool:
        """Whether what it costs stands on the screen for what is asked just now: before that, Enter accepts nothing."""
        return True

    def on_mount(self) -> None:
        """The quiet time begins."""
        self._guard = KeyGuard(self.desk.clock)
        self.query_one("#dialog").border_subtitle = self._subtitle()
        self.query_one(self.first_focus()).focus()

    # ---- what a person does ---------------------------------------------------------------------------------------------
    def on_key(self, event: events.Key) -> None:
        """A key that does not act is part of a burst, or a mistake; one that acts asks the guard itself."""
        is_entered = event.key == "enter" and isinstance(self.focused, Input)
        if event.key != "space" and not is_entered:
            self._guard.note()
        if event.is_printable and event.key != "space" and event.key not in self.active_bindings:
            self.take_letter(event)

    def take_letter(self, event: events.Key) -> None:
        """What is typed where nothing takes it begins the field for words: it is not lost in silence."""
        for field in self.query(self.LETTERS).results(Input):
            event.stop()
            field.focus()
            field.insert_text_at_cursor(event.character or "")
            return

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text fires nothing."""
        self._guard.note()
        event.stop()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Enter goes on to the next field. In the last one it accepts where it may; else it drops nothing, and says so."""
        event.stop()
        fields = list(self.query(Input))
        if event.input is not fields[-1]:
            self._guard.note()
            fields[fields.index(event.input) + 1].focus()
        elif self.ENTER_ACCEPTS and not self.is_destroying and self.is_told():
            self.action_confirm()
        else:
            asked = self.asked()
            self.refuse_enter(asked if isinstance(asked, str) else "")

    def action_confirm(self) -> None:
        """Give back what was asked, where a person can have meant it."""
        if not self._guard.allows():
            self._say_fault(texts.TOO_FAST)
            return
        asked = self.asked()
        if not isinstance(asked, str) and not self._is_typed():
            asked = self.typed_fault
        if isinstance(asked, str):
            self._say_fault(asked)
            return
        self.dismiss(asked)

    def _say_fault(self, fault: str) -> None:
        self.query_one("#dialog-fault", Static).update(Content(fault))

    def _is_typed(self) -> bool:
        if not self._typed:
            return True
        return self.query_one("#typed", Input).value.strip().casefold() == self._typed.casefold()

    def action_keep(self) -> None:
        """Leave everything as it is; a reason that was typed is not dropped without a word."""
        if any(field.value.strip() for field in self.query(ReasonField)):
            self.dashboard.say(texts.REASON_DROPPED)
        self.dismiss(None)

    def action_refuse_enter(self) -> None:
        """Enter on the button that acts."""
        self.refuse_enter()

    def refuse_enter(self, fault: str = "") -> None:
        """Enter accepts nothing here: what is wrong with the entries, else which key does it."""
        self._guard.note()
        self._say_fault(fault or f"Enter decides nothing here: {self._confirm_key} does it, Esc leaves it as it is.")

    @on(Button.Pressed, "#keep")
    def _kept(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_keep()

    @on(Button.Pressed, "#act")
    def _acted(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_confirm()


class Dialog(Question):
    """A question about one operation, by the id and the revision that it was opened for."""

    typed_label = "This is production. Type the last 4 characters of the id"
    typed_fault = "Those are not the last 4 characters of the id."

    def __init__(self, op: Operation, *, act_label: str, typed: str = "") -> None:
        super().__init__(act_label=act_label, typed=typed)
        self.operation_id, self.revision = op.operation_id, op.revision
        self._op = op

    def subject(self) -> Content:
        """Phase, name, id, provider and revision."""
        op = self._op
        name = f"  {inert(op.name, 60)}" if op.name else ""
        facts = ", ".join((op.operation_id, op.provider, f"revision {self.revision}"))
        sign = marked(op.phase, is_ascii=self.pen(0).is_ascii)
        return Content.assemble((sign, "bold"), (name, "bold"), "\n", (facts, "$quiet"))
