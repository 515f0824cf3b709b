"""Who may send a submission, how often, and what each answer to it means (B17, X10).

The lease of a claim is 15 s; repeats are delayed by backoff: 5 x 0.75 = 3.75 s after the first attempt, 7.5 s after the second.
"""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.core.commands.claims import Claimed
from jobconsole.core.commands.reservation import Deferred, Stopped
from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.vocabulary import Delivery, Phase, Reason
from tests.core.desk import Desk
from tests.core.sample_contract import WITH_TOKEN, sample
from tests.core.sample_facts import (
    accepted,
    answered,
    at,
    denied,
    done,
    limited,
    reason,
    running,
    state,
    unanswered,
    unavailable,
)

TOKEN = sample(submit=WITH_TOKEN)
REFUSED = Observation(verdict=CallError.DELIVERY_FAILURE, delivery=Delivery.NONE, detail="connection refused")
SERVER_ERROR = answered(500, CallError.DELIVERY_FAILURE)


def submitting(desk: Desk | None = None) -> Desk:
    """An operation whose submission is due."""
    desk = desk or Desk()
    desk.submit()
    return desk


# ---- the claim ----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("A3", "B17")
def test_a_submission_is_claimed_by_one() -> None:
    desk = submitting()
    got = desk.claimed(owner="worker:a")
    assert (got.op.submit_attempts, got.action.attempts, got.action.owner) == (1, 1, "worker:a")
    assert isinstance(desk.claim(owner="worker:b"), Deferred)


@pytest.mark.rule("X24")
def test_a_submission_is_charged_to_the_account_only() -> None:
    desk = submitting()
    desk.claimed()
    assert (desk.account().spent, desk.op().status_requests_used) == (1, 0)


@pytest.mark.rule("A3", "B17")
def test_a_stale_claims_answer_changes_nothing() -> None:
    desk = submitting(Desk(TOKEN))
    stale = desk.claimed(owner="worker:a")
    desk.clock.advance(15)
    desk.claim(owner="worker:b")  # ends the lost claim and opens it again
    fresh = desk.claimed(owner="worker:b")
    before = desk.op()
    op = desk.answer(stale.token, accepted("job-of-a"))
    assert op.phase is Phase.SUBMITTING
    assert (op.provider_job_id, op.open_actions) == (None, before.open_actions)
    assert desk.events()[-1]["kind"] == "late_answer"
    assert desk.events()[-1]["answer_job_id"] == "job-of-a"
    assert desk.answer(fresh.token, accepted("job-of-b")).provider_job_id == "job-of-b"


@pytest.mark.rule("B2", "B14")
def test_a_submission_after_the_deadline_is_not_sent() -> None:
    desk = submitting()
    desk.clock.advance(2400)
    got = desk.claim()
    assert isinstance(got, Stopped)
    assert (reason(got.op), got.op.open_actions) == (Reason.DEADLINE_EXCEEDED, {})
    assert desk.action("act-op-1")["outcome"] == "superseded"


@pytest.mark.rule("B9")
def test_a_held_account_postpones_a_submission() -> None:
    desk = submitting()
    desk.track("op-2")
    desk.check(limited(90), "op-2")
    got = desk.claim()
    assert isinstance(got, Deferred)
    assert desk.op().open_actions["submit"].due_at == at(90)
    assert "check_planned" in desk.kinds()


@pytest.mark.rule("B2", "B9")
def test_a_postponed_submission_that_meets_its_deadline_leaves_no_open_action() -> None:
    desk = Desk()
    desk.submit(deadline=1)
    desk.track("op-2")
    desk.check(limited(90), "op-2")
    desk.claim()
    desk.clock.advance(60)
    desk.reserve()
    assert (reason(desk.op()), desk.op().open_actions) == (Reason.DEADLINE_EXCEEDED, {})
    assert desk.action("act-op-1")["state"] == "ended"
    assert "extend" in desk.options()


