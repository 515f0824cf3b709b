"""`why`: why it was checked then, why not earlier, what comes next (SPEC U7).

Only this file prints the answer on the command line; its words are `core/telling/why.py`'s.
"""

from __future__ import annotations

import asyncio
from datetime import datetime

import click

from jobconsole.cli.completion import complete_operation
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import reading
from jobconsole.cli.values import TIME_AGO
from jobconsole.core.keeping.line import timestamp


@click.command()
@click.argument("operation", metavar="OP", shell_complete=complete_operation)
@click.option("--at", type=TIME_AGO, metavar="T", help="The second: 10:20:31 (UTC), RFC 3339, or how long ago. [default: now]")
@pass_invocation
def why(invocation: Invocation, operation: str, at: datetime | None) -> None:
    """Explain any second of an operation's life."""
    asyncio.run(_why(invocation, operation, at))


async def _why(invocation: Invocation, operation: str, at: datetime | None) -> None:
    async with reading(invocation, "why") as console:
        operation = (await console.meant(operation)).operation_id
        text = await console.why(operation, at)
    if invocation.as_json:
        invocation.output.json({"operation_id": operation, "at": timestamp(at) if at else None, "why": text})
        return
    for line in text.splitlines():
        invocation.output.line(line)
