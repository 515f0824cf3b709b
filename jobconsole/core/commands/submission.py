"""Starting a record: `submit` writes it before anything is sent, `track` adopts a job of somebody else's (B1, B17, X9, X18).

Only this file decides what a new operation looks like and when an equal one is returned instead. Called by the engine's desk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec.structs import replace

from jobconsole.core.command import Command, Plan, Refusal, View
from jobconsole.core.commands.transitions import request_action
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.events import Draft, Kind, Table
from jobconsole.core.operation import Limits, Operation, operation
from jobconsole.core.vocabulary import DelaySource, Phase


@dataclass(frozen=True, slots=True)
class Wanted:
    """The budget of one wait, after the caller's wishes were checked against the contract (X14)."""

    deadline: timedelta
    status_requests: int
    transport_failures: int
    rate_limits: int
    business_deadline_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewOperation:
    """Everything that a record begins with; ids and tokens were made by the engine."""

    operation_id: str
    contract: Contract
    account_key: str
    fingerprint: str
    actor: str
    budget: Wanted
    name: str | None = None
    task: str | None = None
    owner: str = "nobody"
    params: Mapping[str, str] = field(default_factory=dict)
    request_body: str | None = None
    idempotency_token: str | None = None
    action_id: str = ""
    job_id: str | None = None
    status_url: str | None = None
    resubmit_of: str | None = None
    is_tracked: bool = False
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """The operation; `is_new` is false where an equal one was there already. `equal_live` names live twins by fingerprint."""

    op: Operation
    is_new: bool
    equal_live: tuple[str, ...] = ()


def submit(new: NewOperation) -> Command[Begun]:
    """Write the record as `submitting`, with its token and its request, before the POST (B17)."""

    def command(view: View) -> Plan[Begun] | Refusal:
        known = _with_id(view, new)
        if known is not None:
            return known
        twins = (operation(doc) for doc in view.with_fingerprint(new.fingerprint))
        live = tuple(op.operation_id for op in twins if not op.phase.is_terminal)
        draft = begin_submission(view, new)
        return Plan(tuple(draft.events), Begun(draft.op, True, live))

    return command


def begin_submission(view: View, new: NewOperation) -> Draft:
    """The events of a new submission; `submit_again` uses them too."""
    op = _first_record(view, new, Phase.SUBMITTING)
    draft = Draft(new.actor, op, is_new=True)
    draft.add(Kind.SUBMITTED, provider=op.provider, resubmit_of=op.resubmit_of, request_fingerprint=op.request_fingerprint)
    request_action(draft, draft.op, "submit", new.action_id, view.now, approved_by=new.actor, due_at=view.now.wall)
    return draft


def track(new: NewOperation) -> Command[Begun]:
    """Adopt a job that somebody else started; a second `track` returns the live operation (X9)."""

    def command(view: View) -> Plan[Begun] | Refusal:
        known = _with_id(view, new)
        if known is not None:
            return known
        for doc in _same_job(view, new):
            op = operation(doc)
            if not op.phase.is_terminal:
                return Plan((), Begun(op, False))
        op = _first_record(view, new, Phase.WAITING)
        op = replace(op, next_poll_at=view.now.wall, delay_source=DelaySource.LOCAL_BACKOFF)
        draft = Draft(new.actor, op, is_new=True)
        draft.add(Kind.SUBMITTED, provider=op.provider, is_tracked=True, request_fingerprint=op.request_fingerprint)
        return Plan(tuple(draft.events), Begun(draft.op, True))

    return command


def _with_id(view: View, new: NewOperation) -> Plan[Begun] | Refusal | None:
    """An id that exists: the same operation for the same request, a refusal for another one (X18)."""
    doc = view.get(Table.OPERATIONS, new.operation_id)
    if doc is None:
        return None
    op = operation(doc)
    if op.request_fingerprint == new.fingerprint:
        return Plan((), Begun(op, False))
    return id_taken(new.operation_id)


def id_taken(operation_id: str) -> Refusal:
    """The refusal of an id that belongs to another request (X18)."""
    return Refusal("id_taken", f"operation {operation_id} exists with another request; choose another --id or leave it out")


def _same_job(view: View, new: NewOperation) -> list[Mapping[str, object]]:
    if new.job_id is not None:
        return list(view.find(new.contract.name, new.contract.account, new.job_id))
    return list(view.with_fingerprint(new.fingerprint))


def _first_record(view: View, new: NewOperation, phase: Phase) -> Operation:
    wall, budget = view.now.wall, new.budget
    deadline_at = wall + budget.deadline
    row = min(new.contract.budget.transport_failures_in_a_row, budget.transport_failures)
    return Operation(
        operation_id=new.operation_id,
        provider=new.contract.name,
        account=new.contract.account,
        account_key=new.account_key,
        contract=new.contract.digest,
        request_fingerprint=new.fingerprint,
        owner=new.owner,
        name=new.name,
        task=new.task,
        submitted_by=new.actor,
        is_tracked=new.is_tracked,
        resubmit_of=new.resubmit_of,
        group=new.group,
        params=dict(new.params),
        provider_job_id=new.job_id,
        status_url=new.status_url,
        request_body=new.request_body,
        idempotency_token=new.idempotency_token,
        phase=phase,
        state_since=wall,
        started_at=wall,
        deadline_at=deadline_at,
        business_deadline_at=budget.business_deadline_at,
        original=Limits(
            deadline_at=deadline_at,
            status_requests=budget.status_requests,
            transport_failures=budget.transport_failures,
            rate_limits=budget.rate_limits,
        ),
        max_status_requests=budget.status_requests,
        max_transport_failures=budget.transport_failures,
        max_transport_failures_in_a_row=row,
        max_rate_limits=budget.rate_limits,
    )
