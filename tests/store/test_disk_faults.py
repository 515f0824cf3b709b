"""A disk that is full, failing or read-only: a clear error, and nothing lost (S4, STORE 3.3, 3.4)."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jobconsole.adapters.sync import Sync
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.core.command import CommandKind, Plan, Refusal, Scope
from jobconsole.errors import StoreError, StoreFull, StoreReadOnly, StoreUncertain
from jobconsole.protocols import Receipt
from jobconsole.testing.clock import ManualClock
from tests.store.made import begun, changed, count_one, counted, create, made

PLENTY = 1 << 40


class FaultySync(Sync):
    """A disk that fails when told to."""

    def __init__(self) -> None:
        self.room: int | None = None  # bytes that can still be written
        self.write_error: int | None = None
        self.sync_error: int | None = None
        self.free = PLENTY

    def write(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        if self.write_error is not None:
            raise OSError(self.write_error, os.strerror(self.write_error))
        if self.room is None:
            return super().write(fd, data, offset)
        if self.room == 0:
            raise OSError(errno.ENOSPC, "no space left")
        written = super().write(fd, data[: self.room], offset)
        self.room -= written
        return written

    def sync(self, fd: int) -> None:
        if self.sync_error is not None:
            raise OSError(self.sync_error, os.strerror(self.sync_error))
        super().sync(fd)

    def free_bytes(self, path: Path) -> int:
        return self.free


@pytest.fixture
def disk() -> FaultySync:
    """A disk in order."""
    return FaultySync()


async def opened(home: Path, disk: Sync | None = None) -> FolderStore:
    """The store of a folder, with one operation where it is new."""
    store = await open_store(home, ManualClock(), label="test", sync=disk)
    if store.health().is_writable and await store.get("op-1") is None:
        await begun(store, made())
    return store


@pytest.mark.rule("S4")
async def test_a_full_disk_keeps_the_whole_transactions_and_refuses_the_rest(tmp_path: Path, disk: FaultySync) -> None:
    """A batch of eight, with room for any part of it: what landed whole is acknowledged, the rest never was."""
    outcomes = set()
    for room in range(0, 6_000, 457):
        home = tmp_path / str(room)
        disk.room = None
        store = await opened(home, disk)
        disk.room = room
        told = await asyncio.gather(*(counted(store, "op-1") for _ in range(8)), return_exceptions=True)
        landed = [one for one in told if isinstance(one, int)]
        assert landed == [*range(1, len(landed) + 1)]
        assert all(isinstance(one, StoreFull) for one in told[len(landed) :])
        op = await store.get("op-1")
        assert op is not None
        assert op.status_requests_used == len(landed)
        disk.room = None
        assert await counted(store, "op-1") == len(landed) + 1, "with room again the handle goes on"
        assert (await store.verify()).is_valid
        await store.close()
        outcomes.add(len(landed))
    assert {0, 8} <= outcomes
    assert len(outcomes) > 3


@pytest.mark.rule("S4")
@pytest.mark.parametrize(("kind", "is_tried"), [("create", False), ("reserve", False), ("record", True)])
async def test_with_little_space_left_nothing_new_is_begun_but_outcomes_are_kept(
    tmp_path: Path, disk: FaultySync, kind: CommandKind, is_tried: bool
) -> None:
    """Below 64 MiB; decisions of people are of class `record`."""
    store = await opened(tmp_path / "home", disk)
    disk.free = 64 * 1024 * 1024 - 1
    command = create(made("op-2")) if kind == "create" else count_one("op-1")
    scope = Scope(operations=("op-1", "op-2"), creating=True)
    if is_tried:
        assert isinstance(await store.transact(scope, command, kind=kind), Receipt)
    else:
        with pytest.raises(StoreFull, match="64 MiB"):
            await store.transact(scope, command, kind=kind)
    disk.free = PLENTY
    assert isinstance(await store.transact(scope, command, kind=kind), Receipt)
    await store.close()


@pytest.mark.rule("S4")
@pytest.mark.parametrize("at", ["write", "sync"])
async def test_a_failing_disk_makes_the_handle_uncertain_for_good(tmp_path: Path, disk: FaultySync, at: str) -> None:
    """Never sync again and believe it: the batch may have happened, the process writes nothing more, reading goes on."""
    store = await opened(tmp_path / "home", disk)
    setattr(disk, f"{at}_error", errno.EIO)
    told = await asyncio.gather(counted(store, "op-1"), counted(store, "op-1"), return_exceptions=True)
    assert [type(one) for one in told] == [StoreUncertain, StoreUncertain]
    setattr(disk, f"{at}_error", None)
    with pytest.raises(StoreUncertain, match="may or may not"):
        await counted(store, "op-1")
    assert not store.health().is_writable
    assert await store.get("op-1") is not None
    await store.close()
    again = await opened(tmp_path / "home")
    op = await again.get("op-1")
    assert op is not None
    assert op.status_requests_used in (0, 2), "both or none: one batch"
    assert await counted(again, "op-1") == op.status_requests_used + 1
    assert (await again.verify()).is_valid
    await again.close()


@pytest.mark.rule("S4")
@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES])
async def test_media_that_became_read_only_say_so(tmp_path: Path, disk: FaultySync, error: int) -> None:
    """Nothing happened, and the reason is in the error and in the health."""
    store = await opened(tmp_path / "home", disk)
    disk.write_error = error
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        await counted(store, "op-1")
    op = await store.get("op-1")
    assert op is not None
    assert op.status_requests_used == 0
    assert "cannot be written" in store.health().why_not
    disk.write_error = None
    await store.close()
    again = await opened(tmp_path / "home")
    assert await counted(again, "op-1") == 1
    await again.close()


@pytest.mark.rule("S4")
async def test_a_checkpoint_that_cannot_be_written_costs_nothing(tmp_path: Path, disk: FaultySync) -> None:
    """It is derived: the failure is noted, the journal has everything."""
    store = await opened(tmp_path / "home", disk)
    disk.room = 0
    await store.close()
    assert any("no checkpoint" in note for note in store.health().notes)
    assert not (tmp_path / "home/operations.json").exists()
    again = await opened(tmp_path / "home")
    assert await again.get("op-1") is not None
    await again.close()


async def test_a_full_disk_at_creation_is_an_error_and_creation_can_be_finished_later(tmp_path: Path, disk: FaultySync) -> None:
    """Half a first line is no store and no damage."""
    for room in (0, 100, 300, 400):
        home = tmp_path / str(room)
        disk.room = room
        with pytest.raises(StoreFull, match="full"):
            await open_store(home, ManualClock(), label="test", sync=disk)
        store = await opened(home)
        assert (await store.verify()).is_valid
        await store.close()


READ_ONLY_WAYS: list[Callable[[FolderStore], object]] = [
    lambda store: counted(store, "op-1"),
    lambda store: changed(store, "op-1", name="x"),
    lambda store: store.anchor(),
    lambda store: store.keep_contract("a" * 64, "text"),
]


@pytest.mark.rule("H11", "S4")
@pytest.mark.parametrize("way", READ_ONLY_WAYS)
async def test_a_handle_opened_read_only_refuses_every_way_of_writing(
    tmp_path: Path, way: Callable[[FolderStore], asyncio.Future[object]]
) -> None:
    """In the store, not on the screen; and it leaves the folder as it was."""
    await (await opened(tmp_path / "home")).close()
    before = {path.name: path.read_bytes() for path in (tmp_path / "home").iterdir() if path.is_file()}
    reader = await open_store(tmp_path / "home", ManualClock(), label="ls", read_only=True)
    with pytest.raises(StoreReadOnly, match="opened read-only"):
        await way(reader)
    assert await reader.get("op-1") is not None
    await reader.close()
    assert {path.name: path.read_bytes() for path in (tmp_path / "home").iterdir() if path.is_file()} == before


async def test_a_missing_folder_is_an_empty_store_to_a_reader_and_is_not_made(tmp_path: Path) -> None:
    """`ls` on a fresh machine; a store that comes later is seen."""
    reader = await open_store(tmp_path / "home", ManualClock(), label="ls", read_only=True)
    assert await reader.operations() == []
    assert not (tmp_path / "home").exists()
    assert "no store" in reader.health().notes[0]
    await (await opened(tmp_path / "home")).close()
    assert [op.operation_id for op in await reader.operations()] == ["op-1"]
    await reader.close()


async def test_an_error_of_the_store_is_one_line_that_says_what_to_do(tmp_path: Path, disk: FaultySync) -> None:
    """People read it on a terminal."""
    store = await opened(tmp_path / "home", disk)
    disk.room = 0
    with pytest.raises(StoreError) as caught:
        await counted(store, "op-1")
    assert "\n" not in str(caught.value)
    assert "Make room" in str(caught.value)
    disk.room = None
    await store.close()


async def test_a_refusal_needs_no_disk(tmp_path: Path, disk: FaultySync) -> None:
    """Nothing to write, nothing that fails."""
    store = await opened(tmp_path / "home", disk)
    disk.room = 0
    said: Receipt[None] | Refusal = await store.transact(Scope(), lambda view: Refusal("no", "not now"), kind="record")
    assert said == Refusal("no", "not now")
    looked = await store.transact(Scope(), lambda view: Plan((), 7), kind="record")
    assert isinstance(looked, Receipt)
    assert looked.result == 7
    disk.room = None
    await store.close()
