"""What comes back from a provider, as values: the raw answer, the envelope, and what one answer told us.

Only this file decides the shape of an observation. `adapters/http.py` makes an `Answer` or raises a fault; `observation.py`
makes an `Observation` of it; `decide.py` concludes from that. Every foreign number in here was checked, every foreign text cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

from jobconsole.core.operation import Counts, ProviderError, Value
from jobconsole.core.vocabulary import Delivery, StateClass

TEXT_LIMIT = 2_000  # characters of a provider's text that are kept ("Details decided")


@dataclass(frozen=True, slots=True)
class Answer:
    """One complete HTTP answer. Header names are as sent; `body` is decoded from its content coding, not parsed."""

    http_status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    url: str  # the URL of the request
    received_at: datetime
    received_up: int  # boot clock, ms
    elapsed_ms: int = 0


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the contract's expressions see: lower-case header names, the parsed body or None."""

    http_status: int
    headers: Mapping[str, str]
    body: Any

    def as_dict(self) -> dict[str, Any]:
        """The envelope as JMESPath sees it."""
        return {"http_status": self.http_status, "headers": dict(self.headers), "body": self.body}


class CallError(StrEnum):
    """Verdicts about the call, not about the job: "could not see" is never a job state (B10)."""

    NOT_FOUND = "not_found"
    RATE_LIMITED = "rate_limited"
    AUTHORIZATION_DENIED = "authorization_denied"
    DELIVERY_FAILURE = "delivery_failure"
    INTEGRATION_ERROR = "integration_error"


Verdict: TypeAlias = StateClass | CallError
_CALL_ERRORS: frozenset[str] = frozenset(CallError)


class RejectedHint(Value, frozen=True, kw_only=True):
    """A hint that was not obeyed, with the reason (C5)."""

    what: str  # retry-after, poll_after_seconds, poll_after_ms, next_check_at, ...
    value: str
    why: str


class RateLimit(Value, frozen=True, kw_only=True):
    """What rate-limit headers say of the account (B9)."""

    limit: int | None = None
    remaining: int | None = None
    reset_seconds: float | None = None


class ResultFacts(Value, frozen=True, kw_only=True):
    """Where a success's result is, and what it lacks (C3)."""

    url: str | None = None
    result_id: str | None = None
    inline: Any = None
    has_inline: bool = False
    missing: tuple[str, ...] = ()  # sources of the expressions that were not satisfied, or why the URL is not usable


class Observation(Value, frozen=True, kw_only=True):
    """What one answer told us: delivery and job state, two separate facts (SPEC 1).

    `verdict` is a `StateClass` or a `CallError`; `retry_after_s` is the longest valid one, in seconds, rounded up; `hint_s` is
    the longest valid poll hint in seconds (0 means "now allowed"). Stored with `check_answered`, so that decisions can be
    replayed.
    """

    verdict: str
    delivery: Delivery = Delivery.ANSWERED
    http_status: int | None = None
    state: str | None = None  # original spelling
    detail: str = ""  # one bounded sentence: why this verdict
    progress: float | None = None
    message: str | None = None
    error: ProviderError | None = None
    counts: Counts | None = None
    errors_url: str | None = None
    result: ResultFacts | None = None
    request_id: str | None = None
    job_id: str | None = None
    job_ids: tuple[str, ...] = ()  # where one submission started several
    status_url: str | None = None  # submit answers, and `next_url`
    result_url: str | None = None
    estimated_s: float | None = None
    updated_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    expires_at: datetime | None = None
    retry_after_s: float | None = None
    hint_s: float | None = None
    hint_source: str | None = None
    rejected: tuple[RejectedHint, ...] = ()
    rate: RateLimit | None = None
    age_s: float | None = None  # the answer says that it is old (B19)
    clock_skew_ms: int | None = None  # provider's Date minus ours
    notes: tuple[str, ...] = ()  # values that became unknown, drift words, and the like
    is_certificate_fault: bool = False
    is_state_end: bool = False  # finished-looking evidence beside an unknown state

    @property
    def call_error(self) -> CallError | None:
        """The call error, or None where the answer speaks of the job."""
        return CallError(self.verdict) if self.verdict in _CALL_ERRORS else None

    @property
    def state_class(self) -> StateClass | None:
        """The job's class, or None where the answer could not be seen or understood."""
        return None if self.verdict in _CALL_ERRORS else StateClass(self.verdict)


@dataclass(frozen=True, slots=True)
class Known:
    """What the judge may know of the operation beside the answer."""

    job_id: str | None = None
    submitted_at: datetime | None = None
    was_seen: bool = False
    request_url: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)  # of the job: they may name a host
