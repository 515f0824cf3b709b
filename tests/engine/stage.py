"""A console on a memory store, a manual clock and a scripted transport: the engine without a network and without waiting.

Only this file decides how tests of the engine put the parts together.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account
from jobconsole.core.judging.answer import Answer
from jobconsole.core.operation import Operation
from jobconsole.engine.desk import Desk
from jobconsole.engine.submissions import Budget, Wish
from jobconsole.errors import ContractInvalid, UnknownProvider
from jobconsole.play.job import Reply
from jobconsole.protocols import Gate, HttpRequest, Transport
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.testing.transport import Scripted, ScriptedTransport
from tests.core.sample_contract import sample

ACCOUNT = "acme-prod@api.acme.example"


def says(state: str, **body: Any) -> Reply:
    """HTTP 200 with this state."""
    return Reply(200, {"state": state, **body})


def accepts(job_id: str = "job-1") -> Reply:
    """HTTP 202 with a job id."""
    return Reply(202, {"id": job_id})


class Shelf:
    """Contracts by name."""

    def __init__(self, *contracts: Contract) -> None:
        self.contracts = {contract.name: contract for contract in contracts}

    def get(self, name: str) -> Contract:
        """The contract of this name."""
        if name not in self.contracts:
            raise UnknownProvider(f"no provider {name}")
        return self.contracts[name]

    def names(self) -> Sequence[str]:
        """All names."""
        return sorted(self.contracts)

    def all(self) -> Sequence[Contract | ContractInvalid]:
        """All contracts."""
        return list(self.contracts.values())


class HangingTransport:
    """A provider that never answers; `asked` is set when a request has left."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.sent = 0

    async def send(self, request: HttpRequest, gate: Gate, *, fresh: bool = False) -> Answer:
        """Send, and wait for ever."""
        gate()
        self.sent += 1
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody answers")

    def credential_changed(self, request: HttpRequest) -> bool:
        """It did not."""
        return False

    async def close(self) -> None:
        """Nothing to close."""


class Stage:
    """One process with its console; `beside` is another process on the same store."""

    def __init__(
        self,
        answers: Iterable[Scripted] | Callable[[HttpRequest], Scripted] = (),
        *contracts: Contract,
        store: MemoryStore | None = None,
        clock: ManualClock | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.clock = clock or ManualClock()
        self.store = store or MemoryStore(self.clock)
        self.transport = ScriptedTransport(answers, self.clock)
        self.shelf = Shelf(*(contracts or (sample(),)))
        self.console = Desk(self.store, self.shelf, lambda: transport or self.transport, self.clock, "test")

    def beside(self, answers: Iterable[Scripted] | Callable[[HttpRequest], Scripted] = ()) -> Stage:
        """Another process on the same store, with a transport of its own."""
        return Stage(answers, *self.shelf.contracts.values(), store=self.store.handle(), clock=self.clock)

    async def track(self, operation_id: str = "op-1", *, provider: str = "acme", **budget: Any) -> Operation:
        """Adopt a job; its id is `job-` and the operation's id."""
        wish = Wish("person:ana", operation_id=operation_id, budget=Budget(**budget))
        return (await self.console.track(provider, job_id=f"job-{operation_id}", wish=wish)).op

    async def submit(self, operation_id: str = "op-1", *, provider: str = "acme", **budget: Any) -> Operation:
        """Write a submission down."""
        wish = Wish("person:ana", operation_id=operation_id, budget=Budget(**budget))
        return (await self.console.submit(provider, {"quarter": 3}, wish=wish)).op

    async def look(self, operation_id: str = "op-1", *, waits: bool = True) -> Operation:
        """One look, when it is due."""
        due_at = (await self.op(operation_id)).due_at
        if waits and due_at is not None and due_at > self.clock.wall():
            self.clock.advance(due_at - self.clock.wall())
        return await self.console.perform(operation_id)

    async def op(self, operation_id: str = "op-1") -> Operation:
        """The operation as it is now."""
        return await self.console.get(operation_id)

    async def account(self) -> Account:
        """The account as it is now."""
        return (await self.console.accounts())[ACCOUNT]

    async def events(self, operation_id: str = "op-1") -> list[dict[str, Any]]:
        """The operation's events, oldest first."""
        return [json.loads(line) async for line in self.console.events(operation_id)]

    async def kinds(self, operation_id: str = "op-1") -> list[str]:
        """The kinds of the operation's events."""
        return [event["kind"] for event in await self.events(operation_id)]

    @property
    def urls(self) -> list[str]:
        """The URLs of the requests that left, in order."""
        return [request.url for request in self.transport.sent]
