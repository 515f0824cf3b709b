"""What follows from one answer: the table verdict x counters -> decision, with each bound just met and just missed.

Each answer is tallied first, as `recording.py` does, so "used" below counts the answer itself where it uses that budget.
Times are seconds after 10:00:00; the deadline is at 2400.
"""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.core.deciding.decide import Decision, Escalate, Stop, Succeed, WaitUntil, tallied
from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.operation import Counts, ProviderError
from jobconsole.core.vocabulary import DelaySource, Delivery, Phase, Reason, StateClass
from tests.core.judged import concluded, counted
from tests.core.sample_contract import sample
from tests.core.sample_facts import (
    accepted,
    answered,
    at,
    denied,
    done,
    limited,
    missing,
    moment,
    operation,
    running,
    state,
    unanswered,
    unavailable,
)


# ---- every class of a state ---------------------------------------------------------------------------------------------
@pytest.mark.rule("C1", "H13", "B12")
@pytest.mark.parametrize(
    ("found", "decision"),
    [
        (StateClass.WAITING, WaitUntil(at(105), DelaySource.LOCAL_BACKOFF)),  # 5 x 2 x 0.5
        (StateClass.SUCCEEDED, Succeed()),
        (StateClass.PARTIAL, Stop(Phase.COMPLETED_WITH_ERRORS, Reason.COMPLETED_WITH_ERRORS)),
        (StateClass.FAILED, Stop(Phase.FAILED, Reason.PROVIDER_FAILURE)),
        (StateClass.CANCELLED, Stop(Phase.CANCELLED, Reason.CANCELLED_ELSEWHERE)),
        (StateClass.EXPIRED, Stop(Phase.EXPIRED, Reason.JOB_EXPIRED)),
        (StateClass.NO_OUTCOME, Stop(Phase.NO_OUTCOME, Reason.NO_OUTCOME)),
        (StateClass.NEEDS_HUMAN, Escalate(Reason.NEEDS_HUMAN_AT_PROVIDER)),
        (StateClass.UNKNOWN, Escalate(Reason.UNKNOWN_STATE)),
        (StateClass.CONTRADICTION, Escalate(Reason.CONTRADICTORY_RESPONSE)),
    ],
)
def test_each_class_has_its_decision(found: StateClass, decision: Decision) -> None:
    assert concluded(state("x", found)) == decision


@pytest.mark.rule("H13")
def test_a_cancel_that_was_asked_for_here_is_no_surprise() -> None:
    assert concluded(state("cancelled"), cancel_requested_at=at(50)) == Stop(Phase.CANCELLED, None)


@pytest.mark.rule("X8", "X5")
@pytest.mark.parametrize(
    ("seen", "decision"),
    [
        (done(), Succeed()),
        (state("failed"), Stop(Phase.FAILED, Reason.PROVIDER_FAILURE)),
        (running(), Escalate(Reason.DEADLINE_EXCEEDED, "deadline")),
    ],
)
def test_an_answer_after_the_deadline_is_judged_all_the_same(seen: Observation, decision: Decision) -> None:
    assert concluded(seen, now=2401, status_requests_used=12) == decision


# ---- bounds -------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B15", "X4")
@pytest.mark.parametrize(("used", "escalates"), [(11, False), (12, True), (13, True)])
def test_a_budget_spent_on_a_still_running_answer_escalates_right_then(used: int, escalates: bool) -> None:
    decision = concluded(running(), status_requests_used=used)
    assert isinstance(decision, Escalate) is escalates
    assert not escalates or decision == Escalate(Reason.REQUEST_BUDGET_EXHAUSTED)


@pytest.mark.rule("B15")
@pytest.mark.parametrize("seen", [done(), state("done_with_errors", StateClass.PARTIAL), state("failed")])
def test_the_last_request_may_bring_the_end(seen: Observation) -> None:
    assert isinstance(concluded(seen, status_requests_used=12), Succeed | Stop)


@pytest.mark.rule("B16")
@pytest.mark.parametrize("progress", [0.1, 0.99, 1.0])
def test_progress_extends_nothing(progress: float) -> None:
    op = counted(running(progress=progress), progress_share=0.0)
    assert (op.deadline_at, op.max_status_requests) == (operation().deadline_at, 12)
    assert concluded(running(progress=progress), now=2400) == Escalate(Reason.DEADLINE_EXCEEDED, "deadline")
    spent = concluded(running(progress=progress), status_requests_used=12)
    assert spent == Escalate(Reason.REQUEST_BUDGET_EXHAUSTED)


