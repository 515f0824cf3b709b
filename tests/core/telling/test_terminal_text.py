"""What a terminal gets to see of foreign text, and how wide it is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.telling.terminal_text import fit, inert, width

ANY_TEXT = st.text(st.characters(), max_size=40) | st.text(
    st.sampled_from("a\x1b\x9b\u202e\ud800👩\u200d日é\u3164\ufe0f"), max_size=40
)


@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("running", "running"),
        ("\x1b[2J\x1b]0;owned\x07", r"\x1b[2J\x1b]0;owned\x07"),  # clear the screen, name the window
        ("\x9b31m", r"\x9b31m"),  # CSI in one C1 character
        ("done\r\nfailed\t1", r"done\r\nfailed\t1"),  # a second line that was never written
        ("\x00\x7f\x85", r"\x00\x7f\x85"),
        ("invoice\u202efdp.exe", r"invoice\u202efdp.exe"),
        ("\u2066x\u2069\u200e\u200f\u061c", r"\u2066x\u2069\u200e\u200f\u061c"),
        ("pay\u200bpal\ufeff\u2060", r"pay\u200bpal\ufeff\u2060"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\ud800", r"\ud800"),  # json.loads lets a lone surrogate through; no encoding does
        ("\U000e0041", r"\U000e0041"),  # a tag character: text that nobody sees
        ("\u3164", r"\u3164"),  # a Hangul filler: a letter by its class, nothing to see
        ("\u115f\u1160\uffa0", r"\u115f\u1160\uffa0"),
        ("pay\u034fpal\u180b\u17b4", r"pay\u034fpal\u180b\u17b4"),
        ("\ufe0fdone \ufe0f", r"\ufe0fdone \ufe0f"),  # there is no sign that it could change
        ("\u26a0\ufe0f\ufe0f", "\u26a0\ufe0f\\ufe0f"),
        ("\u26a0\ufe01\U000e0101", "\u26a0\\ufe01\\U000e0101"),  # what nobody sees may say anything
        (r"C:\temp [bold]<b>", r"C:\temp [bold]<b>"),
        ("\u26a0\ufe0f late \u2714\ufe0e", "\u26a0\ufe0f late \u2714\ufe0e"),  # how a sign is drawn is part of it
        ("café e\u0301 日本\u3000\u00a0", "café e\u0301 日本\u3000\u00a0"),
    ],
)
def test_what_a_terminal_could_act_on_is_shown_as_an_escape(foreign: str, shown: str) -> None:
    assert inert(foreign) == shown


@pytest.mark.rule("U3")
@given(ANY_TEXT)
def test_nothing_of_any_text_stays_active(text: str) -> None:
    assert not [c for c in inert(text) if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}]


@pytest.mark.parametrize("limit", [None, 40])
def test_a_name_of_invisible_characters_alone_can_be_seen(limit: int | None) -> None:
    """Unicode's default-ignorable code points that Python calls printable."""
    ranges = ((0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180D), (0x180F, 0x180F), (0x3164, 0x3164))
    for first, last in (*ranges, (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF)):
        for code in range(first, last + 1):
            assert inert(chr(code), limit).isascii(), hex(code)


@given(ANY_TEXT)
def test_an_inert_text_stays_as_it_is(text: str) -> None:
    assert inert(inert(text)) == inert(text)


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (10, r"ab\x1bcd"),
        (8, r"ab\x1bcd"),  # 2 + 4 + 2
        (7, r"ab\x1b…"),  # 2 + 4 + 1
        (6, "ab…"),  # the escape does not fit beside the ellipsis, and is not cut
        (1, "…"),
        (0, ""),
    ],
)
def test_a_limit_cuts_no_escape_in_two(limit: int, shown: str) -> None:
    assert inert("ab\x1bcd", limit) == shown


@given(ANY_TEXT, st.integers(0, 50))
def test_a_limit_holds_and_cuts_only_where_it_must(text: str, limit: int) -> None:
    limited = inert(text, limit)
    assert len(limited) <= limit
    assert (limited == inert(text)) == (len(inert(text)) <= limit)


@pytest.mark.parametrize(("text", "columns"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("a日", 3)])
def test_width_counts_columns_and_not_characters(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 5, "日本…"),  # 2 + 2 + 1
        ("日本語", 4, "日…"),  # the second one would need the column of the ellipsis
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_a_text_is_cut_to_columns(text: str, columns: int, shown: str) -> None:
    assert fit(text, columns) == shown


@given(ANY_TEXT, st.integers(0, 20))
def test_a_cut_text_is_never_too_wide(text: str, columns: int) -> None:
    assert width(fit(inert(text), columns)) <= columns
