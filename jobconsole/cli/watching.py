"""Watching the store: one line for each change of a phase, a state or a reason, whoever caused it (U1, U5).

Only this file decides which changes are worth a line. `run` tells them on stderr, the live listing on stdout.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable

from jobconsole.cli import telling
from jobconsole.cli.output import Piece
from jobconsole.console import AsyncConsole
from jobconsole.core.events import Table
from jobconsole.core.operation import Operation
from jobconsole.errors import UnknownOperation
from jobconsole.protocols import Change


async def changed_lines(console: AsyncConsole) -> AsyncGenerator[tuple[Operation, list[Piece]]]:
    """Each operation that changed from now on, with its line."""
    told = {op.operation_id: _stands(op) for op in await console.operations(include_ended=True)}
    async for change in console.changes():
        for op in await _changed(console, change):
            if told.get(op.operation_id) == _stands(op):
                continue
            told[op.operation_id] = _stands(op)
            (view,) = await console.views([op])
            yield op, telling.line(view, console.clock.wall())


async def _changed(console: AsyncConsole, change: Change) -> Iterable[Operation]:
    if change.reload:
        return await console.operations(include_ended=True)
    found = []
    for table, key in change.keys:
        if table == Table.OPERATIONS:
            try:
                found.append(await console.get(key))
            except UnknownOperation:
                continue  # archived meanwhile
    return found


def _stands(op: Operation) -> tuple[object, ...]:
    return op.phase, op.last_known_state, op.escalation.reason if op.escalation else None, bool(op.permit)
