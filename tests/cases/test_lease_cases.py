"""LC-16: a poller that stalls past its lease and comes back. Two processes on one host, with the same name (area lifecycle).

The scenario's steps are the test's own; the lease's length is the case's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.command import Command, R
from jobconsole.core.commands.recording import Judged, Record, record
from jobconsole.core.commands.reservation import Deferred, Reservation, Reserve, Reserved, give_back, reserve
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.events import Kind
from jobconsole.core.judging.answer import Observation
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Phase
from jobconsole.engine.desk import Desk
from jobconsole.engine.submissions import Wish
from jobconsole.protocols import Receipt, Scope
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.testing.transport import ScriptedTransport
from tests.cases.case_file import case
from tests.cases.demo_contract import demo_contract
from tests.cases.runner import NOON, OneContract

LEASE = timedelta(seconds=case("LC-16").input["lease_s"])
NAME = "worker:same-host"
RUNNING = Observation(verdict="waiting", http_status=200, state="running")
DONE = Observation(verdict="succeeded", http_status=200, state="succeeded")


@dataclass
class Poller:
    """One process: a handle of its own on the store, and the name that both have."""

    store: MemoryStore
    contract: Contract

    async def take(self, token: int | None = None) -> Reservation:
        """Reserve a request, or one more under a token that it holds."""
        return await self._transact(reserve(Reserve("job-1", self.contract, NAME, LEASE, token=token)))

    async def write(self, token: int, seen: Observation) -> Judged:
        """Record an answer."""
        return await self._transact(record(Record("job-1", self.contract, NAME, token, seen, draw=0.0)))

    async def release(self, token: int) -> Operation | None:
        """Give the lease back."""
        return await self._transact(give_back("job-1", NAME, token, kind=Kind.CHECK_WITHHELD, reason="done"))

    async def _transact(self, command: Command[R]) -> R:
        op = await self.store.get("job-1")
        assert op is not None
        scope = Scope(operations=("job-1",), accounts=(op.account_key,))
        got = await self.store.transact(scope, command, kind="record")
        assert isinstance(got, Receipt)
        return got.result


async def two_pollers(clock: ManualClock) -> tuple[Poller, Poller]:
    """A and B over one store that tracks job-1, which is due."""
    contract, store = demo_contract({}), MemoryStore(clock)
    console = Desk(store, OneContract(contract), lambda: ScriptedTransport([], clock), clock, "test")
    await console.track("demo", job_id="job-1", wish=Wish(by="person:ana", operation_id="job-1"))
    return Poller(store, contract), Poller(store.handle(), contract)


async def kinds(store: MemoryStore) -> list[Any]:
    """The kinds of all events, in order."""
    return [line.decode().partition('"kind":"')[2].partition('"')[0] async for line in store.events("job-1")]


@pytest.mark.rule("S1", "A1", "X7")
async def test_nothing_that_a_stalled_poller_does_touches_what_its_successor_wrote() -> None:
    clock = ManualClock(wall=NOON)
    a, b = await two_pollers(clock)
    first = await a.take()
    assert isinstance(first, Reserved)
    clock.advance(31)
    second = await b.take()
    assert isinstance(second, Reserved)
    assert second.token > first.token
    clock.advance(4)
    assert (await b.write(second.token, DONE)).op.phase is Phase.SUCCEEDED

    clock.advance(25)
    before = await a.store.get("job-1")
    assert await a.take(first.token) == Deferred("lease_lost")
    assert (await a.write(first.token, RUNNING)).decision is None
    await a.release(first.token)
    after = await a.store.get("job-1")
    assert before is not None
    assert after is not None
    assert (after.phase, after.last_known_state, after.revision) == (Phase.SUCCEEDED, "succeeded", before.revision)
    assert after.status_requests_used == 2  # the stalled one stays counted
    assert [kind for kind in await kinds(a.store) if kind in ("lease_lost", "late_answer", "check_withheld")] == [
        "lease_lost",
        "late_answer",
    ]


@pytest.mark.rule("S1")
async def test_a_stalled_poller_cannot_end_the_lease_that_its_successor_holds() -> None:
    clock = ManualClock(wall=NOON)
    a, b = await two_pollers(clock)
    first = await a.take()
    assert isinstance(first, Reserved)
    clock.advance(LEASE)
    second = await b.take()
    assert isinstance(second, Reserved)
    assert await a.take(first.token) == Deferred("lease_lost")
    await a.write(first.token, RUNNING)
    await a.release(first.token)
    op = await b.store.get("job-1")
    assert op is not None
    assert op.lease is not None
    assert (op.lease.token, op.last_known_state) == (second.token, None)


@pytest.mark.rule("S1")
async def test_an_expired_lease_cannot_be_renewed_even_if_nobody_took_it() -> None:
    clock = ManualClock(wall=NOON)
    a, _ = await two_pollers(clock)
    first = await a.take()
    assert isinstance(first, Reserved)
    clock.advance(LEASE - timedelta(milliseconds=1))
    assert isinstance(await a.take(first.token), Reserved)
    clock.advance(LEASE)
    assert await a.take(first.token) == Deferred("lease_lost")
    # The answer that it waited for may still be written, where nobody came in between (STORE 4, record).
    assert (await a.write(first.token, DONE)).op.phase is Phase.SUCCEEDED
