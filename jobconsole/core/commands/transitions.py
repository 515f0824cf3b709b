"""Changes of phase that several commands share: escalate, conclude, resume, hold an account.

Only this file decides what an operation looks like right after it escalated, ended or went on. Called by the commands beside
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from jobconsole.core.command import Command, Moment, Plan, R, Refusal, View
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account, held_until, opened, refused
from jobconsole.core.deciding.escalation import options_for
from jobconsole.core.denial import carries
from jobconsole.core.events import Draft, Key, Kind, Table, action_set
from jobconsole.core.operation import (
    Action,
    Escalation,
    Look,
    OpenAction,
    Operation,
    action,
    changes,
    deadline,
    document,
    has_job,
    operation,
)
from jobconsole.core.vocabulary import ActionState, DelaySource, Delivery, Phase, Reason

Sets = dict[Key, Mapping[str, Any] | None]
DETAIL_LIMIT = 300  # characters of an escalation's sentence


def load(view: View, operation_id: str) -> Operation | None:
    """The operation on fresh state."""
    doc = view.get(Table.OPERATIONS, operation_id)
    return None if doc is None else operation(doc)


def on_operation(operation_id: str, actor: str, work: Callable[[View, Draft], R]) -> Command[R]:
    """The command that does `work` on one operation as it is now: its events are the draft's, its result is what it returns."""

    def command(view: View) -> Plan[R] | Refusal:
        op = load(view, operation_id)
        if op is None:
            return Refusal("unknown_operation", f"no operation {operation_id}")
        draft = Draft(actor, op)
        result = work(view, draft)
        return Plan(tuple(draft.events), result)

    return command


def account_of(view: View, op: Operation, contract: Contract) -> Account:
    """The operation's account on fresh state, bounded as the contract says now; who carries a refusal no more is forgotten."""
    acc = opened(view.get(Table.ACCOUNTS, op.account_key), op.account_key, op.account, contract.limits, view.now)
    if acc.denied is None:
        return acc
    return replace(acc, denied=replace(acc.denied, carriers=_still_carried(view, acc.denied.carriers)))


