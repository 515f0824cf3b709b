"""The scripted transport keeps the promises of the seam, so that what passes with it can pass with the real one."""

from __future__ import annotations

import pytest

from jobconsole.core.contracts.contract import Auth
from jobconsole.errors import CertificateFault, HostRefused, PeerClosedIdle, SecretMissing, TransportFault, Withheld
from jobconsole.play.job import Fault, FaultKind, Reply
from jobconsole.protocols import HttpRequest, Transport
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.transport import Scripted, ScriptedTransport

GET = HttpRequest("GET", "https://api.example.test/v1/jobs/1", auth=Auth(secret="env:TOKEN"))


class Gate:
    """Counts, and says no where told to."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.is_open, self.calls = is_open, 0

    def __call__(self) -> None:
        self.calls += 1
        if not self.is_open:
            raise Withheld("deadline passed")


def scripted(*answers: Scripted) -> ScriptedTransport:
    """A transport with these answers."""
    return ScriptedTransport(answers, ManualClock())


async def test_answers_come_in_turn_as_the_real_transport_would_give_them() -> None:
    clock = ManualClock()
    transport: Transport = ScriptedTransport([Reply(202, {"state": "queued"}, retry_after_s=1.5), Reply(204)], clock)
    first, second = [await transport.send(GET, Gate()) for _ in range(2)]
    assert (first.http_status, first.body, first.url) == (202, b'{"state": "queued"}', GET.url)
    assert first.headers == (("Retry-After", "2"), ("Content-Type", "application/json"))
    assert (first.received_at, first.received_up) == (clock.wall(), clock.up_ms())
    assert (second.http_status, second.headers, second.body) == (204, (), b"")


async def test_a_function_may_answer_by_the_request() -> None:
    transport = ScriptedTransport(lambda request: Reply(200, {"method": request.method}), ManualClock())
    assert (await transport.send(GET, Gate())).body == b'{"method": "GET"}'


async def test_a_request_that_nobody_expected_is_named() -> None:
    with pytest.raises(AssertionError, match="request 1: GET https://api"):
        await scripted().send(GET, Gate())


async def test_the_gate_is_asked_once_and_what_it_withholds_was_not_sent() -> None:
    transport = scripted(Reply(), Reply())
    open_gate, closed = Gate(), Gate(is_open=False)
    await transport.send(GET, open_gate, fresh=True)
    with pytest.raises(Withheld):
        await transport.send(GET, closed)
    assert (open_gate.calls, closed.calls) == (1, 1)
    assert [(each.was_sent, each.fresh) for each in transport.requests] == [(True, True), (False, False)]
    assert transport.sent == [GET]


@pytest.mark.parametrize(
    ("fault", "calls"),
    [
        (TransportFault("dns", "no such host", is_ambiguous=False), 0),
        (CertificateFault("expired"), 0),
        (HostRefused("elsewhere"), 0),
        (SecretMissing("env:TOKEN"), 0),
        (TransportFault("reset", "closed", is_ambiguous=True), 1),
        (PeerClosedIdle("reset", "closed", is_ambiguous=True), 1),
    ],
)
async def test_a_fault_before_the_first_byte_never_reaches_the_gate(fault: Exception, calls: int) -> None:
    transport, gate = scripted(fault), Gate()
    with pytest.raises(type(fault)):
        await transport.send(GET, gate)
    assert (gate.calls, len(transport.sent)) == (calls, calls)


@pytest.mark.parametrize(
    ("kind", "error", "named", "http_status"),
    [
        (FaultKind.RESET_BEFORE_RESPONSE, TransportFault, "reset", None),
        (FaultKind.READ_TIMEOUT, TransportFault, "timeout", None),
        (FaultKind.DRIP, TransportFault, "timeout", None),
        (FaultKind.TRUNCATE, TransportFault, "truncated", 200),
        (FaultKind.CLOSED_ON_REUSE, PeerClosedIdle, "reset", None),
    ],
)
async def test_a_replys_fault_becomes_the_error_that_the_real_transport_would_raise(
    kind: FaultKind, error: type[TransportFault], named: str, http_status: int | None
) -> None:
    with pytest.raises(TransportFault) as caught:
        await scripted(Reply(fault=Fault(kind))).send(GET, Gate())
    assert type(caught.value) is error
    assert (caught.value.kind, caught.value.is_ambiguous, caught.value.http_status) == (named, True, http_status)


async def test_closed_on_reuse_does_not_happen_on_a_fresh_connection() -> None:
    reply = Reply(fault=Fault(FaultKind.CLOSED_ON_REUSE))
    assert (await scripted(reply).send(GET, Gate(), fresh=True)).http_status == 200


def test_a_credential_has_changed_where_the_test_says_so() -> None:
    transport = scripted()
    assert not transport.credential_changed(GET)
    transport.changed_credentials.add("env:TOKEN")
    assert transport.credential_changed(GET)


async def test_close_is_remembered() -> None:
    transport = scripted()
    await transport.close()
    assert transport.is_closed
