"""One look: reserve, send, observe, record, and what each fault in between means for the record.

The transport answers from a script and calls the gate as a real one does; `urls` are the requests that left.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.vocabulary import Delivery, Phase, Reason
from jobconsole.errors import (
    CertificateFault,
    HostRefused,
    PeerClosedIdle,
    SecretMissing,
    StoreUncertain,
    TransportFault,
)
from jobconsole.play.job import Fault, FaultKind, Reply
from jobconsole.protocols import Command, CommandKind, HttpRequest, R, Receipt, Refusal, Scope
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from tests.core.sample_contract import CANCEL, CHARGED, CONFIRM, WITH_TOKEN, budget, sample
from tests.core.sample_facts import reason
from tests.engine.stage import HangingTransport, Stage, accepts, says

STATUS_URL = "https://api.acme.example/v1/jobs/job-op-1"
REUSED = Reply(200, {"state": "running"}, fault=Fault(FaultKind.CLOSED_ON_REUSE))
IDLE = PeerClosedIdle("reset", "the kept-alive connection was closed", is_ambiguous=True)


REGION = {"params.region": "pattern = '^[a-z]+$'"}


def moved(to: str, status: int = 302, **headers: str) -> Reply:
    """A redirect."""
    return Reply(status, headers=(("Location", to), *headers.items()))


# ---- an ordinary life ---------------------------------------------------------------------------------------------------
@pytest.mark.rule("B3", "L1")
async def test_a_job_is_submitted_polled_and_found_done() -> None:
    stage = Stage([accepts(), says("queued"), says("running"), says("done")])
    await stage.submit()
    for _ in range(4):
        await stage.look()
    op = await stage.op()
    assert (op.phase, op.status_requests_used, op.last_known_state) == (Phase.SUCCEEDED, 3, "done")
    assert stage.urls == ["https://api.acme.example/v1/jobs", *["https://api.acme.example/v1/jobs/job-1"] * 3]
    assert (await stage.store.verify()).is_valid


@pytest.mark.rule("B19")
async def test_status_requests_ask_for_a_fresh_answer() -> None:
    stage = Stage([says("running")])
    await stage.track()
    await stage.look()
    assert ("Cache-Control", "no-cache") in stage.transport.sent[0].headers


@pytest.mark.rule("B5", "X2")
async def test_a_look_before_its_time_sends_nothing() -> None:
    stage = Stage([says("running")])
    await stage.track()
    await stage.look()
    await stage.look(waits=False)
    assert len(stage.urls) == 1


# ---- faults -------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B10")
@pytest.mark.parametrize(
    ("fault", "delivery"),
    [
        (TransportFault("timeout", "timed out", is_ambiguous=True), Delivery.AMBIGUOUS),
        (TransportFault("refused", "refused", is_ambiguous=False), Delivery.NONE),
        (HostRefused("elsewhere"), Delivery.NONE),
    ],
)
async def test_a_fault_uses_both_budgets_and_is_no_state(fault: Exception, delivery: Delivery) -> None:
    stage = Stage([fault])
    await stage.track()
    op = await stage.look()
    assert (op.phase, op.status_requests_used, op.transport_failures_used) == (Phase.WAITING, 1, 1)
    assert (op.delivery, op.last_known_state, op.lease) == (delivery, None, None)


@pytest.mark.rule("B10")
async def test_a_certificate_that_does_not_verify_stops_at_once() -> None:
    stage = Stage([CertificateFault("self-signed")])
    await stage.track()
    assert reason(await stage.look()) is Reason.INTEGRATION_ERROR


@pytest.mark.rule("B11", "C13")
async def test_a_missing_secret_asks_a_person() -> None:
    stage = Stage([SecretMissing("env:ACME_KEY is not set")])
    await stage.track()
    op = await stage.look()
    assert reason(op) is Reason.AUTHORIZATION_DENIED
    assert op.escalation is not None
    assert "env:ACME_KEY" in op.escalation.detail
    assert stage.urls == []


# ---- one more request ---------------------------------------------------------------------------------------------------
@pytest.mark.rule("B10", "B3")
async def test_a_kept_alive_connection_that_was_closed_is_repeated_once_and_counted() -> None:
    stage = Stage([REUSED, says("running")])
    await stage.track()
    op = await stage.look()
    assert [sent.fresh for sent in stage.transport.requests] == [False, True]
    assert (op.status_requests_used, op.transport_failures_used, op.attempts) == (2, 0, 1)


@pytest.mark.rule("B10")
async def test_a_second_closed_connection_is_a_failure() -> None:
    stage = Stage([IDLE, IDLE])
    await stage.track()
    op = await stage.look()
    assert (op.status_requests_used, op.transport_failures_used) == (2, 1)


@pytest.mark.rule("B3", "B10")
async def test_a_repeat_without_a_request_left_is_not_sent() -> None:
    stage = Stage([IDLE])
    await stage.track(status_requests=1)
    op = await stage.look()
    assert (len(stage.urls), op.status_requests_used) == (1, 1)
    assert reason(op) is Reason.REQUEST_BUDGET_EXHAUSTED


@pytest.mark.rule("X15")
@pytest.mark.parametrize("first", [IDLE, moved("/v1/elsewhere")])
async def test_a_request_that_costs_money_is_neither_repeated_nor_redirected(first: Any) -> None:
    stage = Stage([first], sample(status=CHARGED))
    await stage.track()
    await stage.look()
    await stage.console.decide("op-1", "approve_once", by="person:ana")
    op = await stage.look()
    assert (len(stage.urls), op.status_requests_used) == (1, 1)


@pytest.mark.rule("B3", "C6")
async def test_redirects_are_followed_and_counted() -> None:
    stage = Stage([moved("/v1/a"), moved("https://api.acme.example/v1/b", 307), says("running")])
    await stage.track()
    op = await stage.look()
    assert stage.urls == [STATUS_URL, "https://api.acme.example/v1/a", "https://api.acme.example/v1/b"]
    assert (op.status_requests_used, op.last_known_state) == (3, "running")


@pytest.mark.rule("B3")
async def test_the_fourth_redirect_is_a_failed_delivery() -> None:
    stage = Stage([moved(f"/v1/{hop}") for hop in range(4)])
    await stage.track()
    op = await stage.look()
    assert (op.status_requests_used, op.transport_failures_used, op.last_http_status) == (4, 1, 302)


@pytest.mark.rule("C6", "B10")
@pytest.mark.parametrize(
    "to", ["https://login.sso.example/", "http://api.acme.example/v1/a", "//evil.example/x", "ftp://api.acme.example/", ""]
)
async def test_a_host_that_is_not_allowed_is_never_asked(to: str) -> None:
    stage = Stage([moved(to)])
    await stage.track()
    op = await stage.look()
    assert stage.urls == [STATUS_URL]
    assert (op.phase, op.transport_failures_used) == (Phase.WAITING, 1)


@pytest.mark.rule("B7")
async def test_a_redirect_that_asks_to_wait_is_not_followed_now() -> None:
    stage = Stage([Reply(302, headers=(("Location", "/v1/a"),), retry_after_s=30)])
    await stage.track()
    op = await stage.look()
    assert stage.urls == [STATUS_URL]
    assert op.next_poll_at is not None
    assert op.next_poll_at - stage.clock.wall() >= timedelta(seconds=30)


@pytest.mark.rule("B11")
@pytest.mark.parametrize(
    ("rotates", "has_changed", "sent"),
    [(True, True, 2), (True, False, 1), (False, True, 1)],
)
async def test_a_credential_that_rotated_is_tried_once_more(rotates: bool, has_changed: bool, sent: int) -> None:
    auth = f'secret = "env:ACME_KEY"\nrotates = {str(rotates).lower()}'
    stage = Stage([Reply(401), says("running")], sample(auth=auth))
    if has_changed:
        stage.transport.changed_credentials.add("env:ACME_KEY")
    await stage.track()
    op = await stage.look()
    assert (len(stage.urls), op.status_requests_used) == (sent, sent)
    assert reason(op) is (None if sent == 2 else Reason.AUTHORIZATION_DENIED)


@pytest.mark.rule("B11")
async def test_a_rotated_credential_that_is_refused_too_is_not_tried_a_third_time() -> None:
    stage = Stage([Reply(401), Reply(401)], sample(auth='secret = "env:ACME_KEY"\nrotates = true'))
    stage.transport.changed_credentials.add("env:ACME_KEY")
    await stage.track()
    assert reason(await stage.look()) is Reason.AUTHORIZATION_DENIED
    assert len(stage.urls) == 2


@pytest.mark.rule("X24", "B3")
async def test_a_success_is_confirmed_by_a_counted_request() -> None:
    stage = Stage([says("done"), Reply(200, {"rows": 3})], sample(confirm=CONFIRM))
    await stage.track()
    op = await stage.look()
    assert stage.urls == [STATUS_URL, STATUS_URL + "/result"]
    assert (op.phase, op.status_requests_used) == (Phase.SUCCEEDED, 2)


@pytest.mark.rule("X24")
async def test_a_confirmation_may_turn_a_success_into_a_failure() -> None:
    stage = Stage([says("done"), Reply(422, {"detail": "no faces"})], sample(confirm=CONFIRM))
    await stage.track()
    assert (await stage.look()).phase is Phase.FAILED


# ---- nothing sent -------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B2", "B3", "L1")
async def test_what_the_gate_withholds_is_given_back_and_stays_counted() -> None:
    def sleeps(request: HttpRequest) -> Reply:
        stage.clock.advance(9)  # connecting took longer than the request may last
        return says("running")

    stage = Stage(sleeps)
    await stage.track()
    op = await stage.look()
    assert stage.urls == []
    assert (op.lease, op.status_requests_used, op.transport_failures_used) == (None, 1, 0)
    withheld = (await stage.events())[-1]
    assert (withheld["kind"], withheld["reason"]) == ("check_withheld", "lease_ending")
    assert op.next_poll_at == stage.clock.wall() + timedelta(seconds=5)


@pytest.mark.rule("S1", "B3")
async def test_a_cancelled_look_gives_its_lease_back_as_lost() -> None:
    provider = HangingTransport()
    stage = Stage(transport=provider)
    await stage.track()
    look = asyncio.create_task(stage.look())
    await provider.asked.wait()
    look.cancel()
    with pytest.raises(asyncio.CancelledError):
        await look
    op = await stage.op()
    assert (op.lease, op.status_requests_used, op.delivery) == (None, 1, Delivery.AMBIGUOUS)
    assert (await stage.kinds())[-1] == "lease_lost"


class UncertainStore(MemoryStore):
    """A store whose reservations land, and whose sync then fails."""

    async def transact(self, scope: Scope, command: Command[R], *, kind: CommandKind) -> Receipt[R] | Refusal:
        """Write, and do not know."""
        got = await super().transact(scope, command, kind=kind)
        if kind == "reserve":
            raise StoreUncertain("the disk said no")
        return got


@pytest.mark.rule("S4", "B3")
async def test_an_uncertain_reservation_sends_nothing() -> None:
    clock = ManualClock()
    stage = Stage([says("running")], store=UncertainStore(clock), clock=clock)
    await stage.track()
    with pytest.raises(StoreUncertain):
        await stage.look()
    assert stage.urls == []
    assert (await stage.op()).status_requests_used == 1  # counted, as if it had landed


@pytest.mark.rule("B12")
async def test_a_request_that_cannot_be_built_asks_a_person_and_sends_nothing() -> None:
    contract = sample(status='request = "GET /{region}/jobs/{job_id}"\nread_only = true\nstate = "body.state"', **REGION)
    stage = Stage([], contract)
    await stage.track()
    op = await stage.look()
    assert (reason(op), stage.urls) == (Reason.INTEGRATION_ERROR, [])


# ---- actions ------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B17", "C10")
async def test_a_submission_is_sent_again_with_the_token_that_it_had() -> None:
    lost = TransportFault("timeout", "timed out", is_ambiguous=True)
    stage = Stage([lost, accepts()], sample(submit=WITH_TOKEN))
    await stage.submit()
    await stage.look()
    op = await stage.look()
    tokens = [dict(request.headers)["Idempotency-Key"] for request in stage.transport.sent]
    assert (op.phase, len(tokens), len(set(tokens))) == (Phase.WAITING, 2, 1)
    assert all(sent.fresh for sent in stage.transport.requests)  # never on a connection that may be dead


@pytest.mark.rule("B17")
async def test_a_lost_submission_without_a_token_is_not_sent_again() -> None:
    stage = Stage([TransportFault("timeout", "timed out", is_ambiguous=True)])
    await stage.submit()
    assert reason(await stage.look()) is Reason.SUBMISSION_AMBIGUOUS
    assert len(stage.urls) == 1


@pytest.mark.rule("B17")
async def test_a_redirected_submission_is_not_followed() -> None:
    stage = Stage([moved("/v2/jobs", 307)])
    await stage.submit()
    assert reason(await stage.look()) is Reason.SUBMISSION_AMBIGUOUS
    assert len(stage.urls) == 1


@pytest.mark.rule("X11", "A7", "B2")
async def test_a_cancel_leaves_and_is_followed_up_also_after_the_deadline() -> None:
    stage = Stage([says("running"), Reply(202), says("running"), says("cancelled")], sample(cancel=CANCEL))
    await stage.track()
    await stage.look()
    stage.clock.advance(timedelta(minutes=41))
    await stage.look()
    assert reason(await stage.op()) is Reason.DEADLINE_EXCEEDED
    await stage.console.decide("op-1", "cancel", by="person:ana")
    await stage.look()
    await stage.look()
    op = await stage.look()
    assert stage.urls == [STATUS_URL, STATUS_URL + "/cancel", STATUS_URL, STATUS_URL]
    assert (op.phase, op.look) == (Phase.CANCELLED, None)


@pytest.mark.rule("B7", "B9", "X11")
async def test_a_429_to_a_cancel_holds_the_account_and_delays_the_follow_up() -> None:
    stage = Stage([says("running"), Reply(429, retry_after_s=40)], sample(cancel=CANCEL))
    await stage.track()
    await stage.look()
    await stage.console.decide("op-1", "cancel", by="person:ana")
    op = await stage.look(waits=False)
    assert op.next_poll_at == stage.clock.wall() + timedelta(seconds=40)
    assert (await stage.account()).hold_until_at == op.next_poll_at


@pytest.mark.rule("B11", "B14")
async def test_a_cancel_that_its_account_holds_back_keeps_no_deadline_waiting() -> None:
    stage = Stage([says("running"), says("running"), Reply(401)], sample(cancel=CANCEL))
    await stage.track("op-1", deadline="30m")
    await stage.track("op-2")
    for operation_id in ("op-1", "op-2", "op-2"):
        await stage.look(operation_id)
    await stage.console.decide("op-1", "cancel", by="person:ana")
    await stage.look("op-1")
    assert (await stage.op("op-1")).phase is Phase.WAITING
    stage.clock.advance(timedelta(minutes=31))
    assert reason(await stage.look("op-1")) is Reason.DEADLINE_EXCEEDED
    assert len(stage.urls) == 3


@pytest.mark.rule("X10", "B11")
async def test_after_a_mended_credential_the_submission_goes_out() -> None:
    stage = Stage([Reply(401), accepts()], sample(budget=budget()))
    await stage.submit()
    assert reason(await stage.look()) is Reason.AUTHORIZATION_DENIED
    await stage.console.decide("op-1", "credential_mended", by="person:ana")
    op = await stage.look()
    assert (op.phase, (await stage.account()).denied) == (Phase.WAITING, None)


async def test_a_withheld_submission_was_not_sent_and_is_tried_again() -> None:
    def withheld_first(request: HttpRequest) -> Reply:
        if len(stage.transport.requests) == 1:
            stage.clock.advance(9)
        return accepts()

    stage = Stage(withheld_first)
    await stage.submit()
    op = await stage.look()
    assert (op.phase, stage.urls) == (Phase.SUBMITTING, [])
    assert (await stage.look()).phase is Phase.WAITING
