"""Claiming an action: who may send a submission or a cancel, and when (A3, B17, X10, STORE 4).

Only this file decides that an action may leave now. `engine/act.py` claims, sends, and hands the answer to
`action_answers.py`. A claim is fenced by its token like a lease; one that ran out is unknown, and repeated only where the
contract documents a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec.structs import replace

from jobconsole.core.command import Command, View
from jobconsole.core.commands.reservation import Deferred, Stopped, slots_in_use, unsent
from jobconsole.core.commands.transitions import Sets, account_of, account_set, escalate, on_operation
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import blocked, charged
from jobconsole.core.denial import is_probe
from jobconsole.core.events import Draft, Kind, Table, action_set
from jobconsole.core.looks import stops_at
from jobconsole.core.operation import Action, NotBefore, OpenAction, Operation, Permit, action, deadline
from jobconsole.core.vocabulary import ActionState, Delivery, Reason

SUBMIT_ATTEMPTS = 3  # X10
SUBMIT_WINDOW = timedelta(minutes=2)
FOLLOW_UP_CHECKS = 4  # X11
FOLLOW_UP = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker asks for: to perform the open action of this kind."""

    operation_id: str
    kind: str  # submit, cancel
    contract: Contract
    owner: str
    lease: timedelta


@dataclass(frozen=True, slots=True)
class Claimed:
    """The request of this action may leave through the gate, once, under this token."""

    op: Operation
    action: Action
    token: int
    until: datetime


Claiming: TypeAlias = Claimed | Deferred | Stopped


def claim(ask: Claim) -> Command[Claiming]:
    """Claim and reservation in one: the account is charged, the operation's own budget is not (X24)."""
    return on_operation(ask.operation_id, ask.owner, lambda view, draft: _claim(ask, view, draft))


def claim_has_ended(act: Action, view: View) -> bool:
    """Like a lease: by the boot clock of one boot, or because the owner is dead."""
    return act.boot != view.now.boot or view.now.up >= (act.until_up or 0) or view.is_dead(act.owner or "")


def _claim(ask: Claim, view: View, draft: Draft) -> Claiming:
    op, now = draft.op, view.now
    opened = op.open_actions.get(ask.kind)
    doc = view.get(Table.ACTIONS, opened.action_id) if opened else None
    if opened is None or doc is None or op.phase.is_terminal:
        return Deferred("no_action")
    act = action(doc)
    if act.state is ActionState.CLAIMED:
        if not claim_has_ended(act, view):
            return Deferred("claimed", opened.due_at)
        return lose_claim(draft, act, ask.contract, view)
    if act.approved_by is None:
        return Deferred("needs_approval")
    if opened.due_at is not None and now.wall < opened.due_at:
        return Deferred("not_due", opened.due_at)
    if ask.kind == "submit" and now.wall >= stops_at(op):
        return Stopped(unsent(draft, view, ask.contract))
    acc = account_of(view, op, ask.contract)
    probes = may_probe(op, ask.kind)
    stop = blocked(acc, now, slots_in_use(acc, view), op.credential, is_probe=probes)
    if stop is not None:
        return _postponed(draft, ask.kind, stop.source, stop.until)
    return _take(ask, view, draft, act, account_set(view, charged(acc, now)))


def may_probe(op: Operation, kind: str) -> bool:
    """Whether this action may try a refused credential: a submission may; a cancel waits until a read was let through."""
    return kind == "submit" and is_probe(op)


def _take(ask: Claim, view: View, draft: Draft, act: Action, charge: Sets) -> Claimed:
    now, token, op = view.now, draft.op.op_seq + 1, draft.op
    until = now.wall + ask.lease
    claimed = replace(
        act,
        state=ActionState.CLAIMED,
        token=token,
        owner=ask.owner,
        until_up=now.up + int(ask.lease / timedelta(milliseconds=1)),
        boot=now.boot,
        attempts=act.attempts + 1,
        started_at=act.started_at or now.wall,
    )
    opened = OpenAction(action_id=act.action_id, state=ActionState.CLAIMED, due_at=until)
    op = replace(op, open_actions={**op.open_actions, ask.kind: opened})
    if ask.kind == "submit":
        op = replace(op, submit_attempts=op.submit_attempts + 1)
    also = {**charge, **action_set(claimed, act)}
    draft.add(Kind.ACTION_STARTED, op, also=also, action_id=act.action_id, action=ask.kind, attempt=claimed.attempts)
    may_leave_until = stops_at(op) if ask.kind == "submit" else max(deadline(op), until)  # a cancel also past it (X11)
    return Claimed(draft.op, claimed, token, may_leave_until)


