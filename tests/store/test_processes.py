"""Several real processes on one folder: killed, stopped, forked, dying with a lease (S1, S3, S4, case DB-04)."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from tinydb import TinyDB, where

from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.core.command import Plan, Scope
from jobconsole.errors import StoreBusy
from jobconsole.protocols import Receipt, Retention, WorkerInfo
from tests.quickest import quickest_async
from tests.store.made import START, begun, changed, counted, lease, made
from tests.store.writer_process import SEGMENT_BYTES

PATIENCE = 60.0  # seconds; a bound costs nothing where all is well


@asynccontextmanager
async def process(home: Path, what: str, argument: str = "") -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process; killed at the end if it still lives."""
    made_by = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.store.writer_process", str(home), what, argument, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield made_by
    finally:
        if made_by.returncode is None:
            made_by.kill()
        await made_by.communicate()


async def said(one: asyncio.subprocess.Process) -> str:
    """Its next line."""
    assert one.stdout is not None
    return (await asyncio.wait_for(one.stdout.readline(), PATIENCE)).decode().strip()


async def opened(home: Path, **more: float) -> FolderStore:
    """This process's handle."""
    return await open_store(home, SystemClock(), label="test", segment_bytes=SEGMENT_BYTES, **more)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.rule("S3", "S4", "B3")
async def test_three_writers_killed_again_and_again_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Eight rounds of SIGKILL, all three at once in half of them: counters, chain and checkpoint stay right."""
    home, chance = tmp_path / "home", random.Random(4711)
    acknowledged: dict[str, int] = {}
    for number in range(8):
        pipes = [os.pipe() for _ in range(3)]
        writers = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.store.writer_process", str(home), "count", f"op-{n}", stdout=pipes[n][1]
            )
            for n in range(3)
        ]
        for _, write_end in pipes:
            os.close(write_end)
        first = [await asyncio.to_thread(os.read, read_end, 1) for read_end, _ in pipes]
        assert all(first), "every writer has acknowledged something"
        await asyncio.sleep(chance.random() * 0.1)
        for writer in writers if number % 2 else chance.sample(writers, 3):
            writer.send_signal(signal.SIGKILL)
            if not number % 2:
                await asyncio.sleep(chance.random() * 0.05)
        for writer, (read_end, _), begins in zip(writers, pipes, first, strict=True):
            await writer.wait()
            with os.fdopen(read_end, "rb") as rest:
                lines = (begins + rest.read()).decode().splitlines()
            for line in lines:
                operation_id, told = line.split()
                acknowledged[operation_id] = max(acknowledged.get(operation_id, 0), int(told))
    store = await opened(home)
    assert store.health().is_writable, store.health().why_not
    for operation_id, used in acknowledged.items():
        op = await store.get(operation_id)
        assert op is not None
        assert used <= op.status_requests_used <= used + 8 * 5, "at most one unacknowledged batch a round"
    assert len(acknowledged) == 3
    checked = await store.verify()
    assert checked.is_valid, checked.story
    await store.close()
    with TinyDB(home / "operations.json", access_mode="r") as stranger:
        assert stranger.count(where("phase") == "waiting") == 3


@pytest.mark.slow
@pytest.mark.rule("S3")
async def test_three_processes_with_two_hundred_updates_each_leave_six_hundred(tmp_path: Path) -> None:
    """Case DB-04: while a fourth is killed holding the lock."""
    home = tmp_path / "home"
    await (await opened(home)).close()
    async with process(home, "hold") as holder:
        assert await said(holder) == "held"
        async with (
            process(home, "update", "200") as a,
            process(home, "update", "200") as b,
            process(home, "update", "200") as c,
        ):
            await asyncio.sleep(0.3)
            holder.kill()
            assert [await said(one) for one in (a, b, c)] == ["done"] * 3
    store = await opened(home)
    assert len([op for op in await store.operations() if op.name == "updated"]) == 600
    assert (await store.verify()).is_valid
    await store.close()


@pytest.mark.rule("S3")
async def test_a_stopped_holder_is_named_and_nothing_happened(tmp_path: Path) -> None:
    """Waiting is bounded; whoever gave up can try again, and a caller's cancelled wait leaves the lock usable."""
    home = tmp_path / "home"
    hasty, store = await opened(home, patience_s=0.3), await opened(home, patience_s=PATIENCE)
    await begun(store, made())
    async with process(home, "hold") as holder:
        assert await said(holder) == "held"
        holder.send_signal(signal.SIGSTOP)
        for _ in range(3):
            with pytest.raises(StoreBusy, match=rf"process {holder.pid} \(holder\)"):
                await counted(hasty, "op-1")
        with pytest.raises(StoreBusy, match="nothing was changed"):
            await opened(home, patience_s=0.2)
        assert str(holder.pid) in store.health().lock_holder
        holder.send_signal(signal.SIGCONT)
        waiting = asyncio.create_task(counted(store, "op-1"))
        await asyncio.sleep(0.05)
        holder.kill()
        assert await waiting == 1
    assert await counted(hasty, "op-1") == 2
    other = await opened(home)
    assert await counted(other, "op-1") == 3
    for each in (other, store, hasty):
        await each.close()


