"""Before everything was read once, nobody knows anything: the first second claims nothing that is not so (SPEC U6)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from jobconsole.core.operation import Operation
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until

NOT_KNOWN_YET = (
    "no worker",
    "0 of 0",
    "CONTRACTS  0",
    "Nothing needs you",
    "No operations yet",
    "No operation matches",
    "no provider has answered",
    "0 operations",
)


class SlowStore(MemoryStore):
    """A store of many operations on a slow disk: reading all of them takes until somebody says so."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.read = asyncio.Event()

    async def operations(self) -> Sequence[Operation]:
        """In its own time."""
        await self.read.wait()
        return await super().operations()


@pytest.mark.parametrize("mode", ["operations", "inbox", "audit", "providers", "log"])
async def test_nothing_is_claimed_before_the_store_was_read(dashboard: TestedDashboard, clock: ManualClock, mode: str) -> None:
    """On no screen; once it is read, what is true is said."""
    dashboard.desk.store = store = SlowStore(clock)
    dashboard.feed = type(dashboard.feed)(dashboard.desk)
    async with dashboard.run_test(size=(100, 24)) as pilot:
        dashboard.run_command(mode)
        for _ in range(12):
            await pilot.pause(0.05)
            dashboard.feed.tick()
            shown = "\n".join(text_of(dashboard)) if dashboard.screen.is_attached and dashboard.screen.size.height else ""
            assert [text for text in NOT_KNOWN_YET if text in shown] == []
        store.read.set()
        await until(pilot, lambda: any("no worker" in line for line in text_of(dashboard)))


async def test_a_worker_that_is_just_beginning_is_not_missed(dashboard: TestedDashboard) -> None:
    """This process starts one; only where none has come after some seconds, that is said."""
    dashboard.feed.expect_worker()
    async with running(dashboard) as pilot:
        await settled(pilot)
        assert not any("no worker" in line for line in text_of(dashboard))
        await pass_time(pilot, 5)
        assert any("no worker is running" in line for line in text_of(dashboard))


async def test_without_a_worker_of_its_own_a_dashboard_says_so_at_once(dashboard: TestedDashboard) -> None:
    """A read-only dashboard begins none."""
    async with running(dashboard):
        assert any("no worker is running" in line for line in text_of(dashboard))
