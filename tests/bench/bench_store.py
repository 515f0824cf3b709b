"""The folder store: what an update costs with few and with many documents, reopening, and how long a checkpoint holds the loop.

    python tests/bench/bench_store.py                     10,000 documents against 100, a few seconds
    python tests/bench/bench_store.py --documents 100000  the sizes of the targets
    python tests/bench/bench_store.py --smoke             the smallest run that takes every step

Repeats are interleaved; figures are min / median / max. The ratios count, the microseconds are this machine's. Targets: an
update at 100,000 documents costs at most 1.5 times the one at 100; reopening at most 1.5 times the bare decoding of the same
bytes; a checkpoint holds the loop for at most 20 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

import msgspec
from tinydb import TinyDB, where

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from tests.store.made import begun, changed, counted, made

FEW = 100


def shown(seconds: list[float], unit: float = 1e6) -> str:
    """min / median / max."""
    return " / ".join(f"{value * unit:,.0f}" for value in (min(seconds), statistics.median(seconds), max(seconds)))


async def filled(home: Path, documents: int) -> FolderStore:
    """A store with so many waiting operations."""
    store = await open_store(home, SystemClock(), label="bench")
    for first in range(0, documents, 250):
        await asyncio.gather(*(begun(store, made(f"op-{n}")) for n in range(first, min(first + 250, documents))))
    return store


async def timed(act: Callable[[], Awaitable[object]], times: int) -> float:
    """Seconds per act, awaited one after the other."""
    started = perf_counter()
    for _ in range(times):
        await act()
    return (perf_counter() - started) / times


async def updates(few: FolderStore, many: FolderStore, repeats: int, times: int) -> None:
    """One durable update alone, and sixty-four at once."""
    for title, act in (
        ("one durable update", lambda store: changed(store, "op-7", name="x")),
        ("64 at once", lambda store: asyncio.gather(*(counted(store, f"op-{n}") for n in range(64)))),
        ("due, 64 of all", lambda store: store.due(SystemClock().wall(), 64)),
    ):
        at_few, at_many = list[float](), list[float]()
        for _ in range(repeats):
            at_few.append(await timed(lambda act=act: act(few), times))  # type: ignore[misc]
            at_many.append(await timed(lambda act=act: act(many), times))  # type: ignore[misc]
        ratio = statistics.median(at_many) / statistics.median(at_few)
        print(f"{title:20} at {FEW}: {shown(at_few)} us, at many: {shown(at_many)} us, ratio {ratio:.2f}")


async def checkpoint(store: FolderStore) -> None:
    """How long a checkpoint keeps the loop from its other work."""
    gaps: list[float] = []
    is_over = False

    async def tick() -> None:
        while not is_over:
            started = perf_counter()
            await asyncio.sleep(0.001)
            gaps.append(perf_counter() - started - 0.001)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.05)
    calm = max(gaps)
    gaps.clear()
    started = perf_counter()
    await store.checkpoint()
    took = perf_counter() - started
    is_over = True
    await ticking
    print(f"a checkpoint takes {took * 1000:.0f} ms and holds the loop {max(gaps) * 1000:.1f} ms (calm: {calm * 1000:.1f} ms)")


async def reopening(home: Path, repeats: int) -> None:
    """Opening from the checkpoint against decoding the same bytes."""
    data = (home / "operations.json").read_bytes()
    opened, decoded = list[float](), list[float]()
    for _ in range(repeats):
        gc.collect()
        started = perf_counter()
        store = await open_store(home, SystemClock(), label="bench", read_only=True)
        opened.append(perf_counter() - started)
        await store.close()
        del store
        gc.collect()
        started = perf_counter()
        msgspec.json.decode(data)
        decoded.append(perf_counter() - started)
    ratio = statistics.median(opened) / statistics.median(decoded)
    size = len(data) / 1e6
    print(f"reopening {size:.0f} MB: {shown(opened, 1e3)} ms, decoding: {shown(decoded, 1e3)} ms, ratio {ratio:.2f}")


def plain_tinydb(home: Path, times: int, update: float) -> None:
    """The same update by a plain TinyDB, which rewrites the file."""
    with TinyDB(home / "operations.json") as plain:
        started = perf_counter()
        for _ in range(times):
            plain.update({"name": "x"}, where("operation_id") == "op-7")
        took = (perf_counter() - started) / times
    print(f"plain TinyDB: {took * 1e6:,.0f} us an update, {took / update:,.0f} times ours")


async def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--times", type=int, default=50, help="acts in one repeat")
    parser.add_argument("--smoke", action="store_true", help="the smallest run")
    given = parser.parse_args()
    documents, repeats, times = (200, 1, 2) if given.smoke else (given.documents, given.repeats, given.times)
    with tempfile.TemporaryDirectory() as folder:
        few = await filled(Path(folder) / "few", FEW)
        many = await filled(Path(folder) / "many", documents)
        print(f"{documents:,} documents against {FEW}")
        await updates(few, many, repeats, times)
        alone = await timed(lambda: changed(many, "op-7", name="x"), times)
        await checkpoint(many)
        await few.close()
        await many.close()
        await reopening(Path(folder) / "many", repeats)
        plain_tinydb(Path(folder) / "many", 1 if given.smoke else 3, alone)


if __name__ == "__main__":
    asyncio.run(main())
