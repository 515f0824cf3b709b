"""Cases of the wait itself: its bounds, its submission, its credential, its times, its cancel (area lifecycle)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobconsole.cli.exits import Exit, of_words
from jobconsole.core.contracts.contract import Schedule
from jobconsole.core.deciding.schedule import backoff
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import ActionState, DelaySource, Phase, Reason, StateClass
from jobconsole.errors import Refused
from tests.cases.case_file import Case, case, each
from tests.cases.demo_contract import Tables
from tests.cases.driver import run_until_settled
from tests.cases.loopback import served
from tests.cases.runner import Call, Stage, ended, exit_of, played, staged

RUNNING = {"on": "poll", "status": 200, "body": {"id": "job-1", "state": "running", "progress": 10}}


# ---- bounds --------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("C7")
@each("LC-01")
async def test_a_404_is_not_visible_yet_in_the_grace_time_and_a_failed_look_later(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert (op.phase, stage.count("submit"), stage.count("poll")) == (Phase.SUCCEEDED, 1, 4)
        answered = await stage.events("check_answered")
        assert [event.get("job_state") for event in answered] == [None, "running", "running", "succeeded"]
        assert answered[0]["delay_source"] == DelaySource.NOT_FOUND_GRACE
        assert (op.not_found_in_a_row, op.transport_failures_used) == (0, 0)


LATE_ATTEMPTS = {0: 1.0, 10: 60.0, 1023: 60.0, 1024: 60.0, 100_000: 60.0}


@pytest.mark.rule("B6", "B18")
@pytest.mark.parametrize("attempt", [row["attempt"] for row in case("LC-03").input["rows"]])
def test_no_attempt_number_overflows_the_backoff(attempt: int) -> None:
    given = case("LC-03").settings
    base, cap = timedelta(seconds=given["base_s"]), timedelta(seconds=given["cap_s"])
    without_jitter = Schedule(base=base, factor=given["factor"], max=cap, jitter=(1.0, 1.0))
    with_jitter = Schedule(base=base, factor=given["factor"], max=cap, jitter=(0.0, 1.0))
    assert backoff(attempt, without_jitter, 0.0) / timedelta(seconds=1) == LATE_ATTEMPTS[attempt]
    for draw in (0.0, 0.5, math.nextafter(1.0, 0.0)):
        assert timedelta(0) <= backoff(attempt, with_jitter, draw) <= cap


@pytest.mark.rule("B18")
async def test_a_computing_error_on_one_job_stops_no_other() -> None:
    """LC-03's second half: what no part of ours foresaw lets one operation rest, and it goes on later."""
    given = case("LC-07")
    submit, *_, done = given.steps
    async with staged(given, steps=[submit, {"on": "poll", "fault": "unforeseen"}, done]) as stage:
        await stage.submit("first")
        await stage.submit("second")
        await run_until_settled(stage.console, stage.console.worker(), stage.clock)
        ops = await stage.console.operations(include_ended=True)
        assert [op.phase for op in ops] == [Phase.SUCCEEDED, Phase.SUCCEEDED]
        assert len(await stage.events("lease_lost")) == 1


@pytest.mark.rule("B3", "B15", "B4", "H9", "X6")
@each("LC-05")
async def test_good_answers_use_the_budget_too_and_an_extension_is_bounded(case: Case) -> None:
    budget = case.settings["request_budget"]
    async with played(case) as stage:
        op = await stage.op()
        assert (stage.count("poll"), op.status_requests_used) == (budget, budget)
        assert ended(op) == (Phase.ESCALATED, Reason.REQUEST_BUDGET_EXHAUSTED)
        assert op.last_known_state == "running"
        assert await stage.option_names() == {"extend", "cancel", "close"}
        assert stage.times("poll")[-1] == op.escalation.since if op.escalation else False  # right then, not at a next wake-up

        await stage.decide("extend", checks=3)
        op = await stage.until_settled()
        assert (stage.count("poll"), op.max_status_requests, op.original.status_requests) == (budget + 3, budget + 3, budget)
        assert [event["checks"] for event in await stage.events("extended")] == [3]
        assert await stage.option_names() == {"cancel", "close"}  # one extension in the operation's life


@pytest.mark.rule("B13", "X5")
@each("LC-06")
async def test_one_last_look_just_before_the_deadline_finds_what_ended_meanwhile(case: Case) -> None:
    # The case looks at 60 s, the deadline itself; X5 places the look at deadline - timeout - 1 s = 54 s, never after it.
    async with played(case) as stage:
        assert (await stage.op()).phase is Phase.SUCCEEDED
        assert stage.gaps() == [50.0, 4.0]
        first, _ = await stage.events("check_answered")
        assert first["delay_source"] == DelaySource.FINAL_CHECK


