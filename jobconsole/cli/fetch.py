"""`fetch`: the result that the terminal answer brought (SPEC A4, X21).

Only this file prints a result. What lies in files at the provider is named, not fetched: the record says where.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from jobconsole.cli.completion import complete_operation
from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import reading
from jobconsole.cli.values import TARGET
from jobconsole.core.operation import Operation
from jobconsole.core.telling.wording import words
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import Refused


@click.command()
@click.argument("operation", metavar="OP", shell_complete=complete_operation)
@click.option("-o", "--output", "target", type=TARGET, metavar="FILE", help="Write it there.")
@pass_invocation
def fetch(invocation: Invocation, operation: str, target: Path | None) -> Exit:
    """Print the result of an operation, as JSON."""
    op = asyncio.run(_read(invocation, operation))
    if not op.phase.is_terminal:
        on = "jobconsole inbox" if op.phase is Phase.ESCALATED else f"jobconsole wait {op.operation_id}"
        stands = f"{op.operation_id} is {words(op.phase)}"
        raise Refused("not_ended", f"{stands}: there is no result before it has ended; go on with: {on}")
    if op.result is None or not op.result.has_inline or op.phase not in (Phase.SUCCEEDED, Phase.COMPLETED_WITH_ERRORS):
        invocation.output.error("no_inline_result", _where(op), as_json=invocation.as_json)
        return Exit.FAILURE
    if target is None:
        invocation.output.json(op.result.inline)
        return Exit.OK
    target.write_text(json.dumps(op.result.inline, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    invocation.output.note(f"written to {target}")
    return Exit.OK


async def _read(invocation: Invocation, operation: str) -> Operation:
    async with reading(invocation, "fetch") as console:
        return await console.meant(operation)


def _where(op: Operation) -> str:
    """One line that says where the result is."""
    if op.phase not in (Phase.SUCCEEDED, Phase.COMPLETED_WITH_ERRORS):
        return f"{op.operation_id} ended as {words(op.phase)}: it has no result; see jobconsole show {op.operation_id}"
    found = op.result
    if found is None or not (found.url or found.result_id):
        job = op.provider_job_id or op.status_url
        return f"{op.operation_id} has no result that its contract names; look at the provider, job {job}"
    place = found.url or f"id {found.result_id}"
    return f"the result of {op.operation_id} is at the provider, it is not kept here: {place}"
