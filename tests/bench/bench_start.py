"""Starting: `jobconsole ls` as a whole process against a script that loads everything at once and plain TinyDB.

    python tests/bench/bench_start.py                  10,000 operations, 50 of them in flight; some 20 seconds
    python tests/bench/bench_start.py --in-flight 10000
    python tests/bench/bench_start.py --smoke          the smallest run that takes every step

The other side imports click, httpx and pandas, opens the same `operations.json` with plain TinyDB, and prints the same rows:
what such a tool looks like where nobody thought of its start. Repeats are interleaved; figures are min / median / max of the
wall, and the ratio is that of the medians. Target: at most 0.17. `--version` and a shell's completion of a command's name are
measured beside it, against a bare interpreter.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.stored import filled, provider

ROOT = Path(__file__).resolve().parents[2]

EAGER = """
import sys

import click
import httpx
import pandas
from tinydb import TinyDB, where


@click.command()
@click.argument("path")
def ls(path):
    with TinyDB(path, access_mode="r") as store:
        for row in store.search(where("phase").one_of(["submitting", "waiting", "escalated"])):
            name, used = row.get("name", "-"), row.get("status_requests_used", 0)
            most, planned = row["max_status_requests"], row.get("next_poll_at", "-")
            print(row["operation_id"], row["phase"], row["provider"], name, used, most, planned)


ls()
"""


def environment(cache: Path) -> dict[str, str]:
    """What the processes run in: bytecode is kept, as it is for every installed program."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**env, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(cache)}


def wall(command: list[str], env: dict[str, str]) -> float:
    """Seconds from start to end of one process, whose output nobody reads."""
    started = perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return perf_counter() - started


def shown(seconds: list[float]) -> str:
    """min / median / max in milliseconds."""
    return " / ".join(f"{value * 1e3:,.0f}" for value in (min(seconds), statistics.median(seconds), max(seconds)))


async def store(home: Path, operations: int, in_flight: int) -> None:
    """A store with so many operations, and a checkpoint of it."""
    made = await filled(home, operations, provider(), ended=operations - in_flight)
    await made.checkpoint()
    await made.close()


def measure(home: Path, folder: Path, repeats: int) -> None:
    """Interleave the processes and print what each took."""
    script = folder / "eager.py"
    script.write_text(EAGER)
    env = environment(folder / "bytecode")
    ours = [sys.executable, "-m", "jobconsole"]
    commands = {
        "bare interpreter": ([sys.executable, "-c", "pass"], {}),
        "jobconsole --version": ([*ours, "--version"], {}),
        "completing a command": (
            ours,
            {"_JOBCONSOLE_COMPLETE": "bash_complete", "COMP_WORDS": "jobconsole l", "COMP_CWORD": "1"},
        ),
        "jobconsole ls": ([*ours, "--home", str(home), "ls"], {}),
        "eager script": ([sys.executable, str(script), str(home / "operations.json")], {}),
    }
    took: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(repeats + 1):
        for name, (command, more) in commands.items():
            once = wall(command, {**env, **more})
            if number:  # the first round fills the bytecode cache
                took[name].append(once)
    for name, seconds in took.items():
        print(f"{name:22} {shown(seconds)} ms")
    median = {name: statistics.median(seconds) for name, seconds in took.items()}
    print(f"ls / eager script      {median['jobconsole ls'] / median['eager script']:.2f}")


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--in-flight", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--smoke", action="store_true", help="the smallest run")
    given = parser.parse_args()
    operations, in_flight, repeats = (20, 5, 1) if given.smoke else (given.operations, given.in_flight, given.repeats)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        asyncio.run(store(home, operations, in_flight))
        print(f"{operations:,} operations, {in_flight:,} in flight")
        measure(home, Path(folder), repeats)


if __name__ == "__main__":
    main()
