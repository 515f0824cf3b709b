"""Puts a dashboard together for one terminal: themes, settings, what this terminal can show.

Only this file decides which theme is chosen where nobody names one. `cli/launch.py` calls it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from jobconsole.console import Desk, load_notify, load_settings, load_themes
from jobconsole.errors import InvalidValue
from jobconsole.tui.app import DEFAULT_THEME, Dashboard
from jobconsole.tui.keys import read_settings

FALLBACK_THEME = "ansi16"
_MANY_COLOURS = ("256", "truecolor")


def make_dashboard(
    desk: Desk, home: Path | None, *, theme: str | None = None, profile: str = "", is_animated: bool = True
) -> Dashboard:
    """The app, not yet running. Raises `InvalidValue` where there is no such theme."""
    themes, settings = load_themes(home), read_settings(load_settings(home))
    wanted = theme or settings.theme or _fitting_theme()
    if wanted not in themes.themes:
        raise InvalidValue(f"there is no theme {wanted!r:.60}; there are {', '.join(sorted(themes.themes))}")
    app = Dashboard(desk, themes, theme=wanted, profile=profile or (home.name if home is not None else ""))
    app.set_keymap(settings.keymap)
    app.notifying.settings = load_notify(home)
    app.faults = (*themes.failures, *settings.faults, *app.notifying.settings.faults)
    if not is_animated:
        app.animation_level = "none"
    return app


def _fitting_theme() -> str:
    """The terminal's own colours and ASCII where it has only 16 of them, or no Unicode."""
    has_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    has_colours = Console(file=sys.stdout).color_system in (*_MANY_COLOURS, None)  # None: NO_COLOR, shown in greys
    return DEFAULT_THEME if has_unicode and has_colours else FALLBACK_THEME
