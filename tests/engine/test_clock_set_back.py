"""A wall clock that is set back while a worker waits: checks go on, and the audit says what happened."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from jobconsole.adapters.tinydb_store import open_store
from jobconsole.engine.desk import Desk
from jobconsole.engine.submissions import Wish
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.transport import ScriptedTransport
from tests.cases.driver import quiet
from tests.core.sample_contract import sample
from tests.engine.stage import Shelf, Stage, says


@pytest.mark.rule("B2", "B6")
@pytest.mark.parametrize("is_restarted", [False, True])
async def test_a_clock_that_is_set_back_delays_the_next_check_by_no_more_than_its_delay(is_restarted: bool) -> None:
    """Two days back after the first answer: the worker, or the next one, sees it within 30 s and counts the delay anew."""
    stage = Stage(lambda request: says("running"))
    await stage.track()
    worker = stage.console.worker()
    running = asyncio.create_task(worker.run())
    await quiet()
    assert len(stage.urls) == 1
    if is_restarted:
        worker.stop()
        await running
    stage.clock.jump_wall(timedelta(days=-2))
    if is_restarted:
        worker = stage.console.worker()
        running = asyncio.create_task(worker.run())
    await quiet()
    for _ in range(31 + 10):  # until the worker wakes, and the longest first delay
        stage.clock.advance(1)
        await quiet()
    worker.stop()
    await running
    assert len(stage.urls) > 1
    reasons = [event.get("reason") for event in await stage.events() if event["kind"] == "check_planned"]
    assert reasons == ["clock_set_back"]


@pytest.mark.rule("B2", "L1")
async def test_the_jump_is_recorded_as_soon_as_a_worker_sees_it(tmp_path: Path) -> None:
    """A store on disk, one process: two days are 172,800,000 ms. Nothing is due, so nothing but that is written."""
    clock = ManualClock()
    store = await open_store(tmp_path / "home", clock, label="test")
    desk = Desk(store, Shelf(sample()), lambda: ScriptedTransport([says("running")], clock), clock, "test")
    await desk.track("acme", job_id="job-1", wish=Wish("person:ana", operation_id="op-1"))
    before = await desk.perform("op-1")
    assert before.next_poll_at is not None
    delay = before.next_poll_at - clock.wall()
    clock.jump_wall(timedelta(days=-2))
    await desk.worker().run(once=True)
    events = [json.loads(line) async for line in desk.events()]
    assert [event["drift_ms"] for event in events if event["kind"] == "clock_jumped"] == [-172_800_000]
    after = await desk.get("op-1")
    assert (after.next_poll_at, after.deadline_at) == (clock.wall() + delay, before.deadline_at)
    await desk.close()
