"""A folder store full of waiting operations, for the bench scripts."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.sync import Sync
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.core.command import Command, Plan, Refusal, Scope, View
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.file import load
from jobconsole.core.events import Draft, EventDraft, Kind
from jobconsole.core.operation import Limits, Operation
from jobconsole.core.vocabulary import DelaySource, Phase
from jobconsole.engine.contracts import ContractBook
from jobconsole.protocols import Contracts

CONTRACT = """
contract = 1
[provider]
name = "bench"
title = "The provider of the benches"
base_url = "http://127.0.0.1:{port}"
account = "bench"
[status]
request = "GET /v1/jobs/{{job_id}}"
read_only = true
state = "body.state"
[states]
waiting = ["running"]
succeeded = ["succeeded"]
[schedule]
base = "{base}"
factor = 1.0
max = "{base}"
[budget]
deadline = "100h"
status_requests = 1000000
transport_failures = 10
"""
ANSWER = {"id": "job-1", "state": "running", "progress": 10}
AT_ONCE = 200  # operations that one transaction creates


class OneContract:
    """A catalogue of one contract (`protocols.Contracts`)."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract

    def get(self, name: str) -> Contract:
        """The one."""
        return self._contract

    def names(self) -> list[str]:
        """Its name."""
        return [self._contract.name]

    def all(self) -> list[Contract]:
        """The one."""
        return [self._contract]


def provider(port: int = 9, base: str = "10h") -> Contract:
    """The contract; `base` is twice the shortest delay between two checks of one operation."""
    return load(CONTRACT.format(port=port, base=base), "bench.toml")


def book_of(store: FolderStore, contract: Contract) -> ContractBook:
    """The engine's view of the one contract."""
    contracts: Contracts = OneContract(contract)
    return ContractBook(store, contracts)


async def filled(
    home: Path, count: int, contract: Contract, *, due_now: int = 0, ended: int = 0, sync: Sync | None = None
) -> FolderStore:
    """A store of `count` operations: the first `ended` have succeeded, the others wait.

    Of those the first `due_now` are due, the rest in ten hours.
    """
    clock = SystemClock()
    store = await open_store(home, clock, label="bench", sync=sync)
    await store.keep_contract(contract.digest, contract.text)
    now = clock.wall().replace(microsecond=0)
    for first in range(0, count, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, count))
        batch = [waiting(n, contract, now, now if n < ended + due_now else now + timedelta(hours=10)) for n in numbers]
        batch = [_succeeded(op, now) if n < ended else op for n, op in zip(numbers, batch, strict=True)]
        scope = Scope(operations=tuple(op.operation_id for op in batch), creating=True)
        await store.transact(scope, _create(batch), kind="create")
    return store


def waiting(number: int, contract: Contract, now: datetime, due_at: datetime) -> Operation:
    """One that waits, and is due then."""
    budget = contract.budget
    limits = Limits(
        deadline_at=now + budget.deadline,
        status_requests=budget.status_requests,
        transport_failures=budget.transport_failures,
        rate_limits=budget.rate_limits,
    )
    return Operation(
        operation_id=f"op-{number:05d}",
        name=f"Report {number}",
        provider=contract.name,
        account=contract.account,
        account_key=f"{contract.account}@bench",
        contract=contract.digest,
        request_fingerprint=f"{number:064x}",
        provider_job_id=f"job-{number}",
        phase=Phase.WAITING,
        started_at=now,
        deadline_at=limits.deadline_at,
        original=limits,
        max_status_requests=budget.status_requests,
        max_transport_failures=budget.transport_failures,
        max_transport_failures_in_a_row=budget.transport_failures,
        max_rate_limits=budget.rate_limits,
        next_poll_at=due_at,
        delay_source=DelaySource.LOCAL_BACKOFF,
    )


def _succeeded(op: Operation, now: datetime) -> Operation:
    return replace(op, phase=Phase.SUCCEEDED, ended_at=now, next_poll_at=None, delay_source=None)


def _create(batch: list[Operation]) -> Command[None]:
    def command(view: View) -> Plan[None] | Refusal:
        events: list[EventDraft] = []
        for op in batch:
            draft = Draft("person:ana", op, is_new=True)
            draft.add(Kind.SUBMITTED)
            events.extend(draft.events)
        return Plan(tuple(events), None)

    return command
