"""The line in which `/` filters and `:` commands are typed (UX 1a).

Only this file decides how they are typed: the filter takes effect with each key and stays in sight as long as it filters; a
command is completed from the table of actions. Escape gives up what was typed.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, cast

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widgets import Input, Static

from jobconsole.core.telling.terminal_text import inert
from jobconsole.errors import InvalidValue
from jobconsole.tui.on_dashboard import OnDashboard


class Filtered(Protocol):
    """The screen whose line this is (`screens/frame.py`)."""

    filter_hint: ClassVar[str]

    def filter_text(self) -> str | None:
        """The filter as it is; None where the screen has none."""

    def filter_by(self, text: str) -> None:
        """Filter by what was typed. Raises `InvalidValue` with the mend."""

    def focus_body(self) -> None:
        """Take the keys back."""


class CommandSuggester(Suggester):
    """Completes the name of a `:` command."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__(use_cache=False)
        self._words = words

    async def get_suggestion(self, value: str) -> str | None:
        """The first command that begins so."""
        return next((word for word in self._words if value and word.startswith(value)), None)


class EntryLine(OnDashboard, Horizontal):
    """Hidden while nothing is typed and nothing filtered."""

    def __init__(self) -> None:
        super().__init__()
        self._sign = ""  # "/" or ":" while something is typed
        self._before = ""

    def compose(self) -> ComposeResult:
        """The sign, the input, what is wrong with it."""
        yield Static("", id="entry-sign", markup=False)
        yield Input(id="entry", compact=True, select_on_focus=False)
        yield Static("", id="entry-fault", markup=False)

    @property
    def is_open(self) -> bool:
        """Whether a person is typing here."""
        return bool(self._sign)

    @property
    def _filtered(self) -> Filtered:
        return cast(Filtered, self.screen)

    def take_filter(self, text: str) -> None:
        """Filter by a text that was typed elsewhere; what is wrong with it is said, and nothing is filtered anew."""
        self._sign = "/"
        fault = self._apply(text)
        self._end()
        if fault:
            self.dashboard.say(fault, is_bad=True)

    def begin(self, sign: str, text: str, words: tuple[str, ...] = ()) -> None:
        """Take the keys, with `text` typed already."""
        self._sign, self._before = sign, text
        if text:
            text = f"{text.rstrip()} "  # what is typed now is the next term
        self.query_one("#entry-sign", Static).update(sign)
        entry = self.query_one(Input)
        entry.suggester = CommandSuggester(words) if words else None
        entry.placeholder = self._filtered.filter_hint if sign == "/" else ""
        with self.prevent(Input.Changed):
            entry.value = text
        entry.cursor_position = len(text)
        self._tell("")
        self.display = True
        self.screen.set_focus(entry)  # at once: the next key is meant for it

    def show_filter(self, text: str) -> None:
        """The filter as it is, for whoever looks; nothing where there is none."""
        if self.is_open:
            return
        self.display = bool(text)
        self.query_one("#entry-sign", Static).update("/")
        with self.prevent(Input.Changed):
            self.query_one(Input).value = text

    def on_mount(self) -> None:
        """Nothing is typed at first, and Tab does not lead here."""
        self.display = False

    def on_key(self, event: events.Key) -> None:
        """Escape takes back what was typed."""
        if event.key == "escape" and self.is_open:
            event.stop()
            event.prevent_default()
            if self._sign == "/":
                self._apply(self._before)
            self._end()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        if self._sign == "/":
            self._apply(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        sign, typed = self._sign, event.value
        if sign == "/" and self._apply(typed):
            return
        self._end()
        if sign == ":":
            self.dashboard.run_command(typed)

    def on_descendant_blur(self) -> None:
        """The focus went elsewhere, by mouse or Tab: a filter stays as typed, a command is given up."""
        if self.is_open:
            self._end(focus=False)

    def _apply(self, text: str) -> str:
        """Filter, and tell here what is wrong with the text; returns it, empty where nothing is."""
        try:
            self._filtered.filter_by(text.removeprefix("/"))  # stands before it already; who types it again means no other text
        except InvalidValue as error:
            self._tell(str(error))
            return str(error)
        self._tell("")
        return ""

    def _end(self, *, focus: bool = True) -> None:
        self._sign = ""
        self._tell("")
        self.show_filter(self._filtered.filter_text() or "")
        if focus:
            self._filtered.focus_body()

    def _tell(self, fault: str) -> None:
        self.query_one("#entry-fault", Static).update(Text(inert(fault, 120)))
