"""Two handles on one store, of each kind that there is: the contract suite runs on all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore


@dataclass
class Pair:
    """Two handles on the same store, as two processes have them, and their clock."""

    a: FolderStore | MemoryStore
    b: FolderStore | MemoryStore
    clock: ManualClock


@pytest.fixture
def clock() -> ManualClock:
    """A clock that only moves when told to."""
    return ManualClock()


@pytest.fixture(params=["memory", "folder"])
async def pair(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Pair]:
    """Two handles on one store of each kind."""
    if request.param == "memory":
        first = MemoryStore(clock)
        two = Pair(first, first.handle(), clock)
    else:
        home = tmp_path / "home"
        two = Pair(await open_store(home, clock, label="a"), await open_store(home, clock, label="b"), clock)
    yield two
    await two.a.close()
    await two.b.close()