def _still_carried(view: View, carriers: Mapping[str, str | None]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for credential, operation_id in carriers.items():
        op = load(view, operation_id) if operation_id is not None else None
        found[credential] = operation_id if op is not None and carries(op, credential) else None
    return found


def account_set(view: View, acc: Account) -> Sets:
    """The `set` entry that stores an account; empty where nothing changed."""
    before = view.get(Table.ACCOUNTS, acc.account_key)
    fields = changes(before or {}, document(acc))
    return {(Table.ACCOUNTS, acc.account_key): fields} if fields else {}


def escalate(
    draft: Draft,
    op: Operation,
    reason: Reason,
    detail: str,
    contract: Contract | None,
    now: Moment,
    *,
    also: Sets | None = None,
) -> Operation:
    """Stop: nothing is sent any more, a person decides (SPEC 1). The lease is given back, the permit is over.

    `contract` is None where it is lost.
    """
    wall = now.wall
    op = replace(op, phase=Phase.ESCALATED, lease=None, permit=None, next_poll_at=None, delay_source=None)
    op = answered(op, wall)  # an escalation may follow on another one
    options = options_for(op, reason, contract, wall)
    escalation = Escalation(reason=reason, since=wall, options=options, detail=detail[:DETAIL_LIMIT])
    op = replace(op, escalation=escalation, revision=op.revision + 1)
    draft.add(Kind.ESCALATED, op, also=also, reason=reason, detail=escalation.detail or None, decision="escalate")
    return draft.op


def conclude(
    draft: Draft,
    op: Operation,
    phase: Phase,
    look: Reason | None,
    view: View,
    **fields: Any,
) -> Operation:
    """End the operation for good: its closing event carries the final counters (L7), open actions are ended."""
    now = view.now.wall
    sets = Sets()
    for kind in op.open_actions:
        op, ended_action = superseded(view, op, kind, f"the job ended as {phase} before this {kind} did")
        sets.update(ended_action)
    ended = replace(
        answered(op, now),
        phase=phase,
        ended_at=now,
        lease=None,
        permit=None,
        next_poll_at=None,
        delay_source=None,
        look=Look(reason=look, since=now) if look else op.look,
        is_late=phase in (Phase.SUCCEEDED, Phase.COMPLETED_WITH_ERRORS) and now > deadline(op),
        revision=op.revision + 1,
    )
    draft.add(
        Kind.CLOSED,
        ended,
        also=sets,
        reason=look,
        transport_failures_used=ended.transport_failures_used,
        rate_limits_used=ended.rate_limits_used,
        attempts=ended.attempts,
        **fields,
    )
    return draft.op


def superseded(view: View, op: Operation, kind: str, detail: str) -> tuple[Operation, Sets]:
    """The operation without its open action of this kind, and the `set` that ends the action's record."""
    opened_action = op.open_actions[kind]
    op = replace(op, open_actions={name: open_one for name, open_one in op.open_actions.items() if name != kind})
    doc = view.get(Table.ACTIONS, opened_action.action_id)
    before = None if doc is None else action(doc)
    if before is None or before.state not in (ActionState.REQUESTED, ActionState.CLAIMED):
        return op, {}
    ended = replace(before, state=ActionState.ENDED, ended_at=view.now.wall, outcome="superseded", detail=detail)
    return op, action_set(ended, before)


def answered(op: Operation, now: datetime) -> Operation:
    """The operation with nothing to decide any more; how long that took a person is kept apart (H9).

    The next item starts awake and unannounced, in the same hands.
    """
    attention = replace(op.attention, snoozed_until=None, notified_at=None, notice_result=None)
    return replace(op, escalation=None, attention=attention, waited_for_person_ms=_waited_for_person(op, now))


def _waited_for_person(op: Operation, now: datetime) -> int:
    if op.escalation is None:
        return op.waited_for_person_ms
    return op.waited_for_person_ms + max(0, int((now - op.escalation.since) / timedelta(milliseconds=1)))


def resumed(
    op: Operation, contract: Contract, acc: Account, now: Moment, source: DelaySource, at: datetime | None = None
) -> Operation:
    """The operation back at work after a person's decision: the next check at once, unless X2 forbids."""
    wall = now.wall
    plans = [(at or wall, source)]
    if op.not_before is not None:
        plans.append((op.not_before.at, op.not_before.source))
    if (until := held_until(acc, now)) is not None:
        plans.append((until, DelaySource.ACCOUNT_HOLD))
    if contract.hints.min_interval and op.last_http_at is not None:
        plans.append((op.last_http_at + contract.hints.min_interval, DelaySource.MIN_INTERVAL))
    next_at, why = max(plans, key=lambda item: item[0])
    permit = op.permit if op.phase is Phase.WAITING else None  # the follow-up of a cancel goes on (A7)
    op = answered(op, wall)
    return replace(op, phase=Phase.WAITING, permit=permit, next_poll_at=next_at, delay_source=why)


def is_unsubmitted(op: Operation) -> bool:
    """Whether nothing of this operation was accepted by the provider: what goes out next is the submission."""
    return op.submitted_at is None and not has_job(op)


def may_be_submitted(op: Operation) -> bool:
    """Whether the answer to a submission was lost and nothing has told since what became of it (B17)."""
    return is_unsubmitted(op) and op.delivery is Delivery.AMBIGUOUS


def request_action(
    draft: Draft, op: Operation, kind: str, action_id: str, now: Moment, *, approved_by: str | None, due_at: datetime | None
) -> Operation:
    """Open an action: at most one per operation and kind. Asking for one changes the options, so the revision (X7)."""
    wall = now.wall
    asked = Action(
        action_id=action_id,
        operation_id=op.operation_id,
        account_key=op.account_key,
        kind=kind,
        state=ActionState.REQUESTED,
        requested_at=wall,
        requested_by=draft.actor,
        approved_by=approved_by,
    )
    open_action = OpenAction(action_id=action_id, due_at=due_at)
    op = replace(op, open_actions={**op.open_actions, kind: open_action})
    draft.add(Kind.ACTION_REQUESTED, op, also=action_set(asked), action_id=action_id, action=kind, approved_by=approved_by)
    return draft.op


def deny_account(acc: Account, op: Operation, now: Moment, http_status: int | None) -> Account:
    """The account after the credential of this operation was refused: all that use it are held, one escalates (B11)."""
    return refused(acc, now, op.operation_id, op.credential, http_status)
