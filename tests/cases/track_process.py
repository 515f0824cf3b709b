"""Another process that tracks jobs as fast as it can: `python -m tests.cases.track_process HOME LABEL COUNT` (case DB-04)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.tinydb_store import open_store
from jobconsole.engine.desk import Desk
from jobconsole.engine.submissions import Wish
from jobconsole.testing.transport import ScriptedTransport
from tests.cases.demo_contract import demo_contract
from tests.cases.runner import PERSON, OneContract


async def track(home: Path, label: str, count: int) -> None:
    """Track so many jobs, and close every second one again."""
    clock = SystemClock()
    store = await open_store(home, clock, label=label)
    console = Desk(store, OneContract(demo_contract({})), lambda: ScriptedTransport([], clock), clock, label)
    for number in range(count):
        begun = await console.track("demo", job_id=f"{label}-{number}", wish=Wish(by=PERSON, name=label))
        if number % 2:
            await console.decide(begun.op.operation_id, "close", by=PERSON, reason="not needed any more")
    await console.close()


if __name__ == "__main__":
    asyncio.run(track(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
