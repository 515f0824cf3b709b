"""Whether the dashboard's memory stays flat over an hour of updates, in simulated seconds as fast as they go (issue 4, U2).

    python tests/bench/bench_dashboard_memory.py [--operations 10000] [--changes 200] [--seconds 3600] [--smoke]

Each simulated second commits `--changes` changes to a store in a folder, lets the dashboard take them over, ticks and presses
a key. Printed: the process's memory in use (RSS after a full collection) at seven moments, how much it grew over the
last half, and the ratio of the end to the first sixth. The store of the same process, its documents and indexes included,
is in these figures.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from jobconsole.adapters.catalogue import Catalogue
from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.adapters.tinydb_store import open_store
from jobconsole.console import Desk, load_themes
from jobconsole.core.command import Scope
from jobconsole.tui.app import Dashboard
from tests.bench.bench_dashboard import AT_ONCE, KEYS, change
from tests.bench.stored import filled, provider

MOMENTS = 6


def megabytes() -> float:
    """Memory in use by this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


async def measure(home: Path, args: argparse.Namespace) -> None:
    """Fill the store, let an hour pass."""
    await (await filled(home, args.operations, provider())).close()
    clock, rng = SystemClock(), random.Random(7)
    store = await open_store(home, clock, label="bench")
    desk = Desk(store, Catalogue(), lambda: HttpTransport(ReferenceSecrets(), clock), clock, "bench")
    app = Dashboard(desk, load_themes(home), person="person:bench", profile="bench")
    keys, taken, began = itertools.cycle(KEYS), [], time.perf_counter()
    async with app.run_test(size=(140, 40)) as pilot:
        while not app.feed.is_loaded:
            await pilot.pause(0.005)
        for second in range(args.seconds + 1):
            if second % max(1, args.seconds // MOMENTS) == 0:
                taken.append(megabytes())
                print(f"{second:6,} s  {taken[-1]:7.1f} MB  ({time.perf_counter() - began:.0f} s of wall clock)", flush=True)
            for _ in range(args.changes // AT_ONCE):
                ids = sorted({f"op-{rng.randrange(args.operations):05d}" for _ in range(AT_ONCE)})
                await store.transact(Scope(operations=tuple(ids)), change(ids, rng), kind="record")
            app.feed.tick()
            await pilot.press(next(keys))
    await desk.close()
    print(f"end / first sixth: {taken[-1] / taken[1]:.3f}; the last half grew by {taken[-1] - taken[len(taken) // 2]:.1f} MB")


def main() -> None:
    """Read the arguments, measure in a folder that goes away."""
    parser = argparse.ArgumentParser(description="The dashboard's memory over an hour of updates.")
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=200, help="a simulated second")
    parser.add_argument("--seconds", type=int, default=3_600, help="simulated")
    parser.add_argument("--smoke", action="store_true", help="the smallest run")
    args = parser.parse_args()
    if args.smoke:
        args.operations, args.seconds = 200, 6
    with tempfile.TemporaryDirectory(prefix="jobconsole-bench-") as home:
        asyncio.run(measure(Path(home) / "store", args))


if __name__ == "__main__":
    main()
