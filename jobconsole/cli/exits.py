"""The exit codes of the command line (SPEC X26 and "Details decided").

Only this file decides which code an error or an outcome becomes; `main` asks for errors, the commands that wait for outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from jobconsole.errors import InvalidValue, JobconsoleError, Refused, StoreError, StoreReadOnly, UnknownProvider


class Exit(IntEnum):
    """What the process tells its caller. Outcomes begin at 10, so that no error of ours can be taken for one."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    STORE = 3
    REFUSED = 4
    JOB_FAILED = 10
    COMPLETED_WITH_ERRORS = 11
    TIMED_OUT = 12
    NEEDS_DECISION = 13
    ENDED_OTHERWISE = 14  # cancelled, expired, no_outcome, abandoned
    INTERRUPTED = 130


_OF_ERROR: dict[type[BaseException], Exit] = {
    InvalidValue: Exit.USAGE,
    UnknownProvider: Exit.USAGE,
    Refused: Exit.REFUSED,
    StoreReadOnly: Exit.REFUSED,  # before StoreError: read-only is a refusal (H11), not a fault
    StoreError: Exit.STORE,
    JobconsoleError: Exit.FAILURE,
}

OF_WORD: dict[str, Exit] = {
    "succeeded": Exit.OK,
    "failed": Exit.JOB_FAILED,
    "completed_with_errors": Exit.COMPLETED_WITH_ERRORS,
    "timed_out": Exit.TIMED_OUT,
    "needs_decision": Exit.NEEDS_DECISION,
    "cancelled": Exit.ENDED_OTHERWISE,
    "expired": Exit.ENDED_OTHERWISE,
    "no_outcome": Exit.ENDED_OTHERWISE,
    "abandoned": Exit.ENDED_OTHERWISE,
}
"""The final word of a wait (SPEC G1) → the exit code of `wait` and `submit --wait`."""

_URGENCY = (
    Exit.NEEDS_DECISION,
    Exit.TIMED_OUT,
    Exit.JOB_FAILED,
    Exit.COMPLETED_WITH_ERRORS,
    Exit.ENDED_OTHERWISE,
    Exit.OK,
)


def of_error(error: JobconsoleError) -> Exit:
    """The code of the nearest class of the error tree that has one."""
    return next(_OF_ERROR[kind] for kind in type(error).__mro__ if kind in _OF_ERROR)


def of_words(words: Iterable[str]) -> Exit:
    """The code of several operations, by their final words: the first present of 13, 12, 10, 11, 14, 0 (X26)."""
    present = {OF_WORD[word] for word in words}
    return next((code for code in _URGENCY if code in present), Exit.OK)
