"""The archive of a folder: its files, what a crash leaves in them, and how a lost one is told and made anew (STORE 1.3)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.core.keeping.archive import Archived
from jobconsole.protocols import Retention
from jobconsole.testing.clock import ManualClock
from tests.store.made import begun, changed, counted, ended, made
from tests.store.test_crash_steps import SIGKILL, Runner

KEEP = Retention()
WEEK_AND_A_DAY = timedelta(days=8)
BEFORE: list[Any] = [[("create", "op-1"), ("create", "op-2")], [("count", "op-1")], [("end", "op-1")]]
SCRIPT: list[Any] = [*BEFORE, "archive", [("count", "op-2")]]


CLOSING = 10
"""At least so many steps of an undisturbed script are its close: a checkpoint and an anchor."""


async def opened(home: Path, clock: ManualClock) -> FolderStore:
    """A handle."""
    return await open_store(home, clock, label="test")


async def archived(home: Path, clock: ManualClock, count: int = 2) -> FolderStore:
    """A store in which so many operations ended eight days ago and were archived."""
    store = await opened(home, clock)
    for number in range(1, count + 1):
        await begun(store, made(f"op-{number}", name=f"report {number}"))
        await counted(store, f"op-{number}")
        await ended(store, f"op-{number}", clock.wall())
    clock.advance(WEEK_AND_A_DAY)
    await store.maintain(KEEP)
    return store


def lines(home: Path, month: str) -> list[Archived]:
    """The whole lines of a month's file."""
    data = (home / "archive" / f"{month}.jsonl").read_bytes()
    return [msgspec.json.decode(line, type=Archived) for line in data.splitlines()]


async def test_each_month_has_a_file_by_the_end_of_its_operations(tmp_path: Path) -> None:
    """Ended on 30 November and 1 December, archived together: two files, 0600 in a folder that is 0700."""
    clock = ManualClock(wall=datetime(2026, 11, 30, 23, 0, tzinfo=UTC))
    store = await opened(tmp_path, clock)
    for number in (1, 2):
        await begun(store, made(f"op-{number}"))
        await ended(store, f"op-{number}", clock.wall())
        clock.advance(timedelta(hours=2))
    clock.advance(WEEK_AND_A_DAY)
    await store.maintain(KEEP)
    assert [line.operation_id for line in lines(tmp_path, "2026-11")] == ["op-1"]
    assert [line.operation_id for line in lines(tmp_path, "2026-12")] == ["op-2"]
    assert (tmp_path / "archive").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "archive" / "2026-11.jsonl").stat().st_mode & 0o777 == 0o600
    await store.close()


async def test_opening_reads_no_archive(tmp_path: Path) -> None:
    """A file that nobody can read disturbs nobody who does not ask for it."""
    clock = ManualClock()
    await (await archived(tmp_path, clock)).close()
    shutil.rmtree(tmp_path / "archive")
    (tmp_path / "archive").write_text("not even a folder")
    store = await opened(tmp_path, clock)
    assert await store.operations() == []
    assert store.health().is_writable
    await store.close()


async def test_a_line_that_a_crash_left_is_passed_over_and_a_second_one_counts(tmp_path: Path) -> None:
    """A torn line, then whole ones: of two lines of one id the last; an operation that is still live is not archived."""
    clock = ManualClock()
    store = await archived(tmp_path, clock)
    path = tmp_path / "archive" / "2026-11.jsonl"
    first = lines(tmp_path, "2026-11")[0]
    again = msgspec.structs.replace(first, document={**first.document, "name": "the last line"})
    with path.open("ab") as file:
        file.write(msgspec.json.encode(again) + b"\n" + msgspec.json.encode(first)[:100])
    op = await store.get("op-1")
    assert op is not None
    assert op.name == "the last line"
    await begun(store, made("op-3"))
    await ended(store, "op-3", clock.wall() - WEEK_AND_A_DAY)
    await store.maintain(KEEP)
    assert [each.operation_id for each in await store.archive()] == ["op-1", "op-2", "op-3"]
    assert [found.name for found in await store.find("acme", "acme", "job of op-1")] == ["the last line"]
    await store.close()


async def test_an_id_in_the_text_of_another_operation_is_not_taken_for_it(tmp_path: Path) -> None:
    """A provider's text, and a JSON result, may hold what the beginning of a line looks like."""
    clock = ManualClock()
    store = await opened(tmp_path, clock)
    await begun(store, made("op-1"))
    trap = {"operation_id": "op-2", "provider_job_id": "job of op-2"}
    await changed(store, "op-1", message='\n{"operation_id":"op-2",', params={"trap": "x"})
    await changed(store, "op-1", result={"inline": trap, "has_inline": True})
    await ended(store, "op-1", clock.wall())
    clock.advance(WEEK_AND_A_DAY)
    await store.maintain(KEEP)
    assert await store.get("op-2") is None
    assert await store.find("acme", "acme", "job of op-2") == []
    assert await store.get("op-1") is not None
    await store.close()


