"""Cancel: an action of its own, followed to the end by checks of its own (A7, X11, C9).

The follow-up is 4 checks in 10 minutes, also past the deadline and where the budget is spent.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.core.commands.reservation import Stopped
from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.vocabulary import Delivery, Phase, Reason
from tests.core.desk import Desk
from tests.core.sample_contract import CANCEL, sample
from tests.core.sample_facts import (
    done,
    limited,
    missing,
    reason,
    running,
    state,
    unanswered,
)

CANCELLABLE = sample(cancel=CANCEL)
REFUSED = Observation(verdict=CallError.DELIVERY_FAILURE, delivery=Delivery.NONE, detail="connection refused")


def cancelling(*, at_deadline: bool = False) -> Desk:
    """A waiting (or an escalated) operation whose cancel was chosen."""
    desk = Desk(CANCELLABLE)
    desk.track()
    desk.check(running())
    if at_deadline:
        desk.clock.advance(timedelta(minutes=41))
        desk.reserve()
        assert desk.op().phase is Phase.ESCALATED
    desk.chosen("cancel")
    return desk


@pytest.mark.rule("A7", "X11")
@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        (Observation(verdict="waiting", http_status=200), "accepted"),
        (Observation(verdict="waiting", http_status=404), "answered 404"),
        (unanswered(), "unknown"),
        (REFUSED, "not_sent"),
    ],
)
@pytest.mark.parametrize("at_deadline", [False, True])
def test_every_answer_to_a_cancel_is_followed_by_checks_and_sets_no_state(
    seen: Observation, outcome: str, at_deadline: bool
) -> None:
    desk = cancelling(at_deadline=at_deadline)
    action_id, before = desk.op().open_actions["cancel"].action_id, desk.op()
    op = desk.perform(seen, "cancel")
    assert (op.phase, op.last_known_state, op.open_actions) == (before.phase, "running", {})
    assert desk.action(action_id)["outcome"] == outcome
    assert op.permit is not None
    assert (op.permit.checks, op.permit.until_at) == (4, desk.clock.wall() + timedelta(minutes=10))
    assert op.next_poll_at == desk.clock.wall()


@pytest.mark.rule("X11")
def test_a_cancel_may_leave_after_the_deadline() -> None:
    desk = cancelling(at_deadline=True)
    assert desk.claimed("cancel").until > desk.clock.wall()


@pytest.mark.rule("A7", "X11", "H13")
@pytest.mark.parametrize("at_deadline", [False, True])
@pytest.mark.parametrize(
    ("seen", "phase"),
    [(state("cancelled"), Phase.CANCELLED), (done(), Phase.SUCCEEDED), (state("failed"), Phase.FAILED)],
)
def test_the_follow_up_ends_when_the_providers_word_is_known(seen: Observation, phase: Phase, at_deadline: bool) -> None:
    desk = cancelling(at_deadline=at_deadline)
    desk.perform(Observation(verdict="waiting", http_status=202), "cancel")
    desk.check(running())
    op = desk.check(seen).op
    assert op.phase is phase
    assert (op.look is None) is (phase in (Phase.CANCELLED, Phase.SUCCEEDED))


@pytest.mark.rule("X11")
@pytest.mark.parametrize("at_deadline", [False, True])
@pytest.mark.parametrize("seen", [running(), unanswered(), limited(), missing()])
def test_four_checks_without_an_end_leave_the_cancel_unconfirmed(seen: Observation, at_deadline: bool) -> None:
    desk = cancelling(at_deadline=at_deadline)
    desk.perform(Observation(verdict="waiting", http_status=202), "cancel")
    before = desk.op().status_requests_used
    for _ in range(3):
        assert reason(desk.check(seen).op) in (None, Reason.DEADLINE_EXCEEDED)
    op = desk.check(seen).op
    assert (reason(op), op.status_requests_used) == (Reason.CANCEL_UNCONFIRMED, before + 4)
    assert {"cancel", "check_once"} <= set(desk.options())


@pytest.mark.rule("X11")
def test_ten_minutes_without_an_end_leave_the_cancel_unconfirmed() -> None:
    desk = cancelling()
    desk.perform(Observation(verdict="waiting", http_status=202), "cancel")
    desk.clock.advance(timedelta(minutes=10))
    assert isinstance(desk.reserve(), Stopped)
    assert reason(desk.op()) is Reason.CANCEL_UNCONFIRMED


@pytest.mark.rule("X11", "B4")
def test_the_follow_up_of_a_cancel_is_granted_where_the_budget_is_spent() -> None:
    desk = Desk(CANCELLABLE)
    desk.track(requests=1)
    desk.check(running())
    assert reason(desk.op()) is Reason.REQUEST_BUDGET_EXHAUSTED
    desk.chosen("cancel")
    desk.perform(Observation(verdict="waiting", http_status=202), "cancel")
    op = desk.check(running()).op
    assert (op.max_status_requests, op.status_requests_used, op.granted.checks, op.granted.times) == (2, 2, 1, 0)


@pytest.mark.rule("B7", "X11")
def test_a_wait_in_the_answer_to_a_cancel_paces_the_follow_up_and_holds_the_account() -> None:
    desk = cancelling()
    op = desk.perform(limited(30), "cancel")
    assert op.next_poll_at == desk.clock.wall() + timedelta(seconds=30)
    assert desk.account().hold_until_at == op.next_poll_at


@pytest.mark.rule("A7", "X6")
def test_an_extension_keeps_the_follow_up_of_a_cancel() -> None:
    desk = cancelling()
    desk.perform(Observation(verdict="waiting", http_status=202), "cancel")
    op = desk.chosen("extend")
    assert op.permit is not None
    assert op.permit.purpose == "cancel"


@pytest.mark.rule("A3", "X11")
def test_a_cancel_whose_owner_died_is_followed_up_and_not_repeated() -> None:
    desk = cancelling()
    desk.claimed("cancel")
    desk.clock.advance(15)
    desk.claim("cancel", owner="worker:b")
    assert (desk.op().open_actions, desk.op().permit is not None) == ({}, True)


@pytest.mark.rule("A1", "C4")
def test_a_job_that_ends_first_ends_its_open_cancel() -> None:
    desk = cancelling()
    action_id = desk.op().open_actions["cancel"].action_id
    desk.check(done())
    assert (desk.op().phase, desk.op().open_actions) == (Phase.SUCCEEDED, {})
    assert desk.action(action_id)["outcome"] == "superseded"