# ---- what the answer to a submission means ------------------------------------------------------------------------------
@pytest.mark.rule("X10", "C6")
def test_an_accepted_submission_waits_for_its_job() -> None:
    op = submitting().perform(accepted("job-7", status_url="https://api.acme.example/v1/jobs/job-7"))
    desk = submitting()
    desk.perform(accepted("job-7"))
    assert (op.phase, op.provider_job_id, op.submitted_at) == (Phase.WAITING, "job-7", at(0))
    assert op.next_poll_at == at(5 * 0.75)  # attempt 0
    assert desk.kinds()[2:] == ["action_started", "submit_answered", "action_ended", "check_planned"]


@pytest.mark.rule("X2")
def test_the_answers_hint_paces_the_first_check_and_becomes_the_base() -> None:
    op = submitting().perform(accepted(hint_s=20.0))
    assert (op.next_poll_at, op.base_delay_ms) == (at(20 * 1.05), 20_000)


@pytest.mark.rule("X3")
def test_an_estimate_paces_the_first_check() -> None:
    assert submitting().perform(accepted(estimated_s=600.0)).next_poll_at == at(300)


@pytest.mark.rule("C6", "B12")
def test_an_accepted_submission_without_a_job_is_never_sent_again() -> None:
    desk = submitting(Desk(TOKEN))
    op = desk.perform(Observation(verdict=CallError.INTEGRATION_ERROR, http_status=202))
    assert (op.phase, reason(op)) == (Phase.ESCALATED, Reason.INTEGRATION_ERROR)
    assert op.open_actions == {}
    assert list(desk.options(new_digest="d" * 64)) == ["adopt", "close"]


@pytest.mark.rule("C6", "C10")
@pytest.mark.parametrize("option", ["pause", "adopt_contract", "check_once", "replay_submit", "extend"])
def test_no_choice_sends_an_accepted_submission_again(option: str) -> None:
    """Its job may run, and cost; nothing but a person's word can say which one it is."""
    desk = submitting(Desk(TOKEN))
    desk.perform(Observation(verdict=CallError.INTEGRATION_ERROR, http_status=202))
    refused = desk.refused(option, new_contract=desk.contract)
    assert refused.text.startswith(f"the answer to the submission named no job, so {option} has none; adopt the id")
    assert desk.op().open_actions == {}


@pytest.mark.rule("C6")
def test_the_job_of_an_accepted_submission_is_adopted_by_its_id() -> None:
    """Then it is waited for as any other, within the limits that it always had."""
    desk = submitting(Desk(TOKEN))
    before = desk.perform(Observation(verdict=CallError.INTEGRATION_ERROR, http_status=202))
    op = desk.chosen("adopt", job_id="job-7")
    assert (op.phase, op.provider_job_id, op.open_actions) == (Phase.WAITING, "job-7", {})
    assert (op.deadline_at, op.max_status_requests) == (before.deadline_at, before.max_status_requests)
    assert desk.check(running()).op.phase is Phase.WAITING


@pytest.mark.rule("X10", "H13")
@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_another_4xx_is_failed_and_seen(status: int) -> None:
    desk = submitting()
    op = desk.perform(answered(status, CallError.INTEGRATION_ERROR))
    assert op.phase is Phase.FAILED
    assert op.look is not None
    assert op.look.reason is Reason.SUBMISSION_REFUSED


@pytest.mark.rule("B17", "X10")
@pytest.mark.parametrize("seen", [unanswered(), SERVER_ERROR, answered(408, CallError.DELIVERY_FAILURE)])
def test_without_a_documented_token_a_lost_answer_asks_a_person(seen: Observation) -> None:
    desk = submitting()
    op = desk.perform(seen)
    assert (op.phase, reason(op), op.open_actions) == (Phase.ESCALATED, Reason.SUBMISSION_AMBIGUOUS, {})
    assert op.delivery is Delivery.AMBIGUOUS
    assert desk.action("act-op-1")["state"] == "unknown"
    assert {"adopt", "submit_again"} <= set(desk.options())
    assert "replay_submit" not in desk.options()


