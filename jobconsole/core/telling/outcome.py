"""What a wait came to, in the words that programs and agents get (SPEC X16, X17, G1-G3).

Only this file decides which word an operation's state becomes and what a caller may conclude from it. The Python face returns
an `Outcome`, the command line prints `answer`, tools for agents will do the same.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from jobconsole.core.operation import Counts, Operation, ProviderError
from jobconsole.core.vocabulary import Phase, Reason

DONE_WORDS = frozenset(
    {
        Phase.SUCCEEDED,
        Phase.COMPLETED_WITH_ERRORS,
        Phase.FAILED,
        Phase.CANCELLED,
        Phase.EXPIRED,
        Phase.NO_OUTCOME,
    }
)
"""Phases in which the provider's end is known. `abandoned` is terminal, and nobody knows."""

SMALL_RESULT = 8_192  # bytes of an inline result in an answer (X17)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a bounded wait came to. `done` is true only where the provider's end is known; only a success has a `result`.

    `status` is a phase's own name once the operation ended, else `needs_decision`, `processing` or `timed_out` (X16).
    """

    status: str
    done: bool
    operation_id: str
    job_id: str | None = None
    message: str = ""
    timed_out: bool = False
    reason: str | None = None
    last_known_state: str | None = None
    observed_at: datetime | None = None
    deadline_at: datetime
    progress_percent: float | None = None
    summary: Counts | None = None
    error: ProviderError | None = None
    errors_url: str | None = None
    result: Any = None
    result_url: str | None = None

    def __bool__(self) -> bool:
        """True only for a plain success: `if console.wait(op): ...` cannot misread a slow job."""
        return self.status == "succeeded"


def status_word(op: Operation, *, is_waited_out: bool) -> str:
    """The agent's word for an operation; `is_waited_out` where this call's own cap ran out (X16)."""
    if op.phase.is_terminal:
        return str(op.phase)
    if op.phase is Phase.ESCALATED:
        return "needs_decision"
    return "timed_out" if is_waited_out else "processing"


def outcome(op: Operation, *, is_waited_out: bool = False) -> Outcome:
    """The outcome of a wait for `op` as it stands."""
    status = status_word(op, is_waited_out=is_waited_out)
    has_result = op.phase in (Phase.SUCCEEDED, Phase.COMPLETED_WITH_ERRORS) and op.result is not None
    reason = op.escalation.reason if op.escalation else op.look.reason if op.look else None
    return Outcome(
        status=status,
        done=op.phase in DONE_WORDS,
        operation_id=op.operation_id,
        job_id=op.provider_job_id,
        message=_message(op, status),
        timed_out=status == "timed_out" or reason is Reason.DEADLINE_EXCEEDED,
        reason=reason,
        last_known_state=op.last_known_state,
        observed_at=op.observed_at,
        deadline_at=op.deadline_at,
        progress_percent=None if op.progress_share is None else round(100 * op.progress_share, 1),
        summary=op.counts,
        error=op.error,
        errors_url=op.errors_url,
        result=op.result.inline if has_result and op.result else None,
        result_url=op.result.url if has_result and op.result else None,
    )


def _message(op: Operation, status: str) -> str:
    """Plain words that cannot be misread (G2)."""
    if status == "succeeded":
        return "The job succeeded."
    if status == "completed_with_errors":
        return "The job ended, and some of its items failed. This is neither a success nor a failure."
    if status == "failed":
        return "The job FAILED at the provider. Do not report success."
    if status == "needs_decision":
        return "NOT complete: a person must decide. Nothing is sent until then. Do not report success."
    if status == "timed_out":
        return "NOT complete: this call stopped waiting, the job goes on and is still watched. Do not report success."
    if status == "processing":
        return "STARTED and NOT complete. Do not report success."
    if status == "abandoned":
        return "A person closed this without knowing how the job ended. Do not report success."
    return f"The job ended as {status.replace('_', ' ')}. Do not report success."


def answer(op: Operation, now: datetime, *, is_watched: bool, is_waited_out: bool = False) -> dict[str, Any]:
    """The outcome as JSON values with what to do next, nulls left out (X17).

    `next` names the command and the whole seconds to let pass before it; there is none where the end is known.
    `is_watched`: a worker lives. A result of more than 8 kB is left out, and the message says where it is.
    """
    made = outcome(op, is_waited_out=is_waited_out)
    shown: dict[str, Any] = {key: value for key, value in msgspec.to_builtins(made).items() if value is not None}
    shown["elapsed_seconds"] = max(0, int(((op.ended_at or now) - op.started_at).total_seconds()))
    shown["watched"] = is_watched and not op.phase.is_terminal
    if op.task is not None:
        shown["task"] = op.task
    if op.estimated_seconds is not None:
        shown["estimated_duration_seconds"] = op.estimated_seconds
    if not op.phase.is_terminal:
        after = _seconds_until(op.next_poll_at, now)
        call = "inbox" if op.phase is Phase.ESCALATED else "wait"
        shown["next"] = {"call": call, "after_seconds": after}
        shown["poll_after_seconds"] = after
    if "result" in shown and len(msgspec.json.encode(shown["result"])) > SMALL_RESULT:
        del shown["result"]
        shown["message"] += " The result is too large for this answer: jobconsole fetch shows it."
    return shown


def _seconds_until(at: datetime | None, now: datetime) -> int:
    """Whole seconds, rounded up, so that nobody asks too early; 0 where nothing is planned."""
    return max(0, -int((now - at).total_seconds() // 1)) if at is not None else 0
