"""When somebody must look at an operation next, and until when anything may be sent for it (STORE 4).

Only this file decides that. Every event settles its operation (`events.py`), so `due_at` is always right; `due.py` offers looks
by it, and the commands refuse what comes too late.
"""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from jobconsole.core.denial import is_probe
from jobconsole.core.operation import Operation, deadline
from jobconsole.core.vocabulary import ActionState, Phase


def stops_at(op: Operation) -> datetime:
    """When nothing is sent any more: the deadline, or the later end of a permit."""
    return deadline(op) if op.permit is None else max(deadline(op), op.permit.until_at)


def is_submission_in_flight(op: Operation) -> bool:
    """Whether a worker has claimed the submission: until that claim ends, nobody else concludes anything."""
    opened = op.open_actions.get("submit")
    return opened is not None and opened.state is ActionState.CLAIMED


def settle(op: Operation) -> Operation:
    """The same operation with `due_at` made from its plan: the earliest moment at which a look does something.

    That is the next check, an open action, and the bound that is booked when it passes.
    """
    times = [*_actions(op), *_bounds(op)]
    if op.next_poll_at is not None:
        times.append(op.next_poll_at)
    due_at = min(times) if times and not op.phase.is_terminal else None
    return op if due_at == op.due_at else replace(op, due_at=due_at)


def _actions(op: Operation) -> list[datetime]:
    """When its actions are due. One that may not try a refused credential waits until the probe was let through."""
    waits = op.phase is not Phase.SUBMITTING and is_probe(op)
    actions = (action for action in op.open_actions.values() if action.state is ActionState.CLAIMED or not waits)
    return [action.due_at for action in actions if action.due_at is not None]


def _bounds(op: Operation) -> list[datetime]:
    """The deadline, or the end of a permit instead. That of a submission in flight is left to its owner."""
    if op.phase is Phase.SUBMITTING:
        return [] if is_submission_in_flight(op) else [stops_at(op)]
    if op.permit is not None:
        return [op.permit.until_at]
    return [deadline(op)] if op.phase is Phase.WAITING else []
