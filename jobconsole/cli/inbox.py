"""`inbox`: what needs a person's answer, what somebody should see, and who looks after it (SPEC 6, H2, H7, H13).

Only this file prints it on the command line, and lets a person assign, snooze and annotate an item; which items there are and
what is said of each is `core/telling/inbox.py`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

import click

from jobconsole.cli.completion import complete_operation
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.notice_trial import trial
from jobconsole.cli.opening import reading, writing
from jobconsole.cli.output import Tone, Toned
from jobconsole.cli.values import TIME, person
from jobconsole.console import Desk
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import inbox_view, item_lines
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.views import View, operation_view
from jobconsole.core.telling.wording import clock_text, counted

_operation = click.argument("operation", metavar="OP", shell_complete=complete_operation)
_by = click.option("--by", metavar="NAME", help="Who does it. [default: the login name]")


@click.group(invoke_without_command=True)
@pass_invocation
@click.pass_context
def inbox(context: click.Context, invocation: Invocation) -> None:
    """Show what needs a decision, and what to see; assign, snooze, note."""
    if context.invoked_subcommand is None:
        asyncio.run(_inbox(invocation))


inbox.add_command(trial)


@inbox.command()
@_operation
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--to", metavar="NAME", help="The same as NAME behind OP. [default: to yourself]")
@click.option("--nobody", is_flag=True, help="Give it back: nobody looks after it.")
@_by
@pass_invocation
def assign(invocation: Invocation, operation: str, name: str | None, to: str | None, nobody: bool, by: str | None) -> None:
    """Say who looks after an item: assign OP ben, assign OP nobody."""
    if [name is not None, to is not None, nobody].count(True) > 1:
        raise click.UsageError("NAME, --to and --nobody say different things; give one of them.")
    actor, is_free = person(by), nobody or name == "nobody"
    given = to if name is None else name
    whom = actor if given is None else person(given)
    new = None if is_free else whom.removeprefix("person:")

    async def change(console: Desk, op: Operation) -> Operation:
        return await console.assign(op.operation_id, new, by=actor, shown=op.attention.assigned_to)

    asyncio.run(_change(invocation, operation, change, "with nobody now" if new is None else f"with {new} now"))


@inbox.command()
@_operation
@click.argument("time", metavar="[T]", type=TIME, required=False)
@click.option("--until", type=TIME, metavar="T", help="The same as T behind OP.")
@click.option("--wake", is_flag=True, help="End the snooze.")
@_by
@pass_invocation
def snooze(
    invocation: Invocation, operation: str, time: datetime | None, until: datetime | None, wake: bool, by: str | None
) -> None:
    """Let an item rest until a time, or for a duration: snooze OP 2h. Nothing is decided when it comes."""
    if [time is not None, until is not None, wake].count(True) != 1:
        raise click.UsageError("say until when, with T or --until T, or end the snooze with --wake.")
    actor, until = person(by), until or time

    async def change(console: Desk, op: Operation) -> Operation:
        return await console.snooze(op.operation_id, until, by=actor)

    said = "awake" if until is None else f"snoozed until {clock_text(until, datetime.now(until.tzinfo))}Z"
    asyncio.run(_change(invocation, operation, change, said))


@inbox.command()
@_operation
@click.argument("text")
@_by
@pass_invocation
def note(invocation: Invocation, operation: str, text: str, by: str | None) -> None:
    """Write something down for whoever looks at it next."""
    actor = person(by)

    async def change(console: Desk, op: Operation) -> Operation:
        return await console.note(op.operation_id, text, by=actor)

    asyncio.run(_change(invocation, operation, change, "noted"))


async def _change(
    invocation: Invocation, operation: str, change: Callable[[Desk, Operation], Awaitable[Operation]], said: str
) -> None:
    async with writing(invocation, "inbox") as console:
        op = await change(console, await console.meant(operation))
        if invocation.as_json:
            invocation.output.json(_attention(op, console.clock.wall()))
        else:
            invocation.output.line(f"{op.operation_id}: {inert(said, 120)}")


def _attention(op: Operation, now: datetime) -> View:
    return {"operation_id": op.operation_id, "attention": operation_view(op, now, None, None)["attention"]}


async def _inbox(invocation: Invocation) -> None:
    output = invocation.output
    async with reading(invocation, "inbox") as console:
        items, now = await console.inbox(), console.clock.wall()
        if invocation.as_json:
            output.json([inbox_view(item) for item in items])
            return
        for place, item in enumerate(items):
            if place:
                output.line("")
            head, *rest = item_lines(item, now)
            output.line(Toned(head, Tone.ATTENTION if item.kind == "decision" else Tone.STRONG))
            for line in rest:
                output.line("  ", line)
            operation_id, revision = item.view["operation_id"], item.view["revision"]
            output.line(f"  answer: jobconsole decide {operation_id} OPTION --revision {revision}")
        if not items:
            watched = len(await console.operations())
            output.note(f"nothing needs you; {counted(watched, 'operation')} in flight: jobconsole ls")
