"""The dashboard as a Textual program: wiring only.

Only this file decides how screens, feed, themes and actions come together. What there is to do stands in `actions.py`, what is
shown in `screens/`; `cli/launch.py` builds one from an open desk and runs it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from jobconsole.console import Desk, LoadedThemes, login_person
from jobconsole.errors import StoreError
from jobconsole.tui import texts
from jobconsole.tui.acting import ActingApp
from jobconsole.tui.actions import BINDINGS, COMMANDS
from jobconsole.tui.answering import Answering
from jobconsole.tui.clipboard import Copier, desktop_clipboard
from jobconsole.tui.feed import Feed
from jobconsole.tui.holds import Holds
from jobconsole.tui.log_ring import LogRing
from jobconsole.tui.mouse import MouseReports
from jobconsole.tui.notifying import Notifying
from jobconsole.tui.plain_signs import plain_key
from jobconsole.tui.screens.audit import AuditScreen
from jobconsole.tui.screens.detail import DetailScreen
from jobconsole.tui.screens.frame import Frame
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.screens.log import LogScreen
from jobconsole.tui.screens.operations import OperationsScreen
from jobconsole.tui.screens.providers import ProvidersScreen
from jobconsole.tui.theme_choice import DEFAULT_THEME, ThemeChoice
from jobconsole.tui.widgets.filter_bar import EntryLine
from jobconsole.tui.widgets.keys_help import KeysHelp

TICK = 1.0  # seconds
_LOGGER = logging.getLogger(__name__)


class Dashboard(ActingApp):
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

    answering: Answering

    def __init__(
        self,
        desk: Desk,
        themes: LoadedThemes,
        *,
        theme: str = DEFAULT_THEME,
        person: str | None = None,
        profile: str = "",
        is_production: bool = False,
        has_mouse: bool = True,
    ) -> None:
        super().__init__()
        self.use_command_palette = True
        self.desk, self.profile, self.is_production = desk, profile, is_production
        self.faults: tuple[str, ...] = ()  # what of themes and settings could not be used; told at the start
        self.person = person or login_person()
        self.feed = Feed(desk)
        self.holds = Holds(desk.clock, self._holds_changed)
        self.answering = Answering(self)
        self.notifying = Notifying(self)
        self.log_ring = LogRing()
        self.themes = ThemeChoice(self, themes, theme, partial(self.say, is_bad=True))
        self.mouse = MouseReports(self, is_on=has_mouse)
        self.copier = Copier(os.environ, self.copy_to_clipboard, desktop_clipboard, is_in_browser=lambda: self.is_web)

    # ---- running --------------------------------------------------------------------------------------------------------
    def on_mount(self) -> None:
        """Follow the store, and tick."""
        logging.getLogger("jobconsole").addHandler(self.log_ring)
        self.feed.overhear(self.notifying.hear)
        self.themes.follow()
        self.app_resume_signal.subscribe(self, lambda _: self.mouse.resumed())
        self._follow()
        self.set_interval(TICK, self.feed.tick)
        self.set_interval(TICK, self.notifying.tick)
        for fault in self.faults:
            self.say(fault, is_bad=True)
            _LOGGER.warning("%s", fault)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leave. What is held is not done, because nobody is there any more to undo it; that is told."""
        dropped = [texts.not_done(hold.text) for hold in self.holds.drop_all()] + self.answering.unfinished()
        super().exit(result, return_code, Text("\n".join(dropped)) if dropped and message is None else message)

    def on_unmount(self) -> None:
        """Keep no more of the log, and hold nothing."""
        self.mouse.left()
        self.holds.drop_all()
        logging.getLogger("jobconsole").removeHandler(self.log_ring)

    @work(exclusive=True, group="feed")
    async def _follow(self) -> None:
        try:
            await self.feed.run()
        except StoreError as error:  # what was last seen stays to be read; the status line goes on saying why
            self.say(str(error), is_bad=True)

    # ---- drawing --------------------------------------------------------------------------------------------------------
    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's own, and the theme's."""
        return self.themes.filters(super().get_line_filters())

    def get_key_display(self, binding: Binding) -> str:
        """A key for footer and help; in words where the terminal may have no signs for it."""
        shown = super().get_key_display(binding)
        return plain_key(shown) if self.theme_file.is_ascii else shown

    # ---- what actions ask for -------------------------------------------------------------------------------------------
    def go(self, mode: str) -> None:
        """Show one of the main screens."""
        self.switch_mode(mode)

    def open_operation(self, operation_id: str) -> None:
        """Show one operation with all that is known of it."""
        self.push_screen(DetailScreen(operation_id))

    def back(self) -> None:
        """Close the help, else undo one step of looking closer, else leave what lies above, else go to the operations."""
        if shown := self.main_screen.query(KeysHelp):
            shown.remove()
            return
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

    def toggle_help(self) -> None:
        """Show or hide the keys that work here, as they are bound now."""
        shown = self.screen.query(KeysHelp)
        if shown:
            shown.remove()
        else:
            self.screen.mount(KeysHelp())

    def _holds_changed(self) -> None:
        """What waits is told by the status bar."""
        for screen in self.screen_stack:
            if isinstance(screen, Frame):
                screen.renew_status()
