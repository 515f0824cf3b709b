"""Writing an answer down: fenced by the token, one transaction, evidence only where the owner is stale.

The operation was tracked at 10:00:00; a draw of 0.5 makes the first delay 5 x 2 x 0.75 = 7.5 s.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from jobconsole.core.deciding.decide import ConfirmFirst
from jobconsole.core.judging.answer import Observation, RejectedHint, ResultFacts
from jobconsole.core.vocabulary import DelaySource, Phase, Reason, StateClass
from tests.core.desk import Desk
from tests.core.sample_contract import CONFIRM, sample
from tests.core.sample_facts import at, done, limited, running, state, unanswered, unavailable


def tracked(**budget: Any) -> Desk:
    """One operation that is due."""
    desk = Desk()
    desk.track(**budget)
    return desk


def event(desk: Desk, kind: str) -> dict[str, Any]:
    """The operation's last event of this kind."""
    return next(each for each in reversed(desk.events()) if each["kind"] == kind)


# ---- one answer ---------------------------------------------------------------------------------------------------------
@pytest.mark.rule("L1")
def test_the_answers_event_says_all_that_the_audit_needs() -> None:
    desk = tracked()
    desk.check(running(request_id="req-7", progress=0.25))
    told = event(desk, "check_answered")
    assert (told["phase"], told["job_state"], told["http_status"]) == ("waiting", "running", 200)
    assert (told["decision"], told["provider_request_id"], told["actor"]) == ("wait_until", "req-7", "worker:a")
    assert (told["planned_at"], told["delay_source"]) == ("2026-11-29T10:00:07.500000Z", "local_backoff")
    assert (told["status_requests_used"], told["max_status_requests"]) == (1, 12)
    assert told["deadline_at"] == "2026-11-29T10:40:00Z"
    assert told["draw"] == 0.5
    assert "lease_token" not in told  # given back by this event


@pytest.mark.rule("L1")
@pytest.mark.parametrize(
    ("seen", "decision", "reason"),
    [
        (running(), "wait_until", None),
        (done(), "succeed", None),
        (state("failed"), "stop", "provider_failure"),
        (state("odd", StateClass.UNKNOWN), "escalate", "unknown_state"),
        (unanswered(), "wait_until", None),
    ],
)
def test_the_decision_is_named_and_success_only_for_success(seen: Observation, decision: str, reason: str | None) -> None:
    desk = tracked()
    desk.check(seen)
    told = event(desk, "check_answered")
    assert (told["decision"], told.get("reason")) == (decision, reason)


@pytest.mark.rule("L1", "C5")
def test_a_change_of_state_and_rejected_hints_are_events_of_their_own() -> None:
    desk = tracked()
    desk.check(running(hint_s=99_999.0, hint_source="poll_after_seconds",
                       rejected=(RejectedHint(what="retry-after", value="²", why="no ASCII digits"),)))  # fmt: skip
    desk.check(running())
    assert desk.kinds().count("state_changed") == 1
    rejected = [each for each in desk.events() if each["kind"] == "hint_rejected"]
    assert [(each["hint"], each["value"], each["why"]) for each in rejected] == [
        ("retry-after", "²", "no ASCII digits"),
        ("poll_after_seconds", "99999", "beyond the operation's deadline"),
    ]


@pytest.mark.rule("S1", "S2")
def test_an_answer_gives_the_lease_back() -> None:
    desk = tracked()
    judged = desk.check(unanswered())
    assert (judged.op.lease, judged.op.attempts) == (None, 1)


@pytest.mark.rule("X24", "B3")
def test_a_confirmation_keeps_the_lease_for_one_more_counted_request() -> None:
    desk = Desk(sample(confirm=CONFIRM))
    desk.track()
    token = desk.reserved().token
    judged = desk.record(token, done())
    assert judged.wants_confirm
    assert (judged.decision, judged.op.lease.token) == (ConfirmFirst(), token)  # type: ignore[union-attr]
    desk.reserved(token=token, purpose="confirm")
    op = desk.record(token, Observation(verdict=StateClass.SUCCEEDED, http_status=200), is_confirm=True).op
    assert (op.phase, op.status_requests_used, op.attempts) == (Phase.SUCCEEDED, 2, 2)


