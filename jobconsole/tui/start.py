"""Puts a dashboard together for one terminal: themes, settings, what this terminal can show.

Only this file decides which theme is chosen where nobody names one, and where what was chosen live is kept. `cli/launch.py`
calls it.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from rich.console import Console

from jobconsole.console import Desk, load_notify, load_settings, load_themes, save_setting
from jobconsole.errors import InvalidValue
from jobconsole.tui.app import Dashboard
from jobconsole.tui.settings import Settings, read_settings
from jobconsole.tui.theme_choice import DEFAULT_THEME

FALLBACK_THEME = "ansi16"
_MANY_COLOURS = ("256", "truecolor")


def make_dashboard(
    desk: Desk,
    home: Path | None,
    *,
    theme: str | None = None,
    profile: str = "",
    has_mouse: bool = True,
    is_animated: bool = True,
) -> Dashboard:
    """The app, not yet running; it tells what of the settings cannot be used. Raises `InvalidValue` for an unknown `theme`."""
    themes, settings = load_themes(home), _settings(home)
    faults = (*themes.failures, *settings.faults)
    if theme is not None and theme not in themes.themes:
        raise InvalidValue(f"there is no theme {theme!r:.60}; there are {', '.join(sorted(themes.themes))}")
    if settings.theme is not None and settings.theme not in themes.themes:
        faults = (*faults, f"config.toml: there is no theme {settings.theme!r:.60}; :theme shows all of them")
    kept = settings.theme if settings.theme in themes.themes else None
    word = profile or settings.profile or (home.name if home is not None else "")
    app = Dashboard(
        desk,
        themes,
        theme=theme or kept or _fitting_theme(),
        profile=word,
        is_production=settings.is_production(word),
        has_mouse=has_mouse and settings.has_mouse,
    )
    app.set_keymap(settings.keymap)
    app.notifying.settings = load_notify(home)
    app.time_style = settings.times
    app.faults = tuple(dict.fromkeys((*faults, *app.notifying.settings.faults)))  # one broken file, one sentence
    app.themes.keep = partial(_keep, desk, home, "theme")
    if not is_animated:
        app.animation_level = "none"
    return app


def _settings(home: Path | None) -> Settings:
    """What `config.toml` says; a file that cannot be read keeps nobody from the dashboard."""
    try:
        return read_settings(load_settings(home))
    except InvalidValue as error:
        return Settings(faults=(str(error),))


def _keep(desk: Desk, home: Path | None, key: str, value: str) -> None:
    """Write down what was chosen live. Raises `InvalidValue` where that cannot be."""
    if not desk.health().is_writable:
        raise InvalidValue("this dashboard is read-only")
    save_setting(home, "ui", key, value)


def _fitting_theme() -> str:
    """The terminal's own colours and ASCII where it has only 16 of them, or no Unicode."""
    has_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    has_colours = Console(file=sys.stdout).color_system in (*_MANY_COLOURS, None)  # None: NO_COLOR, shown in greys
    return DEFAULT_THEME if has_unicode and has_colours else FALLBACK_THEME
