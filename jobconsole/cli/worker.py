"""`run`: the worker in the foreground (SPEC 11, STORE 5).

Only this file decides how a worker is started and ended from the command line, and what it tells on stderr meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib

import click

from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import tell_questions, writing
from jobconsole.cli.stopping import stop_on_signals
from jobconsole.cli.watching import changed_lines
from jobconsole.console import Desk, settle_collector, telling_people
from jobconsole.core.telling.wording import counted
from jobconsole.core.vocabulary import Phase


@click.command()
@click.option("--until-idle", is_flag=True, help="End when nothing is submitting or waiting.")
@click.option("--once", is_flag=True, help="Do what is due now, then end.")
@pass_invocation
def run(invocation: Invocation, until_idle: bool, once: bool) -> Exit:
    """Run a worker: check what is due, within its bounds."""
    if until_idle and once:
        raise click.UsageError("--until-idle and --once are two different ends; give one of them.")
    return asyncio.run(_run(invocation, until_idle=until_idle, once=once))


async def _run(invocation: Invocation, *, until_idle: bool, once: bool) -> Exit:
    async with writing(invocation, "run") as console, telling_people(console, invocation.home) as people:
        settle_collector()
        worker = console.worker()

        def stop() -> None:
            worker.stop()
            if people is not None:
                people.stop()

        with stop_on_signals(stop) as stopped:
            if console.health().is_writable:
                await _tell_start(invocation, console)
            telling = asyncio.create_task(_tell_changes(invocation, console))
            try:
                await worker.run(until_idle=until_idle, once=once)
                if people is not None and stopped.by is None:
                    await people.tell_now()  # the next worker may come tomorrow
            finally:
                telling.cancel()
                await asyncio.gather(telling, return_exceptions=True)
        await _tell_end(invocation, console)
        return stopped.exit


async def _tell_start(invocation: Invocation, console: Desk) -> None:
    in_flight = await console.operations()
    waiting = sum(op.phase is not Phase.ESCALATED for op in in_flight)
    others = len(console.health().workers)
    beside = f", beside {counted(others, 'other worker')}" if others else ""
    invocation.output.note(
        f"worker {console.worker_info.worker_id} watches {counted(waiting, 'operation')}{beside}; Ctrl+C ends it"
    )


async def _tell_changes(invocation: Invocation, console: Desk) -> None:
    async with contextlib.aclosing(changed_lines(console)) as lines:
        async for _, line in lines:
            invocation.output.note(*(piece if isinstance(piece, str) else piece.text for piece in line))


async def _tell_end(invocation: Invocation, console: Desk) -> None:
    in_flight = await console.operations()
    if invocation.as_json:
        asking = sum(op.phase is Phase.ESCALATED for op in in_flight)
        worker_id = console.worker_info.worker_id
        invocation.output.json({"worker_id": worker_id, "in_flight": len(in_flight), "needs_decision": asking})
    tell_questions(in_flight, invocation)
