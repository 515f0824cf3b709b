"""The dashboard over many rows against Textual's own table and an empty app (PERF P10).

    python tests/bench/bench_table.py [--rows 50000] [--repeats 5] [--presses 8] [--smoke]

Three sides, each in a process of its own, round after round: `ours` is the whole dashboard, header, side bars and footer
included, over operations that stand in memory; `DataTable` an app with nothing but that widget and 8 columns of plain text;
`empty` an app that shows nothing but a number. Measured headless at 130x40: milliseconds from the start to the picture with all
rows, and CPU milliseconds up to the next frame: of a telling of 100 changed operations, and of the keys down and page down.
Printed: min / median / max of the rounds, and the ratios of the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import DataTable, Static

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from jobconsole.adapters import collector
from jobconsole.adapters.catalogue import Catalogue
from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.console import BrokerNews, Desk, load_themes
from jobconsole.core.operation import Operation
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.tui.app import Dashboard
from jobconsole.tui.widgets.operations_table import OperationsTable
from tests.bench.stored import provider, waiting

SIZE = (130, 40)
CHANGED = 100  # operations in one telling; most of them are off the screen, as in real use
COLUMNS = ("id", "name", "status", "age", "checks", "next", "progress", "message")
KEYS = ("down", "pagedown")
PATIENCE_S = 30.0

Figures = dict[str, list[float]]


class FullStore(MemoryStore):
    """A store whose operations are at hand as values: what is measured begins behind the reading."""

    def __init__(self, clock: SystemClock, operations: list[Operation]) -> None:
        super().__init__(clock)
        self._operations = operations

    async def operations(self) -> list[Operation]:
        """All of them."""
        return self._operations


class Watched(App[None]):
    """Tells when a frame was painted."""

    _painted: asyncio.Event | None = None

    async def frame_after(self, act: Callable[[], object]) -> float:
        """CPU milliseconds of this process from the act to the frame that follows."""
        self._painted, spent = asyncio.Event(), time.process_time()
        act()
        await asyncio.wait_for(self._painted.wait(), PATIENCE_S)
        return (time.process_time() - spent) * 1e3

    def _display(self, screen: Screen[object], renderable: object) -> None:
        """Textual's own step that writes a frame; there is no public place to learn of it."""
        super()._display(screen, renderable)  # type: ignore[arg-type]
        if self._painted is not None:
            self._painted.set()


class WatchedDashboard(Watched, Dashboard):
    """The dashboard as it is."""


class Rows(Watched):
    """Nothing but Textual's table."""

    def compose(self) -> ComposeResult:
        """The table."""
        yield DataTable(cursor_type="row")


class Empty(Watched):
    """The floor: a key that changes one short text."""

    BINDINGS: ClassVar[list[BindingType]] = [(key, "count", "") for key in KEYS]

    def compose(self) -> ComposeResult:
        """The text."""
        yield Static("0")

    def action_count(self) -> None:
        """Another text."""
        self.query_one(Static).update(str(time.perf_counter_ns()))


async def keys(app: Watched, pilot: Pilot[None], presses: int) -> Figures:
    """CPU of each key, the first press left out: it warms."""
    figures: Figures = {}
    for key in KEYS:
        took: list[float] = []
        for _ in range(presses + 1):
            took.append(await app.frame_after(lambda key=key: app.simulate_key(key)))  # type: ignore[misc]
            await pilot.pause()  # what a press leaves behind is not the next one's
        figures[f"key {key}"] = took[1:]
    return figures


async def ours(rows: int, presses: int) -> Figures:
    """The dashboard."""
    clock, contract = SystemClock(), provider()
    now = clock.wall().replace(microsecond=0)
    store = FullStore(clock, [waiting(number, contract, now, now) for number in range(rows)])
    with tempfile.TemporaryDirectory(prefix="jobconsole-bench-") as home:
        desk = Desk(store, Catalogue(), lambda: HttpTransport(ReferenceSecrets(), clock), clock, "bench")
        app = WatchedDashboard(desk, load_themes(Path(home)), person="person:bench", profile="bench")
        began = time.perf_counter()
        async with app.run_test(size=SIZE) as pilot:
            while not app.feed.is_loaded:
                await pilot.pause()
            await pilot.pause()
            figures: Figures = {"first picture": [(time.perf_counter() - began) * 1e3], "100 updates": []}
            for number in range(presses):
                news = changed(app, number)
                figures["100 updates"].append(await app.frame_after(lambda news=news: app.feed._hear(news)))  # type: ignore[misc]
                await pilot.pause()
            figures |= await keys(app, pilot, presses)
        await desk.close()
    return figures


