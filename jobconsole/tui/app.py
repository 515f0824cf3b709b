"""The dashboard as a Textual program: wiring only.

Only this file decides how screens, feed, themes and actions come together. What there is to do stands in `actions.py`, what is
shown in `screens/`; `cli/launch.py` builds one from an open desk and runs it.
"""

from __future__ import annotations

import getpass
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import HelpPanel, Input

from jobconsole.console import Desk, LoadedThemes
from jobconsole.core.terminal_text import inert
from jobconsole.core.theme import Theme
from jobconsole.tui import texts
from jobconsole.tui.action import Call, Subject
from jobconsole.tui.actions import ACTIONS, BINDINGS, COMMANDS, nearest_commands
from jobconsole.tui.answering import Answering
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.feed import Feed
from jobconsole.tui.holds import Holds
from jobconsole.tui.log_ring import LogRing
from jobconsole.tui.notifying import Notifying
from jobconsole.tui.screens.audit import AuditScreen
from jobconsole.tui.screens.detail import DetailScreen
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.screens.log import LogScreen
from jobconsole.tui.screens.operations import OperationsScreen
from jobconsole.tui.screens.providers import ProvidersScreen
from jobconsole.tui.themes import Look, textual_theme
from jobconsole.tui.widgets.filter_bar import EntryLine

TICK = 1.0  # seconds
DEFAULT_THEME = "jobconsole-dark"
_LONGEST_TOAST = 400  # characters


