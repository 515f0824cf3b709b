"""`providers` and `provider`: which contracts there are, what one says, and whether a file is one (SPEC 2, X14).

Only this file prints contracts. Loading and judging are the core's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from jobconsole.cli.completion import complete_provider
from jobconsole.cli.exits import Exit
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import contracts, reading
from jobconsole.cli.output import Column, Output, Piece, Tone, Toned
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.file import load
from jobconsole.core.contracts.view import contract_view
from jobconsole.core.durations import duration_text
from jobconsole.core.judging.samples import SampleResult, judge_samples
from jobconsole.core.telling.account_view import account_view
from jobconsole.core.telling.coverage import coverage
from jobconsole.core.telling.views import View
from jobconsole.errors import ContractInvalid, InvalidValue
from jobconsole.protocols import Contracts

_COLUMNS = (
    Column("PROVIDER", is_whole=True),
    Column("TITLE"),
    Column("ACCOUNT"),
    Column("DEADLINE", is_right=True),
    Column("CHECKS", is_right=True),
    Column("SUBMIT"),
    Column("CANCEL"),
    Column("SPENT"),
    Column("FROM"),
)


@click.command()
@pass_invocation
def providers(invocation: Invocation) -> None:
    """List the contracts, each with what its account spent."""
    asyncio.run(_list(invocation))


@click.group(no_args_is_help=True)
def provider() -> None:
    """Show or check one provider contract."""


@provider.command("show")
@click.argument("name", shell_complete=complete_provider)
@pass_invocation
def show(invocation: Invocation, name: str) -> None:
    """Show what a contract says."""
    asyncio.run(_show(invocation, name))


@provider.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--samples", type=click.Path(path_type=Path), metavar="S.json", help="Answers, and what each one is.")
@pass_invocation
def check(invocation: Invocation, file: Path, samples: Path | None) -> Exit:
    """Validate a contract; with samples, try it on answers."""
    return asyncio.run(_check(invocation, file, samples))


async def _list(invocation: Invocation) -> None:
    async with reading(invocation, "providers") as console:
        found = console.contracts.all()
        accounts, now = await console.accounts(), console.clock.wall()
        operations = await console.operations(include_ended=True)

    def spending(contract: Contract) -> list[View]:
        keys = {op.account_key for op in operations if op.provider == contract.name} & accounts.keys()
        return [account_view(accounts[key], now, operations, contract) for key in sorted(keys)]

    if invocation.as_json:
        valid = [each for each in found if isinstance(each, Contract)]
        views = {each.name: {**contract_view(each), "accounts": spending(each)} for each in valid}
        invocation.output.json([views[each.name] if isinstance(each, Contract) else _refusal(each) for each in found])
    else:
        invocation.output.table(_COLUMNS, [_row(each, spending(each)) for each in found if isinstance(each, Contract)])
    for each in found:
        if isinstance(each, ContractInvalid):
            invocation.output.note("refused: ", str(each))


def _refusal(error: ContractInvalid) -> dict[str, Any]:
    return {"source": error.source, "error": {"code": error.code, "message": str(error)}}


def _row(contract: Contract, accounts: Sequence[View]) -> list[Piece]:
    return [
        contract.name,
        contract.title,
        contract.account,
        duration_text(contract.budget.deadline),
        str(contract.budget.status_requests),
        "yes" if contract.submit is not None else "track only",
        "yes" if contract.cancel is not None else "-",
        _spent(accounts),
        contract.source,
    ]


def _spent(accounts: Sequence[View]) -> Piece:
    """What was spent this hour, and what holds the account back; nothing where it was never used."""
    told = "; ".join(", ".join(filter(None, (each["standing"], each["text"]))) for each in accounts)
    return Toned(told, Tone.BAD) if any(each["standing"] for each in accounts) else told or "-"


async def _show(invocation: Invocation, name: str) -> None:
    async with contracts(invocation) as known:
        contract = known.get(name)
    if invocation.as_json:
        invocation.output.json(contract_view(contract))
        return
    _print_tree(invocation.output, contract_view(contract), 0)
    _tell_coverage(invocation.output, contract)


def _print_tree(output: Output, values: Mapping[str, Any], depth: int) -> None:
    """Keys and values, tables indented; what a contract leaves out is not shown."""
    for key, value in values.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, Mapping):
            output.line("  " * depth, Toned(key, Tone.STRONG))
            _print_tree(output, value, depth + 1)
        else:
            text = ", ".join(map(_plain, value)) if isinstance(value, list) else _plain(value)
            output.line("  " * depth, f"{key}  ", text)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tell_coverage(output: Output, contract: Contract) -> None:
    found = coverage(contract)
    output.note(found.sentence)
    for warning in found.warnings:
        output.note("warning: ", warning)


async def _check(invocation: Invocation, file: Path, samples: Path | None) -> Exit:
    async with contracts(invocation) as known:
        _refuse_name(known, file)
        contract = load(_read(file), str(file), _bases(known, file))
    judged = judge_samples(contract, _samples(samples)) if samples is not None else []
    _tell_coverage(invocation.output, contract)
    if invocation.as_json:
        invocation.output.json([_sample_view(each) for each in judged])
    else:
        invocation.output.line(f"{contract.name}: ", Toned("a valid contract", Tone.GOOD))
        if samples is not None:
            _print_samples(invocation.output, judged)
    return Exit.OK if all(each.ok for each in judged) else Exit.FAILURE


def _refuse_name(known: Contracts, file: Path) -> None:
    """A provider's name where a file belongs."""
    if str(file) in known.names() and not file.exists():
        raise InvalidValue(f"there is no file {file}; the provider of this name is shown by: jobconsole provider show {file}")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ContractInvalid(str(file), "", "is no UTF-8 text", "save it as UTF-8") from None


def _bases(known: Contracts, file: Path) -> dict[str, str]:
    """The texts that the file may extend; read only where it extends one."""
    if "extends" not in _read(file):
        return {}
    return {each.name: each.text for each in known.all() if isinstance(each, Contract)}


def _samples(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InvalidValue(f"{file} is no JSON: {error}; write a list of samples") from error


def _sample_view(judged: SampleResult) -> dict[str, Any]:
    return {"situation": judged.situation, "is": judged.is_, "got": judged.got, "ok": judged.ok}


def _print_samples(output: Output, judged: list[SampleResult]) -> None:
    columns = (Column("SITUATION"), Column("IS"), Column("GOT"), Column("OK"))
    rows: list[list[Piece]] = [
        [each.situation, each.is_, each.got, Toned("yes", Tone.GOOD) if each.ok else Toned("NO", Tone.BAD)] for each in judged
    ]
    output.table(columns, rows)
    wrong = sum(not each.ok for each in judged)
    output.note(f"{len(judged) - wrong} of {len(judged)} samples are taken for what they are")
