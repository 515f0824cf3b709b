"""`mock`: the play provider in the foreground (SPEC 11).

Only this file starts it from the command line; what it answers is the business of `jobconsole.play`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.stopping import stop_on_signals
from jobconsole.play.scenarios import SCENARIOS
from jobconsole.play.script import load
from jobconsole.play.server import DEFAULT_PORT, PlayServer


@click.command()
@click.option("--port", type=click.IntRange(0, 65_535), default=DEFAULT_PORT, show_default=True, help="0 takes a free one.")
@click.option("--script", type=click.Path(path_type=Path), metavar="FILE", help="Answers by request number, as JSON.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed gives other ids and results.")
@click.option("--factor", type=float, default=1.0, show_default=True, help="Provider seconds per real second.")
@pass_invocation
def mock(invocation: Invocation, port: int, script: Path | None, seed: int, factor: float) -> Exit:
    """Run the play provider, to try things out."""
    steps = load(script) if script is not None else None
    return asyncio.run(_serve(invocation, PlayServer(port=port, seed=seed, factor=factor, script=steps)))


async def _serve(invocation: Invocation, server: PlayServer) -> Exit:
    over = asyncio.Event()
    with stop_on_signals(over.set) as stopped:
        async with server:
            _tell(invocation, server)
            await over.wait()
    return stopped.exit


def _tell(invocation: Invocation, server: PlayServer) -> None:
    """The URL on stdout, for scripts that wait for it; how to use it on stderr."""
    output = invocation.output
    if invocation.as_json:
        output.json({"url": server.url, "port": server.port, "scenarios": sorted(SCENARIOS)})
    else:
        output.line(server.url)
    output.flush()
    param = "" if server.port == DEFAULT_PORT else f" --param port={server.port}"
    output.note("scenarios: ", ", ".join(SCENARIOS))
    output.note(f"""submit to it with: jobconsole submit play{param} --json-body '{{"scenario": "slow"}}'""")
    output.note("Ctrl+C ends it")
