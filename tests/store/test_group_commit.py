"""What a commit costs the disk: one write and one sync for whatever is queued (S5, STORE 3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from jobconsole.adapters.sync import Sync
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.adapters.writer import MOST_COMMANDS
from jobconsole.core.command import Plan, Scope
from jobconsole.testing.clock import ManualClock
from tests.store.made import begun, changed, counted, made


class CountingSync(Sync):
    """The real disk, with what was asked of it."""

    def __init__(self) -> None:
        self.calls = Counter[str]()

    def write(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        self.calls["write"] += 1
        return super().write(fd, data, offset)

    def sync(self, fd: int) -> None:
        self.calls["sync"] += 1
        super().sync(fd)


async def prepared(home: Path, operations: int) -> tuple[FolderStore, CountingSync]:
    """A store with so many operations, and its disk."""
    disk = CountingSync()
    store = await open_store(home, ManualClock(), label="test", sync=disk)
    await asyncio.gather(*(begun(store, made(f"op-{n}", max_status_requests=1_000)) for n in range(operations)))
    disk.calls.clear()
    return store, disk


@pytest.mark.rule("S5")
@pytest.mark.parametrize(
    ("commands", "syncs"), [(1, 1), (64, 1), (MOST_COMMANDS, 1), (MOST_COMMANDS + 1, 2)]
)  # one batch takes at most 256
async def test_commands_that_come_together_share_one_write_and_one_sync(tmp_path: Path, commands: int, syncs: int) -> None:
    """However many callers there are."""
    store, disk = await prepared(tmp_path / "home", 8)
    await asyncio.gather(*(counted(store, f"op-{n % 8}") for n in range(commands)))
    assert disk.calls == {"write": syncs, "sync": syncs}
    await store.close()


@pytest.mark.rule("S5")
@pytest.mark.parametrize("operations", [1, 400])
async def test_a_change_writes_as_much_with_many_operations_as_with_few(tmp_path: Path, operations: int) -> None:
    """One line of the changed fields; looking writes nothing at all."""
    store, disk = await prepared(tmp_path / "home", operations)
    before = (tmp_path / "home/journal/000000000001.jsonl").stat().st_size
    await changed(store, "op-0", name="x")
    grown = (tmp_path / "home/journal/000000000001.jsonl").stat().st_size - before
    assert 500 < grown < 900
    assert disk.calls == {"write": 1, "sync": 1}
    await store.transact(Scope(operations=("op-0",)), lambda view: Plan((), view.get("operations", "op-0")), kind="record")
    await store.operations()
    assert disk.calls == {"write": 1, "sync": 1}
    await store.close()


async def test_a_batch_beyond_a_megabyte_goes_on_in_the_next_one(tmp_path: Path) -> None:
    """Nobody's command is lost or out of order."""
    store, disk = await prepared(tmp_path / "home", 1)
    told = await asyncio.gather(*(changed(store, "op-0", message=f"{n}" + "x" * 200_000) for n in range(12)))
    assert told == [*range(2, 14)]
    assert disk.calls["sync"] == 2
    op = await store.get("op-0")
    assert op is not None
    assert op.message is not None
    assert op.message.startswith("11x")
    assert (await store.verify()).is_valid
    await store.close()
