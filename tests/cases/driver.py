"""Time for a worker on a manual clock: it goes on by itself to the next moment at which somebody wakes, as fast as it can.

For tests with `MemoryStore`, `ManualClock` and `ScriptedTransport`, where nothing waits for anything but the clock. Over real
connections use `perform_until`, which lets each look end before time goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from jobconsole.engine.desk import Desk, is_settled
from jobconsole.engine.worker import Worker
from jobconsole.testing.clock import ManualClock

QUIET_TURNS = 60  # turns of the loop after which nothing moves any more: a look with two redirects takes about 40
LONGEST = timedelta(days=2)
Condition = Callable[[], Awaitable[bool]]


async def run_until_settled(console: Desk, worker: Worker, clock: ManualClock, *, longest: timedelta = LONGEST) -> None:
    """Let `worker` work until every operation has ended or needs a person."""
    await run_until(all_settled(console), worker, clock, longest=longest)


def all_settled(console: Desk) -> Condition:
    """Whether every operation has ended or needs a person."""

    async def are_settled() -> bool:
        return all(is_settled(op) for op in await console.operations(include_ended=True))

    return are_settled


async def run_until(is_done: Condition, worker: Worker, clock: ManualClock, *, longest: timedelta = LONGEST) -> None:
    """Let `worker` work until `is_done`; it is asked whenever nothing moves. A worker is used up by this: take a new one.

    Raises `AssertionError` where that takes longer than `longest` on the clock, and whatever ended the worker.
    """
    give_up_at = clock.wall() + longest
    running = asyncio.create_task(worker.run())
    try:
        while not running.done():
            await quiet()
            if await is_done():
                return
            assert clock.wall() < give_up_at, f"not done after {longest} of the clock's time"
            to_next_wake(clock, latest=give_up_at)
    finally:
        worker.stop()
        await running


async def run_for(duration: timedelta, worker: Worker, clock: ManualClock) -> None:
    """Let `worker` work for so long, and no longer."""
    end_at = clock.wall() + duration

    async def is_over() -> bool:
        return clock.wall() >= end_at

    await run_until(is_over, worker, clock, longest=duration)


async def perform_until(is_done: Condition, console: Desk, clock: ManualClock, operation_id: str, *, looks: int = 100) -> None:
    """Perform what is due for one operation, and let time go on in between, until `is_done`; at most `looks` times.

    Each look ends before the clock moves, so answers may take real time.
    """
    for _ in range(looks):
        if await is_done():
            return
        due_at = (await console.get(operation_id)).due_at
        assert due_at is not None, "nothing is planned, so nothing will happen"
        clock.advance(max(due_at - clock.wall(), timedelta(0)))
        await console.perform(operation_id)
    assert await is_done(), f"not done after {looks} looks"


async def quiet() -> None:
    """Return when nothing moves before the clock does."""
    for _ in range(QUIET_TURNS):
        await asyncio.sleep(0)


def to_next_wake(clock: ManualClock, *, latest: datetime) -> None:
    """Advance the clock to the moment at which its first sleeper wakes, or to `latest`."""
    wake_up = clock.next_wake
    assert wake_up is not None, "nobody sleeps, so nothing will happen"
    clock.advance(min(timedelta(milliseconds=wake_up - clock.up_ms()), latest - clock.wall()))
