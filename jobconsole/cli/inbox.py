"""`inbox`: what needs a person's answer, and what somebody should see (SPEC 6, H2, H7, H13).

Only this file prints it on the command line; which items there are and what is said of each is `core/inbox.py`'s.
"""

from __future__ import annotations

import asyncio

import click

from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import reading
from jobconsole.cli.output import Tone, Toned
from jobconsole.core.inbox import inbox_view, item_lines
from jobconsole.core.wording import counted


@click.command()
@pass_invocation
def inbox(invocation: Invocation) -> None:
    """Show what needs a decision, and what to see."""
    asyncio.run(_inbox(invocation))


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