def _postponed(draft: Draft, kind: str, why: str, until: datetime | None) -> Deferred:
    """The account cannot send now: the action's plan moves, once per reason; a denied account waits for a person."""
    op = draft.op
    opened = op.open_actions[kind]
    if until is not None and opened.due_at != until:
        moved = {**op.open_actions, kind: replace(opened, due_at=until)}
        draft.add(Kind.CHECK_PLANNED, replace(op, open_actions=moved), reason=why, action=kind)
    return Deferred(why, until, account_wide=True)


def lose_claim(draft: Draft, act: Action, contract: Contract | None, view: View) -> Stopped | Deferred:
    """A claim that ran out: its outcome is unknown, and it is not repeated blindly (A3)."""
    now = view.now
    if act.kind == "cancel":
        follow_up(draft, act, now.wall, ActionState.UNKNOWN, "unknown", "its owner went silent; the provider may have it")
        return Deferred("not_due", draft.op.next_poll_at)
    if may_repeat(act, contract, now.wall, was_lost=True):
        repeat_submit(draft, act, now.wall, "unknown", "its owner went silent; sent again with the same token")
        return Deferred("not_due", now.wall)
    detail = "the submission's answer was lost; the job may exist at the provider"
    return Stopped(submit_unclear(draft, act, contract, view, detail))


def may_repeat(act: Action, contract: Contract | None, now: datetime, *, was_lost: bool) -> bool:
    """At most 3 attempts within 2 minutes; after a lost answer only with a documented idempotency token (B17, X10).

    Without a contract nothing is documented.
    """
    if act.attempts >= SUBMIT_ATTEMPTS or now - (act.started_at or act.requested_at) > SUBMIT_WINDOW:
        return False
    submit = contract.submit if contract is not None else None
    return not was_lost or (submit is not None and submit.idempotency is not None)


def repeat_submit(draft: Draft, act: Action, due_at: datetime, outcome: str, detail: str) -> None:
    """Open the submission again, with the same token, due at `due_at`."""
    again = replace(act, state=ActionState.REQUESTED, outcome=outcome, detail=detail, token=None, owner=None, until_up=None)
    opened = OpenAction(action_id=act.action_id, due_at=due_at)
    op = replace(draft.op, open_actions={**draft.op.open_actions, "submit": opened})
    if outcome == "unknown":
        op = replace(op, delivery=Delivery.AMBIGUOUS)
    draft.add(
        Kind.ACTION_ENDED, op, also=action_set(again, act), action_id=act.action_id, action="submit",
        outcome=outcome, detail=detail, next_at=due_at,
    )  # fmt: skip


def submit_unclear(draft: Draft, act: Action, contract: Contract | None, view: View, detail: str) -> Operation:
    """Nobody knows whether the job exists: a person decides (`submission_ambiguous`)."""
    ended = replace(act, state=ActionState.UNKNOWN, ended_at=view.now.wall, outcome="unknown", detail=detail)
    op = replace(without_action(draft.op, "submit"), delivery=Delivery.AMBIGUOUS)
    end_action(draft, op, act, ended)
    return escalate(draft, draft.op, Reason.SUBMISSION_AMBIGUOUS, detail, contract, view.now)


def end_action(draft: Draft, op: Operation, before: Action, ended: Action) -> None:
    """The action's last event."""
    draft.add(
        Kind.ACTION_ENDED,
        op,
        also=action_set(ended, before),
        action_id=ended.action_id,
        action=ended.kind,
        outcome=ended.outcome,
        detail=ended.detail or None,
        http_status=ended.http_status,
    )


def follow_up(
    draft: Draft,
    act: Action,
    now: datetime,
    state: ActionState,
    outcome: str,
    detail: str,
    http_status: int | None = None,
    minimum: NotBefore | None = None,
) -> None:
    """A cancel was answered, or may have been: an accepted cancel is not a stopped job, so checks go on (A7, X11).

    `minimum` is the provider's, as its answer to the cancel left it.
    """
    ended = replace(act, state=state, ended_at=now, outcome=outcome, detail=detail, http_status=http_status)
    permit = Permit(decision_id=act.action_id, purpose="cancel", checks=FOLLOW_UP_CHECKS, until_at=now + FOLLOW_UP)
    op = without_action(draft.op, "cancel")
    minimum = minimum or op.not_before
    next_at = max(now, minimum.at) if minimum is not None else now
    op = replace(op, permit=permit, next_poll_at=next_at, not_before=minimum, revision=op.revision + 1)
    end_action(draft, op, act, ended)


def without_action(op: Operation, kind: str) -> Operation:
    """The operation without an open action of this kind."""
    return replace(op, open_actions={name: opened for name, opened in op.open_actions.items() if name != kind})
