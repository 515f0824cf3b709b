"""What the store itself writes into the audit: who opened it, clocks that jumped, what was cut (B2, STORE 1.2)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jobconsole.adapters.store_lock import Mark, StoreLock
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.testing.clock import ManualClock
from tests.store.made import begun, counted, lines_of, made


async def opened(home: Path, clock: ManualClock, label: str = "test") -> FolderStore:
    """Open for writing."""
    return await open_store(home, clock, label=label)


async def told(store: FolderStore, kind: str) -> list[dict[str, Any]]:
    """The events of a kind."""
    events = [msgspec.json.decode(line) for line in await lines_of(store.events())]
    return [event for event in events if event["kind"] == kind]


async def test_a_process_introduces_itself_with_its_first_write(tmp_path: Path, clock: ManualClock) -> None:
    """Once; whoever only looks leaves no trace."""
    home = tmp_path / "home"
    first, second, third = [await opened(home, clock, label) for label in ("run", "wait", "ls")]
    await begun(first, made())
    await counted(first, "op-1")
    await counted(second, "op-1")
    assert [(event["label"], event["actor"]) for event in await told(third, "process_opened")] == [
        ("run", "store:run"),
        ("wait", "store:wait"),
    ]
    for store in (first, second, third):
        await store.close()


@pytest.mark.rule("B2")
@pytest.mark.parametrize(("jump", "drifts"), [(3600, [3_600_000]), (-3600, [-3_600_000]), (2, []), (-2, []), (2.001, [2_001])])
async def test_a_wall_clock_that_jumped_is_recorded(tmp_path: Path, clock: ManualClock, jump: float, drifts: list[int]) -> None:
    """More than two seconds against the boot clock between two commits."""
    store = await opened(tmp_path / "home", clock)
    await begun(store, made())
    clock.advance(300)
    clock.jump_wall(jump)
    await counted(store, "op-1")
    clock.advance(300)
    await counted(store, "op-1")
    assert [event["drift_ms"] for event in await told(store, "clock_jumped")] == drifts
    await store.close()


@pytest.mark.rule("S4", "L1")
async def test_what_a_dead_process_left_unfinished_is_cut_and_that_is_told(tmp_path: Path, clock: ManualClock) -> None:
    """With its length and digest, so that nobody can cut more than he says; the next reader finds a whole chain."""
    home = tmp_path / "home"
    store = await opened(home, clock)
    await begun(store, made())
    segment = home / "journal/000000000001.jsonl"
    size = segment.stat().st_size
    lock = StoreLock(home / "lock")
    await lock.acquire()
    lock.write_mark(Mark("held", clock.boot_id, 1, 1, size, "died"))
    torn = b'{"v":1,"chain":"store","seq":4,"tx":5'
    with segment.open("ab") as file:
        file.write(torn)
    lock.close()
    assert await counted(store, "op-1") == 1
    [repaired] = await told(store, "store_repaired")
    assert (repaired["cut_bytes"], repaired["cut_sha256"]) == (len(torn), hashlib.sha256(torn).hexdigest())
    assert repaired["after"] == 3
    assert any("unacknowledged" in note for note in store.health().notes)
    assert (await store.verify()).is_valid
    await store.close()


@pytest.mark.rule("S4")
@pytest.mark.parametrize("boot", ["boot-1", "boot-2"])
async def test_an_end_before_the_dead_holders_beginning_is_damage_within_its_boot(
    tmp_path: Path, clock: ManualClock, boot: str
) -> None:
    """Everything before its place was synced: within one boot nothing but damage explains a shorter journal."""
    home = tmp_path / "home"
    store = await opened(home, clock)
    await begun(store, made())
    await counted(store, "op-1")
    await store.close()
    for name in ("operations.json", "anchors.jsonl"):
        (home / name).unlink()
    segment = home / "journal/000000000001.jsonl"
    good = segment.read_bytes()
    lock = StoreLock(home / "lock")
    await lock.acquire()
    lock.write_mark(Mark("held", "boot-1", 1, 1, len(good), "died"))
    lock.close()
    segment.write_bytes(good[:-30])
    again = await opened(home, ManualClock(boot_id=boot))
    assert again.health().is_writable == (boot == "boot-2")
    assert (segment.read_bytes() == good[:-30]) == (boot == "boot-1"), "what is damaged is left as it is"
    await again.close()
