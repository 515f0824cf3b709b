"""Which theme is in use, how another one is taken, and that what a person chose stays for the next time (SPEC U4).

Only this file decides that. The dashboard owns one `ThemeChoice`; `themes.py` says how a theme looks in Textual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from textual.app import App
from textual.filter import LineFilter, Monochrome, NoColor
from textual.theme import Theme as TextualTheme

from jobconsole.console import LoadedThemes
from jobconsole.errors import InvalidValue
from jobconsole.tui import texts
from jobconsole.tui.plain_signs import PlainSigns
from jobconsole.tui.themes import Look, textual_theme

DEFAULT_THEME = "jobconsole-dark"


class ThemeChoice:
    """The themes of one app. `name` is the one it begins with; `refuse` says what could not be done."""

    def __init__(self, app: App[None], themes: LoadedThemes, name: str, refuse: Callable[[str], None]) -> None:
        self._app, self._refuse = app, refuse
        self.keep: Callable[[str], None] = lambda name: None  # for next time; raises `InvalidValue`
        self._looks = {each: Look(theme) for each, theme in themes.themes.items()}
        self._plain, self._colourless = (PlainSigns(),), NoColor()
        for theme in themes.themes.values():
            app.register_theme(textual_theme(theme))
        app.theme = self._kept = name
        for own in app.available_themes.keys() - themes.themes.keys():
            app.unregister_theme(own)  # Textual's own ones know nothing of our states

    @property
    def look(self) -> Look:
        """The styles of the theme in use."""
        return self._looks.get(self._app.theme) or self._looks[DEFAULT_THEME]

    def filters(self, own: Iterable[LineFilter]) -> Sequence[LineFilter]:
        """What every drawn line goes through: Textual's `own`, and in a theme of ASCII signs one that draws all of ours so.

        How NO_COLOR is obeyed is chosen by Textual before it knows the theme: greys, which are black on black where a theme
        uses the terminal's own colours. There, all colours are left out.
        """
        theme = self.look.theme
        if theme.is_ansi:
            own = [self._colourless if isinstance(each, Monochrome) else each for each in own]
        return (*own, *self._plain) if theme.is_ascii else tuple(own)

    def follow(self) -> None:
        """Keep each theme that is taken from now on, by command or by the palette."""
        self._app.theme_changed_signal.subscribe(self._app, self._changed)

    def choose(self, name: str) -> None:
        """Take the theme of this name; without one, show all of them."""
        if not name:
            self._app.search_themes()
        elif name in self._looks:
            self._app.theme = name
        else:
            self._refuse(texts.no_theme(name, sorted(self._looks)))

    def _changed(self, theme: TextualTheme) -> None:
        if theme.name == self._kept:
            return
        self._kept = theme.name
        for screen in self._app.screen_stack:
            screen.refresh_bindings()  # the footer names keys in the theme's own signs
        try:
            self.keep(theme.name)
        except InvalidValue as error:
            self._refuse(texts.not_kept("theme", str(error)))