@pytest.mark.rule("B17", "X10")
def test_with_a_token_a_lost_answer_is_sent_three_times_at_most() -> None:
    desk = submitting(Desk(TOKEN))
    first = desk.perform(unanswered())
    assert (first.phase, first.open_actions["submit"].due_at) == (Phase.SUBMITTING, at(3.75))
    second = desk.perform(unanswered())
    assert second.open_actions["submit"].due_at == at(3.75 + 7.5)
    third = desk.perform(unanswered())
    assert (reason(third), third.submit_attempts) == (Reason.SUBMISSION_AMBIGUOUS, 3)
    assert third.idempotency_token == "token-1"
    assert "replay_submit" in desk.options()


@pytest.mark.rule("X10")
@pytest.mark.parametrize(("passed", "is_repeated"), [(120, True), (121, False)])
def test_repeats_stay_within_two_minutes_of_the_first_attempt(passed: float, is_repeated: bool) -> None:
    desk = submitting(Desk(TOKEN))
    desk.clock.advance(600)  # it waited for its turn
    got = desk.claimed()
    desk.clock.advance(passed)
    op = desk.answer(got.token, unanswered())
    assert (op.phase is Phase.SUBMITTING) is is_repeated


@pytest.mark.rule("X10", "B10")
def test_what_was_provably_not_sent_is_tried_again_without_a_token() -> None:
    desk = submitting()
    desk.perform(REFUSED)
    desk.perform(REFUSED)
    op = desk.perform(REFUSED)
    assert (reason(op), op.submit_attempts) == (Reason.TRANSPORT_FAILURES_EXHAUSTED, 3)
    assert op.delivery is Delivery.NONE


@pytest.mark.rule("B10")
def test_a_certificate_that_does_not_verify_stops_at_once() -> None:
    fault = Observation(verdict=CallError.INTEGRATION_ERROR, delivery=Delivery.NONE, is_certificate_fault=True)
    op = submitting().perform(fault)
    assert (reason(op), op.submit_attempts) == (Reason.INTEGRATION_ERROR, 1)


@pytest.mark.rule("X10", "B9")
@pytest.mark.parametrize(
    ("seen", "delay"),
    [
        (limited(40), 40),
        (limited(), 3.75 * 4),
        (unavailable(40), 40),
        (unavailable(), 3.75),
    ],
)
def test_a_429_or_503_is_tried_again_after_its_delay(seen: Observation, delay: float) -> None:
    desk = submitting()
    op = desk.perform(seen)
    assert op.open_actions["submit"].due_at == at(delay)
    assert (desk.account().hold_until_at is not None) is (seen != unavailable())
    assert desk.perform(accepted()).phase is Phase.WAITING


@pytest.mark.rule("X10")
@pytest.mark.parametrize(
    ("seen", "expected"),
    [(limited(121), Reason.RATE_LIMITED), (unavailable(121), Reason.TRANSPORT_FAILURES_EXHAUSTED)],
)
def test_a_delay_beyond_two_minutes_asks_a_person(seen: Observation, expected: Reason) -> None:
    op = submitting().perform(seen)
    assert (reason(op), op.submit_attempts) == (expected, 1)


@pytest.mark.rule("X10")
@pytest.mark.parametrize(
    ("job_id", "expected"),
    [("job-7", (Phase.WAITING, "job-7")), (None, (Phase.ESCALATED, None))],
)
def test_a_409_after_a_lost_answer_adopts_the_job_that_it_names(job_id: str | None, expected: tuple[Phase, str | None]) -> None:
    desk = submitting(Desk(TOKEN))
    desk.perform(unanswered())
    op = desk.perform(answered(409, CallError.INTEGRATION_ERROR, job_id=job_id))
    assert (op.phase, op.provider_job_id) == expected
    assert job_id or reason(op) is Reason.SUBMISSION_AMBIGUOUS


