"""Attempts are told from the events alone: what was sent when, and what came back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from jobconsole.core.telling.attempts import Attempt, Outcome, attempts, latencies, mark
from tests.core.sample_facts import START
from tests.core.staged_wait import StagedWait, at


async def told(stage: StagedWait) -> list[Attempt]:
    """The attempts of the stage's operation."""
    return attempts(await stage.events())


@pytest.mark.rule("L1")
async def test_each_request_is_one_attempt_with_its_answer_and_what_came_next() -> None:
    """A submission, a good look, and a 503 that asks to wait 120 s."""
    stage = StagedWait()
    await stage.submit()
    stage.go("10:20:05")
    await stage.check(200, {"state": "queued"})
    stage.go("10:20:31")
    await stage.check(503, headers={"Retry-After": "120"})
    submitted, seen, busy = await told(stage)
    assert (submitted.purpose, submitted.number, submitted.outcome) == ("submit", None, Outcome.SEEN)
    assert (seen.number, seen.http_status, seen.said, seen.outcome) == (1, 200, "queued", Outcome.SEEN)
    assert (busy.number, busy.http_status, busy.outcome) == (2, 503, Outcome.NOT_SEEN)
    assert busy.retry_after_seconds == 120
    assert busy.next_at == at("10:22:31")


async def test_a_request_without_an_answer_is_under_way() -> None:
    """A reservation alone."""
    stage = StagedWait()
    await stage.track()
    await stage.reserve()
    (attempt,) = await told(stage)
    assert (attempt.outcome, attempt.seconds) == (Outcome.UNDER_WAY, None)


async def test_the_last_look_shows_how_the_job_ended() -> None:
    """A failure and a success end the line differently."""
    ends = {"succeeded": Outcome.GOOD_END, "failed": Outcome.BAD_END, "cancelled": Outcome.SEEN}
    for state, outcome in ends.items():
        stage = StagedWait()
        await stage.track()
        stage.go("10:20:05")
        await stage.check(200, {"state": state, "result": {"url": "x"}})
        assert (await told(stage))[-1].outcome is outcome, state


async def test_an_attempt_lasts_from_its_reservation_to_its_answer() -> None:
    """3 seconds by the clock."""
    stage = StagedWait()
    await stage.track()
    reserved = await stage.reserve()
    stage.go("10:20:03")
    await stage.answer(reserved, await stage.seen(200, {"state": "queued"}))
    assert (await told(stage))[0].seconds == 3


@pytest.mark.parametrize(
    ("seconds", "p50"),
    [
        ((), None),
        ((0.2,), None),  # one tells nothing
        ((0.2, 0.4), 0.3),
        ((0.1, 9.0, 0.2), 0.2),
        ((0.1, None, 0.3), 0.2),  # a request without an answer has no latency
    ],
)
def test_latencies_are_known_of_answers_and_from_two_on(seconds: tuple[float | None, ...], p50: float | None) -> None:
    """The median of what is known."""
    found = [
        Attempt(START, "status", number=number)
        if each is None
        else Attempt(START, "status", number=number, answered_at=START + timedelta(seconds=each), http_status=200)
        for number, each in enumerate(seconds, 1)
    ]
    known = latencies(found)
    assert (None if known is None else round(known.p50, 3)) == p50


def test_only_status_requests_that_were_answered_have_a_latency() -> None:
    """Not a cancel, not a request that was withheld."""
    answered = replace(Attempt(START, "status", number=1), answered_at=START + timedelta(seconds=1), http_status=503)
    assert answered.latency_seconds == 1
    assert replace(answered, number=None, purpose="cancel").latency_seconds is None
    assert replace(answered, http_status=None, outcome=Outcome.NOT_SENT).latency_seconds is None


@pytest.mark.rule("U4")
@pytest.mark.parametrize("is_ascii", [False, True])
def test_every_outcome_has_a_mark_of_its_own(is_ascii: bool) -> None:
    """No two are told apart by colour alone."""
    marks = [mark(outcome, is_ascii=is_ascii) for outcome in Outcome]
    assert len(set(marks)) == len(marks)
    assert not is_ascii or all(each.isascii() for each in marks)
