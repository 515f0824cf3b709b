"""What a person permits beside phase and limits: one request, one approval, another contract, another credential.

A permit is one-shot: its reservation uses it up, a crash wastes it, and it ends ten minutes after it could first be used.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.commands.reservation import Deferred, Reserved, Stopped
from jobconsole.core.vocabulary import Phase, Reason, StateClass
from tests.core.desk import Desk
from tests.core.sample_contract import CHARGED, CONFIRM, WITH_TOKEN, sample
from tests.core.sample_facts import at, denied, done, reason, running, state, unanswered

MINUTES = timedelta(minutes=1)


@pytest.mark.rule("X8", "H3")
def test_check_once_is_one_request_that_decides_again() -> None:
    desk = Desk()
    desk.track()
    desk.check(state("odd", StateClass.CONTRADICTION))
    op = desk.chosen("check_once")
    assert (op.phase, op.permit.purpose, op.permit.checks) == (Phase.ESCALATED, "check_once", 1)  # type: ignore[union-attr]
    assert op.permit.until_at == at(600)  # type: ignore[union-attr]
    assert set(desk.options()) == {"close"}  # while it is under way
    op = desk.check(running()).op
    assert (op.phase, op.escalation, op.permit) == (Phase.WAITING, None, None)


@pytest.mark.rule("X8")
def test_a_success_learned_by_check_once_ends_the_operation_and_withdraws_the_item() -> None:
    desk = Desk()
    desk.track(failures=1)
    desk.check(unanswered())
    desk.clock.advance(50 * MINUTES)
    desk.chosen("check_once")
    op = desk.check(done()).op
    assert (op.phase, op.escalation, op.is_late) == (Phase.SUCCEEDED, None, True)
    assert (op.permit, op.due_at) == (None, None)


@pytest.mark.rule("X8", "B4")
def test_a_permit_where_the_budget_is_spent_is_a_grant_of_one_request() -> None:
    desk = Desk()
    desk.track(requests=1, failures=1)
    desk.check(unanswered())
    desk.chosen("check_once")
    op = desk.check(running()).op
    assert (op.max_status_requests, op.status_requests_used, op.granted.checks, op.granted.times) == (2, 2, 1, 0)
    assert reason(op) is Reason.REQUEST_BUDGET_EXHAUSTED


@pytest.mark.rule("H4", "X8")
def test_a_crash_wastes_a_permit_and_doubles_nothing() -> None:
    desk = Desk()
    desk.track()
    desk.check(state("odd", StateClass.CONTRADICTION))
    desk.chosen("check_once")
    desk.reserved()
    desk.clock.advance(15)
    got = desk.reserve(owner="worker:b")
    assert isinstance(got, Stopped)
    assert (reason(got.op), got.op.permit) == (Reason.CONTRADICTORY_RESPONSE, None)
    assert got.op.status_requests_used == 2


@pytest.mark.rule("X8")
def test_a_permit_that_nobody_used_ends_after_ten_minutes() -> None:
    desk = Desk()
    desk.track()
    desk.check(state("odd", StateClass.CONTRADICTION))
    desk.chosen("check_once")
    desk.clock.advance(10 * MINUTES)
    got = desk.reserve()
    assert isinstance(got, Stopped)
    assert (got.op.status_requests_used, got.op.permit) == (1, None)
    assert "check_once" in desk.options()


@pytest.mark.rule("B7", "X8")
def test_a_permit_waits_for_the_provider_and_lasts_ten_minutes_from_then() -> None:
    desk = Desk()
    desk.track()
    desk.check(state("running", StateClass.CONTRADICTION, retry_after_s=1800.0))
    op = desk.chosen("check_once")
    assert (op.next_poll_at, op.permit.until_at) == (at(1800), at(1800 + 600))  # type: ignore[union-attr]


@pytest.mark.rule("C8", "X15", "H3")
@pytest.mark.parametrize("contract", [sample(status=CHARGED), sample(auth='secret = "env:K"\napproval = "each_call"')])
def test_each_call_that_needs_it_is_approved_by_itself(contract: Any) -> None:
    desk = Desk(contract)
    desk.track()
    assert isinstance(desk.reserve(), Stopped)
    assert (reason(desk.op()), desk.op().status_requests_used) == (Reason.APPROVAL_REQUIRED, 0)
    desk.chosen("approve_once")
    got = desk.reserved()
    assert isinstance(desk.reserve(token=got.token), Deferred)  # no repeat, no redirect
    desk.record(got.token, running())
    desk.clock.advance(60)
    desk.reserve()
    assert (reason(desk.op()), desk.op().status_requests_used) == (Reason.APPROVAL_REQUIRED, 1)


@pytest.mark.rule("X15", "X24")
def test_an_approval_covers_the_confirmation_and_no_repeat_of_it() -> None:
    desk = Desk(sample(status=CHARGED, confirm=CONFIRM))
    desk.track()
    desk.reserve()
    desk.chosen("approve_once")
    got = desk.reserved()
    assert desk.record(got.token, done()).wants_confirm
    assert isinstance(desk.reserve(token=got.token, purpose="confirm"), Reserved)
    assert isinstance(desk.reserve(token=got.token, purpose="confirm"), Deferred)
    assert desk.record(got.token, done(), is_confirm=True).op.phase is Phase.SUCCEEDED


@pytest.mark.rule("X15")
def test_the_deadline_runs_while_an_approval_is_asked_for() -> None:
    desk = Desk(sample(status=CHARGED))
    desk.track()
    desk.reserve()
    desk.clock.advance(41 * MINUTES)
    desk.chosen("approve_once")
    op = desk.check(running()).op
    assert reason(op) is Reason.DEADLINE_EXCEEDED


@pytest.mark.rule("X13")
def test_adopting_the_contract_judges_by_it_from_now_on() -> None:
    desk = Desk()
    desk.track()
    desk.check(state("odd", StateClass.UNKNOWN))
    newer = replace(sample(), digest="d" * 64)
    assert "adopt_contract" not in desk.options(new_digest=desk.op().contract)
    op = desk.chosen("adopt_contract", new_contract=newer)
    assert (op.contract, op.permit.checks) == ("d" * 64, 1)  # type: ignore[union-attr]
    assert desk.check(running()).op.phase is Phase.WAITING


@pytest.mark.rule("B11", "C11")
def test_only_a_named_credential_may_be_switched_to() -> None:
    desk = Desk(sample(auth='secret = "env:K1"\nothers = ["env:K2", "env:K3"]', submit=WITH_TOKEN))
    desk.track()
    desk.check(denied())
    assert desk.refused("use_credential").why == "credential_needed"
    assert desk.refused("use_credential", credential="env:STOLEN").why == "credential_needed"
    assert desk.chosen("use_credential", credential="env:K3").credential == "env:K3"


@pytest.mark.rule("B11", "C11")
def test_the_only_other_credential_need_not_be_named_and_no_third_one_is_taken() -> None:
    desk = Desk(sample(auth='secret = "env:K1"\nothers = ["env:K2"]'))
    desk.track()
    desk.check(denied())
    assert desk.refused("use_credential", credential="env:STOLEN").why == "credential_needed"
    assert desk.chosen("use_credential").credential == "env:K2"
