"""`submit` and `track`: a new operation from the command line (SPEC 11, B1, B17, X9, X14).

Only this file decides what a person hears when an operation begins. The record is durable first; the submission then leaves
from this process, so that no worker is needed for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from jobconsole.cli import telling
from jobconsole.cli.completion import complete_provider
from jobconsole.cli.exits import OF_WORD, Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import tell_missing_worker, writing
from jobconsole.cli.values import DURATION, PAIR, TIME, json_body, milliseconds_text, person
from jobconsole.cli.wait import follow, run_waiting
from jobconsole.console import Budget, Desk, Wish, require_credential
from jobconsole.core.commands.submission import Begun
from jobconsole.core.operation import Operation
from jobconsole.core.telling.coverage import coverage
from jobconsole.core.telling.outcome import status_word
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import JobconsoleError

DEFAULT_WAIT = timedelta(minutes=10)  # X16


def wish_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that `submit` and `track` share: what the caller says of the operation, and its budget."""
    count = click.IntRange(min=1)
    for option in reversed(
        (
            click.option("--id", "operation_id", metavar="ID", help="Your own operation id; it is never begun twice."),
            click.option("--name", metavar="N", help="What people call it."),
            click.option("--task", metavar="T", help="What it belongs to."),
            click.option("--owner", metavar="O", help="Who answers for it. [default: you]"),
            click.option("--by", metavar="NAME", help="Who submits. [default: the login name]"),
            click.option("--deadline", type=DURATION, metavar="40m", help="How long to wait. [default: the contract's]"),
            click.option("--business-deadline", type=TIME, metavar="T", help="When the outcome stops being of use."),
            click.option("--requests", type=count, metavar="N", help="Status requests. [default: the contract's]"),
            click.option("--transport-failures", type=count, metavar="N", help="Failed looks. [default: the contract's]"),
            click.option("--param", "params", type=PAIR, multiple=True, metavar="K=V", help="A parameter of the contract."),
            click.option("--wait", "waits", is_flag=True, help="Wait afterwards, as `jobconsole wait` does."),
            click.option("--timeout", type=DURATION, default=DEFAULT_WAIT, metavar="10m", help="With --wait: at most so long."),
        )
    ):
        command = option(command)
    return command


def wish_of(said: dict[str, Any]) -> Wish:
    """What the shared options say."""
    deadline: timedelta | None = said["deadline"]
    business: datetime | None = said["business_deadline"]
    return Wish(
        by=person(said["by"]),
        operation_id=said["operation_id"],
        name=said["name"],
        task=said["task"],
        owner=said["owner"],
        params=dict(said["params"]),
        budget=Budget(
            deadline=milliseconds_text(deadline) if deadline is not None else None,
            status_requests=said["requests"],
            transport_failures=said["transport_failures"],
            business_deadline_at=business,
        ),
    )


@click.command()
@click.argument("provider", shell_complete=complete_provider)
@click.option("--json-body", metavar="@F", help="The request: JSON, @FILE, or @- for stdin.")
@wish_options
@pass_invocation
def submit(invocation: Invocation, /, provider: str, json_body: str | None, **said: Any) -> Exit:
    """Submit a new job and keep its record."""
    body = _body(json_body)
    timeout = said["timeout"] if said["waits"] else None
    return _run(_submit(invocation, provider, body, wish_of(said), timeout), timeout)


@click.command()
@click.argument("provider", shell_complete=complete_provider)
@click.option("--job-id", metavar="ID", help="The provider's id of the job.")
@click.option("--status-url", metavar="URL", help="Or the URL at which the provider shows its state.")
@wish_options
@pass_invocation
def track(invocation: Invocation, /, provider: str, job_id: str | None, status_url: str | None, **said: Any) -> Exit:
    """Adopt a job that somebody else started."""
    timeout = said["timeout"] if said["waits"] else None
    return _run(_track(invocation, provider, job_id, status_url, wish_of(said), timeout), timeout)


