"""`inbox`: what needs a person's answer, what somebody should see, and who looks after it (SPEC 6, H2, H7, H13).

Only this file prints it on the command line, and lets a person assign, snooze and annotate an item; which items there are and
what is said of each is `core/telling/inbox.py`'s.
"""

from __future__ import annotations

import asyncio
import shlex
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
from jobconsole.core.actors import NOBODY, PERSON, person_or_nobody
from jobconsole.core.durations import passed_text
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import inbox_view, item_lines
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.views import View, operation_view
from jobconsole.core.telling.wording import counted, utc_text
from jobconsole.errors import Refused

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
    """Say who looks after an item: assign OP ben, assign OP nobody.

    Without a name it is yours, unless somebody has it already; with one it is taken from whoever has it.
    """
    if [name is not None, to is not None, nobody].count(True) > 1:
        raise click.UsageError("NAME, --to and --nobody say different things; give one of them.")
    actor, given = person(by), name if to is None else to
    if given is None and not nobody:
        asyncio.run(_claim(invocation, operation, actor))
    else:
        asyncio.run(_give(invocation, operation, person_or_nobody(given), actor))


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

    said = "awake" if until is None else f"snoozed until {utc_text(until, datetime.now(until.tzinfo))}"
    asyncio.run(_attend(invocation, operation, change, said))


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

    asyncio.run(_attend(invocation, operation, change, "noted"))


async def _claim(invocation: Invocation, operation: str, actor: str) -> None:
    """Take what nobody has. Of two who do so at once the second is refused, and told who was faster and how to take it over."""
    me = actor.removeprefix(PERSON)
    async with writing(invocation, "inbox") as console:
        op = await console.meant(operation)
        try:
            op = await console.assign(op.operation_id, me, by=actor, shown=None)
        except Refused as refused:
            if refused.why != "stale":
                raise
            taking = f"jobconsole inbox assign {op.operation_id} --to {shlex.quote(me)}"
            raise Refused(refused.why, f"{refused}, or take it over: {taking}") from None
        _tell(invocation, console, op, f"with {me} now", taken_from=None)


async def _give(invocation: Invocation, operation: str, to: str | None, actor: str) -> None:
    """Give it to somebody, or back, and say from whom it was taken: who names a person means it, whoever has it."""
    async with writing(invocation, "inbox") as console:
        before = await console.meant(operation)
        had = before.attention
        op = await console.assign(before.operation_id, to, by=actor, shown=had.assigned_to)
        said = f"with {to or NOBODY} now"
        taken_from = None if had.assigned_to in (to, actor.removeprefix(PERSON)) else had.assigned_to
        if taken_from is not None:
            said += f", taken from {taken_from}"
            if had.assigned_at is not None:
                said += f", who had it for {passed_text(console.clock.wall() - had.assigned_at)}"
        _tell(invocation, console, op, said, taken_from=taken_from)


async def _attend(
    invocation: Invocation, operation: str, change: Callable[[Desk, Operation], Awaitable[Operation]], said: str
) -> None:
    async with writing(invocation, "inbox") as console:
        _tell(invocation, console, await change(console, await console.meant(operation)), said)


def _tell(invocation: Invocation, console: Desk, op: Operation, said: str, **more: str | None) -> None:
    """What became of it; `more` stands in the JSON alone."""
    if invocation.as_json:
        invocation.output.json(_attention(op, console.clock.wall()) | more)
    else:
        invocation.output.line(f"{op.operation_id}: {inert(said, 200)}")


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
