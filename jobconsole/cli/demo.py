"""`jobconsole demo`: a dozen jobs at the play provider, waited for over real HTTP, with the questions answered.

Only this file decides who plays without a person and how the questions are answered; with a person at a terminal
`demo_stage.py`. What each job should come to is said by the play provider's scenarios; the exit code is 0 only where every
job ended so.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.launch import can_show
from jobconsole.cli.output import Column, Output, Piece, Tone, Toned
from jobconsole.console import Budget, Desk, Wish, is_settled, open_desk
from jobconsole.core.operation import Operation
from jobconsole.core.telling.wording import marked, words
from jobconsole.core.vocabulary import Phase
from jobconsole.play.scenarios import SCENARIOS
from jobconsole.play.server import PlayServer

PATIENCE = 150.0  # seconds until the demonstration gives up; it takes about ten
PERSON = "person:demo"
NEVER_ENDS = "never-ends"


@dataclass(frozen=True, slots=True)
class Role:
    """One job of the cast: its scenario, and its budget where that differs from the contract's."""

    name: str
    scenario: str
    budget: Budget = field(default_factory=Budget)
    ends_in: Phase | None = None  # None: as the scenario says

    @property
    def expected(self) -> Phase:
        """The phase in which the job should end."""
        return self.ends_in or SCENARIOS[self.scenario].ends_in


CAST = (
    Role("thumbnail", "quick"),
    Role("Q3 report", "slow"),
    Role("nightly export", "flaky"),
    Role("catalogue import", "partial"),
    Role("trailer render", "late-failure"),
    Role("invoice batch", "rate-limited"),
    Role("model training", "hints"),
    Role("index build", "not-found-then-found"),
    Role("backup", "html-error"),
    Role("order sync", "lost-submit-answer"),
    Role("newsletter", "duplicate-completion"),
    Role("video transcode", NEVER_ENDS, Budget(status_requests=5), ends_in=Phase.CANCELLED),
)


@dataclass(slots=True)
class Met:
    """What happened to one job on its way: the reasons for which a person was asked, and what that person did."""

    role: Role
    op: Operation
    reasons: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    @property
    def is_as_expected(self) -> bool:
        """Whether the job ended as its scenario says, and a person was asked exactly where that belongs to it."""
        asked = self.role.scenario == NEVER_ENDS
        return self.op.phase is self.role.expected and bool(self.reasons) is asked


@click.command()
@click.option("--headless", is_flag=True, help="Run to the end and print the outcome table.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed gives other job ids and results.")
@pass_invocation
def demo(invocation: Invocation, headless: bool, seed: int) -> Exit:
    """Jobs at a play provider: the dashboard, or a script that answers."""
    home = invocation.home or Path(tempfile.mkdtemp(prefix="jobconsole-demo-"))
    invocation.output.note(f"store: {home}")
    if not headless and can_show(invocation):
        from jobconsole.cli.demo_stage import on_stage

        return on_stage(invocation, home, seed)
    met = asyncio.run(_play(invocation.output, home, seed))
    _report(invocation, met)
    return Exit.OK if all(each.is_as_expected for each in met) else Exit.FAILURE


async def _play(output: Output, home: Path, seed: int) -> list[Met]:
    async with PlayServer(seed=seed) as server, open_desk(home, label="demo") as console:
        output.note(f"play provider: {server.url}")
        met = [await _submit(console, role, server.port, seed + number) for number, role in enumerate(CAST)]
        async with console.embedded_worker():
            try:
                async with asyncio.timeout(PATIENCE):
                    await asyncio.gather(*(_follow(console, output, each) for each in met))
            except TimeoutError:
                output.note(f"not everything ended within {PATIENCE:.0f} s")
        for each in met:
            each.op = await console.get(each.op.operation_id)
        return met


async def _submit(console: Desk, role: Role, port: int, seed: int) -> Met:
    wish = Wish(PERSON, name=role.name, task="demo", budget=role.budget, params={"port": str(port)})
    begun = await console.submit("play", {"scenario": role.scenario, "seed": seed}, wish=wish)
    return Met(role, begun.op)


async def _follow(console: Desk, output: Output, met: Met) -> None:
    """Tell what becomes of one job, and answer its questions as a person would: extend once, then cancel."""
    while not met.op.phase.is_terminal:
        (met.op,) = await console.wait([met.op.operation_id], None)
        if met.op.escalation is None or not is_settled(met.op):
            continue
        reason = met.op.escalation.reason
        met.reasons.append(reason)
        output.note(f"{met.role.name}: needs a decision, {words(reason)}")
        option = "cancel" if met.answers else "extend"
        if option not in {open_option.name for open_option in await console.options(met.op)}:
            return
        asked: dict[str, Any] = {"checks": 4} if option == "extend" else {}
        reason_text = "the demonstration's script"
        applied = await console.decide(
            met.op.operation_id, option, by=PERSON, revision=met.op.revision, reason=reason_text, **asked
        )
        met.answers.append(option)
        met.op = applied.op
        output.note(f"{met.role.name}: {PERSON} chose {option}: {applied.effect}")
    output.note(f"{met.role.name}: {marked(met.op.phase)} after {met.op.status_requests_used} checks")


COLUMNS = (
    Column("JOB"),
    Column("SCENARIO"),
    Column("ENDED AS"),
    Column("CHECKS", is_right=True),
    Column("ASKED ABOUT"),
    Column("ANSWERED"),
    Column("AS EXPECTED"),
)


def _report(invocation: Invocation, met: Sequence[Met]) -> None:
    if invocation.as_json:
        invocation.output.json([_row_json(each) for each in met])
        return
    invocation.output.table(COLUMNS, [_row(each) for each in met])
    as_expected = sum(each.is_as_expected for each in met)
    invocation.output.note(f"{as_expected} of {len(met)} jobs ended as their scenario says")


def _row(met: Met) -> list[Piece]:
    op = met.op
    verdict = Toned("yes", Tone.GOOD) if met.is_as_expected else Toned("NO", Tone.BAD)
    return [
        met.role.name,
        met.role.scenario,
        marked(op.phase),
        f"{op.status_requests_used}/{op.max_status_requests}",
        ", ".join(words(reason) for reason in met.reasons) or "-",
        ", ".join(met.answers) or "-",
        verdict,
    ]


def _row_json(met: Met) -> dict[str, object]:
    return {
        "operation_id": met.op.operation_id,
        "name": met.role.name,
        "scenario": met.role.scenario,
        "phase": met.op.phase,
        "expected_phase": met.role.expected,
        "status_requests_used": met.op.status_requests_used,
        "max_status_requests": met.op.max_status_requests,
        "reasons": met.reasons,
        "answers": met.answers,
        "as_expected": met.is_as_expected,
    }
