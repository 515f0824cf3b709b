"""What a theme file may say, and what is said about one that may not."""

from __future__ import annotations

import pytest

from jobconsole.core.telling.theme import HUES, PALETTE, Hue, parse_theme
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import InvalidValue

COLOURS = "\n".join(f'{key} = "#a0b0c0"' for key in PALETTE)
STATES = "[states]\n" + "\n".join(f'{hue} = "#a0b0c0"' for hue in Hue)
GOOD = f'name = "mine"\ndark = true\n{COLOURS}\n{STATES}'


def test_a_whole_file_becomes_a_theme() -> None:
    """Signs that it does not name are the usual ones."""
    theme = parse_theme(GOOD + '\n[glyphs]\nfailed = "!"', "mine.toml")
    assert (theme.name, theme.is_dark, theme.is_ascii, theme.is_ansi) == ("mine", True, False, False)
    assert theme.hue(Phase.FAILED) == "#a0b0c0"
    assert (theme.glyph(Phase.FAILED), theme.glyph(Phase.SUCCEEDED)) == ("!", "✔")


def test_ascii_and_the_terminals_own_colours() -> None:
    """For terminals with 16 colours or without Unicode."""
    theme = parse_theme(
        GOOD.replace("#a0b0c0", "ansi_bright_red").replace("dark = true", 'dark = true\ncharset = "ascii"'), "x"
    )
    assert theme.is_ansi
    assert all(theme.glyph(phase).isascii() for phase in Phase)


def test_every_phase_has_a_hue_and_phases_of_one_hue_have_signs_of_their_own() -> None:
    """Colour only stands beside sign and word (U4)."""
    theme = parse_theme(GOOD, "x")
    assert set(HUES) == set(Phase)
    assert len({theme.glyph(phase) for phase in Phase}) == len(Phase)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "mine.toml: is not TOML"),
        (GOOD.replace('"mine"', '"My Theme"'), "name: 'My Theme' is no name; use small letters"),
        (GOOD.replace("dark = true", ""), "dark: is missing or neither true nor false; write dark = true"),
        (GOOD.replace("dark = true", 'dark = true\ncharset = "latin"'), "charset: 'latin' is unknown"),
        (GOOD.replace('primary = "#a0b0c0"', ""), 'primary: is missing or no colour; write "#rrggbb"'),
        (GOOD.replace('primary = "#a0b0c0"', 'primary = "red"'), "primary: is missing or no colour"),
        (GOOD.replace('primary = "#a0b0c0"', 'primry = "#a0b0c0"'), "primry: is no key of a theme; did you mean primary?"),
        (GOOD.replace('lost = "#a0b0c0"', ""), "states.lost: is missing or no colour"),
        (GOOD + '\nwaiting = "#a0b0c0"', "states.waiting: is no key of a theme"),
        (GOOD + '\n[glyphs]\nfailed = "xx"', "glyphs.failed: is not one sign of one column"),
        (GOOD + '\n[glyphs]\nfailed = "界"', "glyphs.failed: is not one sign of one column"),
        (GOOD + '\n[glyphs]\nfailed = "\\u001b"', "glyphs.failed: is not one sign of one column"),
        (GOOD.replace(STATES, "states = 1"), "states: is no table; write [states]"),
    ],
)
def test_what_is_wrong_is_named_with_file_key_and_mend(text: str, said: str) -> None:
    """One sentence."""
    with pytest.raises(InvalidValue) as caught:
        parse_theme(text, "mine.toml")
    assert said in str(caught.value)
    assert str(caught.value).startswith("mine.toml: ")
