"""The operations in the pictures: a morning's jobs at three made-up providers, as they stand at 10:20:31.

Only this file decides what the pictures show. Every state comes from an answer that the engine judged; nothing is drawn that
could not happen. Names, ids, times and delays are fixed, so that the same picture comes each time.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from jobconsole.adapters.catalogue import Catalogue
from jobconsole.console import Budget, Desk, Wish, load_themes
from jobconsole.play.job import Reply
from jobconsole.protocols import HttpRequest, WorkerInfo
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.testing.transport import Scripted, ScriptedTransport
from tests.tui.conftest import PROVIDER, TestedDashboard

PROVIDERS = ("northwind", "tilestream", "lumen-train")
NOW = 1_231  # 10:20:31, in seconds since 10:00
LEDGER = "op_01KB5N3V2M4Q7XD9ZC6T8HRWE1"
FINE_TUNE = "op_01KB5N5C7R3T6VME8Z2HN4KYD7"
ABLATION, VOICE_OVER = "op_01KB5NEB8J3T7KPD5F1XM9NFA4", "op_01KB5NDZ5G6R2HMA8C3VJ7KDZ1"
WORKER = WorkerInfo("4711-h7k2mq", "run", 4_711, datetime(2026, 11, 29, 10, tzinfo=UTC))

_FONTS = '"Fira Code", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace'

_MORE = """
[limits]
per_minute = 30
[hints]
poll_after_seconds = "body.poll_after"
max_interval = "45s"
[schedule]
base = "20s"
max = "3m"
jitter = [1, 1]
"""
_COUNTS = """
[result]
inline = "body.output"
[result.counts]
total = "body.counts.total"
succeeded = "body.counts.good"
failed = "body.counts.bad"
"""

Answers = Mapping[int, Mapping[str, Any]]  # by the second of the check


@dataclass(frozen=True)
class Job:
    """One job: when it was submitted, what its provider answered, what it may use up."""

    operation_id: str
    provider: str
    name: str
    started: int
    answers: Answers
    budget: Budget = field(default_factory=Budget)
    by: str = "person:ana"


def _running(*checks: int, **last: Any) -> dict[int, dict[str, Any]]:
    """`running` at each check; the last answer says more."""
    return {second: {"state": "running", **(last if second == checks[-1] else {})} for second in checks}


JOBS = (
    Job(LEDGER, "northwind", "Q3 ledger", 214, _running(240, 330, 520, 760, 1_010, 1_187, progress=91),
        Budget(deadline="45m", status_requests=6)),
    Job("op_01KB5N4A8Y2J5SKP3W7FM9QXB4", "tilestream", "Holiday spot", 62,
        {230: {"state": "queued"}, 1_120: {"state": "moderating"}}),
    Job("op_01KB5NAS4Z8K6BPG7T3NC1FXV8", "tilestream", "Thumbnails", NOW, {}, by="agent:planner/s1"),
    Job("op_01KB5N9Q9X5H3WDS2M8ZJ6RVR2", "northwind", "Price sync", 1_130, {1_207: {"state": "queued"}}),
    Job("op_01KB5N8M3V7F1QTE6H9YB4CKN5", "lumen-train", "Embeddings", 700, _running(730, 1_222, poll_after=300),
        by="agent:planner/s1"),
    Job("op_01KB5N7J6S2D8ZRN7V4KX5WTJ9", "northwind", "EU customers", 480,
        _running(500, 540, 600, 690, 780, 900, 1_010, 1_100, 1_160, 1_219, progress=82), Budget(status_requests=10)),
    Job("op_01KB5N6F1W9B4XHJ5C8QT2MPG3", "tilestream", "Trailer dubs", 420, _running(450, 800, 1_214, progress=64)),
    Job(FINE_TUNE, "lumen-train", "Fine-tune v7", 121, _running(150, 480, 1_225, progress=38),
        Budget(deadline="3h", status_requests=40)),
    Job(ABLATION, "lumen-train", "Ablation run", 330, {700: {"state": "cancelled"}}),
    Job(VOICE_OVER, "tilestream", "Voice-over 3", 260,
        {300: {"state": "failed", "error": "no audio stream"}}),
    Job("op_01KB5NCX7E1P5FKW4Z9TG3JBY0", "tilestream", "Photo batch 7", 75,
        {100: {"state": "running"}, 905: {"state": "done_with_errors", "counts": {"total": 950, "good": 941, "bad": 9}}}),
    Job("op_01KB5NBV2C4M9DYQ1X6RE8HZW6", "northwind", "Invoices", 60, {90: {"state": "running"}, 640: {"state": "done"}}),
    Job("op_01KB5NGK3P8R6CTX4J9WB2VEM5", "tilestream", "Logo", 52, {81: {"state": "running"}, 402: {"state": "done"}}),
    Job("op_01KB5NHM7T2Z5FVQ8N1SD6XKA9", "lumen-train", "Eval suite", 33, {58: {"state": "running"}, 371: {"state": "done"}}),
    Job("op_01KB5NFD6M9V4NSG2J7ZQ5RHC7", "northwind", "Tax codes", 10, {31: {"state": "done"}}),
)  # fmt: skip


class PicturedDashboard(TestedDashboard):
    """The app, whose pictures fetch nothing: they ask for fonts that are there, and bring no addresses of others."""

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """The screen as an SVG file."""
        svg = re.sub(r"\s*@font-face \{[^}]*\}", "", super().export_screenshot(title=title, simplify=simplify))
        svg = re.sub(r"<!--.*?-->\s*", "", svg).replace("font-family: Fira Code, monospace", f"font-family: {_FONTS}")
        return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


ATTENDED: Mapping[int, Callable[[Desk, datetime], Awaitable[object]]] = {
    640: lambda desk, begun: desk.assign(VOICE_OVER, "ben", by="person:ben", shown=None),
    800: lambda desk, begun: desk.decide(FINE_TUNE, "extend", by="person:ben", reason="the training set doubled"),
    1_005: lambda desk, begun: desk.snooze(ABLATION, begun + timedelta(minutes=45), by="person:ana"),
    1_196: lambda desk, begun: desk.assign(LEDGER, "ana", by="person:ana", shown=None),
    1_208: lambda desk, begun: desk.note(LEDGER, "Finance needs it by noon", by="person:ben"),
}
"""What people did, by the second."""


@contextmanager
def staged_day(folder: Path, theme: str, *, is_empty: bool = False) -> Iterator[PicturedDashboard]:
    """The dashboard over that morning, not yet running; `is_empty`: nothing has happened yet.

    The morning has a loop of its own, whoever shows the app another.
    """
    with asyncio.Runner() as morning:
        open_things = AsyncExitStack()
        app = morning.run(open_things.enter_async_context(_played(folder, theme, is_empty=is_empty)))
        try:
            yield app
        finally:
            morning.run(open_things.aclose())


@asynccontextmanager
async def _played(folder: Path, theme: str, *, is_empty: bool) -> AsyncIterator[PicturedDashboard]:
    files = [folder / f"{name}.toml" for name in PROVIDERS]
    for file in files:
        file.write_text(PROVIDER.replace("acme", file.stem).replace("ACME", file.stem.title()) + _MORE + _COUNTS)
    clock, answers = ManualClock(), dict[str, Scripted]()

    def answer(request: HttpRequest) -> Scripted:
        clock.advance(0.09 + 0.013 * (len(transport.requests) % 11))  # each answer takes its time
        return answers[request.url.rsplit("/", 1)[-1]]

    transport = ScriptedTransport(answer, clock)
    store = MemoryStore(clock)
    desk = Desk(store, Catalogue(None, files), lambda: transport, clock, "picture")
    desk.worker_info, desk.actor = WORKER, f"worker:{WORKER.worker_id}"
    async with store.announce(WORKER):
        app = PicturedDashboard(desk, load_themes(folder), theme=theme, person="person:ana", profile="production")
        app.clock, app.transport, app.answers = clock, transport, answers
        if not is_empty:
            await _play(app)
        yield app
    await desk.close()


async def _play(app: TestedDashboard) -> None:
    """Submit, check and look after items, in the order of time, until it is 10:20:31."""
    begun = app.clock.wall()
    steps: list[tuple[int, str, Callable[[], Awaitable[object]]]] = [
        *((second, job.name, partial(_step, app, job, second)) for job in JOBS for second in (job.started, *job.answers)),
        *((second, "", partial(attended, app.desk, begun)) for second, attended in ATTENDED.items()),
    ]
    for second, _, step in sorted(steps, key=lambda each: each[:2]):
        app.clock.advance(max(0.0, second - (app.clock.wall() - begun).total_seconds()))
        await step()
    app.clock.advance(NOW - (app.clock.wall() - begun).total_seconds())


async def _step(app: TestedDashboard, job: Job, second: int) -> object:
    job_id = f"{job.provider[:2]}-{4_000 + job.started}"
    if second == job.started:
        wish = Wish(job.by, job.operation_id, job.name, owner=job.by, budget=job.budget)
        return await app.desk.track(job.provider, job_id=job_id, wish=wish)
    app.answers[job_id] = Reply(body=job.answers[second])
    return await app.desk.perform(job.operation_id)
