"""Stopping an operation whose contract is lost: nothing can be asked about its job, so a person decides (X13, SPEC 1).

Only this file decides what such an operation is escalated for. `engine/poll.py` calls it in place of a look, `engine/desk.py`
to book a deadline when a store is opened. Nothing here needs a contract.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from jobconsole.core.command import Command, View
from jobconsole.core.commands.claims import claim_has_ended, lose_claim
from jobconsole.core.commands.reservation import Deferred, Stopped, lease_has_ended, lose_lease
from jobconsole.core.commands.transitions import Sets, escalate, may_be_submitted, on_operation, superseded
from jobconsole.core.events import Draft, Table
from jobconsole.core.operation import Operation, action, deadline
from jobconsole.core.vocabulary import ActionState, Phase, Reason

Ending: TypeAlias = Stopped | Deferred


@dataclass(frozen=True, slots=True)
class Loss:
    """What a worker found. `told` is a sentence that names the contract and the mend.

    `is_booking` stops the operation only where its deadline has passed.
    """

    operation_id: str
    owner: str  # worker:ID
    told: str
    is_booking: bool = False


def stop_without_contract(loss: Loss) -> Command[Ending]:
    """Escalate once: by the bound that has passed, else as `integration_error`.

    What another worker has in flight is left to it: that one may know the contract still.
    """
    return on_operation(loss.operation_id, loss.owner, lambda view, draft: _stopped(loss, view, draft))


def _stopped(loss: Loss, view: View, draft: Draft) -> Ending:
    op = draft.op
    if op.phase.is_terminal:
        return Deferred("ended")
    if op.phase is Phase.ESCALATED and op.permit is None and not op.open_actions:
        return Deferred("escalated")  # a person is asked already
    if loss.is_booking and (op.permit is not None or view.now.wall < deadline(op)):
        return Deferred("not_due", op.due_at)
    if op.lease is not None and not lease_has_ended(op.lease, view):
        return Deferred("leased", op.lease.until_at)
    for kind in op.open_actions:
        ending = _claim_ended(kind, view, draft)
        if ending is not None:
            return ending
    if draft.op.lease is not None:
        lose_lease(draft)
    op, sets = draft.op, Sets()
    for kind in op.open_actions:
        op, ended = superseded(view, op, kind, f"the contract was lost before this {kind} was sent")
        sets.update(ended)
    reason, bound = _reason(op, view)
    told = f"{bound}; {loss.told}" if bound else loss.told
    return Stopped(escalate(draft, op, reason, told, None, view.now, also=sets))


def _claim_ended(kind: str, view: View, draft: Draft) -> Ending | None:
    """An action that was claimed: its owner's while that lives; after that its outcome is unknown, as always (A3)."""
    doc = view.get(Table.ACTIONS, draft.op.open_actions[kind].action_id)
    act = action(doc) if doc is not None else None
    if act is None or act.state is not ActionState.CLAIMED:
        return None
    if not claim_has_ended(act, view):
        return Deferred("claimed", draft.op.open_actions[kind].due_at)
    ended = lose_claim(draft, act, None, view)
    return ended if isinstance(ended, Stopped) else None


def _reason(op: Operation, view: View) -> tuple[Reason, str]:
    """The reason, and the bound that passed in half a sentence: bounds are booked whatever else is wrong (B2, X11, B17)."""
    wall = view.now.wall
    if may_be_submitted(op):
        return Reason.SUBMISSION_AMBIGUOUS, "the answer to a submission was lost"
    if op.permit is not None:
        if op.permit.purpose == "cancel" and wall >= op.permit.until_at:
            return Reason.CANCEL_UNCONFIRMED, "the provider has neither confirmed the cancel nor ended the job"
        return Reason.INTEGRATION_ERROR, ""
    if op.phase is not Phase.ESCALATED and wall >= deadline(op):
        return Reason.DEADLINE_EXCEEDED, f"{'business ' if deadline(op) != op.deadline_at else ''}deadline reached"
    return Reason.INTEGRATION_ERROR, ""