@pytest.mark.rule("B14")
@pytest.mark.parametrize(
    ("business", "waived", "now", "name"),
    [
        (1000, False, 1000, "business deadline"),
        (1000, True, 2400, "deadline"),
        (3000, False, 2400, "deadline"),
    ],
)
def test_the_earlier_deadline_rules_and_is_named(business: float, waived: bool, now: float, name: str) -> None:
    fields: dict[str, Any] = {"business_deadline_at": at(business), "is_business_deadline_waived": waived}
    assert concluded(running(), now=now, **fields) == Escalate(Reason.DEADLINE_EXCEEDED, name)
    assert isinstance(concluded(running(), now=now - 1, **fields), WaitUntil)


@pytest.mark.rule("B14")
@pytest.mark.parametrize(
    ("now", "skew_ms", "is_contradiction"),
    [
        (600, 0, False),  # one check follows right after
        (660, 0, False),  # within the 60 s that clocks may differ
        (661, 0, True),
        (661, -30_000, False),  # by the provider's clock it is 631
        (631, 30_000, True),
    ],
)
def test_waiting_after_the_providers_own_expiry_contradicts(now: float, skew_ms: int, is_contradiction: bool) -> None:
    decision = concluded(running(clock_skew_ms=skew_ms), now=now, provider_expires_at=at(600))
    assert (isinstance(decision, Escalate) and decision.reason is Reason.CONTRADICTORY_RESPONSE) is is_contradiction


@pytest.mark.rule("B14")
def test_an_answer_may_move_the_providers_own_expiry() -> None:
    assert isinstance(concluded(running(expires_at=at(900)), now=700, provider_expires_at=at(600)), WaitUntil)


# ---- could not see ------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B10", "X4")
@pytest.mark.parametrize(
    ("total", "in_a_row", "most_in_a_row", "escalates"),
    [
        (1, 0, 3, False),  # this one makes 2 of 3
        (2, 0, 3, True),  # 3 of 3 in all
        (0, 1, 2, True),  # 2 of 2 in a row
        (1, 0, 2, False),
    ],
)
def test_the_transport_budget_has_two_limits(total: int, in_a_row: int, most_in_a_row: int, escalates: bool) -> None:
    decision = concluded(
        unanswered(),
        transport_failures_used=total,
        transport_failures_in_a_row=in_a_row,
        max_transport_failures_in_a_row=most_in_a_row,
    )
    assert isinstance(decision, Escalate) is escalates
    assert not isinstance(decision, Escalate) or decision.reason is Reason.TRANSPORT_FAILURES_EXHAUSTED


@pytest.mark.rule("B10")
def test_a_good_answer_resets_only_what_counts_in_a_row() -> None:
    op = counted(running(), transport_failures_used=2, transport_failures_in_a_row=2, rate_limits_used=1,
                 rate_limits_in_a_row=1, not_found_in_a_row=2)  # fmt: skip
    assert (op.transport_failures_in_a_row, op.rate_limits_in_a_row, op.not_found_in_a_row) == (0, 0, 0)
    assert (op.transport_failures_used, op.rate_limits_used) == (2, 1)


@pytest.mark.rule("B10")
def test_not_having_seen_the_job_changes_no_state_of_the_job() -> None:
    op = counted(unanswered(), last_known_state="running", state_class=StateClass.WAITING, progress_share=0.4)
    assert (op.last_known_state, op.state_class, op.progress_share) == ("running", StateClass.WAITING, 0.4)
    assert (op.attempts, op.transport_failures_used, op.delivery) == (1, 1, Delivery.AMBIGUOUS)


@pytest.mark.rule("B10")
def test_code_time_and_request_id_of_a_failed_look_are_kept() -> None:
    op = counted(answered(502, CallError.DELIVERY_FAILURE, request_id="req-7"), now=30)
    assert (op.last_http_status, op.last_http_at, op.last_request_id) == (502, at(30), "req-7")


@pytest.mark.rule("X4")
def test_a_503_uses_the_transport_budget_also_with_retry_after() -> None:
    op = counted(unavailable(30))
    assert (op.transport_failures_used, op.rate_limits_used) == (1, 0)


@pytest.mark.rule("B8", "X4")
@pytest.mark.parametrize(("before", "escalates"), [(0, False), (1, False), (2, True), (3, True)])
def test_the_rate_limit_budget_escalates_when_spent(before: int, escalates: bool) -> None:
    decision = concluded(limited(), rate_limits_used=before)
    assert isinstance(decision, Escalate) is escalates
    assert not isinstance(decision, Escalate) or decision.reason is Reason.RATE_LIMITED


