"""A theme: the colours and signs of all front ends, as a TOML file says them (SPEC U4).

Only this file decides what a theme file may contain, which hue a phase has, and what is wrong with a file. Terminal and
notebook make their own styles from a `Theme`. Pure: `adapters/theme_files.py` reads the files.

    name = "my-dark"          # how people choose it
    dark = true
    charset = "unicode"       # or "ascii": signs and bars of plain ASCII
    primary, secondary, accent, foreground, background, surface, panel, success, warning, error = "#rrggbb"
    [states]                  # a hue for each of `Hue`
    [glyphs]                  # optional: one sign of one column for a phase, in place of the usual one

A colour may also be one of the terminal's own 16, as `ansi_red` or `ansi_bright_red`, or `ansi_default`.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from jobconsole.core.telling.terminal_text import inert, width
from jobconsole.core.telling.wording import glyph
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import InvalidValue


class Hue(StrEnum):
    """The families of states that must never be taken for each other; each phase belongs to one."""

    QUEUED = "queued"
    RUNNING = "running"
    NEEDS_YOU = "needs_you"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    CANCELLED = "cancelled"


HUES: Mapping[Phase, Hue] = MappingProxyType(
    {
        Phase.SUBMITTING: Hue.QUEUED,
        Phase.WAITING: Hue.RUNNING,
        Phase.ESCALATED: Hue.NEEDS_YOU,
        Phase.SUCCEEDED: Hue.DONE,
        Phase.COMPLETED_WITH_ERRORS: Hue.NEEDS_YOU,
        Phase.FAILED: Hue.FAILED,
        Phase.CANCELLED: Hue.CANCELLED,
        Phase.EXPIRED: Hue.LOST,
        Phase.NO_OUTCOME: Hue.CANCELLED,
        Phase.ABANDONED: Hue.LOST,
    }
)
"""Phases that share a hue have signs and words of their own: colour only stands beside them."""

APART = (Hue.RUNNING, Hue.NEEDS_YOU, Hue.DONE, Hue.FAILED, Hue.LOST)
"""The five hues that stay apart for every kind of colour vision; queued and cancelled are greys."""

PALETTE = (
    *("primary", "secondary", "accent", "foreground", "background"),
    *("surface", "panel", "success", "warning", "error"),
)
_TOP_KEYS = ("name", "dark", "charset", *PALETTE, "states", "glyphs")
_HEX = re.compile(r"#[0-9a-fA-F]{6}")
_ANSI = re.compile(r"ansi_(default|(bright_)?(black|red|green|yellow|blue|magenta|cyan|white))")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours by their role, hues by state, signs by phase. Colours are `#rrggbb` or `ansi_...`."""

    name: str
    is_dark: bool
    is_ascii: bool
    palette: Mapping[str, str]
    hues: Mapping[Hue, str]
    glyphs: Mapping[Phase, str]

    def hue(self, phase: Phase) -> str:
        """The colour of a phase."""
        return self.hues[HUES[phase]]

    def glyph(self, phase: Phase) -> str:
        """The sign of a phase, one column wide."""
        return self.glyphs[phase]

    @property
    def is_ansi(self) -> bool:
        """Whether it uses the terminal's own colours, whose shades nobody here knows."""
        return any(colour.startswith("ansi_") for colour in self.palette.values())


def parse_theme(text: str, source: str) -> Theme:
    """The theme that a file's text describes. Raises `InvalidValue`, which names the source, the key and the mend."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of too many digits is a bare ValueError
        raise InvalidValue(f"{source}: is not TOML: {error}") from None
    reader = _Reader(source)
    reader.known(tables, _TOP_KEYS, "")
    name = reader.text(tables, "name")
    if not _NAME.fullmatch(name):
        raise reader.fault("name", f"{inert(name, 40)!r} is no name", "use small letters, digits and -, at most 40")
    charset = tables.get("charset", "unicode")
    if charset not in ("unicode", "ascii"):
        raise reader.fault("charset", f"{charset!r:.40} is unknown", 'write "unicode" or "ascii"')
    if not isinstance(tables.get("dark"), bool):
        raise reader.fault("dark", "is missing or neither true nor false", "write dark = true for a dark background")
    palette = {key: reader.colour(tables, key, key) for key in PALETTE}
    is_ascii = charset == "ascii"
    hues = reader.hues(reader.table(tables, "states"))
    glyphs = reader.glyphs(reader.table(tables, "glyphs"), is_ascii=is_ascii)
    return Theme(name, tables["dark"], is_ascii, MappingProxyType(palette), hues, glyphs)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the keys of one file, and says which one is wrong."""

    source: str

    def fault(self, key: str, problem: str, mend: str) -> InvalidValue:
        return InvalidValue(f"{self.source}: {key}: {problem}; {mend}")

    def known(self, table: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
        for key in table:
            if key not in keys:
                near = difflib.get_close_matches(key, keys, n=1)
                mend = f"did you mean {near[0]}?" if near else f"known are {', '.join(keys)}"
                raise self.fault(f"{where}{inert(key, 40)}", "is no key of a theme", mend)

    def table(self, tables: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = tables.get(key, {})
        if not isinstance(found, dict):
            raise self.fault(key, "is no table", f"write [{key}]")
        return found

    def text(self, table: Mapping[str, Any], key: str) -> str:
        found = table.get(key)
        if not isinstance(found, str):
            raise self.fault(key, "is missing or no text", f'write {key} = "..."')
        return found

    def colour(self, table: Mapping[str, Any], key: str, where: str) -> str:
        found = self.text(table, key) if isinstance(table.get(key), str) else None
        if found is None or not (_HEX.fullmatch(found) or _ANSI.fullmatch(found)):
            raise self.fault(where, "is missing or no colour", 'write "#rrggbb" or one of the 16 as "ansi_red"')
        return found

    def hues(self, table: Mapping[str, Any]) -> Mapping[Hue, str]:
        self.known(table, tuple(Hue), "states.")
        return MappingProxyType({hue: self.colour(table, hue, f"states.{hue}") for hue in Hue})

    def glyphs(self, table: Mapping[str, Any], *, is_ascii: bool) -> Mapping[Phase, str]:
        self.known(table, tuple(Phase), "glyphs.")
        signs = {phase: table.get(phase, glyph(phase, is_ascii=is_ascii)) for phase in Phase}
        for phase, sign in signs.items():
            if not isinstance(sign, str) or inert(sign) != sign or width(sign) != 1 or sign.isspace():
                raise self.fault(f"glyphs.{phase}", "is not one sign of one column", "choose a sign that is one column wide")
        return MappingProxyType(signs)
