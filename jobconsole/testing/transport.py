"""A transport without a network: `protocols.Transport` that answers as a test says.

For tests of whatever sends through the seam. Bytes, connections and TLS belong to tests with a real server
(`jobconsole.testing.server`); this double keeps the seam's promises: the gate is called once, directly before a request counts
as sent, and not at all where a fault says that nothing left.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from jobconsole.core.judging.answer import Answer
from jobconsole.errors import CallerError, CertificateFault, HostRefused, PeerClosedIdle, TransportFault
from jobconsole.play.job import FaultKind, Reply, whole_real_seconds
from jobconsole.protocols import Clock, Gate, HttpRequest

Scripted: TypeAlias = Reply | Exception
"""What a request gets: a reply, whose `fault` becomes the error that the real transport would raise, or an error."""

_KINDS = {
    FaultKind.RESET_BEFORE_RESPONSE: "reset",
    FaultKind.READ_TIMEOUT: "timeout",
    FaultKind.DRIP: "timeout",
    FaultKind.TRUNCATE: "truncated",
}


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One call of `send`. `was_sent` is false where the gate, or a fault before it, kept the request back."""

    request: HttpRequest
    fresh: bool
    was_sent: bool


class ScriptedTransport:
    """Answers requests from `answers`: a list, one for each request in turn, or a function of the request.

    `requests` holds every call. `changed_credentials` names the references for which `credential_changed` says yes. A list
    that is used up raises `AssertionError`, which names the request that nobody expected.
    """

    def __init__(self, answers: Iterable[Scripted] | Callable[[HttpRequest], Scripted], clock: Clock) -> None:
        self._answers = answers if callable(answers) else iter(answers)
        self._clock = clock
        self.requests: list[SentRequest] = []
        self.changed_credentials: set[str] = set()
        self.is_closed = False

    @property
    def sent(self) -> list[HttpRequest]:
        """The requests that left, in order."""
        return [each.request for each in self.requests if each.was_sent]

    async def send(self, request: HttpRequest, gate: Gate, *, fresh: bool = False) -> Answer:
        """The next scripted answer; see `Transport.send`."""
        self.requests.append(SentRequest(request, fresh, was_sent=False))
        scripted = self._next(request)
        if isinstance(scripted, Exception) and _is_before_the_gate(scripted):
            raise scripted
        gate()
        self.requests[-1] = replace(self.requests[-1], was_sent=True)
        fault = scripted if isinstance(scripted, Exception) else _fault_of(scripted, fresh)
        if fault is not None:
            raise fault
        assert isinstance(scripted, Reply)
        return self._answer(scripted, request)

    def credential_changed(self, request: HttpRequest) -> bool:
        """Whether the test has put the request's reference into `changed_credentials`."""
        return request.auth.secret in self.changed_credentials

    async def close(self) -> None:
        """Remember that it was closed."""
        self.is_closed = True

    def _next(self, request: HttpRequest) -> Scripted:
        if callable(self._answers):
            return self._answers(request)
        scripted = next(self._answers, None)
        assert scripted is not None, f"no answer is left for request {len(self.requests)}: {request.method} {request.url}"
        return scripted

    def _answer(self, reply: Reply, request: HttpRequest) -> Answer:
        headers = list(reply.headers)
        if reply.retry_after_s is not None:
            headers.append(("Retry-After", str(whole_real_seconds(reply.retry_after_s, 1.0))))
        if reply.body is not None and not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("Content-Type", "application/json"))
        return Answer(reply.status, tuple(headers), _encoded(reply), request.url, self._clock.wall(), self._clock.up_ms())


def _encoded(reply: Reply) -> bytes:
    if reply.body is None:
        return b""
    return reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()


def _is_before_the_gate(fault: Exception) -> bool:
    if isinstance(fault, TransportFault):
        return not fault.is_ambiguous
    return isinstance(fault, CallerError | CertificateFault | HostRefused)


def _fault_of(reply: Reply, fresh: bool) -> Exception | None:
    if reply.fault is None:
        return None
    if reply.fault.kind is FaultKind.CLOSED_ON_REUSE:
        return None if fresh else PeerClosedIdle("reset", "the kept-alive connection was closed", is_ambiguous=True)
    kind = _KINDS[reply.fault.kind]
    status = reply.status if reply.fault.kind is FaultKind.TRUNCATE else None
    return TransportFault(kind, f"scripted: {reply.fault.kind}", is_ambiguous=True, http_status=status)
