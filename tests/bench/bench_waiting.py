"""What ten thousand waiting operations cost a worker: idle CPU, wake-ups, and one update against a hundred stored operations.

    python tests/bench/bench_waiting.py [--operations 10000] [--idle 10] [--rounds 5] [--looks 300] [--smoke]

Idle: a worker process of the command line over a store in which nothing is due for hours; its CPU time and its context
switches over some seconds, from /proc. Update: one look of the engine (durable reservation, scripted answer, durable record),
one after another, on a store of 100 operations and on a large one, interleaved; then the same through a worker's loop with 16
looks at a time. Printed: microseconds per look (min / median / max) of wall time, which the disk decides, and of CPU, and the
ratios of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from jobconsole.adapters import collector
from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.tinydb_store import FolderStore
from jobconsole.core.contracts.contract import Contract
from jobconsole.engine.poll import Looker
from jobconsole.engine.worker import Worker
from jobconsole.play.job import Reply
from jobconsole.protocols import HttpRequest, WorkerInfo
from jobconsole.testing.transport import ScriptedTransport
from tests.bench.stored import ANSWER, book_of, filled, provider

FEW = 100
AT_A_TIME = 16
TICK = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Of one look, in microseconds."""

    wall: float
    cpu: float


class Watch:
    """Started when it is made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def cost(self, looks: int) -> Cost:
        """What each of so many looks has cost."""
        return Cost((time.perf_counter() - self._wall) / looks * 1e6, (time.process_time() - self._cpu) / looks * 1e6)


class Answers:
    """Always the same answer; counts, and tells when so many were given."""

    def __init__(self) -> None:
        self.given, self.wanted, self.enough = 0, 0, asyncio.Event()

    def __call__(self, request: HttpRequest) -> Reply:
        """The next answer."""
        self.given += 1
        if self.given >= self.wanted:
            self.enough.set()
        return Reply(200, ANSWER)

    def want(self, count: int) -> None:
        """Begin to count anew."""
        self.given, self.wanted, self.enough = 0, count, asyncio.Event()


class Side:
    """One store and what looks at it."""

    def __init__(self, store: FolderStore, contract: Contract) -> None:
        self.store, self.contract, self.clock, self.answers = store, contract, SystemClock(), Answers()
        self.info = WorkerInfo("bench", "bench", os.getpid(), self.clock.wall())

    def looker(self) -> Looker:
        """A looker over the scripted transport."""
        transport = ScriptedTransport(self.answers, self.clock)
        return Looker(self.store, transport, book_of(self.store, self.contract), self.clock, "worker:bench", random.Random(1))

    async def look(self, looks: int) -> Cost:
        """One after another, over operations that are due each time anew."""
        looker = self.looker()
        self.answers.want(looks)
        watch = Watch()
        while self.answers.given < looks:
            await looker.look(f"op-{self.answers.given % AT_A_TIME:05d}")
        return watch.cost(looks)

    async def worker(self, looks: int) -> Cost:
        """Through a worker's loop, `AT_A_TIME` operations due again and again."""
        worker = Worker(self.store, self.looker(), book_of(self.store, self.contract), self.clock, self.info, AT_A_TIME)
        self.answers.want(looks)
        watch = Watch()
        running = asyncio.create_task(worker.run())
        await self.answers.enough.wait()
        cost = watch.cost(self.answers.given)
        worker.stop()
        await running
        return cost


async def updates(folder: Path, many: int, rounds: int, looks: int) -> None:
    """Both sizes, interleaved, alone and through the loop."""
    contract = provider(base="1ms")
    sides: dict[int, Side] = {}
    for count in (FEW, many):
        sides[count] = Side(await filled(folder / f"store-{count}", count, contract, due_now=AT_A_TIME), contract)
    collector.settle()  # as the command does
    figures: dict[tuple[str, int], list[Cost]] = defaultdict(list)
    for number in range(rounds + 1):
        for count, side in sides.items():
            measured = {"look": await side.look(looks), "worker": await side.worker(looks)}
            if number:  # the first round warms up
                for what, cost in measured.items():
                    figures[what, count].append(cost)
    for what in ("look", "worker"):
        for field in Cost._fields:
            medians = {
                count: show(what, count, field, [getattr(cost, field) for cost in figures[what, count]]) for count in sides
            }
            print(f"{what:6} {field:4}  ratio {medians[many] / medians[FEW]:.2f} ({many} / {FEW} stored)")
    for side in sides.values():
        await side.store.close()


def show(what: str, count: int, field: str, each: list[float]) -> float:
    """Print one line and return the median."""
    middle = statistics.median(each)
    print(f"{what:6} {field:4} {count:6} stored  {min(each):7.0f} / {middle:7.0f} / {max(each):7.0f} us a look")
    return middle


def cpu_s(pid: int) -> float:
    """CPU time of a process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def switches(pid: int) -> int:
    """How often the threads of a process have gone to sleep: voluntary context switches."""
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            lines = (task / "status").read_text(encoding="ascii").splitlines()
            found += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return found


def idle(home: Path, seconds: float) -> None:
    """Watch a worker that has nothing to do."""
    command = [sys.executable, "-m", "jobconsole", "--home", str(home), "run"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as worker:
        try:
            while not list((home / "workers").glob("*")):
                time.sleep(0.05)
            time.sleep(1.5)  # the first look at everything
            cpu, woken, started = cpu_s(worker.pid), switches(worker.pid), time.monotonic()
            time.sleep(seconds)
            wall = time.monotonic() - started
            cpu, woken = cpu_s(worker.pid) - cpu, switches(worker.pid) - woken
        finally:
            worker.terminate()
    print(f"idle   {cpu:.2f} s CPU in {wall:.1f} s ({cpu / wall:.2%} of a core), woken {woken / wall:.1f} times a second")


async def _stored(home: Path, count: int) -> None:
    store = await filled(home, count, provider())
    await store.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--idle", type=float, default=10.0, help="seconds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--looks", type=int, default=300, help="of each kind, per round")
    parser.add_argument("--smoke", action="store_true", help="the smallest run that takes every step")
    options = parser.parse_args()
    if options.smoke:
        options.operations, options.idle, options.rounds, options.looks = 200, 0.5, 1, 32
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(_stored(folder / "idle", options.operations))
        idle(folder / "idle", options.idle)
        asyncio.run(updates(folder, options.operations, options.rounds, options.looks))


if __name__ == "__main__":
    main()
