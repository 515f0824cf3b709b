"""The words of the record: phases, classes of states, delay sources, deliveries, reasons, states of an action (SPEC 1, H1).

Only this file decides which words there are; they are stored, shown and compared by these names. `operation.py` makes records
of them, and everything that asks where an operation stands asks in them.
"""

from __future__ import annotations

from enum import StrEnum

from jobconsole.errors import InvalidValue


class Phase(StrEnum):
    """Phases of an operation (SPEC 1)."""

    SUBMITTING = "submitting"
    WAITING = "waiting"
    ESCALATED = "escalated"
    SUCCEEDED = "succeeded"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    NO_OUTCOME = "no_outcome"
    ABANDONED = "abandoned"

    @property
    def is_terminal(self) -> bool:
        """True where nothing follows any more (X7: never reopened)."""
        return self not in (Phase.SUBMITTING, Phase.WAITING, Phase.ESCALATED)


def known_phase(said: str) -> Phase:
    """The phase of this name. Raises `InvalidValue`: a misspelt one would find nothing, and nothing looks like good news."""
    if said not in list(Phase):
        raise InvalidValue(f"there is no phase {said!r:.60}; there are {', '.join(Phase)}")
    return Phase(said)


class StateClass(StrEnum):
    """What the contract's table makes of a provider's state (C1), and the two verdicts beside the table."""

    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    NEEDS_HUMAN = "needs_human"
    NO_OUTCOME = "no_outcome"
    CONTRADICTION = "contradiction"
    UNKNOWN = "unknown"


class DelaySource(StrEnum):
    """Why the next check is when it is (SPEC 1)."""

    PROVIDER_RETRY_AFTER = "provider_retry_after"
    PROVIDER_POLL_HINT = "provider_poll_hint"
    LOCAL_BACKOFF = "local_backoff"
    ADAPTIVE = "adaptive"
    FINAL_CHECK = "final_check"
    MANUAL_EXTENSION = "manual_extension"
    NOT_FOUND_GRACE = "not_found_grace"
    ACCOUNT_HOLD = "account_hold"
    ACCOUNT_LIMIT = "account_limit"
    MIN_INTERVAL = "min_interval"
    PAUSE = "pause"


CLOCK_SET_BACK = "clock_set_back"
"""Reason of the `check_planned` that moves a plan because the wall clock was set back."""


class Delivery(StrEnum):
    """Did the provider answer this request? Apart from what the job does (SPEC 1, observation)."""

    ANSWERED = "answered"
    NONE = "none"
    AMBIGUOUS = "ambiguous"


class Reason(StrEnum):
    """Why an operation needs a person, or why something ended that somebody should see (H1)."""

    DEADLINE_EXCEEDED = "deadline_exceeded"
    REQUEST_BUDGET_EXHAUSTED = "request_budget_exhausted"
    TRANSPORT_FAILURES_EXHAUSTED = "transport_failures_exhausted"
    RATE_LIMITED = "rate_limited"
    UNKNOWN_STATE = "unknown_state"
    CONTRADICTORY_RESPONSE = "contradictory_response"
    AUTHORIZATION_DENIED = "authorization_denied"
    PROVIDER_FAILURE = "provider_failure"
    JOB_NOT_FOUND = "job_not_found"
    INTEGRATION_ERROR = "integration_error"
    NEEDS_HUMAN_AT_PROVIDER = "needs_human_at_provider"
    SUBMISSION_AMBIGUOUS = "submission_ambiguous"
    SUBMISSION_REFUSED = "submission_refused"
    RESULT_INVALID = "result_invalid"
    PROVIDER_WAIT_EXCEEDS_DEADLINE = "provider_wait_exceeds_deadline"
    CANCEL_UNCONFIRMED = "cancel_unconfirmed"
    APPROVAL_REQUIRED = "approval_required"
    EXTENSION_REQUESTED = "extension_requested"
    CANCEL_REQUESTED = "cancel_requested"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    JOB_EXPIRED = "job_expired"
    NO_OUTCOME = "no_outcome"
    CANCELLED_ELSEWHERE = "cancelled_elsewhere"


class NoticeResult(StrEnum):
    """What became of the one message about an inbox item (H10)."""

    REACHED = "reached"  # at least one channel took it
    NOT_REACHED = "not_reached"  # no channel took it
    UNKNOWN = "unknown"  # whoever took it on ended before it knew; it is not sent again


class ActionState(StrEnum):
    """States of an action (STORE 4)."""

    REQUESTED = "requested"  # waits for a person where `needs_approval`
    CLAIMED = "claimed"
    ENDED = "ended"
    UNKNOWN = "unknown"  # claimed, outcome not learned: never repeated blindly
