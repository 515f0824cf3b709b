"""A million audit events to a DataFrame, against `pandas.read_json(lines=True)`: wall time and memory.

    python tests/bench/bench_audit_frame.py                  100,000 lines, a minute
    python tests/bench/bench_audit_frame.py --lines 1000000  the size of the target
    python tests/bench/bench_audit_frame.py --smoke          the smallest run that takes every step

Lines are a store's own, with their hashes and state changes. Each reading is a process of its own, so that its peak of memory
is; repeats are interleaved, figures are min / median / max of wall seconds. The ratios count; on a machine that is shared, that
of the CPU seconds tells more. Memory is what the reading takes beyond the imports. Targets: at most 0.2 times the time, at most
0.25 times the memory. The alternatives that were tried and not taken are measured too.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from datetime import UTC, datetime, timedelta

from jobconsole.core.events import Kind
from jobconsole.core.keeping.line import Place, encode, timestamp

EVENTS_OF_ONE = 40
BEGAN = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)


def write_lines(path: Path, lines: int) -> None:
    """A chain of operations, each submitted, checked many times and closed, as a worker writes it."""
    previous = hashlib.sha256(b"bench").hexdigest()
    with path.open("wb") as file:
        for seq in range(1, lines + 1):
            line, previous = _line(seq, previous)
            file.write(line)


def _line(seq: int, previous: str) -> tuple[bytes, str]:
    number, step = divmod(seq - 1, EVENTS_OF_ONE)
    at = BEGAN + timedelta(milliseconds=7 * seq)
    place = Place(seq=seq, tx=seq, batch=seq, at=at, up=1_000_000 + 7 * seq, boot="7974cc38")
    used = min(step // 2 + 1, 20)
    fields: dict[str, object] = {
        "revision": 2,
        "phase": "waiting",
        "job_state": "running",
        "planned_at": timestamp(at + timedelta(seconds=30)),
        "delay_source": "local_backoff",
        "status_requests_used": used,
        "max_status_requests": 25,
        "deadline_at": timestamp(BEGAN + timedelta(hours=1)),
    }
    changed: dict[str, object] = {"status_requests_used": used, "op_seq": step + 1, "due_at": timestamp(at)}
    if step == 0:
        kind, fields["provider"] = Kind.SUBMITTED, "acme-exports"
    elif step == EVENTS_OF_ONE - 1:
        kind, fields["phase"], fields["decision"] = Kind.CLOSED, "succeeded", "succeed"
    elif step % 2:
        kind, fields["lease_token"], fields["purpose"] = Kind.CHECK_RESERVED, step + 1, "status"
        changed["lease"] = {"token": step + 1, "owner": "worker:4711-a3", "until_up": 1_015_000 + 7 * seq, "boot": "7974cc38"}
    else:
        kind = Kind.CHECK_ANSWERED
        request_id = f"req_{seq:012d}"
        told = {"verdict": "waiting", "http_status": 200, "state": "running", "progress": step / 40, "request_id": request_id}
        fields |= {"http_status": 200, "provider_request_id": request_id, "decision": "wait_until", "draw": 0.5}
        fields["observation"] = told
        changed |= {"observed_at": timestamp(at), "progress": step / 40, "last_request_id": request_id, "lease": None}
    return encode(
        place,
        previous,
        kind=kind,
        actor="worker:4711-a3",
        operation_id=f"op_01K8N15YCDE697CYRY{number:08d}",
        op_seq=step + 1,
        fields=fields,
        changes={f"_default/{1 + number * EVENTS_OF_ONE}": changed},
    )


def _ours(path: Path) -> Callable[[], int]:
    import pandas  # noqa: F401  (imports are no part of the reading)
    import pyarrow.compute  # noqa: F401

    from jobconsole.adapters.frames import read_audit

    return lambda: len(read_audit(path))


def _pandas(path: Path) -> Callable[[], int]:
    import pandas

    return lambda: len(pandas.read_json(path, lines=True))


def _pyarrow(path: Path) -> Callable[[], int]:
    """The same columns as an Arrow table, which is no DataFrame yet; one value of another type makes it refuse the file."""
    import pyarrow
    import pyarrow.json

    from jobconsole.core.telling.columns import AUDIT, Column, Holds

    numbers = {Holds.COUNT: pyarrow.int64(), Holds.MILLISECONDS: pyarrow.int64(), Holds.TIME: pyarrow.timestamp("us", "UTC")}
    shares = dict.fromkeys((Holds.SECONDS, Holds.SHARE), pyarrow.float64())
    types = {**dict.fromkeys((Holds.TEXT, Holds.WORD), pyarrow.string()), **numbers, **shares}

    def field(column: Column) -> object:
        return pyarrow.field(column.stored_as, types[column.holds])

    inner = pyarrow.struct([field(column) for column in AUDIT if column.inside])
    outer = [field(column) for column in AUDIT if not column.inside]
    schema = pyarrow.schema([*outer, pyarrow.field("observation", inner)])
    parse = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    return lambda: len(pyarrow.json.read_json(path, parse_options=parse))


def _msgspec(path: Path) -> Callable[[], int]:
    import msgspec
    import pandas

    return lambda: len(pandas.DataFrame([msgspec.json.decode(line) for line in path.open("rb")]))


BASE = "pandas.read_json(lines=True)"
READERS = {
    "jobconsole.read_audit": _ours,
    BASE: _pandas,
    "pyarrow.json, Arrow table only": _pyarrow,
    "DataFrame of decoded dicts": _msgspec,
}


def read_once(name: str, path: Path) -> None:
    """Print rows, wall and CPU seconds and MB beyond the imports; run in a process of its own."""
    read = READERS[name](path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, busy = perf_counter(), process_time()
    rows = read()
    took, busy = perf_counter() - began, process_time() - busy
    print(rows, took, busy, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def measure(path: Path, lines: int, repeats: int) -> None:
    """Run each reader `repeats` times, in turn, and print what came of it."""
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in READERS}
    for _ in range(repeats):
        for name, results in found.items():
            command = [sys.executable, __file__, "--read", name, "--file", str(path)]
            rows, *figures = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            assert int(rows) == lines, f"{name} read {rows} rows of {lines}"
            results.append(tuple(map(float, figures)))
    print(f"{lines:,} lines, {path.stat().st_size / lines:.0f} bytes each")
    for name, results in found.items():
        wall = [each[0] for each in results]
        shown = " / ".join(f"{value:.2f}" for value in (min(wall), statistics.median(wall), max(wall)))
        time, cpu, memory = (ratio(results, found[BASE], which) for which in range(3))
        print(f"{name:32} {shown} s; {time:.3f} of the time, {cpu:.3f} of the CPU, {memory:.3f} of the memory")


def ratio(ours: list[tuple[float, ...]], theirs: list[tuple[float, ...]], which: int) -> float:
    """The median of the ratios, each within one repeat."""
    return statistics.median(mine[which] / other[which] for mine, other in zip(ours, theirs, strict=True))


def main() -> None:
    """Measure, or read once where `measure` asks for it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.read:
        read_once(asked.read, asked.file)
        return
    lines, repeats = (400, 1) if asked.smoke else (asked.lines, asked.repeats)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.jsonl"
        write_lines(path, lines)
        measure(path, lines, repeats)


if __name__ == "__main__":
    main()
