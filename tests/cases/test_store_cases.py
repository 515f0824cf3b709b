"""Cases of the store, played through the whole engine on a real folder (area store/tinydb).

What a kill at every write step leaves (the second half of DB-01) is `tests/store/test_crash_steps.py`'s to show.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tinydb import TinyDB, where

from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.engine.submissions import Wish
from jobconsole.errors import InvalidValue, StoreDamaged
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.transport import ScriptedTransport
from tests.cases.case_file import Case, case, each
from tests.cases.demo_contract import demo_contract
from tests.cases.runner import NOON, PERSON, CaseProvider, PatientStage, ended
from tests.cases.test_lifecycle_cases import RUNNING

SUBMIT = {"on": "submit", "status": 202, "body": {"id": "job-1", "state": "queued"}}
DONE = {"on": "poll", "body": {"id": "job-1", "state": "succeeded", "result": {"rows": 3}}}


@asynccontextmanager
async def folder_stage(home: Path, *steps: Mapping[str, Any]) -> AsyncIterator[PatientStage]:
    """A stage on the store in `home`."""
    clock = ManualClock(wall=NOON)
    store = await open_store(home, clock, label="test")
    provider = CaseProvider([SUBMIT, *steps], clock)
    stage = PatientStage(demo_contract({}), clock, ScriptedTransport(provider, clock), provider.calls, store)
    yield stage
    await stage.console.close()


def store_of(stage: PatientStage) -> FolderStore:
    """The stage's store, with what only a folder has."""
    assert isinstance(stage.store, FolderStore)
    return stage.store


# ---- DB-01 ---------------------------------------------------------------------------------------------------------------
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut at 60 % of its length": lambda data: data[: len(data) * 6 // 10],
    "zero bytes long": lambda data: b"",
    "full JSON followed by the tail of an older, longer write": lambda data: data + data[-200:],
    "file of NUL bytes of the right length": lambda data: bytes(len(data)),
}
BROKEN = pytest.mark.parametrize("how", case("DB-01").input["variants"])


async def three_live_jobs(home: Path) -> None:
    """Three jobs that were seen running; the store is closed, so its checkpoint is of now."""
    async with folder_stage(home, RUNNING) as stage:
        for name in ("a", "b", "c"):
            stage.operation_id = await stage.submit(name)
            await stage.until_polls(1)


@pytest.mark.rule("S4", "S6")
@BROKEN
async def test_a_damaged_state_file_is_moved_aside_and_the_live_jobs_go_on(tmp_path: Path, how: str) -> None:
    await three_live_jobs(tmp_path)
    checkpoint = tmp_path / "operations.json"
    checkpoint.write_bytes(DAMAGE[how](checkpoint.read_bytes()))
    async with folder_stage(tmp_path, DONE) as stage:
        ops = await stage.console.operations()
        assert [(op.operation_id, op.last_known_state, op.status_requests_used) for op in ops] == [
            ("a", "running", 1),
            ("b", "running", 1),
            ("c", "running", 1),
        ]
        assert any("quarantine" in note for note in store_of(stage).health().notes)
        assert any((tmp_path / "quarantine").iterdir())
        for op in ops:
            stage.operation_id = op.operation_id
            await stage.until_polls(2)
        assert [op.phase for op in await stage.console.operations(include_ended=True)] == [Phase.SUCCEEDED] * 3
        assert (await store_of(stage).verify()).is_valid


@pytest.mark.rule("S4")
@BROKEN
async def test_damaged_in_its_journal_a_store_shows_the_last_good_state_and_sends_nothing(tmp_path: Path, how: str) -> None:
    await three_live_jobs(tmp_path)
    (segment,) = (tmp_path / "journal").iterdir()
    segment.write_bytes(DAMAGE[how](segment.read_bytes()))
    if how == "zero bytes long":  # nothing can be shown then, and it is never taken for a new store
        with pytest.raises(StoreDamaged, match="missing or empty"):
            await open_store(tmp_path, ManualClock(wall=NOON), label="test")
        return
    async with folder_stage(tmp_path, DONE) as stage:
        assert [op.operation_id for op in await stage.console.operations()] == ["a", "b", "c"]
        health = store_of(stage).health()
        assert not health.is_writable
        assert "damaged" in health.why_not
        with pytest.raises(StoreDamaged):
            await stage.console.perform("a")
        assert stage.calls == []


