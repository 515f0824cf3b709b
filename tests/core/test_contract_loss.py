"""An operation whose contract is lost is stopped once, by the bound that passed or for the loss itself; a person goes on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from jobconsole.core.command import Refusal, Scope
from jobconsole.core.commands.contract_loss import Ending, Loss, stop_without_contract
from jobconsole.core.commands.decisions import open_options, why_not_open
from jobconsole.core.commands.reservation import Deferred, Stopped
from jobconsole.core.events import Kind
from jobconsole.core.judging.observation import unseen
from jobconsole.core.operation import Escalation, Operation
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.errors import TransportFault
from tests.core.desk import ACCOUNT, Desk
from tests.core.sample_contract import CANCEL, WITH_TOKEN, sample
from tests.core.sample_facts import accepted, denied, running

TOLD = "acme: the contract that op-1 was started with is not in the store; restore it"
CANCELLABLE = sample(cancel=CANCEL, submit=WITH_TOKEN)


def met(desk: Desk, *, is_booking: bool = False) -> Ending | Refusal:
    """What happens when a worker meets it."""
    actions = tuple(each.action_id for each in desk.op().open_actions.values())
    loss = Loss("op-1", "worker:b", TOLD, is_booking)
    return desk.run(Scope(operations=("op-1",), accounts=(ACCOUNT,), actions=actions), stop_without_contract(loss))


def stopped(desk: Desk) -> Operation:
    """The operation after a worker met it; that it was stopped is asserted."""
    ending = met(desk)
    assert isinstance(ending, Stopped)
    assert ending.op.escalation is not None
    assert TOLD in ending.op.escalation.detail
    return ending.op


def asked(op: Operation) -> tuple[Phase, Reason | None, str]:
    """Phase, reason and sentence."""
    return op.phase, op.escalation.reason if op.escalation else None, op.escalation.detail if op.escalation else ""


def offered(op: Operation, desk: Desk, *, new_digest: str | None) -> list[str]:
    """What is open without the contract."""
    return [option.name for option in open_options(op, None, desk.clock.wall(), new_digest)]


# ---- what it is stopped for ---------------------------------------------------------------------------------------------
@pytest.mark.rule("X13", "H1")
def test_before_the_deadline_a_person_is_asked_about_the_contract_and_once() -> None:
    desk = Desk()
    desk.track()
    assert asked(stopped(desk)) == (Phase.ESCALATED, Reason.INTEGRATION_ERROR, TOLD)
    assert met(desk) == Deferred("escalated")
    assert desk.kinds().count(Kind.ESCALATED) == 1
    assert desk.op().due_at is None


@pytest.mark.rule("X13", "B2")
@pytest.mark.parametrize("is_submitted", [False, True])
def test_a_deadline_that_passed_is_the_reason_whatever_else_is_wrong(is_submitted: bool) -> None:
    """40 minutes of deadline, 41 have passed; the record of a submission that never left has one too."""
    desk = Desk()
    desk.submit() if is_submitted else desk.track()
    desk.clock.advance(41 * 60)
    assert asked(stopped(desk)) == (Phase.ESCALATED, Reason.DEADLINE_EXCEEDED, f"deadline reached; {TOLD}")
    assert desk.op().open_actions == {}


@pytest.mark.rule("X19", "B2")
@pytest.mark.parametrize(("minutes", "phase"), [(39, Phase.WAITING), (40, Phase.ESCALATED)])
def test_booking_at_opening_stops_only_what_passed_its_deadline(minutes: int, phase: Phase) -> None:
    desk = Desk()
    desk.track()
    desk.clock.advance(minutes * 60)
    met(desk, is_booking=True)
    assert desk.op().phase is phase


@pytest.mark.rule("S1")
def test_a_request_of_another_worker_is_left_to_it_until_its_lease_has_ended() -> None:
    """The lease is 15 s; its owner may know the contract still. After that the request stays counted."""
    desk = Desk()
    desk.track()
    lease = desk.reserved().op.lease
    assert lease is not None
    assert met(desk) == Deferred("leased", lease.until_at)
    desk.clock.advance(15)
    assert (stopped(desk).lease, desk.op().status_requests_used) == (None, 1)
    assert Kind.LEASE_LOST in desk.kinds()


@pytest.mark.rule("A3", "B17")
def test_a_submission_in_flight_is_its_owners_and_unknown_after_that() -> None:
    """Sent again it might run twice: without the contract no token is documented."""
    desk = Desk(CANCELLABLE)
    desk.submit()
    claimed = desk.claimed()
    ending = met(desk)
    assert isinstance(ending, Deferred)
    assert (ending.why, desk.op().phase) == ("claimed", Phase.SUBMITTING)
    desk.clock.advance(15)
    met(desk)
    op = desk.op()
    assert asked(op)[:2] == (Phase.ESCALATED, Reason.SUBMISSION_AMBIGUOUS)
    assert desk.action(claimed.action.action_id)["outcome"] == "unknown"


@pytest.mark.rule("B17", "C10")
def test_a_submission_that_may_have_been_accepted_is_not_offered_to_be_sent_under_another_contract() -> None:
    """The first answer was lost, the second attempt waits: adopting a file would send it, and a second job might run."""
    desk = Desk(CANCELLABLE)
    desk.submit()
    desk.answer(desk.claimed().token, unseen(TransportFault("timeout", "no answer in 10s", is_ambiguous=True)))
    assert desk.op().phase is Phase.SUBMITTING
    op = stopped(desk)
    assert asked(op)[1] is Reason.SUBMISSION_AMBIGUOUS
    assert offered(op, desk, new_digest="newer") == ["submit_again", "close"]
    assert desk.action("act-op-1")["outcome"] == "superseded"


@pytest.mark.rule("A7", "X11")
@pytest.mark.parametrize(("minutes", "reason"), [(0, Reason.INTEGRATION_ERROR), (10, Reason.CANCEL_UNCONFIRMED)])
def test_the_follow_up_of_a_cancel_ends_as_its_own_bound_or_for_the_loss(minutes: int, reason: Reason) -> None:
    """10 minutes are the follow-up's."""
    desk = Desk(CANCELLABLE)
    desk.track()
    desk.chosen("cancel")
    desk.perform(accepted(), "cancel")
    desk.clock.advance(minutes * 60)
    assert asked(stopped(desk))[1] is reason
    assert desk.op().permit is None


