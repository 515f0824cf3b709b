"""`decide`, `extend` and `cancel`: a person's answer from the command line (SPEC 6, H3-H6, C9).

Only this file decides how an answer is asked for and shown here. Whether it is taken is the core's word: bound to the revision
that was read, by a person, inside the option's bounds.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from jobconsole.cli.completion import complete_operation, complete_option
from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import has_worker, writing
from jobconsole.cli.values import TIME, person
from jobconsole.console import Desk
from jobconsole.core.commands.effects import Applied
from jobconsole.core.operation import Operation
from jobconsole.core.telling.wording import words
from jobconsole.core.vocabulary import Phase

_GRANT = click.IntRange(min=0)


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


_operation = click.argument("operation", metavar="OP", shell_complete=complete_operation)
_grants = (
    click.option("--minutes", type=_GRANT, metavar="N", help="Minutes more, at most what the option offers."),
    click.option("--checks", type=_GRANT, metavar="N", help="Checks more, likewise."),
    click.option("--failures", type=_GRANT, metavar="N", help="Failed looks more, likewise."),
    click.option("--rate-limits", type=_GRANT, metavar="N", help="Rate-limit answers more, likewise."),
)
_answer = (
    click.option("--revision", type=click.IntRange(min=1), metavar="N", help="The one that you saw. [default: read now]"),
    click.option("--reason", default="", metavar="TEXT", help="Why, for the audit."),
    click.option("--by", metavar="NAME", help="Who decides. [default: the login name]"),
)


@click.command()
@_operation
@click.argument("option", shell_complete=complete_option)
@_options(
    *_grants,
    click.option("--until", "until_at", type=TIME, metavar="T", help="For pause: the time of the one check."),
    click.option("--job-id", metavar="ID", help="For adopt: the provider's id."),
    click.option("--credential", metavar="REF", help="For use_credential: one of those that the option names."),
    *_answer,
)
@pass_invocation
def decide(invocation: Invocation, /, operation: str, option: str, revision: int | None, by: str | None, **asked: Any) -> Exit:
    """Choose one option of an operation."""
    return asyncio.run(_decide(invocation, operation, option, revision, person(by), asked))


@click.command()
@_operation
@_options(*_grants, *_answer)
@pass_invocation
def extend(invocation: Invocation, /, operation: str, revision: int | None, by: str | None, **asked: Any) -> Exit:
    """Grant more time and checks, within the contract's bounds."""
    return asyncio.run(_decide(invocation, operation, "extend", revision, person(by), asked))


@click.command()
@_operation
@click.option("--yes", is_flag=True, help="Do not ask on a terminal.")
@_options(*_answer)
@pass_invocation
def cancel(invocation: Invocation, /, operation: str, yes: bool, revision: int | None, by: str | None, reason: str) -> Exit:
    """Cancel a job at its provider, where that is documented."""
    return asyncio.run(_cancel(invocation, operation, revision, person(by), {"reason": reason}, is_sure=yes))


async def _decide(
    invocation: Invocation, operation: str, option: str, revision: int | None, by: str, asked: dict[str, Any]
) -> Exit:
    async with writing(invocation, "decide") as console:
        return await _answered(invocation, console, await console.meant(operation), option, revision, by, asked)


async def _cancel(
    invocation: Invocation, operation: str, revision: int | None, by: str, asked: dict[str, Any], *, is_sure: bool
) -> Exit:
    """Say what the provider documents; on a terminal the default is no. The revision is the one that the question showed."""
    async with writing(invocation, "decide") as console:
        op = await console.meant(operation)
        offered = next((each for each in (await console.views([op]))[0]["options"] if each["name"] == "cancel"), None)
        if offered is not None:
            invocation.output.note(offered["text"])
            if not is_sure and sys.stdin.isatty() and not invocation.output.ask(f"cancel {op.operation_id} at {op.provider}?"):
                invocation.output.note("nothing was changed")
                return Exit.OK
        return await _answered(invocation, console, op, "cancel", revision, by, asked)


async def _answered(
    invocation: Invocation,
    console: Desk,
    before: Operation,
    option: str,
    revision: int | None,
    by: str,
    asked: dict[str, Any],
) -> Exit:
    given = {name: value for name, value in asked.items() if value is not None}
    shown = before.revision if revision is None else revision
    applied = await console.decide(before.operation_id, option, by=by, revision=shown, **given)
    _tell(invocation, before, option, applied)
    await _carry_out(invocation, console, applied.op)
    return Exit.OK


def _tell(invocation: Invocation, before: Operation, option: str, applied: Applied) -> None:
    op, output = applied.op, invocation.output
    if invocation.as_json:
        output.json(
            {
                "operation_id": op.operation_id,
                "option": option,
                "effect": applied.effect,
                "phase_before": before.phase,
                "phase": op.phase,
                "revision_before": before.revision,
                "revision": op.revision,
            }
        )
        return
    output.line(f"{op.operation_id} {option}: ", applied.effect)
    output.line(f"phase {words(before.phase)} -> {words(op.phase)}, revision {before.revision} -> {op.revision}")


async def _carry_out(invocation: Invocation, console: Desk, op: Operation) -> None:
    """What is due at once is done here where no worker is alive: a cancel should not wait for one."""
    if has_worker(console):
        return
    now = console.clock.wall()
    again = [each for each in await console.operations(phase=Phase.SUBMITTING) if each.resubmit_of == op.operation_id]
    for each in (op, *again):
        if _is_due(each, now):
            done = await console.perform(each.operation_id)
            invocation.output.note(f"done from here, no worker is running: {done.operation_id} is {words(done.phase)} now")
    if any(each.due_at is not None for each in await console.operations()):
        invocation.output.note("jobconsole run watches it from here on")


def _is_due(op: Operation, now: datetime) -> bool:
    return op.due_at is not None and op.due_at <= now
