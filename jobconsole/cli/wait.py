"""`wait`: block until operations have ended or need a person, with progress on stderr (SPEC 11, G1, X16, X19, X26).

Only this file decides what a waiting call prints and how it ends. `submit --wait` uses `follow`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import timedelta

import click

from jobconsole.cli import telling
from jobconsole.cli.completion import complete_operation
from jobconsole.cli.exits import Exit, of_words
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import has_worker, tell_missing_worker, writing
from jobconsole.cli.values import DURATION
from jobconsole.console import Desk, is_settled
from jobconsole.core.operation import Operation
from jobconsole.core.telling.outcome import answer, status_word
from jobconsole.core.telling.views import operation_view

MOST_WAIT = timedelta(minutes=10)  # the default (X16); a person may wait longer


@click.command()
@click.argument("operations", metavar="OP...", nargs=-1, required=True, shell_complete=complete_operation)
@click.option("--timeout", type=DURATION, default=MOST_WAIT, metavar="10m", help="Wait at most so long. [default: 10m]")
@pass_invocation
def wait(invocation: Invocation, operations: tuple[str, ...], timeout: timedelta) -> Exit:
    """Wait until operations end or need a person."""
    return run_waiting(_wait(invocation, operations, timeout))


def run_waiting(call: Coroutine[None, None, Exit]) -> Exit:
    """Run a call that waits. An interrupt ends the wait, and says that it does not end the job."""
    try:
        return asyncio.run(call)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the jobs go on, and their bounds hold: wait again at any time") from None


async def _wait(invocation: Invocation, operations: Sequence[str], timeout: timedelta) -> Exit:
    async with writing(invocation, "wait") as console:
        meant = [(await console.meant(operation)).operation_id for operation in operations]
        return await follow(invocation, console, tuple(dict.fromkeys(meant)), timeout)


async def follow(invocation: Invocation, console: Desk, operations: Sequence[str], timeout: timedelta) -> Exit:
    """Wait for these operations, with a worker of our own where none is alive; print how each stands, and return the code."""
    progress = _Progress(invocation, console, is_alone=len(operations) == 1)
    if console.health().is_writable:
        async with console.embedded_worker():
            found = await console.wait(operations, timeout.total_seconds(), progress.tell)
    else:
        invocation.output.note("this wait only looks: ", console.health().why_not)
        tell_missing_worker(console, invocation)
        found = await console.wait(operations, timeout.total_seconds(), progress.tell)
    _tell_outcomes(invocation, console, found)
    return of_words(status_word(op, is_waited_out=True) for op in found)


class _Progress:
    """One line on stderr for each change that a person would notice."""

    def __init__(self, invocation: Invocation, console: Desk, *, is_alone: bool) -> None:
        self._invocation, self._console, self._is_alone = invocation, console, is_alone
        self._told: dict[str, tuple[object, ...]] = {}

    def tell(self, op: Operation) -> None:
        """Tell of `op`, unless it stands as it was told last."""
        stands = (op.revision, op.last_known_state, op.attempts, op.next_poll_at)
        is_last = op.phase.is_terminal or (self._is_alone and is_settled(op))  # the outcome says the same
        if is_last or op.lease is not None or self._told.get(op.operation_id) == stands:
            return
        self._told[op.operation_id] = stands
        now = self._console.clock.wall()
        line = telling.line(operation_view(op, now, None, None), now)
        self._invocation.output.note(*(piece if isinstance(piece, str) else piece.text for piece in line))


def _tell_outcomes(invocation: Invocation, console: Desk, found: Sequence[Operation]) -> None:
    now, output = console.clock.wall(), invocation.output
    if invocation.as_json:
        is_watched = has_worker(console)
        output.json([answer(op, now, is_watched=is_watched, is_waited_out=True) for op in found])
        return
    for op in found:
        if status_word(op, is_waited_out=True) == "timed_out":
            state = op.last_known_state or "not known"
            output.line(f"{op.operation_id} timed_out: this wait is over and the job goes on; last known state ", state)
        else:
            output.line(*telling.line(operation_view(op, now, None, None), now))
    if over := [op.operation_id for op in found if status_word(op, is_waited_out=True) == "timed_out"]:
        output.note("wait on with: jobconsole wait ", " ".join(over))
