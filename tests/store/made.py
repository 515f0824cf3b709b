"""Operations and commands for tests of stores: the smallest ones that use every part of the seam."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace as replace_field
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from jobconsole.core.command import Command, Plan, Refusal, Scope, View
from jobconsole.core.events import Draft, EventDraft, Kind, Table
from jobconsole.core.operation import Lease, Limits, Operation, document, operation
from jobconsole.core.vocabulary import Phase
from jobconsole.protocols import Receipt, Store

START = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
ACCOUNT = "acme@api.acme.example"


def made(operation_id: str = "op-1", **fields: Any) -> Operation:
    """A waiting operation with a deadline in an hour and a budget of twelve, due now."""
    given: dict[str, Any] = {
        "provider": "acme",
        "account": "acme",
        "account_key": ACCOUNT,
        "contract": "0" * 64,
        "request_fingerprint": f"fingerprint of {operation_id}",
        "provider_job_id": f"job of {operation_id}",
        "phase": Phase.WAITING,
        "started_at": START,
        "deadline_at": START + timedelta(hours=1),
        "max_status_requests": 12,
        "max_transport_failures": 3,
        "max_transport_failures_in_a_row": 3,
        "max_rate_limits": 3,
        "next_poll_at": START,
    }
    given.update(fields)
    limits = Limits(
        deadline_at=given["deadline_at"],
        status_requests=given["max_status_requests"],
        transport_failures=given["max_transport_failures"],
        rate_limits=given["max_rate_limits"],
    )
    return Operation(operation_id=operation_id, original=limits, **given)


def create(op: Operation) -> Command[str]:
    """The command that stores a new operation."""

    def command(view: View) -> Plan[str] | Refusal:
        if view.get(Table.OPERATIONS, op.operation_id) is not None:
            return Refusal("exists", f"{op.operation_id} exists already")
        draft = Draft("person:ana", op, is_new=True)
        draft.add(Kind.SUBMITTED)
        return Plan(tuple(draft.events), op.operation_id)

    return command


def change(operation_id: str, of: Callable[[Operation], Operation], kind: Kind = Kind.CHECK_PLANNED) -> Command[int]:
    """The command that stores the operation as `of` makes it; its result is the new `op_seq`."""

    def command(view: View) -> Plan[int] | Refusal:
        doc = view.get(Table.OPERATIONS, operation_id)
        if doc is None:
            return Refusal("unknown", f"no operation {operation_id}")
        draft = Draft("worker:w1", operation(doc))
        draft.add(kind, of(operation(doc)))
        return Plan(tuple(draft.events), draft.op.op_seq)

    return command


def count_one(operation_id: str) -> Command[int]:
    """The command that counts one status request, as a reservation does; its result is the new counter."""

    def command(view: View) -> Plan[int] | Refusal:
        doc = view.get(Table.OPERATIONS, operation_id)
        assert doc is not None
        op = operation(doc)
        draft = Draft("worker:w1", op)
        draft.add(Kind.CHECK_RESERVED, replace(op, status_requests_used=op.status_requests_used + 1))
        return Plan(tuple(draft.events), op.status_requests_used + 1)

    return command


def lease(until_up: int, *, owner: str = "worker:w1", boot: str = "boot-1") -> Lease:
    """A lease that ends when the boot clock shows `until_up`."""
    return Lease(token=2, owner=owner, until_up=until_up, boot=boot, until_at=START, purpose="status")


async def begun(store: Store, op: Operation) -> Operation:
    """Store a new operation and return it as stored."""
    receipt = await store.transact(Scope(operations=(op.operation_id,), creating=True), create(op), kind="create")
    assert isinstance(receipt, Receipt)
    found = await store.get(op.operation_id)
    assert found is not None
    return found


async def changed(store: Store, operation_id: str, **fields: Any) -> int:
    """Change fields of an operation."""
    command = change(operation_id, lambda op: replace(op, **fields))
    receipt = await store.transact(Scope(operations=(operation_id,)), command, kind="record")
    assert isinstance(receipt, Receipt)
    return receipt.result


async def ended(store: Store, operation_id: str, at: datetime, phase: Phase = Phase.SUCCEEDED) -> None:
    """End an operation, with its closing event."""
    command = change(operation_id, lambda op: replace(op, phase=phase, ended_at=at, next_poll_at=None), Kind.CLOSED)
    receipt = await store.transact(Scope(operations=(operation_id,)), command, kind="record")
    assert isinstance(receipt, Receipt)


async def counted(store: Store, operation_id: str) -> int:
    """Count one status request and return the counter."""
    receipt = await store.transact(Scope(operations=(operation_id,)), count_one(operation_id), kind="reserve")
    assert isinstance(receipt, Receipt)
    return receipt.result


async def put(store: Store, table: str, own_id: str, **fields: Any) -> None:
    """Write fields of an account, action or delivery."""
    draft = EventDraft(kind=Kind.ITEM_CHANGED, actor="person:ana", set={(table, own_id): fields})
    named: Any = {table: (own_id,)}
    scope = replace_field(Scope(creating=True), **named)
    await store.transact(scope, lambda view: Plan((draft,), None), kind="record")


async def lines_of(events: AsyncIterator[bytes]) -> list[bytes]:
    """All lines of an event iterator."""
    return [line async for line in events]


def stored(op: Operation) -> dict[str, Any]:
    """The document of an operation."""
    return document(op)
