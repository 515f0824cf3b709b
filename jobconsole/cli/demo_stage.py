"""`jobconsole demo` on a terminal: the dashboard over a play provider, with jobs that come, go, fail, hang and ask.

Only this file decides who plays there. Nobody answers the questions but the person: two jobs never end and stop at their
bounds, one says a word that nobody documented, one waits for a reviewer. `demo.py` plays the same provider to its end without
a person.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation
from jobconsole.cli.launch import show
from jobconsole.console import Budget, Desk, Wish, open_desk
from jobconsole.play.server import PlayServer

STARTER = "person:demo"
LATER_EVERY = 9.0  # seconds between two jobs that come later


@dataclass(frozen=True, slots=True)
class Part:
    """One job on the stage: how it behaves, for how many seconds, and what its wait may use up."""

    name: str
    scenario: str
    duration_s: float
    budget: Budget


def _patient(minutes: int, requests: int, failures: int = 5) -> Budget:
    return Budget(deadline=f"{minutes}m", status_requests=requests, transport_failures=failures)


FIRST = (
    Part("Q3 report", "slow", 95, _patient(4, 90)),
    Part("model training", "hints", 240, _patient(8, 300)),
    Part("video transcode", "never-ends", 600, Budget(status_requests=6)),
    Part("podcast render", "never-ends", 600, Budget(deadline="40s")),
    Part("thumbnails", "quick", 1, Budget()),
    Part("nightly export", "flaky", 75, _patient(3, 80, 40)),
    Part("legacy import", "unknown-state", 6, Budget()),
    Part("catalogue import", "partial", 14, Budget()),
    Part("trailer render", "late-failure", 18, Budget()),
    Part("invoice batch", "rate-limited", 25, _patient(2, 60)),
    Part("index build", "not-found-then-found", 12, Budget()),
    Part("contract review", "needs-human", 6, Budget()),
    Part("order sync", "lost-submit-answer", 50, _patient(3, 70)),
    Part("newsletter", "duplicate-completion", 8, Budget()),
)
LATER = (
    Part("daily digest", "slow", 20, _patient(2, 60)),
    Part("backup", "html-error", 15, _patient(2, 60)),
    Part("old campaign", "expired", 10, Budget()),
    Part("audio mix", "slow", 45, _patient(3, 80)),
    Part("tax archive", "slow", 120, _patient(5, 120)),
    Part("empty segment", "no-outcome", 8, Budget()),
    Part("photo album", "partial", 30, _patient(2, 60)),
    Part("forecast", "hints", 60, _patient(3, 90)),
    Part("map tiles", "flaky", 40, _patient(3, 80, 40)),
    Part("week review", "slow", 30, _patient(2, 60)),
)


def on_stage(invocation: Invocation, home: Path, seed: int) -> Exit:
    """Play until the person leaves; the store stays where it is."""
    invocation.home = home
    code = asyncio.run(_play(invocation, home, seed))
    invocation.output.note(f"the demonstration's store stays at {home}; look again with: jobconsole --home {home} tui")
    return code


async def _play(invocation: Invocation, home: Path, seed: int) -> Exit:
    async with PlayServer(seed=seed) as server, open_desk(home, label="demo") as desk:
        for number, part in enumerate(FIRST):
            await _submit(desk, part, server.port, seed + number)
        coming = asyncio.create_task(_submit_later(desk, server.port, seed))
        try:
            return await show(desk, invocation, profile="demo")
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


async def _submit_later(desk: Desk, port: int, seed: int) -> None:
    for number, part in enumerate(LATER, start=len(FIRST)):
        await asyncio.sleep(LATER_EVERY)
        await _submit(desk, part, port, seed + number)


async def _submit(desk: Desk, part: Part, port: int, seed: int) -> None:
    wish = Wish(STARTER, name=part.name, task="demo", budget=part.budget, params={"port": str(port)})
    body = {"scenario": part.scenario, "seed": seed, "duration_s": part.duration_s}
    await desk.submit("play", body, wish=wish)
