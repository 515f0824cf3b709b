"""Clocks: the manual one moves when told to, the machine's as `protocols.Clock` promises (B2)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from jobconsole.adapters.clock import SystemClock
from jobconsole.protocols import Clock
from jobconsole.testing.clock import ManualClock


async def test_sleepers_wake_when_the_boot_clock_is_advanced_and_in_their_order() -> None:
    """Not a millisecond early; a jump of the wall clock wakes nobody."""
    clock, woken = ManualClock(up_ms=1_000), list[int]()

    async def sleeper(up_ms: int) -> None:
        await clock.sleep_until(up_ms)
        woken.append(up_ms)

    tasks = [asyncio.create_task(sleeper(up_ms)) for up_ms in (3_000, 2_000, 1_000)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert woken == [1_000]
    clock.jump_wall(timedelta(days=1))
    clock.advance(0.999)
    assert clock.next_wake == 2_000
    clock.advance(timedelta(seconds=5))
    await asyncio.gather(*tasks)
    assert woken == [1_000, 2_000, 3_000]
    assert clock.next_wake is None


async def test_a_cancelled_sleeper_is_forgotten() -> None:
    """It neither wakes nor counts as the next."""
    clock = ManualClock(up_ms=0)
    task = asyncio.create_task(clock.sleep_until(1_000))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert clock.next_wake is None
    clock.advance(2)


def test_both_clocks_advance_and_a_reboot_starts_the_boot_clock_anew() -> None:
    """The wall clock goes on."""
    clock = ManualClock(wall=datetime(2026, 1, 1, tzinfo=UTC), up_ms=50_000)
    clock.advance(1.5)
    assert (clock.wall(), clock.up_ms()) == (datetime(2026, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC), 51_500)
    clock.reboot("boot-2", away=timedelta(minutes=2))
    assert (clock.boot_id, clock.up_ms()) == ("boot-2", 1_000)
    assert clock.wall() == datetime(2026, 1, 1, 0, 2, 1, 500_000, tzinfo=UTC)


@pytest.mark.rule("B2")
async def test_the_machines_clocks_agree_with_themselves() -> None:
    """UTC, milliseconds since boot, one boot id for all readers, sleeping that is never short."""
    clock: Clock = SystemClock()
    assert clock.wall().tzinfo is UTC
    assert clock.boot_id == SystemClock().boot_id != ""
    wake = clock.up_ms() + 20
    await clock.sleep_until(wake)
    assert clock.up_ms() >= wake
    await clock.sleep_until(0)
