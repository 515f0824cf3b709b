"""The words and signs that the browser needs to draw a row, and the colours of the themes (SPEC 1, U4).

Only this file decides what of `core/telling/wording.py` and of the theme files the browser gets. It is sent once, with a
widget's first message: a row names its phase, and the browser looks the word up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobconsole.console import LoadedThemes
from jobconsole.core.telling.attempts import Outcome, mark
from jobconsole.core.telling.theme import HUES, Theme
from jobconsole.core.telling.wording import glyph, source_text, words
from jobconsole.core.vocabulary import DelaySource, Phase
from jobconsole.errors import InvalidValue
from jobconsole.notebook.texts import FOR_BROWSER

_LIGHT, _DARK = "jobconsole-light", "jobconsole-dark"


def terms() -> Mapping[str, Any]:
    """Phases with sign, word and hue; marks of attempts; words for delay sources; sentences."""
    return {
        "phases": {
            phase.value: {"glyph": glyph(phase), "word": words(phase), "hue": HUES[phase].value, "ended": phase.is_terminal}
            for phase in Phase
        },
        "marks": {outcome.value: {"glyph": mark(outcome), "word": words(outcome)} for outcome in Outcome},
        "sources": {source.value: source_text(source) for source in DelaySource},
        "texts": dict(FOR_BROWSER),
    }


def palettes(loaded: LoadedThemes, chosen: str | None) -> Mapping[str, Any]:
    """The light and the dark palette, and the chosen one where a theme is named. Raises `InvalidValue` for an unknown name.

    Without a name the host's own colours stand behind the text, and the light or dark hues are taken as they fit.
    """
    drawable = {name: theme for name, theme in loaded.themes.items() if not theme.is_ansi}
    if chosen is not None and (not isinstance(chosen, str) or chosen not in drawable):
        told = f". Not loaded: {'; '.join(loaded.failures)}" if loaded.failures else ""
        known = ", ".join(sorted(drawable))
        raise InvalidValue(f"no theme {str(chosen)[:60]!r} for notebooks; known are {known}{told}")
    found = {"light": drawable.get(_LIGHT), "dark": drawable.get(_DARK), "chosen": drawable.get(chosen or "")}
    return {key: _palette(theme) for key, theme in found.items() if theme is not None}


def _palette(theme: Theme) -> Mapping[str, Any]:
    roles = ("primary", "foreground", "background", "surface", "panel")
    return {
        "dark": theme.is_dark,
        "hues": {hue.value: colour for hue, colour in theme.hues.items()},
        **{role: theme.palette[role] for role in roles},
    }
