"""The change feed of front ends: everything is read once, then told by id, and nothing falls between (U1, U2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jobconsole.adapters.tinydb_store import open_store
from jobconsole.engine.broker import Broker, Changed
from jobconsole.protocols import Store
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from tests.store.made import begun, changed, made


@pytest.fixture(params=["memory", "folder"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """A store of each kind, in which `op-1` stands."""
    clock = ManualClock()
    opened: Store = MemoryStore(clock) if request.param == "memory" else await open_store(tmp_path / "home", clock, label="a")
    await begun(opened, made("op-1"))
    yield opened
    await opened.close()


async def first_news(broker: Broker) -> Changed:
    """What is told first once the broker runs."""
    told: asyncio.Queue[Changed] = asyncio.Queue()
    broker.listen(told.put_nowait)
    running = asyncio.create_task(broker.run())
    try:
        return await asyncio.wait_for(told.get(), 60)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.mark.rule("U1")
async def test_a_change_between_the_first_picture_and_the_feed_is_told(store: Store) -> None:
    """By its id: what was loaded already is not loaded a second time."""
    broker = Broker(store, interval=0.01)
    await broker.load()
    await begun(store, made("op-2"))
    await changed(store, "op-1", name="later")
    news = await first_news(broker)
    assert news == Changed(frozenset({"op-1", "op-2"}))
    assert broker.operations["op-1"].name == "later"
    assert broker.operations.keys() == {"op-1", "op-2"}


async def test_the_first_picture_is_not_told_again(store: Store) -> None:
    """The first news is the first change: op-1 was seen, and has not changed."""
    broker = Broker(store, interval=0.01)
    await broker.load()

    async def soon() -> None:
        await asyncio.sleep(0.05)
        await begun(store, made("op-2"))

    changing = asyncio.create_task(soon())
    news = await first_news(broker)
    await changing
    assert news == Changed(frozenset({"op-2"}))


async def test_the_cursor_is_the_newest_line(store: Store) -> None:
    """Looking at it needs no sync; it goes on with each change."""
    before = store.cursor()
    assert before == (await store.heads())[0].seq
    await changed(store, "op-1", name="later")
    assert store.cursor() == before + 1