# ---- DB-03 ---------------------------------------------------------------------------------------------------------------
def nested(levels: int) -> list[Any]:
    """A list in a list in a list."""
    made: list[Any] = []
    for _ in range(levels - 1):
        made = [made]
    return made


VALUES: dict[str, Any] = {
    "set([1])": {1},
    "datetime": datetime(2026, 11, 29, 12, 0, tzinfo=UTC),
    "Decimal('1.10')": Decimal("1.10"),
    "bytes": b"\x00\xff",
    "float('nan')": float("nan"),
    "float('inf')": float("inf"),
    "10**400": 10**400,
    "a dict with int keys": {1: 2},
    "a lone surrogate string": "\ud800",
    "nested 100000 deep": nested(100_000),
}
IS_JSON = {"10**400", "a dict with int keys"}  # the second with its keys as texts
ANSWERS = {
    "float('nan')": "NaN",
    "float('inf')": "Infinity",
    "10**400": str(10**400),
    "a lone surrogate string": '"\\ud800"',
    "nested 100000 deep": "[" * 100_000 + "]" * 100_000,
}
"""Those of the values that an answer can hold."""


@pytest.mark.rule("S4", "B18")
@pytest.mark.parametrize("value", case("DB-03").input["values"])
async def test_a_body_that_json_cannot_hold_is_refused_and_the_store_is_as_before(tmp_path: Path, value: str) -> None:
    async with folder_stage(tmp_path, DONE) as stage:
        for body in (VALUES[value], {"payload": VALUES[value]}):
            if value in IS_JSON:
                begun = await stage.console.submit("demo", body, wish=Wish(by=PERSON))
                assert json.loads(begun.op.request_body or "") == json.loads(json.dumps(body))
            else:
                with pytest.raises(InvalidValue, match="no JSON"):
                    await stage.console.submit("demo", body, wish=Wish(by=PERSON))
        assert len(await stage.console.operations()) == (2 if value in IS_JSON else 0)
        stage.operation_id = await stage.submit("good")
        await stage.until_polls(1)
        assert (await stage.op()).phase is Phase.SUCCEEDED
    async with folder_stage(tmp_path) as again:
        assert (await store_of(again).verify()).is_valid


@pytest.mark.rule("S4", "X1", "B18")
@pytest.mark.parametrize("value", ANSWERS)
async def test_a_payload_that_cannot_be_kept_does_not_lose_the_state(tmp_path: Path, value: str) -> None:
    answer = {**DONE, "headers": [["Content-Type", "application/json"]]}
    answer["body"] = f'{{"id": "job-1", "state": "succeeded", "result": {ANSWERS[value]}}}'
    async with folder_stage(tmp_path, answer) as stage:
        await stage.submit()
        await stage.until_settled()
    async with folder_stage(tmp_path) as again:
        (op,) = await again.console.operations(include_ended=True)
        assert (await store_of(again).verify()).is_valid
        if value == "nested 100000 deep":  # not even the state can be read out of it (X1)
            assert ended(op) == (Phase.ESCALATED, Reason.INTEGRATION_ERROR)
        elif value == "a lone surrogate string":
            assert (op.phase, op.result.inline if op.result else None) == (Phase.SUCCEEDED, "\ufffd")
        else:  # the value is unknown, and a success that lacks its result is asked about (C3)
            assert ended(op) == (Phase.ESCALATED, Reason.CONTRADICTORY_RESPONSE)
            assert op.last_known_state == "succeeded"


@pytest.mark.rule("S4", "X1")
@pytest.mark.parametrize(("levels", "is_kept"), [(199, True), (200, False)])
async def test_what_is_kept_can_be_read_by_a_process_with_a_deeper_stack(tmp_path: Path, levels: int, is_kept: bool) -> None:
    """The answer itself is one level more; Python reads about a thousand, less where it is called from deep within."""
    answer = {**DONE, "body": {"id": "job-1", "state": "succeeded", "result": nested(levels)}}
    async with folder_stage(tmp_path, answer) as stage:
        await stage.submit()
        await stage.until_settled()

    async def opened_from(depth: int) -> bool:
        if depth > 0:
            return await opened_from(depth - 1)
        async with folder_stage(tmp_path) as again:
            (op,) = await again.console.operations(include_ended=True)
            return op.phase is Phase.SUCCEEDED

    assert await opened_from(250) is is_kept