def changed(app: Dashboard, number: int) -> BrokerNews:
    """Give the feed 100 operations that differ, and return the news of it; the way past the store is not public."""
    held, ids = app.feed._broker.operations, app.query_one(OperationsTable).order.rows
    step = max(1, len(ids) // CHANGED)
    chosen = {ids[(number * 37 + each * step) % len(ids)] for each in range(CHANGED)} | {ids[number % 20]}  # one in sight
    for operation_id in chosen:
        held[operation_id] = replace(held[operation_id], progress_share=(number + 1) / 100)
    return BrokerNews(frozenset(chosen))


async def data_table(rows: int, presses: int) -> Figures:
    """Textual's table."""
    cells = [
        (f"op-{n:05d}", f"Report {n}", "waiting", "1m", str(n % 50), "30s", "", f"step {n % 16} of 16") for n in range(rows)
    ]
    app, began = Rows(), time.perf_counter()
    async with app.run_test(size=SIZE) as pilot:
        table: DataTable[str] = app.query_one(DataTable)
        for column in COLUMNS:
            table.add_column(column, key=column)
        for row in cells:
            table.add_row(*row, key=row[0])
        table.focus()
        await pilot.pause()
        figures: Figures = {"first picture": [(time.perf_counter() - began) * 1e3], "100 updates": []}

        def update(number: int) -> None:
            for each in range(CHANGED):
                at = (number * 37 + each * max(1, rows // CHANGED)) % rows
                table.update_cell(cells[at][0], "progress", f"{number + 1}%")

        for number in range(presses):
            figures["100 updates"].append(await app.frame_after(lambda n=number: update(n)))  # type: ignore[misc]
            await pilot.pause()
        return figures | await keys(app, pilot, presses)


async def empty(rows: int, presses: int) -> Figures:
    """The floor of every key press."""
    app = Empty()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        return await keys(app, pilot, presses)


SIDES: dict[str, Callable[[int, int], Coroutine[None, None, Figures]]] = {"ours": ours, "DataTable": data_table, "empty": empty}


def one_side(name: str, rows: int, presses: int) -> Figures:
    """The figures of one side, from a process of its own."""
    command = [sys.executable, __file__, "--side", name, "--rows", str(rows), "--presses", str(presses)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: Figures = json.loads(answer.stdout)
    return figures


def tell(rounds: dict[str, list[Figures]]) -> None:
    """All figures of a kind under each other, then ours against the others."""
    median: dict[tuple[str, str], float] = {}
    for what in ("first picture", "100 updates", *(f"key {key}" for key in KEYS)):
        for side, each in rounds.items():
            values = [value for figures in each for value in figures.get(what, ())]
            if values:
                median[what, side] = statistics.median(values)
                print(f"{what:13} {side:10} {min(values):9.1f} / {median[what, side]:9.1f} / {max(values):9.1f} ms")
    for (what, side), value in median.items():
        if side != "ours":
            print(f"{what}: ours / {side} {median[what, 'ours'] / value:.3f}")


def main() -> None:
    """Measure and print; with `--side`, measure one side and print its figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--presses", type=int, default=8, help="of each key, and tellings, per round")
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--smoke", action="store_true", help="the smallest run that takes every step")
    args = parser.parse_args()
    if args.smoke:
        args.rows, args.repeats, args.presses = 200, 1, 1
    if args.side:
        collector.settle()  # as the command does
        print(json.dumps(asyncio.run(SIDES[args.side](args.rows, args.presses))))
        return
    rounds: dict[str, list[Figures]] = {side: [] for side in SIDES}
    for _ in range(args.repeats):
        for side, each in rounds.items():
            each.append(one_side(side, args.rows, args.presses))
    tell(rounds)


if __name__ == "__main__":
    main()
