"""The dashboard over a full store: the first picture, and how long a key takes while operations change (U2).

    python tests/bench/bench_dashboard.py [--operations 10000] [--changes 200] [--presses 40] [--size 140x40] [--smoke]

A process of its own commits `--changes` changes a second to the same folder: another state, another progress, and one in ten
in another phase. The dashboard runs headless under Textual's pilot. Printed: seconds from the start to the picture with all
rows, and for each key the milliseconds from the press to an idle screen (median / 95th percentile / most), on the wall clock
and of CPU, and the peak of memory. The wall clock of a busy machine says little; the CPU is the program's own.
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
from textual.pilot import Pilot

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

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
from tests.bench.stored import filled, provider

KEYS = ("j", "k", "pagedown", "pageup", "G", "g", "space", "t", "s")
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
    """One press: milliseconds on the wall clock, and of this process's CPU."""

    wall: float
    cpu: float


async def pressed(pilot: Pilot[None], key: str, presses: int) -> list[Took]:
    """From each press to an idle screen."""
    took = []
    for _ in range(presses):
        began, spent = time.perf_counter(), time.process_time()
        await pilot.press(key)  # returns when the screen has answered
        took.append(Took((time.perf_counter() - began) * 1e3, (time.process_time() - spent) * 1e3))
        await asyncio.sleep(0.02)
    return took


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
    app = Dashboard(desk, load_themes(home), person="person:bench", profile="bench")
    columns, lines = args.size.split("x")
    began = time.perf_counter()
    async with app.run_test(size=(int(columns), int(lines))) as pilot:
        while not app.feed.is_loaded:
            await pilot.pause(0.005)
        await pilot.pause()
        print(f"first picture of {len(app.feed.operations):,} operations: {time.perf_counter() - began:.2f} s")
        other.start()
        await asyncio.sleep(args.settle)
        everything: list[Took] = []
        for key in KEYS:
            took = await pressed(pilot, key, args.presses)
            everything += took
            tell(f"key {key}", took)
        tell("all keys", everything)
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