@pytest.mark.rule("X10")
def test_a_409_after_a_429_is_an_ordinary_refusal() -> None:
    desk = submitting()
    desk.perform(limited(5))
    assert desk.perform(answered(409, CallError.INTEGRATION_ERROR, job_id="job-7")).phase is Phase.FAILED


@pytest.mark.rule("B17")
@pytest.mark.parametrize("last", [limited(300), unavailable(300), REFUSED])
def test_a_lost_answer_stays_in_doubt_whatever_comes_after_it(last: Observation) -> None:
    desk = submitting(Desk(TOKEN))
    desk.perform(unanswered())
    desk.perform(REFUSED)
    assert reason(desk.perform(last)) is Reason.SUBMISSION_AMBIGUOUS


@pytest.mark.rule("B17")
def test_a_lost_answer_stays_in_doubt_when_the_deadline_passes() -> None:
    desk = Desk(TOKEN)
    desk.submit(deadline=1)
    desk.perform(unanswered())
    desk.clock.advance(60)
    assert isinstance(desk.claim(), Stopped)
    assert reason(desk.op()) is Reason.SUBMISSION_AMBIGUOUS


@pytest.mark.rule("A3", "B17")
@pytest.mark.parametrize(("contract", "expected"), [(TOKEN, None), (sample(), Reason.SUBMISSION_AMBIGUOUS)])
def test_a_claim_whose_owner_died_is_unknown_and_not_repeated_blindly(contract: Any, expected: Reason | None) -> None:
    desk = submitting(Desk(contract))
    desk.claimed()
    assert isinstance(desk.claim(owner="worker:b"), Deferred)
    desk.clock.advance(15)
    desk.claim(owner="worker:b")
    assert reason(desk.op()) is expected
    assert expected or isinstance(desk.claim(owner="worker:b"), Claimed)


@pytest.mark.rule("X10", "B11")
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_submission_goes_out_after_the_credential_was_mended(status: int) -> None:
    desk = submitting()
    op = desk.perform(denied(status))
    assert reason(op) is Reason.AUTHORIZATION_DENIED
    assert desk.account().denied is not None
    op = desk.chosen("credential_mended")
    assert (op.phase, set(op.open_actions)) == (Phase.SUBMITTING, {"submit"})
    op = desk.perform(accepted())
    assert (op.phase, desk.account().denied) == (Phase.WAITING, None)


@pytest.mark.rule("C10")
def test_a_replay_is_the_same_operation_with_the_same_token() -> None:
    desk = submitting(Desk(TOKEN))
    for _ in range(3):
        desk.perform(unanswered())
    op = desk.chosen("replay_submit")
    assert (op.phase, op.idempotency_token, set(op.open_actions)) == (Phase.SUBMITTING, "token-1", {"submit"})
    op = desk.perform(answered(409, CallError.INTEGRATION_ERROR, job_id="job-7"))  # the first one did work
    assert (op.phase, op.provider_job_id) == (Phase.WAITING, "job-7")


# ---- an answer that may be final already --------------------------------------------------------------------------------
ALREADY = sample(submit='request = "POST /v1/jobs"\njob_id = "body.id"\nalready = true')


@pytest.mark.rule("A2", "H13")
@pytest.mark.parametrize(
    ("seen", "phase"),
    [
        (done(job_id="job-1"), Phase.SUCCEEDED),
        (state("failed", job_id="job-1"), Phase.FAILED),
        (running(job_id="job-1"), Phase.WAITING),
    ],
)
def test_a_submission_that_was_answered_with_an_end_has_ended(seen: Observation, phase: Phase) -> None:
    op = submitting(Desk(ALREADY)).perform(seen)
    assert (op.phase, op.provider_job_id, op.open_actions) == (phase, "job-1", {})


def test_only_a_contract_that_says_so_lets_a_submission_end_a_job() -> None:
    assert submitting().perform(done(job_id="job-1")).phase is Phase.WAITING
