"""How the dashboard is started: `jobconsole tui`, `jobconsole` alone on a terminal, and `jobconsole demo` on one, `serve` (SPEC
11).

Only this file starts another front end, and only when it is chosen. It decides whether a terminal can show the dashboard:
where not, the caller lists plain lines. The worker is embedded for as long as the dashboard is open (X19); leaving cancels
nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
from collections.abc import AsyncIterator
from typing import TypedDict, Unpack

import click

from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.stopping import stop_on_signals
from jobconsole.console import Desk, open_desk, settle_collector, telling_people

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def can_show(invocation: Invocation) -> bool:
    """Whether a person sits at a terminal that can show a dashboard, and nobody asked for JSON.

    The picture goes to stderr: without that the keys would act on what nobody sees.
    """
    if invocation.as_json or os.environ.get("TERM", "dumb") in ("dumb", ""):
        return False
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


@click.command()
@click.option("--theme", help="A theme by its name; `:theme` in the dashboard shows all of them.")
@click.option(
    "--profile", default="", metavar="NAME", help="A word for this store in the header; prod asks before it destroys."
)
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal, for selecting text; m takes it back.")
@click.option("--no-animation", is_flag=True, help="Nothing moves but what changes.")
@click.option("--in-browser", is_flag=True, hidden=True)  # `serve` calls it so: the terminal is in the browser
@pass_invocation
def tui(invocation: Invocation, theme: str | None, profile: str, no_mouse: bool, no_animation: bool, in_browser: bool) -> Exit:
    """The dashboard; without a terminal, what waits, line by line."""
    if not in_browser and not can_show(invocation):
        from jobconsole.cli.listing import live

        return live(invocation)
    return dashboard(invocation, theme=theme, profile=profile, has_mouse=not no_mouse, is_animated=not no_animation)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; another one opens it to others.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65_535))
@click.option("--public-url", metavar="URL", help="The address that browsers see, behind a proxy.")
@click.option("--theme", help="A theme by its name.")
@pass_invocation
def serve(invocation: Invocation, host: str, port: int, public_url: str | None, theme: str | None) -> Exit:
    """The dashboard in a browser, for whoever has the link."""
    try:
        from jobconsole.tui.serving import GuardedServer
    except ModuleNotFoundError as error:
        raise click.UsageError(f"This needs {error.name}: pip install 'jobconsole[serve]'") from None
    command = [sys.executable, "-m", "jobconsole", *_global_options(invocation), "tui", "--in-browser"]
    command += ["--theme", theme] if theme else []
    server = GuardedServer(command, host, port, secrets.token_urlsafe(24), public_url.rstrip("/") if public_url else None)

    def tell() -> None:
        invocation.output.note(f"the dashboard is at {server.link}")
        if host not in _LOOPBACK:
            invocation.output.note(
                "whoever has this link decides in your name, and it is sent unencrypted: put TLS in front of it"
            )

    server.serve_until_stopped(tell)
    return Exit.OK


def _global_options(invocation: Invocation) -> list[str]:
    """The options of this call, for the program that each visitor gets."""
    home = ["--home", str(invocation.home)] if invocation.home is not None else []
    files = [word for file in invocation.provider_files for word in ("--provider-file", str(file))]
    return [*home, *(["--read-only"] if invocation.is_read_only else []), *files]


class Manner(TypedDict, total=False):
    """How the dashboard is to be; what is left out is as `make_dashboard` says."""

    theme: str | None
    profile: str
    has_mouse: bool
    is_animated: bool


def dashboard(invocation: Invocation, **manner: Unpack[Manner]) -> Exit:
    """Open the store and show it until the person leaves. Raises `StoreError` where it cannot be read."""

    async def run() -> Exit:
        async with _opened(invocation) as desk:
            return await show(desk, invocation, **manner)

    return asyncio.run(run())


async def show(desk: Desk, invocation: Invocation, **manner: Unpack[Manner]) -> Exit:
    """Show an open desk until the person leaves, with a worker inside where the store can be written."""
    from jobconsole.tui.start import make_dashboard

    if not os.environ.get("NO_COLOR"):
        os.environ.pop("NO_COLOR", None)  # by its convention an empty one says nothing; Textual would obey it
    app = make_dashboard(desk, invocation.home, **manner)
    settle_collector()
    async with contextlib.AsyncExitStack() as stack:
        if desk.health().is_writable:
            await stack.enter_async_context(desk.embedded_worker())
            await stack.enter_async_context(telling_people(desk, invocation.home))
            app.feed.expect_worker()
        with stop_on_signals(app.exit):
            await app.run_async(mouse=app.mouse.is_on)
    return Exit.OK if not app.return_code else Exit.FAILURE


@contextlib.asynccontextmanager
async def _opened(invocation: Invocation) -> AsyncIterator[Desk]:
    """The store for writing, without the log lines on stderr that would run through the picture."""
    async with open_desk(
        invocation.home, label="tui", is_read_only=invocation.is_read_only, provider_files=invocation.provider_files
    ) as desk:
        yield desk
