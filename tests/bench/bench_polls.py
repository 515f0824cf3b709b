"""Durable polls a second against plain TinyDB with stock httpx, in the same run, and syncs per poll (PERF P1, P4).

    python tests/bench/bench_polls.py [--operations 10000] [--rounds 5] [--polls 1000] [--plain 12] [--smoke]

A poll is: the intent durable, one GET over loopback, the outcome durable. Ours is the worker with 64 looks in flight. Beside
it: `plain`, a TinyDB file with its default storage and httpx.AsyncClient at 16 in flight; `journal`, an append-only file that
is synced for each record and httpx.AsyncClient at 64; `bare`, a GET through our transport and nothing else, at 64. Rounds are
interleaved; the server has a process of its own. Printed: polls a second and microseconds of CPU per poll (min / median / max),
the ratios of the medians, and fdatasync calls per poll: of the worker, and of a single operation that is looked at alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import httpx
from tinydb import TinyDB

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from jobconsole.adapters import collector
from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.adapters.sync import Sync
from jobconsole.adapters.tinydb_store import FolderStore
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.judging.answer import Answer
from jobconsole.core.operation import document
from jobconsole.engine.poll import Looker
from jobconsole.engine.worker import Worker
from jobconsole.protocols import Gate, HttpRequest, WorkerInfo
from tests.bench.bench_http import serve
from tests.bench.stored import book_of, filled, provider

IN_FLIGHT = 64
PLAIN_IN_FLIGHT = 16


class Figure(NamedTuple):
    """Of one round."""

    per_second: float
    cpu_us: float


class CountingSync(Sync):
    """The real disk, and how often it was synced."""

    count = 0

    def sync(self, fd: int) -> None:
        """Count, then sync."""
        self.count += 1
        super().sync(fd)


class CountingTransport:
    """The real transport; tells when so many answers have come."""

    def __init__(self) -> None:
        self._inner = HttpTransport(ReferenceSecrets(), SystemClock())
        self.answered, self.wanted, self.enough = 0, 0, asyncio.Event()

    def want(self, count: int) -> None:
        """Begin to count anew."""
        self.answered, self.wanted, self.enough = 0, count, asyncio.Event()

    async def send(self, request: HttpRequest, gate: Gate, *, fresh: bool = False) -> Answer:
        """Send and count."""
        answer = await self._inner.send(request, gate, fresh=fresh)
        self.answered += 1
        if self.answered >= self.wanted:
            self.enough.set()
        return answer

    def credential_changed(self, request: HttpRequest) -> bool:
        """As the real one."""
        return self._inner.credential_changed(request)

    async def close(self) -> None:
        """Close the real one."""
        await self._inner.close()


async def timed(polls: int, in_flight: int, poll: Callable[[int], Awaitable[object]]) -> Figure:
    """`poll` for each number below `polls`, so many at a time."""
    numbers = iter(range(polls))

    async def one_after_another() -> None:
        for number in numbers:
            await poll(number)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one_after_another() for _ in range(in_flight)))
    return Figure(polls / (time.perf_counter() - wall), (time.process_time() - cpu) / polls * 1e6)


class Ours:
    """The worker over a folder store in which everything is due."""

    def __init__(self, store: FolderStore, sync: CountingSync, contract: Contract) -> None:
        self.store, self.sync, self.contract, self.clock = store, sync, contract, SystemClock()
        self.transport = CountingTransport()
        self.book = book_of(store, contract)
        self.looker = Looker(store, self.transport, self.book, self.clock, "worker:bench", random.Random(1))
        self.syncs_per_poll: list[float] = []

    async def worker(self, polls: int) -> Figure:
        """Until so many answers came."""
        info = WorkerInfo("bench", "bench", os.getpid(), self.clock.wall())
        worker = Worker(self.store, self.looker, self.book, self.clock, info, IN_FLIGHT)
        self.transport.want(polls)
        syncs, wall, cpu = self.sync.count, time.perf_counter(), time.process_time()
        running = asyncio.create_task(worker.run())
        await self.transport.enough.wait()
        worker.stop()
        await running
        done, took = self.transport.answered, time.perf_counter() - wall
        self.syncs_per_poll.append((self.sync.count - syncs) / done)
        return Figure(done / took, (time.process_time() - cpu) / done * 1e6)

    async def alone(self, operation_id: str) -> float:
        """Syncs of one look at one operation."""
        syncs = self.sync.count
        await self.looker.look(operation_id)
        return self.sync.count - syncs

    async def bare(self, polls: int) -> Figure:
        """GETs through the same transport and nothing else."""
        own = f"127.0.0.1:{self.contract.base_url.rpartition(':')[2]}"
        request = HttpRequest("GET", f"http://{own}/v1/jobs/1", timeout=timedelta(seconds=30), auth_host=own)
        return await timed(polls, IN_FLIGHT, lambda _: self.transport.send(request, lambda: None))


class Plain:
    """TinyDB as it comes, and stock httpx."""

    def __init__(self, path: Path, documents: list[dict[str, object]]) -> None:
        self.db, self.count = TinyDB(path), len(documents)
        self.db.insert_multiple(documents)

    async def poll(self, client: httpx.AsyncClient, url: str, number: int) -> None:
        """Intent, GET, outcome; TinyDB writes the file each time, and does not even sync it."""
        at = 1 + number % self.count
        self.db.update({"intent": number}, doc_ids=[at])
        answer = (await client.get(url)).json()
        self.db.update({"intent": None, "last_known_state": answer["state"]}, doc_ids=[at])


class Journal:
    """The smallest honest journal: append, sync, go on."""

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    async def poll(self, client: httpx.AsyncClient, url: str, number: int) -> None:
        """Intent, GET, outcome, each synced by itself."""
        self._put({"operation": number, "intent": True})
        self._put({"operation": number, "answer": (await client.get(url)).json()})

    def _put(self, record: dict[str, object]) -> None:
        os.write(self.fd, json.dumps(record).encode() + b"\n")
        os.fdatasync(self.fd)


async def measure(folder: Path, port: int, options: argparse.Namespace) -> None:
    """All sides, interleaved."""
    contract, sync, url = provider(port), CountingSync(), f"http://127.0.0.1:{port}/v1/jobs/1"
    count = options.operations
    store = await filled(folder / "store", count, contract, due_now=count, sync=sync)
    ours = Ours(store, sync, contract)
    plain = Plain(folder / "plain.json", [document(op) for op in await store.operations()])
    journal = Journal(folder / "journal.jsonl")
    figures: defaultdict[str, list[Figure]] = defaultdict(list)
    limits = httpx.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    collector.settle()  # as the command does
    async with httpx.AsyncClient(limits=limits, trust_env=False, timeout=30) as client:
        await ours.bare(2 * IN_FLIGHT)
        await timed(2 * IN_FLIGHT, IN_FLIGHT, lambda _: client.get(url))
        for _ in range(options.rounds):
            figures["ours"].append(await ours.worker(options.polls))
            figures["bare"].append(await ours.bare(options.polls))
            figures["journal"].append(await timed(options.polls // 2, IN_FLIGHT, lambda n: journal.poll(client, url, n)))
            figures["plain"].append(await timed(options.plain, PLAIN_IN_FLIGHT, lambda n: plain.poll(client, url, n)))
    alone = [await ours.alone(f"op-{count - 1 - number:05d}") for number in range(5)]
    tell(figures, ours.syncs_per_poll, alone)
    await ours.transport.close()
    await store.close()
    plain.db.close()


def tell(figures: dict[str, list[Figure]], syncs: list[float], alone: list[float]) -> None:
    """Print."""
    medians: dict[str, Figure] = {}
    for name, each in figures.items():
        shown = []
        for values in zip(*each, strict=True):
            shown.append(f"{min(values):9.1f} / {statistics.median(values):9.1f} / {max(values):9.1f}")
        medians[name] = Figure(*(statistics.median(values) for values in zip(*each, strict=True)))
        print(f"{name:8} {shown[0]} polls a second   {shown[1]} us CPU a poll")
    print(f"ours / plain    {medians['ours'].per_second / medians['plain'].per_second:8.1f} x polls a second")
    print(f"ours / journal  {medians['ours'].per_second / medians['journal'].per_second:8.1f} x polls a second")
    print(f"ours / bare     {medians['ours'].cpu_us / medians['bare'].cpu_us:8.2f} x CPU a poll")
    print(f"syncs           {64 * statistics.median(syncs):.1f} per 64 polls; {max(alone):.0f} for one look alone")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--polls", type=int, default=1_000, help="of ours, per round")
    parser.add_argument("--plain", type=int, default=12, help="of plain TinyDB, per round")
    parser.add_argument("--smoke", action="store_true", help="the smallest run that takes every step")
    options = parser.parse_args()
    if options.smoke:
        options.operations, options.rounds, options.polls, options.plain = 300, 1, 100, 4
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    try:
        with tempfile.TemporaryDirectory() as name:
            asyncio.run(measure(Path(name), here.recv(), options))
    finally:
        server.terminate()
        server.join()


if __name__ == "__main__":
    main()
