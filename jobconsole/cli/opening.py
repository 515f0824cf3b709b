"""How a command meets the store: opened for reading or for writing, and what is said about it on the way (X19, U6).

Only this file decides that. A command that reads takes no lock and creates nothing; with `--read-only` every command opens so,
and the core refuses what would change something (H11).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, TypeVar

from jobconsole.cli.invocation import Invocation
from jobconsole.cli.output import Output
from jobconsole.console import Reader, open_desk, open_reader
from jobconsole.core.operation import Operation
from jobconsole.core.telling.wording import counted
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import StoreDamaged, UnknownOperation
from jobconsole.protocols import Contracts

if TYPE_CHECKING:
    from jobconsole.console import Desk

AnyReader = TypeVar("AnyReader", bound=Reader)
NO_WORKER = "no worker is running: nothing is checked until you start one with: jobconsole run"


@asynccontextmanager
async def reading(invocation: Invocation, label: str) -> AsyncIterator[Reader]:
    """The store for looking at. Raises `StoreError` where it cannot be read.

    A damaged one is shown as far as it is whole, and then raises `StoreDamaged`: nobody should take that for all (S4).
    """
    files = invocation.provider_files
    async with _told(invocation, open_reader(invocation.home, label=label, provider_files=files)) as console:
        try:
            yield console
        except UnknownOperation:
            _refuse_damaged(console)
            raise
        _refuse_damaged(console)


def _refuse_damaged(console: Reader) -> None:
    damage = console.health().damage
    if damage:
        raise StoreDamaged(f"the store is damaged: {damage}; this is its last good state, see jobconsole audit verify")


@asynccontextmanager
async def contracts(invocation: Invocation) -> AsyncIterator[Contracts]:
    """The contracts that a submission would find; how the store does is not asked."""
    files = invocation.provider_files
    async with open_reader(invocation.home, label="contracts", provider_files=files) as console:
        yield console.contracts


@asynccontextmanager
async def writing(invocation: Invocation, label: str) -> AsyncIterator[Desk]:
    """The store for changing, created where there is none; read-only where the call says so. Raises `StoreError`."""
    home, is_read_only, files = invocation.home, invocation.is_read_only, invocation.provider_files
    opened = open_desk(home, label=label, is_read_only=is_read_only, provider_files=files)
    async with _told(invocation, opened) as console:
        yield console


@asynccontextmanager
async def _told(invocation: Invocation, opened: AbstractAsyncContextManager[AnyReader]) -> AsyncIterator[AnyReader]:
    """The store, with what is to be said about it and what the engine logs on stderr."""
    with _log_lines(invocation.output):
        async with opened as console:
            health = console.health()
            for note in health.notes:
                if note != health.damage:  # that is an error, and told as one
                    invocation.output.note("note: ", note)
            yield console


class _LogLines(logging.Handler):
    """What the engine logs, as lines on stderr; it may hold text of a provider, so it is made inert like all else (U3)."""

    def __init__(self, output: Output) -> None:
        super().__init__(logging.WARNING)
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        """Tell one record, a traceback line by line."""
        for line in self.format(record).splitlines():
            self._output.note(line)


@contextmanager
def _log_lines(output: Output) -> Iterator[None]:
    logger, handler = logging.getLogger("jobconsole"), _LogLines(output)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def has_worker(console: Reader) -> bool:
    """Whether a worker lives in another process."""
    return any(worker.worker_id != console.own_worker_id for worker in console.health().workers)


def tell_questions(operations: Iterable[Operation], invocation: Invocation) -> None:
    """Say how many of these operations wait for a person, and where to answer."""
    asking = sum(op.phase is Phase.ESCALATED for op in operations)
    if asking:
        need = "needs" if asking == 1 else "need"
        invocation.output.note(f"{counted(asking, 'operation')} {need} a decision: jobconsole inbox")


def tell_missing_worker(console: Reader, invocation: Invocation) -> None:
    """Say that nothing moves by itself where no worker is alive (X19)."""
    if not has_worker(console):
        invocation.output.note(NO_WORKER)