# ---- DB-04 ---------------------------------------------------------------------------------------------------------------
async def started(module: str, *arguments: str) -> asyncio.subprocess.Process:
    """Another process."""
    return await asyncio.create_subprocess_exec(sys.executable, "-m", module, *arguments, stdout=asyncio.subprocess.PIPE)


@pytest.mark.slow
@pytest.mark.rule("S3", "S4")
async def test_updates_of_three_processes_are_all_there_although_one_died_with_the_lock(tmp_path: Path) -> None:
    given = case("DB-04").input
    each_does, in_all = (int(number) for number in re.findall(r"\d{3}", given["steps"]))
    async with folder_stage(tmp_path):
        pass  # the folder is there, with nothing in it
    holder = await started("tests.store.writer_process", str(tmp_path), "hold", "")
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    names = [f"p{number}" for number in range(given["processes"])]
    trackers = [await started("tests.cases.track_process", str(tmp_path), name, str(each_does)) for name in names]
    holder.kill()
    await holder.communicate()
    assert [(await tracker.communicate(), tracker.returncode)[1] for tracker in trackers] == [0, 0, 0]
    async with folder_stage(tmp_path) as stage:
        ops = await stage.console.operations(include_ended=True)
        assert len(ops) == in_all
        assert sum(op.phase is Phase.ABANDONED for op in ops) == in_all // 2
        assert (await store_of(stage).verify()).is_valid
    with TinyDB(tmp_path / "operations.json", access_mode="r") as stranger:
        assert stranger.count(where("phase") == "waiting") == in_all // 2


# ---- DB-06 ---------------------------------------------------------------------------------------------------------------
LOAD = 40  # the case's 20,000 jobs are 500 here, so that the test stays short: what is compared does not depend on the number
MORE_DIGITS = 50  # bytes by which two lines differ whose numbers have more digits


async def cost_of_one_change(home: Path, *, jobs: int, observations: int) -> int:
    """Bytes that one change of one job writes, in a store of so many jobs that were each seen so often.

    The case deletes old jobs too: ended ones leave by the archive, which is not part of this store yet.
    """
    async with folder_stage(home, RUNNING) as stage:
        for number in range(jobs):
            begun = await stage.console.track("demo", job_id=f"job-{number + 1}", wish=Wish(by=PERSON))
            stage.operation_id = stage.operation_id or begun.op.operation_id
        await stage.until_polls(observations)
        last = await stage.op()
    checkpoint = (home / "operations.json").read_bytes()
    async with folder_stage(home, RUNNING) as stage:
        assert len(await stage.console.operations()) == jobs
        before = size_of(home / "journal")
        await stage.console.decide(last.operation_id, "close", by=PERSON, reason="not needed any more")
        assert (home / "operations.json").read_bytes() == checkpoint  # nothing is rewritten
        assert checkpoint.count(b"check_answered") == 0  # what was observed lies in the journal alone
        return size_of(home / "journal") - before


@pytest.mark.slow
@pytest.mark.rule("S5")
@each("DB-06")
async def test_the_cost_of_a_change_grows_neither_with_the_jobs_nor_with_what_was_observed(case: Case, tmp_path: Path) -> None:
    jobs, observations = case.input["jobs"] // LOAD, case.input["observations_per_job"]
    least = await cost_of_one_change(tmp_path / "least", jobs=2, observations=2)
    assert abs(await cost_of_one_change(tmp_path / "jobs", jobs=jobs, observations=2) - least) < MORE_DIGITS
    assert abs(await cost_of_one_change(tmp_path / "seen", jobs=2, observations=observations) - least) < MORE_DIGITS


def size_of(folder: Path) -> int:
    """Bytes of all files in it."""
    return sum(file.stat().st_size for file in folder.iterdir())
