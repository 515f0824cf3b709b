"""The core's commands on a memory store, without an event loop: what a worker and a person do, one call each.

Only this file decides how tests of the core reach the commands. The memory store waits for nothing, so its coroutines are
simply run to their end.
"""

from __future__ import annotations

import json
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any, TypeVar

from jobconsole.core.command import Command, CommandKind, Moment, Refusal, Scope
from jobconsole.core.commands.action_answers import ActionAnswer, record_action
from jobconsole.core.commands.claims import Claim, Claimed, Claiming, claim
from jobconsole.core.commands.decisions import choose, open_options
from jobconsole.core.commands.effects import Applied, Choice
from jobconsole.core.commands.recording import Judged, Record, record
from jobconsole.core.commands.reservation import Reservation, Reserve, Reserved, give_back, reserve
from jobconsole.core.commands.submission import Begun, NewOperation, Wanted, submit, track
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account, account
from jobconsole.core.events import Kind, Table
from jobconsole.core.judging.answer import Observation
from jobconsole.core.operation import Operation, Option
from jobconsole.protocols import Receipt
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from tests.core.sample_contract import sample

R = TypeVar("R")
ACCOUNT = "acme-prod@api.acme.example"
LEASE = timedelta(seconds=15)
_numbers = count(1)


def finished(work: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine that waits for nothing."""
    while True:
        try:
            work.send(None)
        except StopIteration as end:
            value: R = end.value
            return value


@dataclass
class Desk:
    """One store, one clock, one contract; operations are `op-1` unless named otherwise."""

    contract: Contract = field(default_factory=sample)
    clock: ManualClock = field(default_factory=ManualClock)
    store: MemoryStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = MemoryStore(self.clock)

    # ---- starting -------------------------------------------------------------------------------------------------------
    def track(self, operation_id: str = "op-1", *, job_id: str | None = None, **budget: Any) -> Begun:
        """Adopt a job; its id is `job-` and the operation's id."""
        job = job_id or f"job-{operation_id}"
        new = self.new(operation_id, fingerprint=f"job:{job}", job_id=job, is_tracked=True, **budget)
        scope = Scope(
            operations=(operation_id,),
            accounts=(new.account_key,),
            job=(self.contract.name, self.contract.account, job),
            fingerprint=new.fingerprint,
            creating=True,
        )
        return self.told(scope, track(new), "create")

    def submit(self, operation_id: str = "op-1", *, fingerprint: str | None = None, **budget: Any) -> Begun | Refusal:
        """Write a submission down; its action is `act-` and the operation's id."""
        new = self.new(
            operation_id,
            fingerprint=fingerprint or f"body:{operation_id}",
            request_body='{"quarter":3}',
            idempotency_token="token-1",
            action_id=f"act-{operation_id}",
            **budget,
        )
        scope = Scope(
            operations=(operation_id,),
            accounts=(new.account_key,),
            actions=(new.action_id,),
            fingerprint=new.fingerprint,
            creating=True,
        )
        return self.run(scope, submit(new), "create")

    def new(self, operation_id: str, **fields: Any) -> NewOperation:
        """A new operation with the contract's budget; `deadline` (minutes), `requests`, `failures`, `business_at` change it."""
        spec = self.contract.budget
        minutes = fields.pop("deadline", None)
        wanted = Wanted(
            deadline=spec.deadline if minutes is None else timedelta(minutes=minutes),
            status_requests=fields.pop("requests", spec.status_requests),
            transport_failures=fields.pop("failures", spec.transport_failures),
            rate_limits=fields.pop("rate_limits", spec.rate_limits),
            business_deadline_at=fields.pop("business_at", None),
        )
        return NewOperation(
            operation_id=operation_id, contract=self.contract, account_key=ACCOUNT, actor="person:ana", budget=wanted, **fields
        )

    # ---- working --------------------------------------------------------------------------------------------------------
    def reserve(
        self, operation_id: str = "op-1", *, owner: str = "worker:a", purpose: str = "status", token: int | None = None
    ) -> Reservation:
        """Ask for one request."""
        ask = Reserve(operation_id, self.contract, owner, LEASE, purpose, token)
        return self.told(self._scope(operation_id), reserve(ask), "reserve")

    def reserved(self, operation_id: str = "op-1", **how: Any) -> Reserved:
        """Ask for one request, and get it."""
        got = self.reserve(operation_id, **how)
        assert isinstance(got, Reserved), got
        return got

    def record(
        self,
        token: int,
        seen: Observation,
        operation_id: str = "op-1",
        *,
        owner: str = "worker:a",
        draw: float = 0.5,
        is_confirm: bool = False,
    ) -> Judged:
        """Write an answer down under its token."""
        entry = Record(operation_id, self.contract, owner, token, seen, draw, is_confirm)
        return self.told(self._scope(operation_id), record(entry), "record")

    def check(self, seen: Observation, operation_id: str = "op-1", *, after: float | None = None, **how: Any) -> Judged:
        """One whole check: the clock moves to the planned time (or by `after` seconds), then reserve and record."""
        planned = self.op(operation_id).next_poll_at
        if after is not None:
            self.clock.advance(after)
        elif planned is not None and planned > self.clock.wall():
            self.clock.advance(planned - self.clock.wall())
        return self.record(self.reserved(operation_id).token, seen, operation_id, **how)

    def give_back(self, token: int, operation_id: str = "op-1", *, kind: Kind = Kind.CHECK_WITHHELD) -> Operation | None:
        """Give a lease back without an answer."""
        back = give_back(operation_id, "worker:a", token, kind=kind, reason="test")
        return self.told(self._scope(operation_id), back, "record")

    def claim(self, kind: str = "submit", operation_id: str = "op-1", *, owner: str = "worker:a") -> Claiming:
        """Claim an open action."""
        ask = Claim(operation_id, kind, self.contract, owner, LEASE)
        return self.told(self._scope(operation_id), claim(ask), "reserve")

    def claimed(self, kind: str = "submit", operation_id: str = "op-1", *, owner: str = "worker:a") -> Claimed:
        """Claim an open action, and get it."""
        got = self.claim(kind, operation_id, owner=owner)
        assert isinstance(got, Claimed), got
        return got

    def answer(self, token: int, seen: Observation, kind: str = "submit", operation_id: str = "op-1") -> Operation:
        """Write the answer to an action down under its claim's token."""
        entry = ActionAnswer(operation_id, kind, self.contract, "worker:a", token, seen, 0.5)
        return self.told(self._scope(operation_id), record_action(entry), "record")

    def perform(self, seen: Observation, kind: str = "submit", operation_id: str = "op-1") -> Operation:
        """Claim an open action, when it is due, and write its answer down."""
        due_at = self.op(operation_id).open_actions[kind].due_at
        if due_at is not None and due_at > self.clock.wall():
            self.clock.advance(due_at - self.clock.wall())
        return self.answer(self.claimed(kind, operation_id).token, seen, kind, operation_id)

    # ---- deciding -------------------------------------------------------------------------------------------------------
    def choose(self, option: str, operation_id: str = "op-1", **fields: Any) -> Applied | Refusal:
        """A person's choice for the revision as it is now; `fields` change the choice."""
        number = next(_numbers)
        ordinary: dict[str, Any] = {
            "revision": self.op(operation_id).revision,
            "decision_id": f"dec-{number}",
            "actor": "person:ana",
            "contract": self.contract,
            "action_id": f"act-{number}",
        }
        choice = Choice(operation_id, option, **(ordinary | fields))
        actions = (*self._scope(operation_id).actions, choice.action_id)
        operations: tuple[str, ...] = (operation_id,)
        if choice.again is not None:
            operations, actions = (*operations, choice.again.operation_id), (*actions, choice.again.action_id)
        scope = Scope(operations=operations, accounts=(ACCOUNT,), actions=actions, creating=choice.again is not None)
        return self.run(scope, choose(choice), "record")

    def chosen(self, option: str, operation_id: str = "op-1", **fields: Any) -> Operation:
        """A choice that is taken; the operation after it."""
        got = self.choose(option, operation_id, **fields)
        assert isinstance(got, Applied), got
        return got.op

    def refused(self, option: str, operation_id: str = "op-1", **fields: Any) -> Refusal:
        """A choice that is refused."""
        got = self.choose(option, operation_id, **fields)
        assert isinstance(got, Refusal), got
        return got

    def options(self, operation_id: str = "op-1", *, new_digest: str | None = None) -> dict[str, Option]:
        """The open options by name."""
        options = open_options(self.op(operation_id), self.contract, self.clock.wall(), new_digest)
        return {option.name: option for option in options}

    # ---- reading --------------------------------------------------------------------------------------------------------
    def op(self, operation_id: str = "op-1") -> Operation:
        """The operation as it is now."""
        found = finished(self.store.get(operation_id))
        assert found is not None
        return found

    def account(self) -> Account:
        """The account as it is now."""
        doc = finished(self.store.document(Table.ACCOUNTS, ACCOUNT))
        assert doc is not None
        return account(doc)

    def action(self, action_id: str) -> dict[str, Any]:
        """An action's record as it is now."""
        doc = finished(self.store.document(Table.ACTIONS, action_id))
        assert doc is not None
        return dict(doc)

    def events(self, operation_id: str = "op-1") -> list[dict[str, Any]]:
        """The operation's events, oldest first."""

        async def read() -> list[dict[str, Any]]:
            return [json.loads(line) async for line in self.store.events(operation_id)]

        return finished(read())

    def kinds(self, operation_id: str = "op-1") -> list[str]:
        """The kinds of the operation's events."""
        return [event["kind"] for event in self.events(operation_id)]

    def now(self) -> Moment:
        """The clock's moment."""
        return Moment(self.clock.wall(), self.clock.up_ms(), self.clock.boot_id)

    def run(self, scope: Scope, command: Command[R], kind: CommandKind = "record") -> R | Refusal:
        """Run one command."""
        got = finished(self.store.transact(scope, command, kind=kind))
        return got.result if isinstance(got, Receipt) else got

    def told(self, scope: Scope, command: Command[R], kind: CommandKind = "record") -> R:
        """Run one command that is not refused."""
        got = finished(self.store.transact(scope, command, kind=kind))
        assert isinstance(got, Receipt), got
        result: R = got.result
        return result

    def _scope(self, operation_id: str) -> Scope:
        actions = tuple(opened.action_id for opened in self.op(operation_id).open_actions.values())
        return Scope(operations=(operation_id,), accounts=(ACCOUNT,), actions=actions)
