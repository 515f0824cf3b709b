"""A dashboard over a memory store, a manual clock and a scripted transport: what happens, happens when a test says so.

`dashboard` is the app with a desk that tests fill: `dashboard.desk`, `dashboard.clock`. Run it with
`async with running(dashboard) as pilot`, let time pass with `await pass_time(pilot, seconds)`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from jobconsole.adapters.catalogue import Catalogue
from jobconsole.console import Desk, Wish, load_themes
from jobconsole.core.operation import Operation
from jobconsole.play.job import Reply
from jobconsole.protocols import HttpRequest
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.testing.transport import Scripted, ScriptedTransport
from jobconsole.tui.app import Dashboard
from jobconsole.tui.messages import Changed

PROVIDER = """
contract = 1
[provider]
name = "acme"
title = "ACME jobs"
base_url = "https://api.acme.example"
account = "acme-prod"
console_url = "https://acme.example/jobs/{job_id}"
verified = "made up for tests"
[submit]
request = "POST /v1/jobs"
job_id = "body.id"
[status]
request = "GET /v1/jobs/{job_id}"
read_only = true
state = "body.state"
progress = "body.progress"
message = "body.message"
error = "body.error"
[states]
waiting = ["queued", "running"]
succeeded = ["done"]
partial = ["done_with_errors"]
failed = ["failed"]
cancelled = ["cancelled"]
[cancel]
request = "POST /v1/jobs/{job_id}/cancel"
effect = "Stops the job; partial output is lost."
[budget]
deadline = "40m"
status_requests = 12
transport_failures = 3
extension = { minutes = 15, checks = 4, failures = 1, rate_limits = 1, times = 2 }
"""


class TestedDashboard(Dashboard):
    """The app, with the parts that tests turn."""

    __test__ = False
    clock: ManualClock
    transport: ScriptedTransport
    answers: dict[str, Scripted]  # by job id; "running" where none is named
    answers_after: float = 0.0  # seconds that the provider takes

    async def track(self, name: str, **fields: Any) -> Operation:
        """Adopt a job: its operation id is `name`, its job id `job-NAME`."""
        wish = Wish("person:ana", name, fields.pop("title", name), **fields)
        return (await self.desk.track("acme", job_id=f"job-{name}", wish=wish)).op

    async def check(self, name: str, body: Any = None) -> Operation:
        """One whole check of an operation now, with this body as the answer."""
        self.answers[f"job-{name}"] = Reply(body=body or {"state": "running"})
        return await self.desk.perform(name)


@pytest.fixture
def clock() -> ManualClock:
    """A clock that only tests move."""
    return ManualClock()


@pytest.fixture
async def dashboard(tmp_path: Path, clock: ManualClock) -> AsyncIterator[TestedDashboard]:
    """The app over a desk of its own; its provider is `acme`."""
    async with made(tmp_path, clock) as app:
        yield app


@asynccontextmanager
async def made(folder: Path, clock: ManualClock) -> AsyncIterator[TestedDashboard]:
    """The app over a desk of its own, with files in this folder."""
    file = folder / "acme.toml"
    file.write_text(PROVIDER)
    answers: dict[str, Scripted] = {}

    def answer(request: HttpRequest) -> Scripted:
        clock.advance(app.answers_after)
        return answers.get(request.url.rsplit("/", 1)[-1], Reply(body={"state": "running"}))

    transport = ScriptedTransport(answer, clock)
    desk = Desk(MemoryStore(clock), Catalogue(None, [file]), lambda: transport, clock, "test")
    app = TestedDashboard(desk, load_themes(folder), person="person:ana", profile="test")
    app.clock, app.transport, app.answers = clock, transport, answers
    yield app
    await desk.close()


@asynccontextmanager
async def running(app: TestedDashboard, size: tuple[int, int] = (100, 24)) -> AsyncIterator[Pilot[None]]:
    """The app on a screen of this size, with the first picture drawn."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.feed.is_loaded)
        await pilot.pause()
        yield pilot


async def until(pilot: Pilot[None], is_so: Callable[[], bool], *, patience: int = 3_000) -> None:
    """Wait, by turns of the loop with real pauses, until something is so."""
    for _ in range(patience):
        if is_so():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not become so")


async def pass_time(pilot: Pilot[None], seconds: float) -> None:
    """Let time pass on the desk's clock, and tell the screen."""
    app = pilot.app
    assert isinstance(app, TestedDashboard)
    app.clock.advance(seconds)
    app.feed.tick()
    await pilot.pause()


async def settled(pilot: Pilot[None]) -> None:
    """Wait until the feed has told what the store holds."""
    app = pilot.app
    assert isinstance(app, TestedDashboard)
    stored = {op.operation_id: op.op_seq for op in await app.desk.operations(include_ended=True)}
    await until(pilot, lambda: {key: op.op_seq for key, op in app.feed.operations.items()} == stored)
    await pilot.pause()


def text_of(app: Dashboard) -> list[str]:
    """The lines of the screen as text."""
    return ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]


__all__ = ["Changed", "TestedDashboard", "made", "pass_time", "running", "settled", "text_of", "until"]