@pytest.mark.rule("S3")
async def test_a_forked_child_cannot_write_and_does_not_unlock_for_its_parent(tmp_path: Path) -> None:
    """Nor does it keep a worker of its parent alive."""
    async with process(tmp_path / "home", "fork") as forked:
        lines = [await said(forked) for _ in range(5)]
    assert lines == [
        "child: this handle was opened before a fork; open the store anew in this process",
        "child writable: False",
        "parent counted: 1",
        "parent's worker lives: ['w1']",
        "worker after its end: []",
    ]


@pytest.mark.rule("S4", "H11")
async def test_a_folder_that_may_not_be_written_opens_for_reading_with_the_reason(tmp_path: Path) -> None:
    """A real one: not writable to the process that opens it."""
    with tempfile.TemporaryDirectory() as outside:  # the test's own folder is closed to other users
        home = Path(outside) / "home"
        store = await opened(home)
        await begun(store, made())
        await store.close()
        for path in (Path(outside), home, *home.rglob("*")):
            if os.geteuid() == 0:
                os.chown(path, 65534, -1)
            path.chmod(0o500 if path.is_dir() else 0o400)
        async with process(home, "read_only") as reader:
            lines = [await said(reader) for _ in range(3)]
        for path in (Path(outside), home, *home.rglob("*")):
            path.chmod(0o700)
    assert lines[0] == "reads 1"
    assert "Permission denied" in lines[1]
    assert "nothing can be written" in lines[2]


@pytest.mark.rule("S1", "X19")
async def test_a_dead_owners_lease_need_not_be_waited_for(tmp_path: Path) -> None:
    """Its worker lock can be taken: the operation is due at once, and the file goes when nothing is owned any more."""
    home = tmp_path / "home"
    store = await opened(home)
    now = SystemClock().wall
    async with process(home, "work", "w1") as worker:
        assert await said(worker) == "working"
        assert [one.worker_id for one in store.health().workers] == ["w1"]
        assert await store.due(now(), 10) == []
        worker.kill()
        await worker.wait()
    assert [due.operation_id for due in await store.due(now(), 10)] == ["op-1"]
    assert store.health().workers == ()
    looked = await store.transact(Scope(), lambda view: Plan((), view.is_dead("worker:w1")), kind="reserve")
    assert isinstance(looked, Receipt)
    assert looked.result is True
    await store.maintain(Retention())
    assert (home / "workers/w1").exists(), "the lease is still its own"
    await changed(store, "op-1", lease=None)
    await store.maintain(Retention())
    assert not (home / "workers/w1").exists()
    await store.close()


@pytest.mark.rule("S1")
async def test_a_worker_that_leaves_with_a_lease_is_known_to_be_dead(tmp_path: Path) -> None:
    """Its file stays, unlocked: a missing one would make everybody wait for the lease."""
    store = await opened(tmp_path / "home")
    clock = SystemClock()
    async with store.announce(WorkerInfo("w1", "run", os.getpid(), START)):
        await begun(store, made("op-1", lease=lease(clock.up_ms() + 600_000, boot=clock.boot_id)))
        assert await store.due(clock.wall(), 10) == []
    assert [due.operation_id for due in await store.due(clock.wall(), 10)] == ["op-1"]
    await store.close()


@pytest.mark.rule("U1")
async def test_what_another_process_writes_is_heard_within_a_second(tmp_path: Path) -> None:
    """By a handle that somebody listens to."""
    home = tmp_path / "home"
    store = await opened(home)

    async def heard(operation_id: str) -> None:
        async with aclosing(store.changes()) as changes:  # type: ignore[type-var]
            while ("operations", operation_id) not in (await anext(changes)).keys:
                pass

    async def took(number: int) -> float:
        listening = asyncio.create_task(heard(f"op-{number}"))
        async with process(home, "count", f"op-{number}") as writer:
            await said(writer)
            began = time.monotonic()
            await asyncio.wait_for(listening, PATIENCE)
            return time.monotonic() - began

    assert await quickest_async(1.0, took) < 1.0
    await store.close()


@pytest.mark.rule("S6")
async def test_a_reader_that_slept_sees_everything_at_its_next_look(tmp_path: Path) -> None:
    """Also when segments were closed and begun meanwhile."""
    home = tmp_path / "home"
    store = await opened(home)
    await begun(store, made("op-1"))
    reader = await open_store(home, SystemClock(), label="ls", read_only=True)
    assert len(await reader.in_flight()) == 1
    async with process(home, "count", "op-2") as writer:
        while int((await said(writer)).split()[1]) < 400:
            pass
        op = await reader.get("op-2")
    assert op is not None
    assert op.status_requests_used >= 400
    assert len(await reader.in_flight()) == 2
    await reader.close()
    await store.close()
