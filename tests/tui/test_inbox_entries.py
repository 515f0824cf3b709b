"""What is typed about an inbox item: until when it rests, and to whom it goes (SPEC H7)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from jobconsole.tui.attending import known_people
from jobconsole.tui.dialogs.assign import person_named
from jobconsole.tui.dialogs.snooze import asked_until, tomorrow_morning, usual_times
from tests.tui.conftest import TestedDashboard

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


# ---- times -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("2h", NOON + timedelta(hours=2)),
        ("14:30", NOON.replace(hour=14, minute=30)),
        ("11:59", NOON.replace(hour=11, minute=59) + timedelta(days=1)),  # over today, so tomorrow
        ("2026-12-01T09:00:00Z", datetime(2026, 12, 1, 9, tzinfo=UTC)),
        ("30d", NOON + timedelta(days=30)),
    ],
)
def test_a_snooze_ends_at_a_duration_a_clock_of_the_day_or_a_full_time(typed: str, means: datetime) -> None:
    """All of them ahead, and within 30 days."""
    assert asked_until(typed, NOON) == {"until": means}


@pytest.mark.parametrize(
    ("typed", "fault"),
    [("soon", "Write a duration"), ("", "Write a duration"), ("31d", "more than 30 days"), ("2020-01-01T00:00:00Z", "Write a")],
)
def test_what_is_no_time_ahead_says_how_it_is_written(typed: str, fault: str) -> None:
    """Nothing is snoozed by a guess."""
    assert fault in str(asked_until(typed, NOON))


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The local zone is Berlin's."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("now", "morning"),
    [
        (datetime(2026, 11, 29, 12, tzinfo=UTC), datetime(2026, 11, 30, 7, tzinfo=UTC)),  # 08:00 +01:00
        (datetime(2026, 11, 29, 23, 30, tzinfo=UTC), datetime(2026, 12, 1, 7, tzinfo=UTC)),  # it is the 30th there already
        (datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 25, 7, tzinfo=UTC)),  # the clocks go back in that night
        (datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 3, 29, 6, tzinfo=UTC)),  # and forward in this one
    ],
)
def test_tomorrow_morning_is_eight_o_clock_of_the_next_local_day(now: datetime, morning: datetime) -> None:
    """Whatever the clocks do in between."""
    assert tomorrow_morning(now) == morning
    assert asked_until("tomorrow", now) == {"until": morning}
    assert usual_times(now)[-1][0].startswith("tomorrow 08:00 CE")


# ---- names -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (" ben ", "ben"),
        ("person:ben", "ben"),
        ("nobody", "nobody"),
        ("Nobody", "nobody"),
        ("agent:clever/1", None),
        ("", None),
        ("person:", None),
        ("b\x1ben", None),
        ("x" * 81, None),
    ],
)
def test_a_name_is_printable_and_bounded(typed: str, name: str | None) -> None:
    """80 characters at most, as in the core."""
    assert person_named(typed) == name


async def test_names_come_from_owners_answers_notes_and_assignments_and_never_from_agents(dashboard: TestedDashboard) -> None:
    """The one who sits here first, then those who occur most."""
    await dashboard.track("one", owner="person:cleo")
    await dashboard.track("two", owner="agent:planner/s1")
    await dashboard.track("three", owner="dora")
    await dashboard.desk.note("one", "hm", by="person:ben")
    await dashboard.desk.note("one", "hm", by="person:ben")
    found = await dashboard.desk.operations()
    assert known_people(found, "ana") == ["ana", "ben", "cleo", "dora"]
    assert known_people(found, "ben") == ["ben", "ana", "cleo", "dora"]
