"""Operations and observations for tests of the core, as values: what a test does not name is ordinary.

Only this file decides what is ordinary: an operation that was accepted at 10:00:00, waits, and has used nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from jobconsole.core.command import Moment
from jobconsole.core.judging.answer import CallError, Observation, RateLimit, ResultFacts
from jobconsole.core.operation import Limits, Operation
from jobconsole.core.vocabulary import Delivery, Phase, Reason, StateClass

START = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
DEADLINE = START + timedelta(minutes=40)


def at(seconds: float) -> datetime:
    """So many seconds after 10:00:00."""
    return START + timedelta(seconds=seconds)


def moment(seconds: float = 0.0, boot: str = "boot-1") -> Moment:
    """The moment so many seconds after 10:00:00, by both clocks."""
    return Moment(at(seconds), 1_000_000 + round(seconds * 1000), boot)


def operation(**fields: Any) -> Operation:
    """An operation that waits, with the budget of the ordinary contract."""
    ordinary: dict[str, Any] = {
        "operation_id": "op-1",
        "provider": "acme",
        "account": "acme-prod",
        "account_key": "acme-prod@api.acme.example",
        "contract": "0" * 64,
        "request_fingerprint": "f" * 64,
        "provider_job_id": "job-1",
        "phase": Phase.WAITING,
        "started_at": START,
        "submitted_at": START,
        "deadline_at": DEADLINE,
        "original": Limits(deadline_at=DEADLINE, status_requests=12, transport_failures=3, rate_limits=3),
        "max_status_requests": 12,
        "max_transport_failures": 3,
        "max_transport_failures_in_a_row": 3,
        "max_rate_limits": 3,
    }
    return Operation(**(ordinary | fields))


def state(name: str, state_class: StateClass | None = None, **fields: Any) -> Observation:
    """An answer that names a state; the class is the name's own unless it is given."""
    return Observation(verdict=state_class or StateClass(name), http_status=200, state=name, **fields)


def running(**fields: Any) -> Observation:
    """An answer that says: still running."""
    return state("running", StateClass.WAITING, **fields)


def done(**fields: Any) -> Observation:
    """An answer that says: done, with everything that success requires."""
    return state("done", StateClass.SUCCEEDED, **({"result": ResultFacts()} | fields))


def lacking() -> Observation:
    """A success without its result."""
    return done(result=ResultFacts(missing=("body.url",)))


def unanswered(*, is_ambiguous: bool = True) -> Observation:
    """No answer came back: a timeout after sending, or a refused connection."""
    delivery = Delivery.AMBIGUOUS if is_ambiguous else Delivery.NONE
    return Observation(verdict=CallError.DELIVERY_FAILURE, delivery=delivery, detail="timed out")


def answered(status: int, error: CallError, **fields: Any) -> Observation:
    """An answer with this code, judged as a call error."""
    return Observation(verdict=error, http_status=status, detail=f"HTTP {status}", **fields)


def limited(retry_after_s: float | None = None) -> Observation:
    """HTTP 429."""
    return answered(429, CallError.RATE_LIMITED, retry_after_s=retry_after_s)


def unavailable(retry_after_s: float | None = None) -> Observation:
    """HTTP 503."""
    return answered(503, CallError.DELIVERY_FAILURE, retry_after_s=retry_after_s)


def denied(status: int = 401) -> Observation:
    """HTTP 401 or 403."""
    return answered(status, CallError.AUTHORIZATION_DENIED)


def missing() -> Observation:
    """HTTP 404."""
    return answered(404, CallError.NOT_FOUND)


def accepted(job_id: str | None = "job-1", **fields: Any) -> Observation:
    """A submission's answer: HTTP 202 with a job id."""
    told: dict[str, Any] = {"verdict": StateClass.WAITING, "http_status": 202, "job_id": job_id}
    return Observation(**(told | fields))


def quota(remaining: int, reset_s: float, limit: int = 100) -> RateLimit:
    """Rate-limit headers."""
    return RateLimit(limit=limit, remaining=remaining, reset_seconds=reset_s)


def reason(op: Operation) -> Reason | None:
    """Why the operation is escalated; None where it is not."""
    return op.escalation.reason if op.escalation else None
