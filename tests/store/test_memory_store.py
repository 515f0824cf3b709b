"""What the memory store has beside the seam: more handles, and a process that dies (`jobconsole.testing`)."""

from __future__ import annotations

import pytest

from jobconsole.core.command import Plan, Scope
from jobconsole.errors import StoreReadOnly
from jobconsole.protocols import Receipt, WorkerInfo
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from tests.store.made import START, begun, counted, lease, made


@pytest.mark.rule("S1")
async def test_a_crashed_handles_lease_need_not_be_waited_for(clock: ManualClock) -> None:
    """As where the worker lock of a dead process can be taken."""
    store = MemoryStore(clock)
    other = store.handle()
    async with store.announce(WorkerInfo("w1", "run", 1, START)):
        await begun(store, made("op-1", lease=lease(clock.up_ms() + 60_000)))
        assert await other.due(clock.wall(), 10) == []
        store.crash()
    assert [due.operation_id for due in await other.due(clock.wall(), 10)] == ["op-1"]
    looked = await other.transact(Scope(), lambda view: Plan((), view.is_dead("worker:w1")), kind="reserve")
    assert isinstance(looked, Receipt)
    assert looked.result is True
    with pytest.raises(StoreReadOnly):
        await counted(store, "op-1")


@pytest.mark.rule("H11")
async def test_a_read_only_handle_reads_and_refuses(clock: ManualClock) -> None:
    """As a folder opened so."""
    store = MemoryStore(clock)
    await begun(store, made())
    reader = store.handle(is_read_only=True)
    assert await reader.get("op-1") is not None
    with pytest.raises(StoreReadOnly, match="read-only"):
        await counted(reader, "op-1")


async def test_two_memory_stores_share_nothing(clock: ManualClock) -> None:
    """Each has its own chain."""
    one, two = MemoryStore(clock), MemoryStore(clock)
    await begun(one, made())
    assert await two.operations() == []
    assert (await one.heads())[0].hash != (await two.heads())[0].hash
