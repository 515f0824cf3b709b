"""Commands that the tests of `main` register: each does one thing that a real command may do."""

from __future__ import annotations

import click

from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.output import Column, Piece, Tone, Toned
from jobconsole.errors import JobconsoleError, StoreBusy


class BoundsTold(JobconsoleError):
    """Carries terminal control characters, as a provider's text may."""

    code = "probe"


@click.command()
@click.option("--rows", type=int, default=2)
@pass_invocation
def show(invocation: Invocation, rows: int) -> None:
    """Print a table, or what was asked for as JSON."""
    if invocation.as_json:
        invocation.output.json({"home": str(invocation.home), "read_only": invocation.is_read_only})
        return
    cells: list[list[Piece]] = [[f"op_{n}", Toned("running\x1b[2J", Tone.GOOD)] for n in range(rows)]
    invocation.output.table([Column("id"), Column("state")], cells)


@click.command()
@click.argument("kind")
def fail(kind: str) -> None:
    """Raise what a command may raise."""
    match kind:
        case "interrupt":
            raise KeyboardInterrupt
        case "store":
            raise StoreBusy("the store is locked by process 4711; try again")
        case "foreign":
            raise BoundsTold("said \x1b]0;owned\x07\nand more")
        case "file":
            open("/no/such/file").close()
        case "defect":
            raise ZeroDivisionError


@click.group()
def many() -> None:
    """Hold other commands."""


@many.command("show")
@pass_invocation
def show_nested(invocation: Invocation) -> None:
    """Print whether JSON was asked for."""
    invocation.output.line(str(invocation.as_json))


@click.command()
def code() -> int:
    """End with an outcome."""
    return 13
