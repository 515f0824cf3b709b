"""The filter of the log and of providers: words that must occur, and words that must not."""

from __future__ import annotations

import pytest

from jobconsole.tui.word_filter import WordFilter


@pytest.mark.parametrize(
    ("typed", "matches"),
    [
        ("", True),
        ("  ", True),
        ("acme", True),
        ("ACME images", True),  # each in one of the texts
        ("images acme", True),
        ("acme videos", False),
        ("!videos", True),
        ("acme !images", False),
        ("!", True),  # still being typed
        ('"acme images"', True),
        ('"images acme"', False),
        ('!"acme images"', False),
        ('"acme im', True),  # still being typed
    ],
)
def test_each_word_must_occur_and_each_turned_one_must_not(typed: str, matches: bool) -> None:
    """In the texts `acme-prod` and `ACME Images`, whatever the case."""
    assert WordFilter(typed).matches("acme-prod", "ACME Images") is matches


def test_it_says_whether_it_asks_for_anything() -> None:
    """Blanks ask for nothing."""
    assert [bool(WordFilter(typed)) for typed in ("", "  ", "x")] == [False, False, True]
