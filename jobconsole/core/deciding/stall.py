"""A stalled job is told from a slow one (SPEC H12).

Only this file decides how long a job may show no change of state or progress: as its contract says (`stalled_after`), else
twice the longest such silence in the last finished jobs of its account, once there were five. `commands/recording.py` keeps
the record's `stalls_at` by it; every front end asks `stalled_since`, and `unchecked_since` where nobody looked. A flag is all
that this makes: no limit, no plan and no decision looks at it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Phase

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Contract
    from jobconsole.core.deciding.account import Account

ENOUGH: Final = 5  # finished jobs, before their silences say what is usual
KEPT: Final = 20  # of the last ones
SLACK: Final = 2
_FINISHED: Final = (Phase.SUCCEEDED, Phase.COMPLETED_WITH_ERRORS, Phase.FAILED)


def stalled_since(op: Operation, now: datetime) -> datetime | None:
    """Since when the job shows no change, where that is longer than it may be; None where it is not stalled.

    A good answer after that moment must have confirmed it: while nobody asks, nothing is known of the job.
    """
    return op.state_since if _is_overdue(op, now) and _is_confirmed(op) else None


def unchecked_since(op: Operation, now: datetime) -> datetime | None:
    """The last good answer, where the job would count as stalled had anybody asked since; None where somebody did."""
    return op.observed_at or op.state_since if _is_overdue(op, now) and not _is_confirmed(op) else None


def _is_overdue(op: Operation, now: datetime) -> bool:
    return op.phase is Phase.WAITING and op.stalls_at is not None and now > op.stalls_at


def _is_confirmed(op: Operation) -> bool:
    return op.stalls_at is not None and op.observed_at is not None and op.observed_at > op.stalls_at


def silence_allowed(contract: Contract, account: Account) -> timedelta | None:
    """How long a job may show no change; None where nobody knows."""
    if contract.schedule.stalled_after is not None:
        return contract.schedule.stalled_after
    if len(account.silences_ms) < ENOUGH:
        return None
    return SLACK * timedelta(milliseconds=max(account.silences_ms))


def watched(op: Operation, contract: Contract, account: Account) -> Operation:
    """The operation with the moment at which it counts as stalled, as it is known now."""
    allowed = silence_allowed(contract, account)
    stalls_at = op.state_since + allowed if op.state_since is not None and allowed is not None else None
    return replace(op, stalls_at=stalls_at)


def remembered(account: Account, op: Operation, end: Phase | None) -> Account:
    """The account with the longest silence of a job that has just finished as `end`.

    One that waited for a person meanwhile teaches nothing: nobody looked.
    """
    if end not in _FINISHED or not op.longest_silence_ms or op.escalation is not None or op.waited_for_person_ms:
        return account
    return replace(account, silences_ms=(*account.silences_ms, op.longest_silence_ms)[-KEPT:])