class Dashboard(App[None]):
    """One dashboard over one desk. `person` is who decides here, `profile` the word for this store in the header.

    With `is_production`, what destroys something asks for more than a key, and the word has an accent of its own (UX 3.4).
    """

    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "jobconsole"
    BINDINGS: ClassVar[list[BindingType]] = BINDINGS
    MODES: ClassVar[dict[str, str | Callable[[], Screen[None]]]] = {
        "operations": OperationsScreen,
        "inbox": InboxScreen,
        "audit": AuditScreen,
        "providers": ProvidersScreen,
        "log": LogScreen,
    }
    DEFAULT_MODE = "operations"
    ENABLE_COMMAND_PALETTE = False  # Textual's own key for it; the table of actions has one that can be remapped

    time_style: reactive[TimeStyle] = reactive(TimeStyle.AGE)

    def __init__(
        self,
        desk: Desk,
        themes: LoadedThemes,
        *,
        theme: str = DEFAULT_THEME,
        person: str | None = None,
        profile: str = "",
        is_production: bool = False,
    ) -> None:
        super().__init__()
        self.use_command_palette = True
        self.desk, self.profile, self.is_production = desk, profile, is_production
        self.faults: tuple[str, ...] = ()  # what of themes and settings could not be used; told at the start
        self.person = person or f"person:{getpass.getuser()}"
        self.feed = Feed(desk)
        self.holds = Holds(desk.clock, self._holds_changed)
        self.answering = Answering(self)
        self.notifying = Notifying(self)
        self.log_ring = LogRing()
        self._looks = {name: Look(each) for name, each in themes.themes.items()}
        for each in themes.themes.values():
            self.register_theme(textual_theme(each))
        self.theme = theme
        for name in self.available_themes.keys() - themes.themes.keys():
            self.unregister_theme(name)  # Textual's own ones know nothing of our states

    @property
    def look(self) -> Look:
        """The styles of the theme in use."""
        return self._looks.get(self.theme) or self._looks[DEFAULT_THEME]

    @property
    def theme_file(self) -> Theme:
        """The theme in use."""
        return self.look.theme

    # ---- running --------------------------------------------------------------------------------------------------------
    def on_mount(self) -> None:
        """Follow the store, and tick."""
        logging.getLogger("jobconsole").addHandler(self.log_ring)
        self.feed.overhear(self.notifying.hear)
        self._follow()
        self.set_interval(TICK, self.feed.tick)
        self.set_interval(TICK, self.notifying.tick)
        for fault in self.faults:
            self.say(fault, is_bad=True)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leave. What is held is not done, because nobody is there any more to undo it; that is told."""
        dropped = [texts.not_done(hold.text) for hold in self.holds.drop_all()] + self.answering.unfinished()
        super().exit(result, return_code, Text("\n".join(dropped)) if dropped and message is None else message)

    def on_unmount(self) -> None:
        """Keep no more of the log, and hold nothing."""
        self.holds.drop_all()
        logging.getLogger("jobconsole").removeHandler(self.log_ring)

    @work(exclusive=True, group="feed")
    async def _follow(self) -> None:
        await self.feed.run()

    # ---- actions --------------------------------------------------------------------------------------------------------
    def action_act(self, action_id: str, argument: str = "") -> None:
        """Do one action of the table, on what the main screen names; keys, palette, commands and mouse all end here."""
        action = ACTIONS[action_id]
        subjects: tuple[Subject, ...] = ()
        if action.needs_selection:
            subjects = self.main_screen.subjects(for_many=action.for_many)
            if not subjects:
                self.say(texts.NOT_HERE)
                return
        action.act(Call(self, subjects, argument))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key may act now: False lets it through to who types or to a dialog, None dims it in the footer."""
        if action != "act":
            return super().check_action(action, parameters)
        wanted = ACTIONS[str(parameters[0])]
        if wanted.is_priority and not wanted.is_everywhere and (self.screen.is_modal or isinstance(self.focused, Input)):
            return False
        subjects = self.main_screen.subjects(for_many=wanted.for_many) if wanted.needs_selection else ()
        if wanted.needs_item and not any(each.operation_id in self.feed.asking for each in subjects):
            return False
        return True if subjects or not wanted.needs_selection else None

    def run_command(self, typed: str) -> None:
        """Do what was typed behind `:`; an unknown word is told the nearest three."""
        word, _, argument = typed.strip().partition(" ")
        action = COMMANDS.get(word)
        if action is not None:
            self.action_act(action.action_id, argument.strip())
        elif word:
            self.say(texts.nobody_knows(word, nearest_commands(word)), is_bad=True)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: every action of the table."""
        for action in ACTIONS.values():
            yield SystemCommand(action.title, action.hint, self._doing(action.action_id))

    def _doing(self, action_id: str) -> Callable[[], None]:
        return lambda: self.action_act(action_id)

    # ---- what actions ask for -------------------------------------------------------------------------------------------
    @property
    def main_screen(self) -> Frame:
        """The main screen: the one in front, or the one under a dialog."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, Frame))

    def go(self, mode: str) -> None:
        """Show one of the main screens."""
        self.switch_mode(mode)

    def open_operation(self, operation_id: str) -> None:
        """Show one operation with all that is known of it."""
        self.push_screen(DetailScreen(operation_id))

    def back(self) -> None:
        """Undo one step of looking closer, else leave what lies above, else go to the operations."""
        if self.main_screen.go_back():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
        elif self.current_mode != self.DEFAULT_MODE:
            self.go(self.DEFAULT_MODE)

    def leave(self) -> None:
        """Quit from the root; from elsewhere, only go back."""
        if self.current_mode == self.DEFAULT_MODE and len(self.screen_stack) == 1:
            self.exit()
        else:
            self.back()

    def begin_filter(self, text: str = "") -> None:
        """Type a filter, or take the one that is given."""
        if self.main_screen.filter_text() is None:
            self.say(texts.NO_FILTER_HERE)
        elif text:
            self.main_screen.query_one(EntryLine).take_filter(text)
        else:
            self.main_screen.query_one(EntryLine).begin("/", self.main_screen.filter_text() or "")

    def begin_command(self) -> None:
        """Type a command."""
        self.main_screen.query_one(EntryLine).begin(":", "", tuple(COMMANDS))

    def choose_theme(self, name: str) -> None:
        """Take the theme of this name; without one, show all of them."""
        if not name:
            self.search_themes()
        elif name in self._looks:
            self.theme = name
        else:
            self.say(texts.no_theme(name, sorted(self._looks)), is_bad=True)

    def toggle_help(self) -> None:
        """Show or hide the keys that work here, as they are bound now."""
        if self.screen.query(HelpPanel):
            self.action_hide_help_panel()
        else:
            self.action_show_help_panel()

    def copy_text(self, text: str, what: str) -> None:
        """Send a text to the terminal's clipboard, and say so, no more."""
        self.copy_to_clipboard(text)
        self.say(texts.copied(what))

    def say(self, text: str, *, is_bad: bool = False) -> None:
        """A toast. Text from elsewhere is shown as it is, never as markup (SPEC U3)."""
        self.notify(inert(text, _LONGEST_TOAST), severity="error" if is_bad else "information", markup=False)

    def _holds_changed(self) -> None:
        """What waits is told by the status bar."""
        for screen in self.screen_stack:
            if isinstance(screen, Frame):
                screen.show_holds()
