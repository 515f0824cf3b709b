"""Watching the store: one line for each change of a phase, a state or a reason, whoever caused it (U1, U5).

Only this file decides which changes are worth a line. `run` tells them on stderr, the live listing on stdout.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable

from jobconsole.cli import telling
from jobconsole.cli.output import Piece
from jobconsole.console import Reader
from jobconsole.core.events import Table
from jobconsole.core.operation import Operation
from jobconsole.protocols import Change


async def changed_lines(console: Reader, *, until_still: bool = False) -> AsyncGenerator[tuple[Operation, list[Piece]]]:
    """Each operation that changed from now on, with its line. `until_still` ends when nothing more will happen by itself."""
    known = await console.operations(include_ended=True)
    told = {op.operation_id: _stands(op) for op in known}
    moving = {op.operation_id for op in known if is_moving(op)}
    if until_still and not moving:
        return
    async for change in console.changes():
        for op in await _changed(console, change):
            (moving.add if is_moving(op) else moving.discard)(op.operation_id)
            if told.get(op.operation_id) != _stands(op):
                told[op.operation_id] = _stands(op)
                (view,) = await console.views([op])
                yield op, telling.line(view, console.clock.wall())
        if until_still and not moving:
            return


def is_moving(op: Operation) -> bool:
    """Whether anything will happen to it by itself: it is submitting, waiting, permitted or acted on."""
    return op.due_at is not None


async def _changed(console: Reader, change: Change) -> Iterable[Operation]:
    if change.reload:
        return await console.operations(include_ended=True)
    found = []
    for table, key in change.keys:
        if table == Table.OPERATIONS:
            found.append(await console.get(key))
    return found


def _stands(op: Operation) -> tuple[object, ...]:
    return op.phase, op.last_known_state, op.escalation.reason if op.escalation else None, bool(op.permit)
