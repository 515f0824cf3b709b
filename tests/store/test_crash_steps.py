"""A process dies at every step that it makes on the disk, and the machine may lose power there (S4, STORE 9)."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tinydb import TinyDB, where

from jobconsole.adapters.journal import stored_lines
from jobconsole.adapters.tinydb_store import open_store
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import parse
from jobconsole.testing.clock import ManualClock
from tests.store.crash_runner import SEGMENT_BYTES
from tests.store.made import counted

SIGKILL = 9
SCRIPT: list[Any] = [
    [("create", "op-1"), ("create", "op-2")],
    [("count", "op-1"), ("count", "op-2"), ("count", "op-1")],
    [("count", "op-2")],
    "reopen",
    [("count", "op-1"), ("create", "op-3")],
    [("count", "op-1"), ("count", "op-2"), ("count", "op-3")],
]


class Runner:
    """The child that forks children."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.crash_runner"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def play(
        self, home: Path, script: list[Any], crash_at: int = 0, lose: int | None = None, boot: str = "boot-1"
    ) -> tuple[int, int]:
        """Steps made (0 where the child died) and the exit status of the child."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        task = {"home": str(home), "script": script, "crash_at": crash_at, "lose": lose, "boot": boot}
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        return told["steps"], told["status"]

    def end(self) -> None:
        """Let it go."""
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """One forking child for the module."""
    one = Runner()
    yield one
    one.end()


def acknowledged(home: Path) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """What was tried and what was acknowledged, by kind and operation."""
    tried, done = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for line in home.with_name("acks.jsonl").read_text().splitlines():
        what, kind, operation_id = json.loads(line)
        (tried if what == "tried" else done)[kind, operation_id] += 1
    return tried, done


async def check(home: Path, boot: str) -> None:
    """Nothing acknowledged is lost, nothing is counted that was not tried, the chain is whole, and writing goes on."""
    tried, done = acknowledged(home) if home.with_name("acks.jsonl").exists() else (Counter(), Counter())
    store = await open_store(home, ManualClock(boot_id=boot), label="after", segment_bytes=SEGMENT_BYTES)
    assert store.health().is_writable, store.health().why_not
    used = {op.operation_id: op.status_requests_used for op in await store.operations()}
    for (kind, operation_id), times in done.items():
        assert operation_id in used
        assert kind == "create" or times <= used[operation_id] <= tried["count", operation_id]
    assert all(tried["create", operation_id] for operation_id in used)
    checked = await store.verify()
    assert checked.is_valid, checked.story
    for operation_id, before in used.items():
        assert await counted(store, operation_id) == before + 1
    replayed = Documents()
    for data in stored_lines(home / "journal"):
        line = parse(data)
        assert line is not None
        replayed.merge(line.set)
    assert replayed.tables == store.database.storage.read()
    await store.close()
    assert (await reopened(home, boot)) == {operation_id: before + 1 for operation_id, before in used.items()}
    if used:
        with TinyDB(home / "operations.json", access_mode="r") as stranger:
            assert len(stranger.search(where("phase") == "waiting")) == len(used)


async def reopened(home: Path, boot: str) -> dict[str, int]:
    """The counters that another reader sees."""
    store = await open_store(home, ManualClock(boot_id=boot), label="reader", read_only=True)
    try:
        return {op.operation_id: op.status_requests_used for op in await store.operations()}
    finally:
        await store.close()


def steps_of(runner: Runner, folder: Path, script: list[Any]) -> int:
    """How many steps the script makes undisturbed."""
    steps, status = runner.play(folder / "home", script)
    assert status == 0
    return steps


@pytest.mark.rule("S4", "B3")
async def test_killed_at_every_step_nothing_acknowledged_is_lost(runner: Runner, tmp_path: Path) -> None:
    """Creation, batches, checkpoint, rotation: before each system call, and in the middle of each write (DB-01)."""
    (tmp_path / "whole").mkdir()
    steps = steps_of(runner, tmp_path / "whole", SCRIPT)
    assert len(list((tmp_path / "whole/home/journal").iterdir())) > 1, "the script is meant to rotate"
    for step in range(1, steps + 1):
        folder = tmp_path / str(step)
        folder.mkdir()
        assert runner.play(folder / "home", SCRIPT, crash_at=step)[1] == SIGKILL
        await check(folder / "home", "boot-1")
        shutil.rmtree(folder)


@pytest.mark.rule("S4", "B3")
async def test_a_power_loss_at_every_step_loses_only_what_was_not_acknowledged(runner: Runner, tmp_path: Path) -> None:
    """Any sectors that were not synced and any renames whose folder was not synced may be gone."""
    (tmp_path / "whole").mkdir()
    for step in range(1, steps_of(runner, tmp_path / "whole", SCRIPT) + 1):
        for seed in range(3):
            folder = tmp_path / f"{step}-{seed}"
            folder.mkdir()
            assert runner.play(folder / "home", SCRIPT, crash_at=step, lose=seed)[1] == SIGKILL
            await check(folder / "home", "boot-2")
            shutil.rmtree(folder)


OPERATIONS = st.sampled_from(["op-1", "op-2", "op-3"])


@st.composite
def scripts(draw: st.DrawFn) -> list[Any]:
    """Batches over three operations, each created before it is counted, with closings between."""
    script: list[Any] = [[("create", f"op-{n}") for n in (1, 2, 3)]]
    for _ in range(draw(st.integers(0, 6))):
        if draw(st.booleans()):
            script.append("reopen")
        script.append([("count", operation_id) for operation_id in draw(st.lists(OPERATIONS, min_size=1, max_size=5))])
    return script


@pytest.mark.rule("S4", "B4")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    script=scripts(), crashes=st.lists(st.tuples(st.integers(1, 60), st.none() | st.integers(0, 99)), min_size=1, max_size=3)
)
def test_the_store_is_a_plain_dict_that_survives_crashes(
    runner: Runner, tmp_path_factory: pytest.TempPathFactory, script: list[Any], crashes: list[tuple[int, int | None]]
) -> None:
    """Several lives, each ended by a kill or a power loss at some step: the counters are those of a dict."""
    home = tmp_path_factory.mktemp("crash") / "home"
    boot = 1
    for crash_at, lose in crashes:
        created = home.with_name("acks.jsonl").exists() and acknowledged(home)[1]["create", "op-1"]
        runner.play(home, script[1:] if created else script, crash_at=crash_at, lose=lose, boot=f"boot-{boot}")
        boot += lose is not None
        created_all = home.with_name("acks.jsonl").exists() and all(
            acknowledged(home)[1]["create", f"op-{n}"] for n in (1, 2, 3)
        )
        if not created_all:
            break
    asyncio.run(check(home, f"boot-{boot}"))
    shutil.rmtree(home.parent)
