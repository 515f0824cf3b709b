"""How the dashboard is started: `jobconsole tui`, `jobconsole` alone on a terminal, and `jobconsole demo` on one (SPEC 11).

Only this file starts another front end, and only when it is chosen. It decides whether a terminal can show the dashboard:
where not, the caller lists plain lines. The worker is embedded for as long as the dashboard is open (X19); leaving cancels
nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sys
from collections.abc import AsyncIterator

import click

from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.stopping import stop_on_signals
from jobconsole.console import Desk, open_desk


def can_show(invocation: Invocation) -> bool:
    """Whether a person sits at a terminal that can show a dashboard, and nobody asked for JSON."""
    if invocation.as_json or os.environ.get("TERM", "dumb") in ("dumb", ""):
        return False
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


@click.command()
@click.option("--theme", help="A theme by its name; `:theme` in the dashboard shows all of them.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal, for selecting text.")
@click.option("--no-animation", is_flag=True, help="Nothing moves but what changes.")
@pass_invocation
def tui(invocation: Invocation, theme: str | None, no_mouse: bool, no_animation: bool) -> Exit:
    """The dashboard; without a terminal, what waits, line by line."""
    if not can_show(invocation):
        from jobconsole.cli.listing import live

        return live(invocation)
    return dashboard(invocation, theme=theme, has_mouse=not no_mouse, is_animated=not no_animation)


def dashboard(invocation: Invocation, *, theme: str | None = None, has_mouse: bool = True, is_animated: bool = True) -> Exit:
    """Open the store and show it until the person leaves. Raises `StoreError` where it cannot be read."""

    async def run() -> Exit:
        async with _opened(invocation) as desk:
            return await show(desk, invocation, theme=theme, has_mouse=has_mouse, is_animated=is_animated)

    return asyncio.run(run())


async def show(
    desk: Desk,
    invocation: Invocation,
    *,
    theme: str | None = None,
    profile: str = "",
    has_mouse: bool = True,
    is_animated: bool = True,
) -> Exit:
    """Show an open desk until the person leaves, with a worker inside where the store can be written."""
    from jobconsole.tui.start import make_dashboard

    app = make_dashboard(desk, invocation.home, theme=theme, profile=profile, is_animated=is_animated)
    gc.collect()
    gc.freeze()  # the program's own objects live as long as it does: the collector need not look at them again
    async with contextlib.AsyncExitStack() as stack:
        if desk.health().is_writable:
            await stack.enter_async_context(desk.embedded_worker())
        with stop_on_signals(app.exit):
            await app.run_async(mouse=has_mouse)
    return Exit.OK if not app.return_code else Exit.FAILURE


@contextlib.asynccontextmanager
async def _opened(invocation: Invocation) -> AsyncIterator[Desk]:
    """The store for writing, without the log lines on stderr that would run through the picture."""
    async with open_desk(
        invocation.home, label="tui", is_read_only=invocation.is_read_only, provider_files=invocation.provider_files
    ) as desk:
        yield desk
