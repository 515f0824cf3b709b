"""Text that may stand in a terminal: what is foreign is made inert, and how wide a text is.

Only this file decides which characters a terminal may get to see (SPEC U3). Every front end that writes to a terminal shows
provider text through `inert`; `width` and `fit` measure what came out of it. Pure.
"""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PRESENTATION = frozenset("\ufe0e\ufe0f")  # drawn as text, drawn in colour: of the sign before
_UNSEEN = frozenset(  # default-ignorable code points (Unicode, UAX #44) that are no format characters
    chr(code)
    for first, last in (
        (0x034F, 0x034F),  # grapheme joiner
        (0x115F, 0x1160),  # Hangul fillers: letters by their class
        (0x17B4, 0x17B5),  # Khmer inherent vowels
        (0x180B, 0x180D),  # Mongolian variation selectors
        (0x180F, 0x180F),
        (0x3164, 0x3164),  # Hangul filler
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
        (0xE0100, 0xE01EF),  # more variation selectors
    )
    for code in range(first, last + 1)
)


def inert(text: str, limit: int | None = None) -> str:
    r"""`text` with every character that a terminal could act on, or hide, replaced by a visible escape.

    Escaped are control characters (C0, DEL, C1, thus every ESC, CSI and OSC sequence), bidirectional controls, zero-width and
    other format characters, fillers and other characters that show nothing, line and paragraph separators, lone surrogates, and
    code points without a meaning of their own: `\x1b`, `\u202e`, `\u3164`, `\U000e0001`. A backslash stays as it is: the result
    is for reading, not for decoding. Accents and other combining marks stay too, blanks of any width, and after a sign that can
    be seen the one character that says whether it is drawn as text or in colour.

    `limit` is the greatest number of characters of the result; a longer one ends in an ellipsis, and no escape is cut in two.
    """
    if limit is None and text.isprintable() and (text.isascii() or _UNSEEN.isdisjoint(text)):
        return text
    pieces = _pieces(_head(text, limit))
    if limit is None or (len(text) <= limit and sum(map(len, pieces)) <= limit):
        return "".join(pieces)
    room = limit - len(ELLIPSIS)
    kept: list[str] = []
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return ("".join(kept) + ELLIPSIS)[:limit]


def width(text: str) -> int:
    """Columns that an inert text takes in a terminal: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # its tables are worth loading only for text beyond ASCII

    return max(0, wcswidth(text))


def fit(text: str, columns: int) -> str:
    """An inert text cut to at most `columns`; where something is cut, an ellipsis takes the last column."""
    if width(text) <= columns:
        return text
    from wcwidth import iter_graphemes

    room, kept = columns - 1, ""
    for grapheme in iter_graphemes(text):
        room -= width(grapheme)
        if room < 0:
            break
        kept += grapheme
    return kept + ELLIPSIS if columns > 0 else ""


def _head(text: str, limit: int | None) -> str:
    """No more of `text` than can reach the result: a provider may send megabytes."""
    return text if limit is None else text[: limit + 1]


def _pieces(text: str) -> list[str]:
    """The text character by character, each as it is or as its escape."""
    pieces, is_after_sign = list[str](), False
    for character in text:
        is_shown = _is_harmless(character) or (is_after_sign and character in _PRESENTATION)
        pieces.append(character if is_shown else _escape(character))
        is_after_sign = is_shown and not character.isspace() and character not in _PRESENTATION
    return pieces


def _is_harmless(character: str) -> bool:
    """Printable and to be seen, or a blank of another width than ASCII's (which Python calls not printable)."""
    return character not in _UNSEEN if character.isprintable() else unicodedata.category(character) == "Zs"


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
