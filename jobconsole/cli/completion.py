"""What the shell offers after a TAB: operation ids and provider names, from the local store only.

Only this file decides that. Nothing here raises, writes or asks a provider: a completion that fails offers nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import click
from click.shell_completion import CompletionItem

from jobconsole.cli.invocation import Invocation
from jobconsole.core.telling.terminal_text import inert

MOST_OFFERED = 200
_NAME = 60  # characters; a shell reads line by line, so a break in a name would offer words of its own


def complete_operation(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the store that begin so, with phase and name."""
    return _quietly(lambda: asyncio.run(_operations(_invocation(ctx), incomplete)))


def complete_provider(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of contracts that begin so."""
    return _quietly(lambda: asyncio.run(_providers(_invocation(ctx), incomplete)))


def _quietly(offer: Callable[[], Sequence[CompletionItem]]) -> list[CompletionItem]:
    try:
        return list(offer())[:MOST_OFFERED]
    except Exception:
        return []  # there is no place to say what went wrong: the person is typing


def _invocation(ctx: click.Context) -> Invocation | None:
    return ctx.find_object(Invocation)


async def _operations(invocation: Invocation | None, incomplete: str) -> list[CompletionItem]:
    from jobconsole.console import open_reader

    home = invocation.home if invocation is not None else None
    async with open_reader(home, label="completion") as console:
        found = await console.operations(include_ended=True)
    matching = [op for op in reversed(found) if op.operation_id.startswith(incomplete)]
    return [
        CompletionItem(op.operation_id, help=f"{op.phase} {inert(op.name or '', _NAME)}".strip())
        for op in matching[:MOST_OFFERED]
    ]


async def _providers(invocation: Invocation | None, incomplete: str) -> list[CompletionItem]:
    from jobconsole.console import open_reader

    home = invocation.home if invocation is not None else None
    files = invocation.provider_files if invocation is not None else []
    async with open_reader(home, label="completion", provider_files=files) as console:
        return [CompletionItem(name) for name in console.contracts.names() if name.startswith(incomplete)]


def complete_option(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Options that a person may choose, whatever the operation."""
    from jobconsole.core.deciding.escalation import LOOK_ANSWERS, OPTIONS

    named = {name for names in (*OPTIONS.values(), *LOOK_ANSWERS.values()) for name in names} | {"cancel", "close"}
    return [CompletionItem(name) for name in sorted(named) if name.startswith(incomplete)]
