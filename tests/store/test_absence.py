"""A store whose folder goes away while it is open: that is said, and nothing is written where nobody will find it (S4)."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.errors import StoreDamaged
from jobconsole.protocols import Retention
from jobconsole.testing.clock import ManualClock
from tests.store.made import begun, counted, made


def deletes(home: Path) -> None:
    shutil.rmtree(home)


def moves(home: Path) -> None:
    home.rename(home.with_name("elsewhere"))


def replaces(home: Path) -> None:
    """By a copy, as a backup is put back."""
    shutil.copytree(home, home.with_name("copy"))
    shutil.rmtree(home)
    home.with_name("copy").rename(home)


def deletes_the_journal(home: Path) -> None:
    shutil.rmtree(home / "journal")


def deletes_the_lock(home: Path) -> None:
    """Two processes would then hold two locks."""
    (home / "lock").unlink()


WAYS = pytest.mark.parametrize("goes", [deletes, moves, replaces, deletes_the_journal])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[FolderStore]:
    """A store with one operation, open for writing."""
    opened = await open_store(tmp_path / "home", ManualClock(), label="test")
    await begun(opened, made("op-1"))
    yield opened
    await opened.close()


@pytest.mark.rule("S4")
@pytest.mark.parametrize("goes", [deletes, moves, replaces, deletes_the_journal, deletes_the_lock])
async def test_nothing_is_written_any_more_and_the_refusal_names_the_folder(
    store: FolderStore, tmp_path: Path, goes: Callable[[Path], None]
) -> None:
    goes(home := tmp_path / "home")
    with pytest.raises(StoreDamaged, match="was deleted, moved or replaced while it was open") as caught:
        await counted(store, "op-1")
    assert str(home) in str(caught.value)
    op = await store.get("op-1")
    assert op is not None
    assert op.status_requests_used == 0


@pytest.mark.rule("S4")
@WAYS
@pytest.mark.parametrize("read_only", [False, True])
async def test_health_says_it_without_anything_being_written(
    store: FolderStore, tmp_path: Path, goes: Callable[[Path], None], read_only: bool
) -> None:
    looker = await open_store(tmp_path / "home", ManualClock(), label="looker", read_only=True)
    asked = looker if read_only else store
    assert asked.health().damage == ""
    goes(tmp_path / "home")
    health = asked.health()
    assert "was deleted, moved or replaced while it was open" in health.damage
    assert health.damage in health.notes
    assert (health.is_writable, health.lock_holder) == (False, "")
    await looker.close()


@pytest.mark.rule("S4")
@WAYS
async def test_whoever_listens_is_told_and_whoever_listens_later_too(
    store: FolderStore, tmp_path: Path, goes: Callable[[Path], None]
) -> None:
    async def listen() -> None:
        async for _ in store.changes():
            pass

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    goes(tmp_path / "home")
    for heard in (listening, asyncio.create_task(listen())):
        with pytest.raises(StoreDamaged, match="while it was open"):
            await asyncio.wait_for(heard, 5)


@pytest.mark.rule("S4")
@pytest.mark.parametrize("read_only", [False, True])
async def test_segments_that_others_closed_may_be_moved_away_before_this_handle_looks(tmp_path: Path, read_only: bool) -> None:
    """It has its segment open still, and goes on from there to the one that is written to (STORE 1.3)."""
    home = tmp_path / "home"
    busy = await open_store(home, ManualClock(), label="busy", segment_bytes=4_000)
    await begun(busy, made("op-1"))
    idle = await open_store(home, ManualClock(), label="idle", read_only=read_only)
    for _ in range(12):
        await counted(busy, "op-1")
    *closed, _ = sorted((home / "journal").iterdir())
    assert closed
    for segment in closed:
        segment.rename(tmp_path / segment.name)
    assert idle.health().damage == ""
    if not read_only:
        await counted(idle, "op-1")
    op = await idle.get("op-1")
    assert op is not None
    assert op.status_requests_used == (12 if read_only else 13)
    await idle.close()
    await busy.close()


@pytest.mark.rule("S4")
async def test_what_is_written_beside_the_journal_makes_no_new_folder(store: FolderStore, tmp_path: Path) -> None:
    deletes(tmp_path / "home")
    with pytest.raises(StoreDamaged, match="while it was open"):
        await store.keep_contract("0" * 64, "contract = 1")
    with pytest.raises(StoreDamaged, match="while it was open"):
        await store.maintain(Retention())
    await store.close()
    assert not (tmp_path / "home").exists()