@pytest.mark.rule("A3")
def test_a_cancel_that_was_not_sent_is_recorded_so_and_asked_about() -> None:
    desk = Desk(CANCELLABLE)
    desk.track()
    action_id = desk.chosen("cancel").open_actions["cancel"].action_id
    assert stopped(desk).open_actions == {}
    assert desk.action(action_id)["outcome"] == "superseded"


@pytest.mark.rule("B11")
def test_who_asked_about_a_refused_credential_asks_about_the_contract_instead() -> None:
    """The probe that a person let through cannot be built; the question about the credential goes to the next."""
    desk = Desk()
    desk.track()
    desk.check(denied())
    assert met(desk) == Deferred("escalated")
    desk.chosen("credential_mended")
    assert asked(stopped(desk)) == (Phase.ESCALATED, Reason.INTEGRATION_ERROR, TOLD)


def test_what_ended_and_what_is_not_there_is_left_alone() -> None:
    desk = Desk()
    desk.track()
    desk.chosen("close", reason="not needed")
    assert met(desk) == Deferred("ended")
    other = Desk()
    scope = Scope(operations=("op-1",), accounts=(ACCOUNT,))
    assert isinstance(other.run(scope, stop_without_contract(Loss("op-1", "worker:b", TOLD))), Refusal)


