"""The dashboard as everything that stands on it sees it: what screens, widgets, dialogs and actions may ask of the app.

Only this file decides that. `Dashboard` in `app.py` is the one stage there is and knows all of them; they know this file, so
that none of them has to know which others there are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeAlias

from textual.app import App
from textual.reactive import reactive

from jobconsole.console import Desk
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.theme import Theme
from jobconsole.tui.abstract import Abstract
from jobconsole.tui.clipboard import Copier
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.feed import Feed
from jobconsole.tui.holds import Holds
from jobconsole.tui.log_ring import LogRing
from jobconsole.tui.mouse import MouseReports
from jobconsole.tui.subject import Subject
from jobconsole.tui.theme_choice import ThemeChoice
from jobconsole.tui.themes import Look

_LONGEST_TOAST = 400  # characters

Chosen: TypeAlias = Callable[[], Awaitable[None]]
"""What came of a question, still to be done."""


class Answers(Protocol):
    """How a choice is asked about and carried out (`answering.py`). Each names the revision that the person saw (SPEC U8)."""

    def choose(self, operation_id: str, revision: int) -> None:
        """Show all options of an operation."""

    def choose_many(self, subjects: Sequence[Subject]) -> None:
        """Show what can be chosen for all of these at once."""

    def answer(self, operation_id: str, revision: int, option: str, *, looks_first: bool = False) -> None:
        """Choose an option. `looks_first` opens a dialog for options that one key would choose at once."""

    def answer_many(self, subjects: Sequence[Subject], option: str) -> None:
        """Choose one option for many operations."""

    def undo(self) -> None:
        """Give up what was held last."""


class Stage(App[None], metaclass=Abstract):
    """What is shown, who decides here, and what can be asked for."""

    desk: Desk
    feed: Feed
    holds: Holds
    answering: Answers
    log_ring: LogRing
    themes: ThemeChoice
    mouse: MouseReports
    copier: Copier
    person: str
    profile: str
    is_production: bool
    time_style: reactive[TimeStyle] = reactive(TimeStyle.AGE)

    @property
    def look(self) -> Look:
        """The styles of the theme in use."""
        return self.themes.look

    @property
    def theme_file(self) -> Theme:
        """The theme in use."""
        return self.look.theme

    def say(self, text: str, *, is_bad: bool = False) -> None:
        """A toast. Text from elsewhere is shown as it is, never as markup (SPEC U3)."""
        self.notify(inert(text, _LONGEST_TOAST), severity="error" if is_bad else "information", markup=False)

    @abstractmethod
    def begin_question(self, question: Coroutine[Any, Any, Chosen | None]) -> None:
        """Ask, then do what came of it; one question at a time."""

    @abstractmethod
    def action_act(self, action_id: str, argument: str = "") -> None:
        """Do one action of the table, on the operation that was typed, else on what the main screen names."""

    @abstractmethod
    def run_command(self, typed: str) -> None:
        """Do what was typed behind `:`."""

    @abstractmethod
    def go(self, mode: str) -> None:
        """Show one of the main screens."""

    @abstractmethod
    def open_operation(self, operation_id: str) -> None:
        """Show one operation with all that is known of it."""

    @abstractmethod
    def back(self) -> None:
        """Close the help, else undo one step of looking closer, else leave what lies above, else go to the operations."""

    @abstractmethod
    def leave(self) -> None:
        """Quit from the root; from elsewhere, only go back."""

    @abstractmethod
    def begin_filter(self, text: str = "") -> None:
        """Type a filter, or take the one that is given."""

    @abstractmethod
    def begin_command(self) -> None:
        """Type a command."""

    @abstractmethod
    def toggle_help(self) -> None:
        """Show or hide the keys that work here, as they are bound now."""
