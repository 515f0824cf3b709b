"""Something to write down about an operation, for whoever looks at it next (SPEC H7).

Only this file decides how a note is typed: Enter saves it, `ctrl+j` begins another line, and so does each line of pasted text.
"""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from jobconsole.core.commands.attending import LONGEST_NOTE
from jobconsole.core.operation import Operation
from jobconsole.tui.dialogs.dialog import Asked
from jobconsole.tui.dialogs.typed import TypedDialog

_LINE_KEYS = ("ctrl+j", "shift+enter", "alt+enter")  # as far as a terminal tells them from Enter


class NoteArea(TextArea):
    """A few lines of text; Enter does not begin one."""

    class Submitted(Message):
        """Enter."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Submitted())
        elif event.key in _LINE_KEYS:
            event.stop()
            event.prevent_default()
            self.begin_line()

    def begin_line(self) -> None:
        """Another line, at the cursor."""
        self.insert("\n")


class NoteDialog(TypedDialog):
    """Asks for the text; gives back `{"text": text}`."""

    DEFAULT_CSS = """
    NoteDialog NoteArea {
        height: 6; padding: 0 1; border: round $quiet; background: $surface;
        &:focus { border: round $primary; }
    }
    """
    heading = "Note"

    def __init__(self, op: Operation) -> None:
        super().__init__(op, act_label="Save")

    def parts(self) -> ComposeResult:
        """The text, and how much room is left."""
        yield NoteArea(id="note", tab_behavior="focus", soft_wrap=True, show_line_numbers=False, highlight_cursor_line=False)
        yield Static("", classes="dialog-text", id="dialog-change", markup=False)

    def first_focus(self) -> str:
        """The text."""
        return "#note"

    def on_mount(self) -> None:
        """Say how it is typed."""
        super().on_mount()
        self.tell()

    def tell(self) -> None:
        """How much of a note is typed."""
        typed = len(self.query_one(NoteArea).text.strip())
        told = f"ctrl+j begins another line · {typed:,} of {LONGEST_NOTE:,} characters"
        self.query_one("#dialog-change", Static).update(Content.styled(told, "$quiet"))

    @on(NoteArea.Submitted)
    def _submitted(self, event: NoteArea.Submitted) -> None:
        event.stop()
        self.action_confirm()

    def refuse_burst(self) -> None:
        """Enter inside pasted text is one of its lines."""
        if self.query_one(NoteArea).has_focus:
            self.query_one(NoteArea).begin_line()

    def asked(self) -> Asked | str:
        """The text, which must not be blank."""
        text = self.query_one(NoteArea).text.strip()
        if not text:
            return "Write something first."
        return {"text": text} if len(text) <= LONGEST_NOTE else f"A note has at most {LONGEST_NOTE:,} characters."