@pytest.mark.rule("B8")
def test_a_429_that_spends_the_request_budget_escalates_as_that() -> None:
    decision = concluded(limited(), status_requests_used=12)
    assert isinstance(decision, Escalate)
    assert decision.reason is Reason.REQUEST_BUDGET_EXHAUSTED


@pytest.mark.rule("B11", "B12", "X1")
@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (denied(401), Reason.AUTHORIZATION_DENIED),
        (denied(403), Reason.AUTHORIZATION_DENIED),
        (answered(200, CallError.INTEGRATION_ERROR), Reason.INTEGRATION_ERROR),
        (answered(400, CallError.INTEGRATION_ERROR), Reason.INTEGRATION_ERROR),
    ],
)
def test_a_refusal_and_a_senseless_answer_stop_at_once(seen: Observation, reason: Reason) -> None:
    decision = concluded(seen)
    assert isinstance(decision, Escalate)
    assert decision.reason is reason


# ---- Retry-After against the deadline -----------------------------------------------------------------------------------
@pytest.mark.rule("B7")
@pytest.mark.parametrize("seen", [running, limited, unavailable])
@pytest.mark.parametrize(("asked", "escalates"), [(2299, False), (2300, True), (9000, True)])
def test_a_wait_that_reaches_past_the_deadline_escalates_at_once(seen: Any, asked: float, escalates: bool) -> None:
    decision = concluded(seen(retry_after_s=asked), now=100)  # 100 + 2300 = 2400
    assert isinstance(decision, Escalate) is escalates
    assert not isinstance(decision, Escalate) or decision.reason is Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE


@pytest.mark.rule("B7")
def test_a_finished_job_with_retry_after_is_finished() -> None:
    assert concluded(done(retry_after_s=9000)) == Succeed()


@pytest.mark.rule("B2", "B7")
def test_a_shorter_retry_after_never_shortens_an_earlier_one() -> None:
    first = counted(limited(600), now=0)
    second = tallied(first, limited(10), sample(), moment(5))
    assert first.not_before is not None
    assert (first.not_before.at, first.not_before.up, first.not_before.boot) == (at(600), 1_600_000, "boot-1")
    assert second.not_before == first.not_before


@pytest.mark.rule("C5")
def test_a_rejected_hint_is_told_with_the_plan() -> None:
    assert concluded(running(hint_s=99_999.0)) == WaitUntil(
        at(105), DelaySource.LOCAL_BACKOFF, "beyond the operation's deadline"
    )


@pytest.mark.rule("B9")
def test_a_hold_of_the_account_moves_the_plan() -> None:
    assert concluded(running(), held=at(500)) == WaitUntil(at(500), DelaySource.ACCOUNT_HOLD)


# ---- what is learned ----------------------------------------------------------------------------------------------------
@pytest.mark.rule("C12", "X23")
def test_what_an_answer_tells_is_kept_and_what_it_leaves_out_stays() -> None:
    told = running(
        progress=0.5,
        message="half",
        error=ProviderError(code="E1", text="slow"),
        counts=Counts(total=10, processed=5),
        errors_url="https://api.acme.example/errors",
        expires_at=at(900),
        started_at=at(5),
    )
    op = tallied(counted(told), running(), sample(), moment(120))
    assert (op.progress_share, op.message, op.error, op.counts) == (0.5, "half", told.error, told.counts)
    assert (op.errors_url, op.provider_expires_at, op.provider_started_at) == (told.errors_url, at(900), at(5))


@pytest.mark.rule("B3", "B4")
@pytest.mark.parametrize("seen", [running(), done(), unanswered(), limited(), missing(), denied(), accepted()])
def test_tallying_touches_neither_limits_nor_the_counter_of_requests(seen: Observation) -> None:
    before = operation(status_requests_used=4, attempts=3)
    op = tallied(before, seen, sample(), moment(100))
    assert (op.status_requests_used, op.attempts) == (4, 4)
    for limit in ("max_status_requests", "max_transport_failures", "max_rate_limits", "deadline_at", "granted", "original"):
        assert getattr(op, limit) == getattr(before, limit)


@pytest.mark.rule("L1")
def test_a_replay_with_the_same_draw_decides_the_same() -> None:
    first, second = (concluded(running(retry_after_s=33.0)) for _ in range(2))
    assert first == second
