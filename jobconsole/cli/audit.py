"""`audit`: the log as a story, as a table, or as its stored lines, and whether its chain is whole (SPEC 9, L1-L3, L7).

Only this file decides how the audit leaves through the command line. Stored lines are copied byte by byte; nothing is encoded
again, so that a copy verifies as the original does.
"""

from __future__ import annotations

import asyncio
import csv
import dataclasses
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import click

from jobconsole.cli.completion import complete_operation
from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import reading, writing
from jobconsole.cli.values import TARGET
from jobconsole.console import Reader, write_audit
from jobconsole.core.keeping.chain import Breach, Verification
from jobconsole.core.keeping.line import events
from jobconsole.core.telling.spreadsheet import csv_rows
from jobconsole.core.telling.story import story
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import counted
from jobconsole.errors import AuditBroken, InvalidValue

VERIFY, REBUILD = "verify", "rebuild-archive"
BINARY = ("parquet", "xlsx")


@click.command()
@click.argument("what", metavar="[OP | verify | rebuild-archive]", required=False, shell_complete=complete_operation)
@click.option(
    "--format",
    "form",
    type=click.Choice(["story", "json", "csv", *BINARY]),
    help="json: one document a line, as it is stored. [default: story; with --json: json]",
)
@click.option("-o", "--output", "target", type=TARGET, metavar="FILE", help="Write it there.")
@pass_invocation
def audit(invocation: Invocation, what: str | None, form: str | None, target: Path | None) -> Exit:
    """Show or export the audit, or verify its chain.

    rebuild-archive makes the archive of operations that ended long ago anew from it.
    """
    if what in (VERIFY, REBUILD):
        if form is not None or target is not None:
            raise click.UsageError(f"audit {what} takes neither --format nor --output.")
        return asyncio.run(_verify(invocation) if what == VERIFY else _rebuild(invocation))
    chosen = form or ("json" if invocation.as_json else "story")
    if invocation.as_json and chosen != "json":
        raise InvalidValue(f"--json and --format {chosen} say different things; give one of them")
    if chosen in BINARY and target is None:
        raise click.UsageError(f"--format {chosen} needs --output FILE: it is no text.")
    return asyncio.run(_audit(invocation, what, chosen, target))


async def _audit(invocation: Invocation, operation: str | None, form: str, target: Path | None) -> Exit:
    async with reading(invocation, "audit") as console:
        if operation is not None:
            operation = (await console.meant(operation)).operation_id
        if target is None:
            await _print(invocation, console, operation, form)
        elif form in BINARY:
            write_audit(await _blocks(console, operation), target, form)
        else:
            with target.open("wb") as file:
                await _write(file, console, operation, form)
        if target is not None:
            invocation.output.note(f"written to {target}")
    return Exit.OK


async def _blocks(console: Reader, operation: str | None) -> Iterable[bytes]:
    """The lines, many at a time."""
    if operation is None:
        return await console.store.blocks()
    return (b"".join([line async for line in console.events(operation)]),)


async def _print(invocation: Invocation, console: Reader, operation: str | None, form: str) -> None:
    if form == "json":
        async for line in console.events(operation):
            invocation.output.stored_line(line)
        return
    is_empty = True
    for text in _texts(await _fields(console, operation), form, is_whole=operation is None):
        invocation.output.stored_text(text)
        is_empty = False
    if is_empty and operation is not None:
        raise AuditBroken(f"the audit has no line of {operation}, which began with one; see: jobconsole audit verify")
    if is_empty:
        _tell_empty(invocation)


async def _write(file: BinaryIO, console: Reader, operation: str | None, form: str) -> None:
    if form == "json":
        async for line in console.events(operation):
            file.write(line)
        return
    for text in _texts(await _fields(console, operation), form, is_whole=operation is None):
        file.write(text.encode() + b"\n")


async def _fields(console: Reader, operation: str | None) -> Iterator[Mapping[str, Any]]:
    return events([line async for line in console.events(operation)])


def _tell_empty(invocation: Invocation) -> None:
    invocation.output.note("the audit is empty: its first lines come with an operation. Begin with: jobconsole submit PROVIDER")


def _texts(told: Iterable[Mapping[str, Any]], form: str, *, is_whole: bool) -> Iterator[str]:
    """Lines of the story, or of the CSV; in both each event is one line, and foreign text is inert (U3)."""
    if form == "story":
        yield from story(told, with_operation=is_whole)
        return
    for row in csv_rows(told):
        made = io.StringIO()
        csv.writer(made, lineterminator="").writerow([inert(cell) for cell in row])
        yield made.getvalue()


async def _verify(invocation: Invocation) -> Exit:
    """Print what the chain proves; what is broken is an error, and so is an empty log (L7)."""
    async with reading(invocation, "audit verify") as console:
        found = await console.verify()
        if invocation.as_json:
            invocation.output.json(_verification_view(found))
        else:
            for sentence in found.story:
                invocation.output.line(sentence)
        if not found.is_valid:
            is_empty = found.broken is not None and found.broken.what is Breach.EMPTY
            mend = "name another store with --home" if is_empty else "leave the folder as it is and compare it with a copy"
            raise AuditBroken(f"the audit does not verify: {found.story[0].removeprefix('BROKEN: ')}; {mend}")
    return Exit.OK


async def _rebuild(invocation: Invocation) -> Exit:
    async with writing(invocation, "audit") as console:
        count = await console.rebuild_archive()
        if invocation.as_json:
            invocation.output.json({"archived": count})
        else:
            invocation.output.line(f"{counted(count, 'operation')} archived")
    return Exit.OK


def _verification_view(found: Verification) -> dict[str, Any]:
    return {"valid": found.is_valid, **dataclasses.asdict(found), "story": list(found.story)}
