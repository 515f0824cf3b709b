"""`ls`, and `jobconsole` alone: what waits, and what changes (SPEC 11, S6, X19).

Only this file decides what these list. `ls` only reads: it takes no lock, creates nothing, and loads no HTTP client.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from jobconsole.cli import telling
from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import reading, tell_missing_worker, tell_questions, writing
from jobconsole.cli.watching import changed_lines, is_moving
from jobconsole.console import Reader
from jobconsole.core.operation import Operation
from jobconsole.core.telling.views import row_view
from jobconsole.core.telling.wording import counted, words
from jobconsole.core.vocabulary import Phase

if TYPE_CHECKING:
    from jobconsole.console import Desk

NOTHING = "nothing waits. Begin with: jobconsole submit PROVIDER, or see it play: jobconsole demo"


@click.command()
@click.option("--all", "include_ended", is_flag=True, help="Show what has ended too.")
@click.option("--phase", type=click.Choice([phase.value for phase in Phase]), help="Show one phase only.")
@pass_invocation
def ls(invocation: Invocation, include_ended: bool, phase: str | None) -> None:
    """List operations that have not ended."""
    asyncio.run(_list(invocation, include_ended=include_ended, phase=phase))


async def _list(invocation: Invocation, *, include_ended: bool, phase: str | None) -> None:
    async with reading(invocation, "ls") as console:
        found = await console.operations(include_ended=include_ended, include_archived=include_ended, phase=phase)
        if invocation.as_json:
            invocation.output.json(await console.views(found))
        elif found:
            _print_table(invocation, console, found)
            if any(map(is_moving, found)):
                tell_missing_worker(console, invocation)
            tell_questions(found, invocation)
        elif ended := [] if include_ended or phase else await console.operations(include_ended=True):
            invocation.output.note(f"nothing waits; {counted(len(ended), 'operation')} ended: jobconsole ls --all")
        else:
            invocation.output.note(f"no operation is {words(phase)}: jobconsole ls --all" if phase else NOTHING)


def _print_table(invocation: Invocation, console: Reader, found: Sequence[Operation]) -> None:
    """Rows show no options, so that no contract is read for them."""
    now = console.clock.wall()
    invocation.output.table(telling.COLUMNS, [telling.row(row_view(op, now), now) for op in found])


def live(invocation: Invocation) -> Exit:
    """What waits now, then one line for each change, until nothing waits any more."""
    try:
        return asyncio.run(_live(invocation))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the jobs go on: jobconsole run watches them") from None


async def _live(invocation: Invocation) -> Exit:
    async with reading(invocation, "live") as console:
        if not any(map(is_moving, await console.operations())):
            await _list_in_flight(invocation, console)
            return Exit.OK
    async with writing(invocation, "live") as console:
        await _list_in_flight(invocation, console)
        if not console.health().is_writable:
            invocation.output.note("this listing only looks: ", console.health().why_not)
            tell_missing_worker(console, invocation)
            await _follow(invocation, console)
            return Exit.OK
        async with console.embedded_worker():
            await _follow(invocation, console)
    return Exit.OK


async def _list_in_flight(invocation: Invocation, console: Reader) -> None:
    found = await console.operations()
    if invocation.as_json:
        for view in await console.views(found):
            invocation.output.json(view)
    elif found:
        _print_table(invocation, console, found)
        tell_questions(found, invocation)
    else:
        invocation.output.note(NOTHING)
    invocation.output.flush()


async def _follow(invocation: Invocation, console: Desk) -> None:
    """One line for each change, written at once; ends by itself."""
    async with contextlib.aclosing(changed_lines(console, until_still=True)) as lines:
        async for op, line in lines:
            if invocation.as_json:
                invocation.output.json((await console.views([op]))[0])
            else:
                invocation.output.line(*line)
            invocation.output.flush()