@pytest.mark.rule("L7", "S4")
async def test_a_lost_archive_is_told_and_made_anew(tmp_path: Path) -> None:
    """The log is whole without it, and holds everything that was in it."""
    clock = ManualClock()
    store = await archived(tmp_path, clock)
    before = lines(tmp_path, "2026-11")
    shutil.rmtree(tmp_path / "archive")
    found = await store.verify()
    assert found.is_valid
    assert found.unarchived == ("op-1", "op-2")
    mend = "make it anew with: jobconsole audit rebuild-archive"
    assert found.story[-1] == f"2 archived operations are missing from the archive; {mend}"
    assert await store.rebuild_archive() == 2
    assert lines(tmp_path, "2026-11") == before
    assert (await store.verify()).unarchived == ()
    await store.close()


@pytest.mark.rule("L3", "L7")
async def test_a_counter_that_was_changed_in_the_archive_does_not_verify(tmp_path: Path) -> None:
    """Made anew, it does; what was there lies in quarantine."""
    clock = ManualClock()
    store = await archived(tmp_path, clock)
    path = tmp_path / "archive" / "2026-11.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"status_requests_used":1', b'"status_requests_used":0'))
    found = await store.verify()
    assert [(miscount.operation_id, miscount.logged, miscount.recorded) for miscount in found.miscounts] == [
        ("op-1", 1, 0),
        ("op-2", 1, 0),
    ]
    await store.rebuild_archive()
    assert (await store.verify()).is_valid
    assert [path.name[-13:] for path in (tmp_path / "quarantine").glob("*.jsonl")] == ["2026-11.jsonl"]
    await store.close()


@pytest.mark.rule("S5")
async def test_a_turn_archives_a_bounded_number_and_the_next_goes_on(tmp_path: Path) -> None:
    """250 that are due, 200 in a turn: maintenance never holds the loop for long."""
    store = await archived(tmp_path, ManualClock(), count=250)
    assert len(await store.operations()) == 50
    await store.maintain(KEEP)
    assert await store.operations() == []
    assert len(await store.archive()) == 250
    await store.close()


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """A child that forks children which die."""
    one = Runner()
    yield one
    one.end()


async def check(home: Path, boot: str) -> None:
    """Every operation is found once, live or archived; the chain is whole and misses nothing in the archive."""
    clock = ManualClock(boot_id=boot)
    clock.advance(3 * WEEK_AND_A_DAY)
    store = await opened(home, clock)
    live, kept = await store.operations(), await store.archive()
    ids = [op.operation_id for op in live] + [each.operation_id for each in kept]
    assert len(ids) == len(set(ids))
    verified = await store.verify()
    assert verified.is_valid, verified.story
    assert verified.unarchived == ()
    assert await store.rebuild_archive() == len(kept)
    assert sorted(each.operation_id for each in await store.archive()) == sorted(each.operation_id for each in kept)
    await store.maintain(KEEP)
    for operation_id in ids:
        op = await store.get(operation_id)
        assert op is not None
        assert op.phase.is_terminal == (await store.archived(operation_id) is not None)
    await store.close()


def steps_of(runner: Runner, folder: Path, script: list[Any]) -> int:
    """How many steps the script makes undisturbed."""
    folder.mkdir()
    steps, status = runner.play(folder / "home", script)
    assert status == 0
    return steps


@pytest.mark.slow
@pytest.mark.rule("S4")
@pytest.mark.parametrize("lose", [None, 1, 2], ids=["killed", "power lost", "power lost otherwise"])
async def test_killed_at_every_step_of_archiving_no_operation_is_lost_or_doubled(
    runner: Runner, tmp_path: Path, lose: int | None
) -> None:
    """Durable in the archive before it leaves the live documents: a crash between leaves a second line, and nothing else."""
    begins, ends = (steps_of(runner, tmp_path / str(len(script)), script) for script in (BEFORE, SCRIPT))
    for step in range(begins - CLOSING, ends + 1):
        home = tmp_path / str(step) / "home"
        home.parent.mkdir()
        assert runner.play(home, SCRIPT, crash_at=step, lose=lose)[1] == SIGKILL
        await check(home, "boot-1" if lose is None else "boot-2")
        shutil.rmtree(home.parent)
