"""Words and glyphs: every phase, class, reason and delay source has its own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jobconsole.core.telling.terminal_text import width
from jobconsole.core.telling.wording import actor_text, clock_text, counted, glyph, marked, reason_text, says_more, source_text
from jobconsole.core.vocabulary import DelaySource, Phase, Reason, StateClass


@pytest.mark.parametrize("is_ascii", [False, True])
def test_every_phase_has_a_glyph_of_its_own_that_is_one_column_wide(is_ascii: bool) -> None:
    """State is told without colour, in a terminal without Unicode as well."""
    glyphs = [glyph(phase, is_ascii=is_ascii) for phase in Phase]
    assert len(set(glyphs)) == len(Phase)
    assert {width(each) for each in glyphs} == {1}
    assert not is_ascii or all(each.isascii() for each in glyphs)


@pytest.mark.parametrize("is_ascii", [False, True])
def test_every_state_class_has_a_glyph_of_its_own(is_ascii: bool) -> None:
    """A class that is named as a phase is looks the same."""
    assert len({glyph(each, is_ascii=is_ascii) for each in StateClass}) == len(StateClass)
    assert glyph(StateClass.FAILED) == glyph(Phase.FAILED)


def test_a_glyph_stands_beside_the_word_and_never_for_it() -> None:
    """Blanks in place of underscores."""
    assert marked(Phase.COMPLETED_WITH_ERRORS) == "◐ completed with errors"
    assert marked(Phase.WAITING, is_ascii=True) == "> waiting"


@pytest.mark.rule("H1")
def test_every_reason_has_its_own_words_beside_its_name() -> None:
    """No two reasons read the same."""
    assert len({reason_text(reason) for reason in Reason}) == len(Reason)


@pytest.mark.rule("X22")
@pytest.mark.parametrize(
    ("source", "text"),
    [("local_backoff", "from local backoff"), ("provider_retry_after", "from provider guidance")],
)
def test_a_delay_source_reads_as_the_story_of_the_specification_says(source: str, text: str) -> None:
    """The two that X22 spells out."""
    assert source_text(source) == text


def test_every_delay_source_has_its_own_words_and_an_unknown_one_keeps_its_name() -> None:
    """A newer version's source is shown all the same."""
    assert len({source_text(source) for source in DelaySource}) == len(DelaySource)
    assert source_text("tide_table") == "from tide table"


@pytest.mark.parametrize(
    ("beside", "text"), [(None, "10:20:05"), ("2026-11-29", "10:20:05"), ("2026-11-30", "2026-11-29 10:20:05")]
)
def test_a_time_shows_its_date_only_beside_another_day(beside: str | None, text: str) -> None:
    """UTC, whole seconds."""
    at = datetime(2026, 11, 29, 10, 20, 5, 999_000, tzinfo=UTC)
    assert clock_text(at, datetime.fromisoformat(f"{beside}T00:00:00+00:00") if beside else None) == text


def test_a_year_has_four_digits() -> None:
    """As RFC 3339 writes it, also where somebody asks about the first one."""
    first = datetime(1, 1, 1, tzinfo=UTC)
    assert clock_text(first, datetime(2026, 11, 29, tzinfo=UTC)) == "0001-01-01 00:00:00"


@pytest.mark.parametrize(
    ("actor", "text"),
    [("person:ana", "ana"), ("worker:w1", "worker w1"), ("agent:bot/s1", "agent bot/s1"), ("person:", "person")],
)
def test_an_actor_is_named_by_kind_and_name_a_person_by_the_name(actor: str, text: str) -> None:
    """Who acted, in the story."""
    assert actor_text(actor) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 checks"), (1, "1 check"), (5_000, "5,000 checks")])
def test_counts_agree_with_their_noun(number: int, text: str) -> None:
    """Thousands are grouped."""
    assert counted(number, "check") == text


@pytest.mark.parametrize(
    ("detail", "says"), [("", False), ("deadline reached", False), ("HTTP 401", False), ("business deadline", True)]
)
def test_a_detail_that_repeats_what_is_shown_anyway_says_no_more(detail: str, says: bool) -> None:
    """The business deadline does: it is named."""
    assert says_more(detail) is says
