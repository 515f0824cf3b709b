"""The durable record of one external job: phases, counters, limits, lease, permit.

Only this file decides which fields an operation has and how they look in the store. Every command of the core takes an
`Operation`, returns a changed copy, and the difference of the two documents is the `set` of its event (STORE 1.1).
Documents hold times as RFC 3339 UTC text with `Z`, durations and boot clocks as whole milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from jobconsole.core.vocabulary import ActionState, DelaySource, Delivery, NoticeResult, Phase, Reason, StateClass

_SHOWN: Final = 60  # characters of a name or a state in the short form


class Value(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Base of the frozen, slotted values that are stored; a field at its default is left out of the document.

    They hold JSON and each other and cannot form a cycle: the garbage collector need not walk ten thousand of them.
    """


class Lease(Value, frozen=True, kw_only=True):
    """Short ownership by one worker while it sends one request (S1). `token` is the `op_seq` of the reserving event."""

    token: int
    owner: str
    until_up: int  # boot clock, ms
    boot: str
    until_at: datetime  # for people; never compared
    purpose: str  # status, confirm, list
    requests: int = 1  # reservations made under this token


class Permit(Value, frozen=True, kw_only=True):
    """A person's grant of a few requests beside the phase and the limits (STORE 4): one-shot, used up by `reserve`."""

    decision_id: str
    purpose: str  # check_once, credential_mended, use_credential, approve_once, adopt_contract, replay_submit, cancel
    checks: int
    until_at: datetime


class Option(Value, frozen=True, kw_only=True):
    """One bounded thing that the person may choose (section 14). Numbers are upper bounds of what one click grants."""

    name: str
    minutes: int = 0
    checks: int = 0
    failures: int = 0
    rate_limits: int = 0
    times_left: int = 0
    until_at: datetime | None = None  # for `pause`: the one check's time
    effect: str = ""  # the contract's or the table's words
    credentials: tuple[str, ...] = ()  # for `use_credential`: references, never values


class Escalation(Value, frozen=True, kw_only=True):
    """Why nothing is sent any more, since when, and what a person may choose."""

    reason: Reason
    since: datetime
    options: tuple[Option, ...] = ()
    detail: str = ""  # one bounded sentence


FINAL_ANSWERS: Final = frozenset(("acknowledge", "accept", "reject"))
"""Answers to a look after which nothing is left to answer."""


class Look(Value, frozen=True, kw_only=True):
    """An inbox item that only asks to be seen (H13, "Details decided")."""

    reason: Reason
    since: datetime
    answered_by: str | None = None
    answer: str | None = None  # acknowledge, review, accept, reject


class Note(Value, frozen=True, kw_only=True):
    """What a person wrote about an operation, for whoever looks at it next."""

    by: str
    at: datetime
    text: str


class Attention(Value, frozen=True, kw_only=True):
    """Who looks after an operation's inbox item, and until when it may rest (H7). It permits nothing and decides nothing.

    `assigned_to` and `notes` stay with the operation; the rest belongs to one item and is forgotten with it.
    """

    assigned_to: str | None = None
    assigned_at: datetime | None = None
    snoozed_until: datetime | None = None
    notified_at: datetime | None = None  # when somebody took on sending the message about this item; at most one is sent
    notice_result: NoticeResult | None = None  # null while the message is on its way
    notes: tuple[Note, ...] = ()  # the last 20


class ProviderError(Value, frozen=True, kw_only=True):
    """The provider's own words about a failure; data, bounded to 2,000 characters."""

    code: str | None = None
    text: str = ""


class Counts(Value, frozen=True, kw_only=True):
    """Items of a batch (C12)."""

    total: int | None = None
    processed: int | None = None
    succeeded: int | None = None
    failed: int | None = None


class Result(Value, frozen=True, kw_only=True):
    """The result as the terminal answer told it: inline up to 64 KiB, else where it is (A4, X23)."""

    inline: Any = None
    has_inline: bool = False
    url: str | None = None
    result_id: str | None = None
    size: int | None = None
    sha256: str | None = None
    file: str | None = None


class OpenAction(Value, frozen=True, kw_only=True):
    """The operation's view of an action that is not over; the record of its own lies in table `actions`."""

    action_id: str
    state: ActionState = ActionState.REQUESTED
    due_at: datetime | None = None  # when a worker looks at it; null: waits for a person


class Decided(Value, frozen=True, kw_only=True):
    """What a person's (or the play-back of a click's) decision did: kept so that a second click is told (H4)."""

    decision_id: str
    option: str
    by: str
    at: datetime
    effect: str
    revision: int  # the revision it was shown for


class Limits(Value, frozen=True, kw_only=True):
    """Bounds as they were asked for at the start (H9: original, granted and used are shown apart)."""

    deadline_at: datetime
    status_requests: int
    transport_failures: int
    rate_limits: int


class Granted(Value, frozen=True, kw_only=True):
    """What people added later; only grows (B4)."""

    times: int = 0
    minutes: int = 0
    checks: int = 0
    failures: int = 0
    rate_limits: int = 0


class NotBefore(Value, frozen=True, kw_only=True):
    """A provider's minimum by wall and by boot clock: a jumped wall clock never shortens it (B2)."""

    at: datetime
    up: int
    boot: str
    source: DelaySource = DelaySource.PROVIDER_RETRY_AFTER