# ---- what a person may do -----------------------------------------------------------------------------------------------
@pytest.mark.rule("X13", "H1")
@pytest.mark.parametrize(("new_digest", "names"), [("newer", ["adopt_contract", "close"]), (None, ["close"])])
def test_what_needs_no_contract_is_open(new_digest: str | None, names: list[str]) -> None:
    desk = Desk()
    desk.track()
    assert offered(desk.op(), desk, new_digest=new_digest) == ["close"]
    assert offered(stopped(desk), desk, new_digest=new_digest) == names


@pytest.mark.rule("H1", "U6")
@pytest.mark.parametrize(
    ("minutes", "option", "why"),
    [
        (None, "extend", "its contract is lost, and extend needs it; restore contracts/"),
        (None, "cancel", "its contract is lost, and cancel needs it; restore contracts/"),
        (0, "pause", "its contract is lost, and pause needs it; restore contracts/"),
        (0, "cancel", "its contract is lost, and cancel needs it; restore contracts/"),
        (0, "extend", "extend is no answer to integration error"),
        (0, "adopt_contract", "adopt_contract needs a contract of acme that can be read, and there is none"),
        (41, "extend", "its contract is lost, and extend needs it; restore contracts/"),
        (41, "adopt_contract", "adopt_contract is no answer to deadline exceeded"),
    ],
)
def test_what_needs_the_contract_says_so(minutes: int | None, option: str, why: str) -> None:
    """On a waiting operation (None), and on one that a worker met after so many minutes."""
    desk = Desk()
    desk.track()
    if minutes is not None:
        desk.clock.advance(minutes * 60)
        stopped(desk)
    refused = desk.refused(option, contract=None, reason="a reason")
    assert refused.why == "not_open"
    assert refused.text.startswith(why)
    assert why_not_open(option, desk.op(), None).startswith(why)


@pytest.mark.rule("C10", "U6")
def test_a_request_that_is_not_kept_is_no_matter_of_a_contract() -> None:
    """A job that was tracked was submitted by somebody else."""
    desk = Desk()
    desk.track()
    op = replace(desk.op(), escalation=Escalation(reason=Reason.SUBMISSION_AMBIGUOUS, since=desk.clock.wall()))
    assert why_not_open("submit_again", op, None) == "the request of op-1 is not kept here; submit it anew"


@pytest.mark.rule("X13")
def test_the_new_file_is_adopted_and_asked_by() -> None:
    """It brings the bounds of a permit, and the operation waits again."""
    desk, newer = Desk(), sample(status='request = "GET /v2/jobs/{job_id}"\nread_only = true\nstate = "body.state"')
    desk.track()
    stopped(desk)
    op = desk.chosen("adopt_contract", contract=None, new_contract=newer)
    assert (op.contract, op.permit is not None) == (newer.digest, True)
    desk.contract = newer
    assert desk.check(running()).op.phase is Phase.WAITING


@pytest.mark.parametrize("is_submitted", [False, True])
def test_adopting_goes_on_with_what_was_due(is_submitted: bool) -> None:
    """A submission that never left goes out; a job that is known is asked about."""
    desk, newer = Desk(), sample(submit=WITH_TOKEN)
    desk.submit() if is_submitted else desk.track()
    stopped(desk)
    op = desk.chosen("adopt_contract", contract=None, new_contract=newer)
    assert list(op.open_actions) == (["submit"] if is_submitted else [])
    assert op.phase is (Phase.SUBMITTING if is_submitted else Phase.ESCALATED)


@pytest.mark.rule("C10")
def test_submitting_again_without_any_contract_says_what_is_missing() -> None:
    desk = Desk()
    desk.submit()
    desk.claimed()
    desk.clock.advance(15)
    met(desk)
    text: dict[str, Any] = {"reason": "the first is gone"}
    newer = sample(submit=WITH_TOKEN)
    refused = desk.refused("submit_again", contract=None, new_contract=newer, **text)
    assert (refused.why, "submit_again needs a contract of acme" in refused.text) == ("no_contract", True)
