"""The dashboard's own settings: what `[ui]`, `[profile]` and `[keys]` of `config.toml` mean.

Only this file decides that. What cannot be used is told in one sentence each, and the rest is taken:

    [ui]
    theme = "jobconsole-light"     # kept here when another one is chosen in the dashboard
    times = "utc"                  # or "age", "local"
    mouse = false                  # leave it to the terminal
    [profile]
    name = "eu-west"               # the word in the header; else the name of the store's folder
    production = true              # or a list of names: ["eu-west", "us-east"]
    [keys]                         # binding id = key, or several with commas
    "operation.extend" = "E"
    "list.down" = "down,ctrl+n"

Without `production`, a store whose word is prod or production is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.keys import read_keymap

PRODUCTION_NAMES = ("prod", "production")
_TABLES = ("ui", "profile", "keys", "notify")  # `core/telling/notify_settings.py` reads the last one


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked for, and what is wrong with the rest. `production` is whether this store is one, or the names of such."""

    theme: str | None = None
    times: TimeStyle = TimeStyle.AGE
    has_mouse: bool = True
    profile: str = ""
    production: bool | tuple[str, ...] = PRODUCTION_NAMES
    keymap: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    def is_production(self, profile: str) -> bool:
        """Whether the store of this name is where acts are final for others, too."""
        if isinstance(self.production, bool):
            return self.production
        return profile.casefold() in {name.casefold() for name in self.production}


def read_settings(tables: Mapping[str, Any]) -> Settings:
    """The settings out of the file's tables."""
    faults = [
        f"config.toml: [{inert(name, 40)}] is not known; known are {', '.join(f'[{each}]' for each in _TABLES)}"
        for name in tables
        if name not in _TABLES
    ]
    ui, profile = _Table(tables, "ui", faults), _Table(tables, "profile", faults)
    times = ui.text("times", "write age, local or utc")
    if times is not None and times not in list(TimeStyle):
        faults.append(f"config.toml: ui.times is {inert(times, 40)!r}; write age, local or utc")
        times = None
    return Settings(
        theme=ui.text("theme", "write the name of a theme"),
        times=TimeStyle(times or TimeStyle.AGE),
        has_mouse=ui.flag("mouse", default=True),
        profile=profile.text("name", "write a word for this store") or "",
        production=profile.flag_or_names("production", PRODUCTION_NAMES),
        keymap=read_keymap(_Table(tables, "keys", faults).found, faults),
        faults=(*faults, *ui.unknown(("theme", "times", "mouse")), *profile.unknown(("name", "production"))),
    )


class _Table:
    """One table of the file; what is wrong in it goes to `faults`."""

    def __init__(self, tables: Mapping[str, Any], name: str, faults: list[str]) -> None:
        found = tables.get(name, {})
        self.found: Mapping[str, Any] = found if isinstance(found, dict) else {}
        self._name, self._faults = name, faults
        if not isinstance(found, dict):
            faults.append(f"config.toml: {name} is no table; write [{name}]")

    def text(self, key: str, mend: str) -> str | None:
        """A text; None where there is none."""
        value = self.found.get(key)
        if value is not None and not isinstance(value, str):
            self._faults.append(f"config.toml: {self._name}.{key} is no text; {mend}")
            return None
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self.found.get(key, default)
        if isinstance(value, bool):
            return value
        self._faults.append(f"config.toml: {self._name}.{key} is neither true nor false")
        return default

    def flag_or_names(self, key: str, default: tuple[str, ...]) -> bool | tuple[str, ...]:
        """True, false, or a list of texts."""
        value = self.found.get(key, default)
        if isinstance(value, bool):
            return value
        if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
            return tuple(value)
        # What was meant to protect a store is never read as "no protection".
        self._faults.append(f"config.toml: {self._name}.{key} is neither true, false nor a list of names; taken as true")
        return True

    def unknown(self, known: tuple[str, ...]) -> list[str]:
        """A sentence for each key that nobody reads."""
        return [
            f"config.toml: {self._name}.{inert(key, 40)} is not known; known are {', '.join(known)}"
            for key in self.found
            if key not in known
        ]
