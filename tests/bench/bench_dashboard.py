"""The dashboard over a full store: the first picture, and how long a key takes while operations change (U2).

    python tests/bench/bench_dashboard.py [--operations 10000] [--changes 200] [--presses 40] [--size 140x40] [--smoke]

A process of its own commits `--changes` changes a second to the same folder: another state, another progress, and one in ten
in another phase. The dashboard runs headless under Textual's pilot. Printed: seconds from the start to the picture with all
rows, and for each key the milliseconds from the press to the frame that shows it (median / 95th percentile / most), on the wall
clock and of CPU, and the peak of memory. The CPU includes what was painted of other changes in between.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import resource
import statistics
import sys
import tempfile
import time
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

import msgspec
from textual.screen import Screen

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from jobconsole.adapters import collector
from jobconsole.adapters.catalogue import Catalogue
from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.adapters.tinydb_store import open_store
from jobconsole.console import Desk, load_themes
from jobconsole.core.command import Command, Plan, Refusal, Scope, View
from jobconsole.core.events import Draft, EventDraft, Kind, Table
from jobconsole.core.operation import operation
from jobconsole.core.vocabulary import Phase
from jobconsole.tui.app import Dashboard
from jobconsole.tui.widgets.operations_table import OperationsTable
from tests.bench.stored import filled, provider

KEYS = ("j", "j", "k", "pagedown", "pageup", "G", "g", "space", "t", "s")
LONGEST = 2.0  # seconds: what shows no effect by then has none
AT_ONCE = 10  # operations that one commit changes


def change(ids: list[str], rng: random.Random) -> Command[None]:
    """The command that changes these operations as a provider's answers would."""

    def command(view: View) -> Plan[None] | Refusal:
        events: list[EventDraft] = []
        for operation_id in ids:
            doc = view.get(Table.OPERATIONS, operation_id)
            assert doc is not None
            op = operation(doc)
            phase = rng.choice((Phase.WAITING, Phase.SUCCEEDED)) if rng.random() < 0.1 else op.phase
            draft = Draft("worker:bench", op)
            draft.add(
                Kind.STATE_CHANGED, msgspec.structs.replace(op, progress_share=rng.random(), last_http_status=200, phase=phase)
            )
            events.extend(draft.events)
        return Plan(tuple(events), None)

    return command


def churn(home: str, count: int, per_second: int, stop: Event) -> None:
    """Change operations of the store until told to stop; runs in a process of its own."""

    async def run() -> None:
        store, rng = await open_store(Path(home), SystemClock(), label="churn"), random.Random(7)
        while not stop.is_set():
            ids = sorted({f"op-{rng.randrange(count):05d}" for _ in range(AT_ONCE)})
            await store.transact(Scope(operations=tuple(ids)), change(ids, rng), kind="record")
            await asyncio.sleep(AT_ONCE / per_second)
        await store.close()

    asyncio.run(run())


class Took(NamedTuple):
    """One press: milliseconds until the frame that shows its effect, and of this process's CPU meanwhile."""

    wall: float
    cpu: float


class WatchedDashboard(Dashboard):
    """Tells when a frame was painted that shows what a key has done."""

    def next_effect(self) -> asyncio.Event:
        """The event of the first frame on which cursor, marks, times or order differ from now."""
        self._before, self._is_painted = self._state(), asyncio.Event()
        return self._is_painted

    def _state(self) -> tuple[object, ...]:
        table = self.query_one(OperationsTable)
        return table.cursor_id, frozenset(table.marked), self.time_style, table.order.column, table.order.is_reversed

    def _display(self, screen: Screen[object], renderable: object) -> None:
        """Textual's own step that writes a frame; there is no public place to learn of it."""
        super()._display(screen, renderable)  # type: ignore[arg-type]
        if self._is_painted is not None and not self._is_painted.is_set() and self._state() != self._before:
            self._is_painted.set()

    _is_painted: asyncio.Event | None = None


async def pressed(app: WatchedDashboard, key: str) -> Took | None:
    """From a press to the frame that shows it; None for one that changes nothing, as at an end of the list."""
    painted = app.next_effect()
    began, spent = time.perf_counter(), time.process_time()
    app.simulate_key(key)
    try:
        await asyncio.wait_for(painted.wait(), LONGEST)
    except TimeoutError:
        return None
    return Took((time.perf_counter() - began) * 1e3, (time.process_time() - spent) * 1e3)


async def measure(home: Path, args: argparse.Namespace) -> None:
    """Fill the store, start the other process, look."""
    contract = provider()
    await (await filled(home, args.operations, contract)).close()
    stop = multiprocessing.Event()
    other = multiprocessing.Process(target=churn, args=(str(home), args.operations, args.changes, stop), daemon=True)
    clock = SystemClock()
    desk = Desk(
        await open_store(home, clock, label="bench"),
        Catalogue(),
        lambda: HttpTransport(ReferenceSecrets(), clock),
        clock,
        "bench",
    )
    collector.settle()  # as the command does
    app = WatchedDashboard(desk, load_themes(home), person="person:bench", profile="bench")
    columns, lines = args.size.split("x")
    began = time.perf_counter()
    async with app.run_test(size=(int(columns), int(lines))) as pilot:
        while not app.feed.is_loaded:
            await pilot.pause(0.005)
        await pilot.pause()
        print(f"first picture of {len(app.feed.operations):,} operations: {time.perf_counter() - began:.2f} s")
        other.start()
        await asyncio.sleep(args.settle)
        rng, found = random.Random(11), dict[str, list[Took]]()
        for _ in range(args.presses):
            for key in KEYS:
                if (took := await pressed(app, key)) is not None:
                    found.setdefault(key, []).append(took)
                await asyncio.sleep(rng.uniform(0.05, 0.25))  # at any moment of the feed's quarter of a second
        for key, each in found.items():
            tell(f"key {key}", each)
        tell("all keys", [took for each in found.values() for took in each])
        stop.set()
        other.join(10)
    await desk.close()
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def tell(what: str, took: list[Took]) -> None:
    """One line of figures."""
    shares = []
    for name, values in zip(Took._fields, map(sorted, zip(*took, strict=True)), strict=True):
        late = values[min(len(values) - 1, int(len(values) * 0.95))]
        shares.append(f"{name} {statistics.median(values):6.1f} / {late:6.1f} / {values[-1]:6.1f}")
    print(f"{what:14} {'   '.join(shares)} ms")


def main() -> None:
    """Read the arguments, measure in a folder that goes away."""
    parser = argparse.ArgumentParser(description="The dashboard over a full store.")
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--changes", type=int, default=200, help="a second")
    parser.add_argument("--presses", type=int, default=40)
    parser.add_argument("--size", default="140x40")
    parser.add_argument("--settle", type=float, default=2.0, help="seconds of changes before the first key")
    parser.add_argument("--smoke", action="store_true", help="the smallest run")
    args = parser.parse_args()
    if args.smoke:
        args.operations, args.presses, args.settle = 200, 2, 0.1
    with tempfile.TemporaryDirectory(prefix="jobconsole-bench-") as home:
        asyncio.run(measure(Path(home) / "store", args))


if __name__ == "__main__":
    main()