def _run(call: Coroutine[None, None, Exit], timeout: timedelta | None) -> Exit:
    return asyncio.run(call) if timeout is None else run_waiting(call)


def _body(source: str | None) -> Any:
    return json_body(source) if source is not None else None


async def _submit(invocation: Invocation, provider: str, body: Any, wish: Wish, timeout: timedelta | None) -> Exit:
    async with writing(invocation, "submit") as console:
        require_credential(console.contracts.get(provider))
        begun = await console.submit(provider, body, wish=wish)
        _tell_begun(invocation, begun)
        op = await _sent(invocation, console, begun.op) if begun.op.phase is Phase.SUBMITTING else begun.op
        return await _conclude(invocation, console, op, timeout)


async def _track(
    invocation: Invocation, provider: str, job_id: str | None, status_url: str | None, wish: Wish, timeout: timedelta | None
) -> Exit:
    async with writing(invocation, "track") as console:
        require_credential(console.contracts.get(provider))
        begun = await console.track(provider, job_id=job_id, status_url=status_url, wish=wish)
        if not begun.is_new:
            invocation.output.note(f"this job is watched already, as {begun.op.operation_id}; nothing was begun")
        return await _conclude(invocation, console, begun.op, timeout)


def _tell_begun(invocation: Invocation, begun: Begun) -> None:
    if not begun.is_new:
        invocation.output.note(f"{begun.op.operation_id} was submitted before with the same request; nothing new was begun")
    if begun.equal_live:
        others = ", ".join(begun.equal_live)
        invocation.output.note(f"the same request is live already as {others}; two jobs may run now; --id prevents that")


async def _sent(invocation: Invocation, console: Desk, op: Operation) -> Operation:
    """Send the submission from here; whatever happens, the record is there and its id is told."""
    try:
        return await console.perform(op.operation_id)
    except (JobconsoleError, asyncio.CancelledError):
        invocation.output.note(f"{op.operation_id} is recorded; whether it was sent: jobconsole show {op.operation_id}")
        raise


async def _conclude(invocation: Invocation, console: Desk, op: Operation, timeout: timedelta | None) -> Exit:
    """Say what began and how long its checks last; then wait, where that was asked for."""
    await _tell_coverage(invocation, console, op)
    group = await _others(console, op)
    if group:
        invocation.output.note("it started several jobs; the others are ", ", ".join(each.operation_id for each in group))
    if timeout is not None:
        return await follow(invocation, console, [each.operation_id for each in (op, *group)], timeout)
    tell_missing_worker(console, invocation)
    await _print(invocation, console, (op, *group))
    return OF_WORD.get(status_word(op, is_waited_out=False), Exit.OK)


async def _others(console: Desk, op: Operation) -> list[Operation]:
    """The operations of the other jobs that the same submission started."""
    if op.group is None:
        return []
    known = await console.operations(include_ended=True)
    return [each for each in known if each.group == op.group and each.operation_id != op.operation_id]


async def _tell_coverage(invocation: Invocation, console: Desk, op: Operation) -> None:
    contract = await console.contract_of(op)
    if contract is None or op.phase.is_terminal:
        return
    for warning in coverage(contract, op.original.deadline_at - op.started_at, op.original.status_requests).warnings:
        invocation.output.note("warning: ", warning)


async def _print(invocation: Invocation, console: Desk, begun: Sequence[Operation]) -> None:
    """What began: in JSON the record of the first, whose id the caller may have chosen."""
    views, now = await console.views(begun), console.clock.wall()
    if invocation.as_json:
        invocation.output.json(views[0])
        return
    for op, view in zip(begun, views, strict=True):
        invocation.output.line("operation  ", op.operation_id)
        invocation.output.line("job        ", op.provider_job_id or op.status_url or "-")
        invocation.output.line(*telling.line(view, now))