@pytest.mark.rule("A2", "L7")
def test_the_terminal_answer_is_stored_and_the_closing_event_has_the_final_counters() -> None:
    desk = tracked()
    desk.check(unavailable())
    op = desk.check(done(result=ResultFacts(url="https://api.acme.example/f", inline={"rows": 3}, has_inline=True))).op
    assert (op.phase, op.ended_at, op.lease, op.next_poll_at) == (Phase.SUCCEEDED, desk.clock.wall(), None, None)
    assert op.result is not None
    assert (op.result.url, op.result.inline) == ("https://api.acme.example/f", {"rows": 3})
    closed = event(desk, "closed")
    assert (closed["status_requests_used"], closed["transport_failures_used"], closed["attempts"]) == (2, 1, 2)


@pytest.mark.rule("A4")
@pytest.mark.parametrize(("size", "is_kept"), [(65_530, True), (65_540, False)])
def test_an_inline_result_is_kept_up_to_64_kib(size: int, is_kept: bool) -> None:
    desk = tracked()
    text = "x" * size  # two quotes more as JSON
    op = desk.check(done(result=ResultFacts(inline=text, has_inline=True))).op
    assert op.result is not None
    assert op.result.has_inline is is_kept
    told = event(desk, "check_answered")["observation"]
    assert is_kept or "stays at the provider" in told["notes"][0]
    assert text not in json.dumps(told)  # the record has it; the evidence does not repeat it


@pytest.mark.rule("A5", "H13")
@pytest.mark.parametrize(
    ("seen", "phase", "look"),
    [
        (state("done_with_errors", StateClass.PARTIAL), Phase.COMPLETED_WITH_ERRORS, Reason.COMPLETED_WITH_ERRORS),
        (state("failed"), Phase.FAILED, Reason.PROVIDER_FAILURE),
        (state("cancelled"), Phase.CANCELLED, Reason.CANCELLED_ELSEWHERE),
        (state("expired"), Phase.EXPIRED, Reason.JOB_EXPIRED),
        (state("skipped", StateClass.NO_OUTCOME), Phase.NO_OUTCOME, Reason.NO_OUTCOME),
        (done(), Phase.SUCCEEDED, None),
    ],
)
def test_each_end_is_terminal_and_leaves_its_look(seen: Observation, phase: Phase, look: Reason | None) -> None:
    desk = tracked()
    op = desk.check(seen).op
    assert (op.phase, op.escalation) == (phase, None)
    assert (op.look.reason if op.look else None) is look


@pytest.mark.rule("H1", "H2")
def test_an_escalation_has_reason_time_options_and_plans_nothing() -> None:
    desk = tracked()
    desk.check(state("odd", StateClass.UNKNOWN, detail="the state 'odd' is not in the contract"))
    op = desk.op()
    assert op.escalation is not None
    assert (op.phase, op.escalation.reason, op.escalation.since) == (Phase.ESCALATED, Reason.UNKNOWN_STATE, at(0))
    assert op.escalation.detail == "the state 'odd' is not in the contract"
    assert {option.name for option in op.escalation.options} >= {"pause", "close"}
    assert (op.next_poll_at, op.lease, op.due_at) == (None, None, None)


# ---- late answers -------------------------------------------------------------------------------------------------------
@pytest.mark.rule("S1", "A1")
@pytest.mark.parametrize("seen", [running(), done(), state("failed"), unanswered(), limited(60)])
def test_a_stale_owners_answer_is_evidence_and_changes_nothing(seen: Observation) -> None:
    desk = tracked()
    stale = desk.reserved().token
    desk.clock.advance(15)
    fresh = desk.reserved(owner="worker:b")
    before = desk.op()
    judged = desk.record(stale, seen)
    after = desk.op()
    assert judged.decision is None
    assert desk.kinds()[-1] == "late_answer"
    assert event(desk, "late_answer")["stale_token"] == stale
    assert (after.phase, after.lease, after.attempts, after.revision) == (before.phase, fresh.op.lease, 1, before.revision)
    assert desk.account().hold_until_at is None
    assert desk.record(fresh.token, running(), owner="worker:b").op.phase is Phase.WAITING