@pytest.mark.rule("B13", "B16", "B2")
@each("LC-06")
async def test_a_job_that_still_runs_then_is_asked_about_at_the_deadline(case: Case) -> None:
    async with played(case, steps=case.steps[:2]) as stage:
        op = await stage.op()
        assert ended(op) == (Phase.ESCALATED, Reason.DEADLINE_EXCEEDED)
        assert stage.count("poll") == 2
        assert op.escalation is not None
        assert op.observed_at is not None
        assert op.escalation.since - op.started_at == timedelta(seconds=60)  # "not finished within 60 s"
        assert op.escalation.since - op.observed_at == timedelta(seconds=6)  # "last seen running 6 s ago"


@pytest.mark.rule("B10", "C10")
@each("LC-07")
async def test_trouble_with_looking_never_changes_the_job_and_never_submits_again(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert (op.phase, stage.count("submit"), stage.count("poll")) == (Phase.SUCCEEDED, 1, 5)
        assert (op.transport_failures_used, op.transport_failures_in_a_row) == (4, 0)
        states = [event.get("job_state") for event in await stage.events("check_answered")]
        assert states == [None, None, None, None, "succeeded"]


@pytest.mark.rule("B10", "C10")
@each("LC-07")
async def test_spent_on_trouble_the_wait_offers_no_second_submission(case: Case) -> None:
    async with played(case, {"budget": {"transport_failures": 4}}) as stage:
        assert ended(await stage.op()) == (Phase.ESCALATED, Reason.TRANSPORT_FAILURES_EXHAUSTED)
        assert await stage.option_names() == {"extend", "pause", "check_once", "cancel", "close"}


# ---- submission ----------------------------------------------------------------------------------------------------------
WITH_KEY: Tables = {"submit": {"job_id": "body.id || body.existing_id", "idempotency": "header Idempotency-Key"}}


@pytest.mark.rule("B17", "X10", "A9")
@each("LC-09")
async def test_a_lost_submission_is_sent_again_with_its_token_and_a_conflict_names_its_job(case: Case) -> None:
    async with played(case, WITH_KEY) as stage:
        first, second = (call for call in stage.calls if call.kind == "submit")
        assert first.headers["idempotency-key"] == second.headers["idempotency-key"] != ""
        op = await stage.op()
        assert (op.provider_job_id, op.phase, stage.count("poll")) == ("job-1", Phase.SUCCEEDED, 1)


@pytest.mark.rule("X10", "C10")
@each("LC-09")
async def test_a_conflict_that_names_no_job_is_asked_about(case: Case) -> None:
    lost, conflict, _ = case.steps
    nameless = {**conflict, "body": {"error": "duplicate content"}}
    async with played(case, WITH_KEY, steps=[lost, nameless]) as stage:
        assert ended(await stage.op()) == (Phase.ESCALATED, Reason.SUBMISSION_AMBIGUOUS)
        assert (stage.count("submit"), stage.count("poll")) == (2, 0)
        assert await stage.option_names() == {"replay_submit", "adopt", "submit_again", "close"}


@pytest.mark.rule("B17", "C10")
@each("LC-09")
async def test_without_a_key_a_lost_submission_is_never_replayed(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert ended(op) == (Phase.ESCALATED, Reason.SUBMISSION_AMBIGUOUS)
        assert (stage.count("submit"), stage.count("poll")) == (1, 0)
        options = {option.name: option.effect for option in await stage.console.options(op)}
        assert options.keys() == {"adopt", "submit_again", "close"}
        assert "the first may still run" in options["submit_again"]


# ---- credential ----------------------------------------------------------------------------------------------------------
OLD, NEW = "tok-old-4711", "tok-new-4712"
ROTATING: Tables = {"auth": {"secret": "env:DEMO_TOKEN", "rotates": True}, "budget": {"deadline": "3h"}}


def _with_refusals(case: Case, refusals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The case's steps with other refusals in place of its 401."""
    submit, running, _, done = case.steps
    return [submit, running, *refusals, done]


@pytest.mark.rule("B11", "B5")
@each("LC-10")
async def test_a_rotated_credential_is_read_again_and_the_read_repeated_once(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rotate(call: Call) -> None:
        if call.answer == 401:  # the token lapses while the request is on its way, and the next one is there already
            monkeypatch.setenv("DEMO_TOKEN", NEW)

    monkeypatch.setenv("DEMO_TOKEN", OLD)
    async with served(case, ROTATING, on_request=rotate) as stage:
        await stage.until_polls(1)
        stage.clock.advance(case.input["token_lifetime_s"])
        op = await stage.until_settled()
        polls = [call for call in stage.calls if call.kind == "poll"]
        assert [call.answer for call in polls] == [200, 401, 200]
        assert [call.headers["authorization"] for call in polls] == [f"Bearer {OLD}", f"Bearer {OLD}", f"Bearer {NEW}"]
        assert polls[1].at == polls[2].at  # no backoff in between
        assert (op.phase, op.transport_failures_used, op.status_requests_used) == (Phase.SUCCEEDED, 0, 3)
        assert not any(secret in line for line in await stage.lines() for secret in (OLD, NEW))


@pytest.mark.rule("B11")
@each("LC-10")
@pytest.mark.parametrize(
    ("status", "is_rotated", "polls"),
    [
        pytest.param(401, True, 3, id="refresh also fails"),
        pytest.param(401, False, 2, id="nothing new to read"),
        pytest.param(403, True, 2, id="403 instead of 401"),
    ],
)
async def test_refused_all_the_same_it_stops_and_nothing_is_concluded_about_the_job(
    case: Case, monkeypatch: pytest.MonkeyPatch, status: int, is_rotated: bool, polls: int
) -> None:
    def rotate(call: Call) -> None:
        if call.answer == status and is_rotated:
            monkeypatch.setenv("DEMO_TOKEN", NEW)

    monkeypatch.setenv("DEMO_TOKEN", OLD)
    refusal = {**case.steps[2], "status": status, "repeat": 10}
    async with served(case, ROTATING, steps=_with_refusals(case, [refusal]), on_request=rotate) as stage:
        op = await stage.until_settled()
        assert ended(op) == (Phase.ESCALATED, Reason.AUTHORIZATION_DENIED)
        assert (stage.count("poll"), op.status_requests_used) == (polls, polls)
        assert (op.last_known_state, op.transport_failures_used) == ("running", 0)
        assert await stage.option_names() == {"credential_mended", "close"}
        assert not any(secret in line for line in await stage.lines() for secret in (OLD, NEW))


@pytest.mark.rule("B11", "B9", "X8")
@each("LC-10")
@pytest.mark.parametrize(("apart_s", "refused"), [(2, 1), (0, 2)], ids=["one after the other", "both in flight"])
async def test_every_job_of_the_account_is_held_with_one_question_until_access_is_mended(
    case: Case, apart_s: int, refused: int
) -> None:
    submit, running, refusal, done = case.steps
    steps = [submit, {**running, "repeat": 2}, {**refusal, "status": 403, "repeat": refused}, done]
    async with staged(case, ROTATING, steps=steps) as stage:
        await stage.submit("first")
        await stage.for_a_while(apart_s)
        await stage.submit("second")
        await stage.for_a_while(600)
        asked, held = sorted(await stage.console.operations(), key=lambda op: op.escalation is None)
        assert ended(asked) == (Phase.ESCALATED, Reason.AUTHORIZATION_DENIED)
        assert (held.phase, held.last_known_state, held.escalation) == (Phase.WAITING, "running", None)
        assert stage.count("poll") == 2 + refused  # and then nothing of either

        await stage.console.decide(asked.operation_id, "credential_mended", by="person:ana")
        await stage.until_settled()
        assert [op.phase for op in await stage.console.operations(include_ended=True)] == [Phase.SUCCEEDED] * 2
        assert stage.count("poll") == 4 + refused


@pytest.mark.rule("B11", "B2")
@each("LC-10")
async def test_the_deadline_of_a_held_job_runs_on(case: Case) -> None:
    submit, running, refusal, done = case.steps
    tables = {**ROTATING, "budget": {"deadline": "10m"}}
    async with staged(case, tables, steps=[submit, {**running, "repeat": 2}, {**refusal, "status": 403}, done]) as stage:
        await stage.submit("first")
        await stage.for_a_while(2)
        await stage.submit("second")
        await stage.for_a_while(1200)
        endings = {ended(op) for op in await stage.console.operations()}
        assert endings == {(Phase.ESCALATED, Reason.AUTHORIZATION_DENIED), (Phase.ESCALATED, Reason.DEADLINE_EXCEEDED)}
        assert stage.count("poll") == 3


# ---- times ---------------------------------------------------------------------------------------------------------------
STARTED = {
    "2026-11-29T11:59:00": datetime(2026, 11, 29, 11, 59, tzinfo=UTC),  # without an offset: the contract's zone, else UTC
    "2026-11-29 11:59:00.5": datetime(2026, 11, 29, 11, 59, 0, 500_000, tzinfo=UTC),
    "2026-11-29T11:59:00Z": datetime(2026, 11, 29, 11, 59, tzinfo=UTC),
    "2026-11-29T12:59:00+01:00": datetime(2026, 11, 29, 11, 59, tzinfo=UTC),
    "1795953540": datetime(2026, 11, 29, 11, 59, tzinfo=UTC),
    "1795953540000": datetime(2026, 11, 29, 11, 59, tzinfo=UTC),  # above 1e11: milliseconds (CONTRACT, all keys)
    "2026-11-29T12:05:00Z": datetime(2026, 11, 29, 12, 5, tzinfo=UTC),
    "yesterday": None,
}


@pytest.fixture
def local_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process in the zone of the case, which must not matter."""
    monkeypatch.setenv("TZ", case("LC-12").input["local_zone"])
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.rule("B18", "B16")
@each("LC-12")
async def test_a_time_without_an_offset_is_never_local(case: Case, local_zone: None) -> None:
    async with staged(case, {"status": {"started_at": "body.started_at"}}) as stage:
        await stage.submit()
        op = await stage.until_polls(1)
        assert (op.phase, op.provider_started_at) == (Phase.WAITING, STARTED[case.value])
        (answered,) = await stage.events("check_answered")
        assert any("yesterday" in note for note in answered["observation"].get("notes", ())) == (case.value == "yesterday")
        assert (await stage.until_settled()).phase is Phase.SUCCEEDED


# ---- the end of watching, and cancel -------------------------------------------------------------------------------------
@pytest.mark.rule("B2", "H1", "X16")
@each("LC-14")
async def test_our_limit_says_nothing_about_the_job(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert ended(op) == (Phase.ESCALATED, Reason.DEADLINE_EXCEEDED)
        assert (op.last_known_state, op.state_class, op.ended_at) == ("running", StateClass.WAITING, None)
        assert stage.times("poll")[-1] < op.deadline_at
        assert await stage.option_names() == {"extend", "cancel", "close"}
        assert stage.count("cancel") == 0
        assert exit_of(op) == Exit.NEEDS_DECISION != of_words(["failed"])


async def _cancelled_too_late(stage: Stage) -> Operation:
    await stage.submit()
    op = await stage.until_polls(1)
    await stage.decide("cancel", revision=op.revision)
    for revision in (op.revision, (await stage.op()).revision):  # the same click again, and one more on what is shown now
        with pytest.raises(Refused):
            await stage.decide("cancel", revision=revision)
    return await stage.until_settled()


@pytest.mark.rule("A7", "X11", "H4", "A3")
@each("LC-15")
async def test_the_answer_to_a_cancel_decides_nothing_the_next_look_does(case: Case) -> None:
    # X11: whatever came back, checks go on in a small budget of their own; the cancel is not sent again by itself.
    async with staged(case) as stage:
        op = await _cancelled_too_late(stage)
        assert (op.phase, op.cancel_requested_at is not None) == (Phase.SUCCEEDED, True)
        assert (stage.count("cancel"), stage.count("poll")) == (1, 2)
        (action,) = [doc for doc in await stage.console.actions(op.operation_id) if doc["kind"] == "cancel"]
        expected = "accepted" if case.value in (200, 202) else f"answered {case.value}"
        assert (action["state"], action["outcome"], action["http_status"]) == (ActionState.ENDED, expected, case.value)
        kinds = [event["kind"] for event in await stage.events()]
        asked, *_ = [kinds.index(kind) for kind in ("decided", "action_requested", "action_started", "action_ended")]
        assert kinds[asked : asked + 2] == ["decided", "action_requested"]
        assert kinds.count("decision_refused") == 2


@pytest.mark.rule("A7", "X11")
@each("LC-15")
async def test_a_cancel_stays_a_request_until_the_provider_says_so(case: Case) -> None:
    submit, running, cancel, _ = case.steps
    async with staged(case, steps=[submit, running, cancel]) as stage:
        op = await _cancelled_too_late(stage)
        assert ended(op) == (Phase.ESCALATED, Reason.CANCEL_UNCONFIRMED)
        assert (stage.count("poll"), op.last_known_state) == (1 + 4, "running")
        assert await stage.option_names() == {"cancel", "check_once", "close"}
