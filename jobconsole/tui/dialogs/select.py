"""A text to select with the terminal's own mouse, where no clipboard takes it (UX 1a, copy).

Only this file decides how it stands there: alone, from the left edge, so that no frame is selected with it.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui.on_dashboard import OnDashboard


class SelectDialog(OnDashboard, ModalScreen[None]):
    """Shows one text; the mouse is the terminal's as long as it is open."""

    DEFAULT_CSS = """
    SelectDialog {
        background: $background;
        & #select-hint { height: 1; background: $panel; color: $primary; }
        & VerticalScroll { height: 1fr; }
        & #select-text { height: auto; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss", "Back", id="select.back")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._lent = ExitStack()

    def compose(self) -> ComposeResult:
        """What to do, and the text."""
        yield Static("Select it with the mouse, then Esc", id="select-hint", markup=False)
        with VerticalScroll():
            yield Static(Content("\n".join(inert(line) for line in self._text.split("\n"))), id="select-text", markup=False)

    def on_mount(self) -> None:
        """Lend the mouse to the terminal."""
        self._lent.enter_context(self.dashboard.mouse.released())

    def on_unmount(self) -> None:
        """Take it back."""
        self._lent.close()