@pytest.mark.rule("S1")
def test_a_lease_that_ended_without_a_successor_may_still_record() -> None:
    desk = tracked()
    token = desk.reserved().token
    desk.clock.advance(3600)
    assert desk.record(token, done()).op.phase is Phase.SUCCEEDED


@pytest.mark.rule("A1")
@pytest.mark.parametrize(
    ("seen", "moves"), [(done(), True), (state("failed"), True), (running(), False), (unanswered(), False)]
)
def test_a_late_end_moves_the_next_check_to_now(seen: Observation, moves: bool) -> None:
    desk = tracked()
    stale = desk.reserved().token
    desk.clock.advance(15)
    fresh = desk.reserved(owner="worker:b").token
    desk.record(fresh, running(), owner="worker:b")
    planned = desk.op().next_poll_at
    desk.record(stale, seen)
    assert desk.op().phase is Phase.WAITING
    assert desk.op().next_poll_at == (desk.clock.wall() if moves else planned)


@pytest.mark.rule("C4", "A1", "X7")
@pytest.mark.parametrize("late", [running(), state("failed"), done()])
def test_a_terminal_state_is_final(late: Observation) -> None:
    desk = tracked()
    first = desk.reserved().token
    desk.clock.advance(15)
    second = desk.reserved(owner="worker:b").token
    desk.record(second, done(), owner="worker:b")
    ended = desk.op()
    desk.record(first, late)
    after = desk.op()
    assert (after.phase, after.revision, after.ended_at, after.look) == (
        Phase.SUCCEEDED, ended.revision, ended.ended_at, ended.look,
    )  # fmt: skip
    assert desk.kinds().count("closed") == 1


# ---- the account --------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B9", "B8")
def test_a_429_holds_the_account_and_the_plan_obeys() -> None:
    desk = tracked()
    op = desk.check(limited(90)).op
    assert op.next_poll_at == at(90 + 2.0 * 0.5)  # spread by at most 2 s
    assert op.delay_source is DelaySource.PROVIDER_RETRY_AFTER
    assert desk.account().hold_until_at == at(90)


@pytest.mark.rule("B7", "B10")
def test_a_503_with_retry_after_uses_the_transport_budget_and_holds() -> None:
    desk = tracked()
    op = desk.check(unavailable(30)).op
    assert (op.transport_failures_used, op.rate_limits_used) == (1, 0)
    assert desk.account().hold_until_at == at(30)


@pytest.mark.rule("X7", "B4")
def test_polls_change_neither_revision_nor_limits() -> None:
    desk = tracked(requests=50, failures=20)
    before = desk.op()
    for seen in (running(), unanswered(), running(retry_after_s=5.0), limited(5), running(progress=0.5)):
        desk.check(seen)
    after = desk.op()
    assert after.revision == before.revision
    assert (after.max_status_requests, after.max_transport_failures, after.deadline_at) == (50, 20, before.deadline_at)
    assert after.status_requests_used == after.attempts == 5


@pytest.mark.rule("X22")
def test_the_story_of_the_specification_is_in_the_events() -> None:
    desk = tracked(requests=3)
    desk.check(state("queued", StateClass.WAITING))
    desk.check(unavailable(120))
    desk.check(running())
    assert desk.kinds() == [
        "submitted",
        "check_reserved", "check_answered", "state_changed",
        "check_reserved", "check_answered", "held",
        "check_reserved", "check_answered", "state_changed", "escalated",
    ]  # fmt: skip
    assert event(desk, "escalated")["reason"] == "request_budget_exhausted"
