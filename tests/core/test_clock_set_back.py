"""A wall clock that is set back: which plans count anew, by how much, and that none does so twice."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from jobconsole.core.command import Scope
from jobconsole.core.commands.clock_set_back import COUNTED_FROM_ANSWER, anew_at, plan_anew
from jobconsole.core.vocabulary import DelaySource, Phase
from tests.core.desk import ACCOUNT, Desk
from tests.core.sample_facts import at, operation, running, unavailable

DAY = 86_400


def planned(source: DelaySource = DelaySource.LOCAL_BACKOFF, **fields: Any) -> Any:
    """The last answer at 10:00:20, the next check planned for 10:00:30: a delay of 10 s."""
    return operation(**({"last_http_at": at(20), "next_poll_at": at(30), "delay_source": source} | fields))


@pytest.mark.rule("B2", "B6")
@pytest.mark.parametrize(
    ("now", "moved"),
    [
        (at(20), None),  # the clock was not set back
        (at(11), None),  # by 9 s: 19 s at most are waited in place of 10
        (at(10), at(20)),  # by the whole delay
        (at(20 - 2 * DAY), at(30 - 2 * DAY)),  # by two days: 10 s from now
    ],
)
def test_a_delay_counts_anew_where_the_clock_was_set_back_by_as_much(now: datetime, moved: datetime | None) -> None:
    assert anew_at(planned(), now) == moved


@pytest.mark.rule("B2", "B7", "X12", "B13")
@pytest.mark.parametrize("source", list(DelaySource))
def test_times_of_day_and_the_providers_minimum_stay(source: DelaySource) -> None:
    """A pause is a person's time, the final check lies before the deadline, a Retry-After holds by both clocks."""
    assert (anew_at(planned(source), at(-DAY)) is not None) == (source in COUNTED_FROM_ANSWER)
    assert {DelaySource.PAUSE, DelaySource.FINAL_CHECK, DelaySource.PROVIDER_RETRY_AFTER}.isdisjoint(COUNTED_FROM_ANSWER)


@pytest.mark.parametrize(
    "fields",
    [
        {"phase": Phase.ESCALATED},
        {"phase": Phase.SUCCEEDED},
        {"next_poll_at": None},
        {"last_http_at": None},
        {"next_poll_at": at(20)},  # planned at once
    ],
)
def test_what_has_no_delay_after_an_answer_stays(fields: dict[str, Any]) -> None:
    assert anew_at(planned(**fields), at(-DAY)) is None


def moved(desk: Desk) -> datetime | None:
    """The plan after a worker looked for what counts by the old clock."""
    desk.told(Scope(operations=("op-1",), accounts=(ACCOUNT,)), plan_anew("op-1", "worker:b"))
    return desk.op().next_poll_at


@pytest.mark.rule("B2", "L1")
def test_two_workers_move_it_once_and_its_bounds_stay() -> None:
    """Written down with its reason; deadline, limits, revision and the used requests are as before."""
    desk = Desk()
    desk.track()
    before = desk.check(running()).op
    assert before.next_poll_at is not None
    delay = before.next_poll_at - desk.clock.wall()
    desk.clock.jump_wall(timedelta(days=-2))
    expected = desk.clock.wall() + delay
    assert moved(desk) == expected
    desk.clock.advance(1)
    assert moved(desk) == expected
    op = desk.op()
    assert (op.deadline_at, op.revision, op.status_requests_used) == (before.deadline_at, before.revision, 1)
    (event,) = [each for each in desk.events() if each.get("reason") == "clock_set_back"]
    assert (event["kind"], event["actor"]) == ("check_planned", "worker:b")


@pytest.mark.rule("B2", "B7")
def test_a_providers_wait_is_left_to_both_clocks() -> None:
    desk = Desk()
    desk.track()
    planned_at = desk.check(unavailable(120)).op.next_poll_at
    desk.clock.jump_wall(timedelta(days=-2))
    assert moved(desk) == planned_at
