"""Our signs in plain ASCII, for terminals without Unicode: borders, scrollbars, arrows, dots and keys (SPEC U4).

Only this file decides which sign stands for which. Signs that tell something are chosen where they are drawn, by the theme's
charset; this is what the rest goes through, line by line, so that no frame or arrow is forgotten. Text of providers keeps its
letters: only signs that the dashboard itself draws are changed.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from jobconsole.core.telling.wording import glyph
from jobconsole.core.vocabulary import Phase

_LIKE = {
    "-": "─━═╌┄╴╶╸╺╾╼·–—",
    "|": "│┃║╎▏▎▍▌▐▕▊▋▉",
    "+": "╭╮╰╯┌┐└┘├┤┬┴┼┏┓┗┛╔╗╚╝",
    "_": "▁▂▃▄",
    "=": "▅▆▇▔▀",
    "#": "█▰■▓▒▆▟▙▛▜",
    ".": "░▱□•⋅",
    "~": "…",
    ">": "→▸⟩",
    "<": "←⟨",
    "^": "↑▲△",
    "v": "↓▼▽",
    "x": "×✕✗",
    "*": "●◉",
    "o": "○",
}
_SIGNS = str.maketrans({sign: plain for plain, signs in _LIKE.items() for sign in signs})
_SIGNS |= str.maketrans({"🔎": "/ "})  # Textual's palette: two columns
_SIGNS |= str.maketrans({glyph(phase): glyph(phase, is_ascii=True) for phase in Phase})

_KEYS = {"⏎": "enter", "⌫": "backspace", "⇥": "tab", "␣": "space", "↑": "up", "↓": "down", "←": "left", "→": "right"}


class PlainSigns(LineFilter):
    """Draws each of our signs in ASCII, one column for one column."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The line with plain signs; a line that is plain already stays the same object."""
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [
            segment if segment.text.isascii() else Segment(segment.text.translate(_SIGNS), segment.style, segment.control)
            for segment in segments
        ]


def plain_key(shown: str) -> str:
    """A key as Textual shows it, in ASCII: `enter` for `⏎`."""
    for sign, word in _KEYS.items():
        shown = shown.replace(sign, word)
    return shown
