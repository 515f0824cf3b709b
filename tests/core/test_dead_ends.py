"""Ways in which a wait could have got stuck: each was found by a random history (`tests/engine/test_liveness.py`)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.commands.reservation import Deferred, Reserved, Stopped
from jobconsole.core.vocabulary import Phase, Reason, StateClass
from tests.core.desk import Desk
from tests.core.sample_contract import CANCEL, CHARGED, CONFIRM, WITH_TOKEN, sample
from tests.core.sample_facts import accepted, at, denied, done, reason, running, state, unanswered

MINUTES = timedelta(minutes=1)
ONE_TOKEN = sample(limits="per_minute = 6", confirm=CONFIRM)


@pytest.mark.rule("X24", "B9")
def test_a_success_that_finds_no_request_to_confirm_it_is_confirmed_by_the_next_look() -> None:
    """One token in 10 s: asking for the state again would use it up, again and again."""
    desk = Desk(ONE_TOKEN)
    desk.track()
    got = desk.reserved()
    assert desk.record(got.token, done()).wants_confirm
    assert isinstance(desk.reserve(token=got.token, purpose="confirm"), Deferred)
    desk.give_back(got.token)
    desk.clock.advance(10)
    again = desk.reserved()
    assert again.op.lease is not None
    assert again.op.lease.purpose == "confirm"
    assert desk.record(again.token, done(), is_confirm=True).op.phase is Phase.SUCCEEDED


@pytest.mark.rule("X24")
def test_a_confirmation_that_was_not_answered_asks_for_the_state_again() -> None:
    desk = Desk(sample(confirm=CONFIRM))
    desk.track()
    got = desk.reserved()
    desk.record(got.token, done())
    desk.reserve(token=got.token, purpose="confirm")
    op = desk.record(got.token, unanswered(), is_confirm=True).op
    assert (op.phase, op.is_success_unconfirmed) == (Phase.WAITING, False)


@pytest.mark.rule("X8", "X24")
@pytest.mark.parametrize("status", [None, CHARGED])
def test_a_permitted_look_pays_for_its_confirmation_where_the_budget_is_spent(status: str | None) -> None:
    tables: dict[str, Any] = {"status": status} if status else {}
    desk = Desk(sample(confirm=CONFIRM, **tables))
    desk.track(requests=1)
    if status:
        desk.reserve()
        desk.chosen("approve_once")
    desk.check(state("odd", StateClass.CONTRADICTION))
    assert desk.options()["check_once"].checks == 2
    desk.chosen("check_once")
    got = desk.reserved()
    assert desk.record(got.token, done()).wants_confirm
    assert isinstance(desk.reserve(token=got.token, purpose="confirm"), Reserved)
    op = desk.record(got.token, done(), is_confirm=True).op
    assert (op.phase, op.status_requests_used, op.max_status_requests, op.granted.checks) == (Phase.SUCCEEDED, 3, 3, 2)


@pytest.mark.rule("H4", "X8", "X15")
def test_a_crash_wastes_also_what_a_permit_kept_for_the_confirmation() -> None:
    desk = Desk(sample(confirm=CONFIRM, status=CHARGED))
    desk.track()
    desk.reserve()
    desk.chosen("approve_once")
    desk.reserved()
    desk.clock.advance(15)
    got = desk.reserve(owner="worker:b")
    assert isinstance(got, Stopped)
    assert (reason(got.op), got.op.permit) == (Reason.APPROVAL_REQUIRED, None)


@pytest.mark.rule("C10", "B17")
def test_a_replay_may_leave_after_the_deadline_for_ten_minutes() -> None:
    desk = Desk(sample(submit=WITH_TOKEN))
    desk.submit()
    for _ in range(3):
        desk.perform(unanswered())
    assert reason(desk.op()) is Reason.SUBMISSION_AMBIGUOUS
    desk.clock.advance(41 * MINUTES)
    desk.chosen("replay_submit")
    op = desk.perform(accepted())
    assert (op.provider_job_id, reason(op)) == ("job-1", Reason.DEADLINE_EXCEEDED)  # its job is known: it may be extended
    assert "extend" in desk.options()


@pytest.mark.rule("C10", "B17")
def test_a_replay_that_nobody_sent_asks_again() -> None:
    desk = Desk(sample(submit=WITH_TOKEN))
    desk.submit()
    for _ in range(3):
        desk.perform(unanswered())
    desk.clock.advance(41 * MINUTES)
    desk.chosen("replay_submit")
    assert desk.op().due_at == desk.clock.wall()
    desk.clock.advance(10 * MINUTES)
    assert isinstance(desk.claim(), Stopped)
    assert reason(desk.op()) is Reason.SUBMISSION_AMBIGUOUS


@pytest.mark.rule("X11", "B14")
def test_a_follow_up_is_looked_at_when_its_permit_ends_and_not_at_the_deadline() -> None:
    """Between the two a look would do nothing: a worker that is told to look would spin."""
    desk = Desk(sample(cancel=CANCEL))
    desk.track(deadline=20)
    desk.check(running())
    desk.clock.advance(19 * MINUTES)
    desk.chosen("cancel")
    desk.perform(accepted(retry_after_s=5_000.0), "cancel")
    op = desk.op()
    assert op.permit is not None
    assert (op.phase, op.due_at) == (Phase.WAITING, op.permit.until_at)


@pytest.mark.rule("B11", "X11")
def test_a_cancel_waits_for_the_probe_and_does_not_call_a_worker() -> None:
    desk = Desk(sample(cancel=CANCEL))
    desk.track()
    desk.chosen("cancel")
    desk.check(denied())
    assert set(desk.options()) == {"credential_mended", "close"}
    op = desk.chosen("credential_mended")
    assert op.open_actions["cancel"].due_at == op.due_at  # the probe's own time: now
    assert isinstance(desk.claim("cancel"), Deferred)
    op = desk.check(running()).op
    assert (op.phase, desk.account().denied, op.due_at) == (Phase.WAITING, None, op.open_actions["cancel"].due_at)


@pytest.mark.rule("B11", "C11")
def test_a_lost_probe_of_a_credential_that_nobody_refused_asks_nothing() -> None:
    desk = Desk(sample(auth='secret = "env:K1"\nothers = ["env:K2"]'))
    desk.track()
    desk.check(denied())
    desk.chosen("use_credential")
    desk.reserved()
    desk.clock.advance(15)
    desk.reserve(owner="worker:b")
    op = desk.op()
    assert (op.phase, op.credential, op.permit, op.escalation) == (Phase.WAITING, "env:K2", None, None)


@pytest.mark.rule("H2", "H3")
@pytest.mark.parametrize("asked", [{"checks": 50}, {"checks": -1}, {"minutes": 5}, {"failures": 1}])
def test_no_option_grants_more_than_it_states(asked: dict[str, Any]) -> None:
    desk = Desk()
    desk.track()
    desk.check(state("odd", StateClass.CONTRADICTION))
    assert desk.refused("check_once", **asked).why == "over_bound"
    assert desk.op().permit is None


@pytest.mark.rule("B9")
def test_an_account_that_only_refuses_looks_after_a_reboot_gives_a_token_all_the_same() -> None:
    desk = Desk(sample(limits="per_minute = 6"))
    desk.track()
    desk.check(running())
    desk.clock.reboot("boot-2")
    for _ in range(3):
        assert isinstance(desk.reserve(), Deferred)
        desk.clock.advance(3.1)
    assert isinstance(desk.reserve(), Reserved)  # 10 s after the machine started
    assert desk.op().status_requests_used == 2
    assert desk.clock.wall() >= at(60)
