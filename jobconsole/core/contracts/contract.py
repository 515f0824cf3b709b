"""The provider contract as values (SPEC 2, CONTRACT.md).

Only this file decides what a contract consists of. `contract_file.py` makes one from TOML text and refuses what is wrong;
`observation.py` judges answers by one; `requests.py` builds requests from one. Durations are `timedelta`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, Protocol

from jobconsole.core.vocabulary import StateClass


class Expression(Protocol):
    """One JMESPath expression over an envelope; what fails on an answer is None."""

    @property
    def source(self) -> str:
        """The text as it stands in the contract."""

    def search(self, envelope: Mapping[str, Any]) -> Any:
        """The value found, or None."""


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """`METHOD path` with placeholders, and what goes with it; one shape for every request of a contract."""

    method: str
    target: str  # path below base_url, or a template that begins with {status_url}, {result_url}
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    encoding: Literal["json", "form"] = "json"
    accepted: frozenset[int] | None = None  # None: any 2xx

    def accepts(self, status: int) -> bool:
        """Whether `status` says that the request was accepted."""
        return 200 <= status <= 299 if self.accepted is None else status in self.accepted


@dataclass(frozen=True, slots=True)
class AccountLimits:
    """Of the account, over all operations and processes (B9)."""

    max_concurrent: int | None = None
    per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class Auth:
    """How a request shows who asks. Everything here is a reference, never a value (C13)."""

    secret: str | None = None
    scheme: Literal["bearer", "basic", "raw", "aws-sigv4"] = "bearer"
    header: str = "Authorization"
    value: str = "Bearer {secret}"
    service: str | None = None
    region: str | None = None
    rotates: bool = False
    approval: Literal["session", "each_call"] = "session"
    actions: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Param:
    """What a job needs beside its id."""

    pattern: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Idempotency:
    """Where the token of a submission goes: documented, or there is none (B17, C10)."""

    place: Literal["header", "body", "query"]
    name: str


@dataclass(frozen=True, slots=True)
class Submit:
    """How a job is started and where its id or URL is found in the answer (C6)."""

    request: RequestTemplate
    job_id: Expression | None = None
    status_url: Expression | None = None
    result_url: Expression | None = None
    already: bool = False
    estimated_seconds: Expression | None = None
    idempotency: Idempotency | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """How a job's state is asked for and where it stands in the answer (C2)."""

    request: RequestTemplate
    read_only: bool
    state: Expression | None = None
    job_id: Expression | None = None
    next_url: Expression | None = None
    progress: Expression | None = None
    progress_max: float = 100.0
    updated_at: Expression | None = None
    started_at: Expression | None = None
    ended_at: Expression | None = None
    expires_at: Expression | None = None
    error: Expression | None = None
    message: Expression | None = None
    request_id: Expression | None = None
    timeout: timedelta = timedelta(seconds=10)
    max_bytes: int = 1_000_000
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class StateTable:
    """Every documented value in exactly one class (C1); keys are folded (trimmed, ASCII lower case)."""

    exact: Mapping[str, StateClass]
    patterns: tuple[tuple[str, StateClass], ...] = ()  # with `*`, longest first
    unlisted: StateClass = StateClass.UNKNOWN
    unlisted_source: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """After the table: the first true `when` replaces the class. `verdict` is a class or a call error."""

    when: Expression
    verdict: str


@dataclass(frozen=True, slots=True)
class NotFound:
    """What 404 and 410 mean (C7)."""

    grace: timedelta = timedelta(0)
    in_a_row: int = 3
    expired_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class HttpCodes:
    """Codes beside 2xx that are answers of this API: a class, or `body` where the body must say."""

    codes: Mapping[int, str] = field(default_factory=dict)
    not_found: NotFound = field(default_factory=NotFound)


@dataclass(frozen=True, slots=True)
class Confirm:
    """A second, counted, read-only look that decides where a status answer says succeeded (X24)."""

    request: RequestTemplate
    codes: Mapping[int, str] = field(default_factory=dict)
    state: Expression | None = None
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Hints:
    """Where the provider says when to ask again (C5)."""

    poll_after_seconds: Expression | None = None
    poll_after_ms: Expression | None = None
    next_check_at: Expression | None = None
    min_interval: timedelta = timedelta(0)
    max_interval: timedelta | None = None


@dataclass(frozen=True, slots=True)
class CountPaths:
    """Where the counts of items stand (C12)."""

    total: Expression | None = None
    processed: Expression | None = None
    succeeded: Expression | None = None
    failed: Expression | None = None


@dataclass(frozen=True, slots=True)
class ResultSpec:
    """What a success must bring, and where the result is (C3)."""

    success_requires: tuple[Expression, ...] = ()
    lag: timedelta = timedelta(seconds=60)
    url: Expression | None = None
    id: Expression | None = None
    request: RequestTemplate | None = None
    inline: Expression | None = None
    url_lifetime: timedelta | None = None
    retention: timedelta | None = None
    counts: CountPaths | None = None
    errors_url: Expression | None = None
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """Only where documented, with its consequence in words (C9)."""

    request: RequestTemplate
    effect: str


@dataclass(frozen=True, slots=True)
class ListSpec:
    """One request that shows many jobs; an item is the body."""

    request: RequestTemplate
    items: Expression
    max_items: int = 100


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long to wait where the provider says nothing (B6). `jitter` is the share of raw that is drawn from."""

    kind: Literal["backoff", "adaptive"] = "backoff"
    base: timedelta = timedelta(seconds=5)
    factor: float = 2.0
    max: timedelta = timedelta(seconds=120)
    jitter: tuple[float, float] = (0.5, 1.0)
    spread: bool = False
    stalled_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Extension:
    """The most that one extension grants, and how often in the operation's life (X6)."""

    minutes: int = 15
    checks: int = 4
    failures: int = 1
    rate_limits: int = 1
    times: int = 1


@dataclass(frozen=True, slots=True)
class BudgetSpec:
    """What one wait may use up (X14: the first three have no built-in figures)."""

    deadline: timedelta
    status_requests: int
    transport_failures: int
    transport_failures_in_a_row: int
    rate_limits: int = 3
    extension: Extension = field(default_factory=Extension)


@dataclass(frozen=True, slots=True)
class Contract:
    """One provider's job API. `digest` is the SHA-256 of the file's bytes (X13)."""

    name: str
    title: str
    base_url: str
    account: str
    status: Status
    states: StateTable
    budget: BudgetSpec
    digest: str
    source: str  # the file's name, for messages
    text: str  # the file itself: a copy is kept in the store (X13)
    allowed_hosts: tuple[str, ...] = ()
    docs: str = ""
    console_url: str | None = None
    verified: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    limits: AccountLimits = field(default_factory=AccountLimits)
    auth: Auth = field(default_factory=Auth)
    params: Mapping[str, Param] = field(default_factory=dict)
    submit: Submit | None = None
    rules: tuple[Rule, ...] = ()
    http: HttpCodes = field(default_factory=HttpCodes)
    confirm: Confirm | None = None
    hints: Hints = field(default_factory=Hints)
    result: ResultSpec = field(default_factory=ResultSpec)
    cancel: Cancel | None = None
    list: ListSpec | None = None
    schedule: Schedule = field(default_factory=Schedule)
    webhook: Mapping[str, Any] | None = None  # validated, not used yet
    stream: Mapping[str, Any] | None = None  # validated, not used yet