class Operation(Value, frozen=True, kw_only=True):
    """One external job that we wait for (SPEC 1, 11, X23). `revision` counts phase, limits and options only (X7)."""

    # identity
    operation_id: str
    provider: str
    account: str
    account_key: str  # account + host: what shares one budget (B9)
    contract: str  # SHA-256 of the contract file that judges it (X13)
    request_fingerprint: str
    owner: str = "nobody"
    name: str | None = None
    task: str | None = None
    submitted_by: str = ""
    is_tracked: bool = False
    resubmit_of: str | None = None
    group: str | None = None
    params: dict[str, str] = {}
    credential: str | None = None  # another reference that a person switched to

    # the job
    provider_job_id: str | None = None
    status_url: str | None = None
    result_url: str | None = None
    request_body: str | None = None  # canonical JSON, at most 128 KiB, for `replay_submit`
    idempotency_token: str | None = None
    submit_attempts: int = 0
    submitted_at: datetime | None = None  # when the submission was accepted; null when tracked

    # where it stands
    phase: Phase
    last_known_state: str | None = None  # original spelling
    state_class: StateClass | None = None
    state_since: datetime | None = None  # last change of state or progress
    longest_silence_ms: int = 0  # between two such changes
    stalls_at: datetime | None = None  # when it counts as stalled; derived, see `stall.py` (H12)
    observed_at: datetime | None = None  # last good answer
    was_seen: bool = False
    progress_share: float | None = msgspec.field(default=None, name="progress")  # 0..1; stored as `progress`
    message: str | None = None
    error: ProviderError | None = None
    counts: Counts | None = None
    errors_url: str | None = None
    delivery: Delivery = Delivery.NONE
    last_http_status: int | None = None
    last_http_at: datetime | None = None
    last_request_id: str | None = None
    provider_started_at: datetime | None = None
    provider_ended_at: datetime | None = None
    provider_expires_at: datetime | None = None
    estimated_seconds: float | None = None
    result: Result | None = None
    is_late: bool = False  # success learned after the deadline (X8)

    # bounds
    started_at: datetime
    deadline_at: datetime
    business_deadline_at: datetime | None = None
    is_business_deadline_waived: bool = False  # a person extended past it, in so many words (B14)
    ended_at: datetime | None = None
    original: Limits
    granted: Granted = Granted()
    max_status_requests: int
    status_requests_used: int = 0
    attempts: int = 0  # status requests that are over; never reset
    max_transport_failures: int
    transport_failures_used: int = 0
    max_transport_failures_in_a_row: int
    transport_failures_in_a_row: int = 0
    max_rate_limits: int
    rate_limits_used: int = 0
    rate_limits_in_a_row: int = 0
    not_found_in_a_row: int = 0
    is_success_unconfirmed: bool = False  # the next look is the confirming one (X24)
    lacking_since: datetime | None = None  # a success without what success requires (C3)
    lacking_reads: int = 0
    waited_for_person_ms: int = 0

    # plan
    next_poll_at: datetime | None = None
    delay_source: DelaySource | None = None
    not_before: NotBefore | None = None
    base_delay_ms: int | None = None  # the submit answer's hint replaces `base` (X2)

    # authority
    lease: Lease | None = None
    permit: Permit | None = None
    escalation: Escalation | None = None
    look: Look | None = None
    attention: Attention = Attention()
    open_actions: dict[str, OpenAction] = {}  # by kind: submit, cancel, fetch, ...
    decided: tuple[Decided, ...] = ()  # the last 20
    cancel_requested_at: datetime | None = None
    revision: int = 1
    op_seq: int = 0
    due_at: datetime | None = None  # when a worker looks next; derived, see `looks.py`

    def __repr__(self) -> str:
        """What a person wants to see first; the request, its token and texts of the provider stay out."""
        name = f" {_short(self.name)!r}" if self.name else ""
        state = f" ({_short(self.last_known_state)!r})" if self.last_known_state else ""
        checks = f"{self.status_requests_used} of {self.max_status_requests} checks"
        reason = f", {self.escalation.reason}" if self.escalation else ""
        ends = f"deadline {self.deadline_at:%H:%M:%S} UTC"
        return f"<Operation {self.operation_id}{name}: {self.phase}{state}{reason}, {checks}, {ends}>"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


class Action(Value, frozen=True, kw_only=True):
    """Anything that is not an observation: submit, fetch, cancel, resubmit, hand-off (A3)."""

    action_id: str
    operation_id: str
    account_key: str
    kind: str
    state: ActionState
    requested_at: datetime
    requested_by: str
    approved_by: str | None = None
    token: int | None = None
    owner: str | None = None
    until_up: int | None = None
    boot: str | None = None
    attempts: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str | None = None
    http_status: int | None = None
    detail: str = ""


def document(value: Value) -> dict[str, Any]:
    """The stored form: JSON types only, defaults left out."""
    built: dict[str, Any] = msgspec.to_builtins(value)
    return built


def operation(doc: Mapping[str, Any]) -> Operation:
    """The operation that a document describes. Fields of a newer version are ignored, and survive in the store."""
    return msgspec.convert(_present(doc), Operation)


def action(doc: Mapping[str, Any]) -> Action:
    """The action that a document describes."""
    return msgspec.convert(_present(doc), Action)


def _present(doc: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in doc.items() if value is not None}


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Top-level fields that differ, for an event's `set`; a field that went back to its default becomes null."""
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    changed.update({key: None for key in before if key not in after and before[key] is not None})
    return changed


def deadline(op: Operation) -> datetime:
    """The earlier of the operation's deadline and the business deadline: it stops requests (B14)."""
    if op.business_deadline_at is None or op.is_business_deadline_waived:
        return op.deadline_at
    return min(op.deadline_at, op.business_deadline_at)


def has_job(op: Operation) -> bool:
    """Whether the provider's job is known, by its id or by the URL of its status: only then can it be asked about."""
    return op.provider_job_id is not None or op.status_url is not None


def milliseconds(at: datetime) -> datetime:
    """`at` in UTC, cut to whole milliseconds: what the store keeps, so that values compare equal after a reload."""
    at = at.astimezone(UTC)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
