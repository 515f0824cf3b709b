"""A refused credential: one operation asks, the others wait held, and whoever mends access lets all go on (B11)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.command import Scope
from jobconsole.core.commands.reservation import Deferred, Reserved, inherit_denial
from jobconsole.core.deciding.account import Denied, carrier
from jobconsole.core.judging.answer import CallError
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import DelaySource, Phase, Reason
from tests.core.desk import ACCOUNT, Desk
from tests.core.sample_contract import sample
from tests.core.sample_facts import answered, at, denied, done, running, unanswered

TWO_CREDENTIALS = 'secret = "env:ACME_KEY"\nothers = ["env:ACME_KEY_2"]'


def three() -> Desk:
    """Three operations of one account, `op-1` to `op-3`, their deadlines in this order."""
    desk = Desk(sample(auth=TWO_CREDENTIALS))
    for number in (1, 2, 3):
        desk.track(f"op-{number}", deadline=30 + number)
    return desk


def inherited(desk: Desk, operation_id: str) -> Operation | None:
    """Offer the account's escalation to an operation."""
    scope = Scope(operations=(operation_id,), accounts=(ACCOUNT,), actions=(f"act-{operation_id}",))
    return desk.told(scope, inherit_denial(operation_id, desk.contract, "worker:a"))


@pytest.mark.rule("B11")
@pytest.mark.parametrize("status", [401, 403])
def test_one_operation_escalates_and_the_others_wait_held(status: int) -> None:
    desk = three()
    desk.check(denied(status))
    assert desk.op().phase is Phase.ESCALATED
    assert desk.op().escalation.reason is Reason.AUTHORIZATION_DENIED  # type: ignore[union-attr]
    assert desk.account().denied == Denied(since=at(0), http_status=status, carriers={"": "op-1"})
    got = desk.reserve("op-2")
    assert isinstance(got, Deferred)
    assert (got.why, got.until) == (DelaySource.ACCOUNT_HOLD, None)
    assert desk.op("op-2").phase is Phase.WAITING
    assert inherited(desk, "op-2") is None  # somebody carries it


@pytest.mark.rule("B11")
def test_a_second_refusal_in_flight_makes_no_second_escalation() -> None:
    desk = three()
    first, second = desk.reserved("op-1"), desk.reserved("op-2")
    desk.record(first.token, denied())
    judged = desk.record(second.token, denied(), "op-2")
    assert (judged.op.phase, judged.op.delay_source) == (Phase.WAITING, DelaySource.ACCOUNT_HOLD)


@pytest.mark.rule("B11")
def test_deadlines_run_while_the_account_is_held() -> None:
    desk = three()
    desk.check(denied())
    desk.clock.advance(timedelta(minutes=32))
    desk.reserve("op-2")
    assert desk.op("op-2").escalation.reason is Reason.DEADLINE_EXCEEDED  # type: ignore[union-attr]
    assert desk.op("op-3").phase is Phase.WAITING


@pytest.mark.rule("B11")
def test_when_the_carrier_closes_the_next_one_inherits() -> None:
    desk = three()
    desk.check(denied())
    desk.chosen("close", reason="not needed")
    assert carrier(desk.account(), None) == "op-1"  # until somebody else asks
    op = inherited(desk, "op-2")
    assert op is not None
    assert op.escalation.reason is Reason.AUTHORIZATION_DENIED  # type: ignore[union-attr]
    assert carrier(desk.account(), None) == "op-2"
    assert inherited(desk, "op-3") is None


@pytest.mark.rule("B11")
def test_a_submission_that_waits_for_the_account_may_inherit_too() -> None:
    desk = Desk(sample())
    desk.track("op-1")
    desk.submit("op-2")
    desk.check(denied())
    desk.chosen("close", reason="not needed")
    op = inherited(desk, "op-2")
    assert op is not None
    assert (op.phase, op.open_actions) == (Phase.ESCALATED, {})
    assert desk.action("act-op-2")["outcome"] == "superseded"
    assert "credential_mended" in desk.options("op-2")
    desk.chosen("credential_mended", "op-2")
    assert desk.op("op-2").phase is Phase.SUBMITTING


@pytest.mark.rule("B11", "X8")
@pytest.mark.parametrize("seen", [running(), done(), answered(404, CallError.NOT_FOUND)])
def test_mended_access_is_one_counted_probe_that_releases_all(seen: Any) -> None:
    desk = three()
    desk.check(denied())
    desk.chosen("credential_mended")
    assert desk.op().permit.checks == 1  # type: ignore[union-attr]
    used = desk.op().status_requests_used
    desk.check(seen)
    assert desk.op().status_requests_used == used + 1
    assert desk.account().denied is None
    assert isinstance(desk.reserve("op-2"), Reserved)
    assert "released" in desk.kinds()


@pytest.mark.rule("B11")
@pytest.mark.parametrize("seen", [denied(401), unanswered()])
def test_a_probe_that_is_refused_or_lost_holds_again(seen: Any) -> None:
    desk = three()
    desk.check(denied())
    desk.chosen("credential_mended")
    desk.check(seen)
    assert desk.op().escalation.reason is Reason.AUTHORIZATION_DENIED  # type: ignore[union-attr]
    assert carrier(desk.account(), None) == "op-1"
    assert isinstance(desk.reserve("op-2"), Deferred)


@pytest.mark.rule("B11")
def test_only_the_probe_passes_while_the_account_is_denied() -> None:
    desk = three()
    desk.check(denied())
    desk.chosen("credential_mended")
    assert isinstance(desk.reserve("op-2"), Deferred)
    assert isinstance(desk.reserve("op-1"), Reserved)


@pytest.mark.rule("B11", "C11")
def test_another_credential_serves_its_operation_and_the_refused_one_stays_held() -> None:
    desk = three()
    desk.check(denied())
    desk.chosen("use_credential")
    assert desk.op().credential == "env:ACME_KEY_2"
    desk.check(running())
    assert desk.op().phase is Phase.WAITING
    desk.check(running())  # the refused credential does not hold this one any more
    assert isinstance(desk.reserve("op-2"), Deferred)
    assert inherited(desk, "op-1") is None  # it has its own credential
    assert inherited(desk, "op-2") is not None


@pytest.mark.rule("B11")
def test_two_refused_credentials_are_both_held() -> None:
    desk = three()
    desk.check(denied())
    desk.chosen("use_credential")
    desk.check(denied())
    assert set(desk.account().denied.carriers) == {"", "env:ACME_KEY_2"}  # type: ignore[union-attr]
    assert isinstance(desk.reserve("op-2"), Deferred)
