"""How a command meets the store: opened for reading or for writing, and what is said about it on the way (X19, U6).

Only this file decides that. A command that reads takes no lock and creates nothing; with `--read-only` every command opens so,
and the core refuses what would change something (H11).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jobconsole.cli.invocation import Invocation
from jobconsole.console import AsyncConsole, open_async

NO_WORKER = "no worker is running: nothing is checked until you start one with: jobconsole run"


@asynccontextmanager
async def reading(invocation: Invocation, label: str) -> AsyncIterator[AsyncConsole]:
    """The store for looking at. Raises `StoreError` where it cannot be read."""
    async with _opened(invocation, label, is_read_only=True) as console:
        yield console


@asynccontextmanager
async def writing(invocation: Invocation, label: str) -> AsyncIterator[AsyncConsole]:
    """The store for changing, created where there is none; read-only where the call says so. Raises `StoreError`."""
    async with _opened(invocation, label, is_read_only=invocation.is_read_only) as console:
        yield console


@asynccontextmanager
async def _opened(invocation: Invocation, label: str, *, is_read_only: bool) -> AsyncIterator[AsyncConsole]:
    files = invocation.provider_files
    async with open_async(invocation.home, label=label, is_read_only=is_read_only, provider_files=files) as console:
        health = console.health()
        for note in health.notes:
            invocation.output.note("note: ", note)
        if not health.is_writable and not is_read_only:
            invocation.output.note("note: the store is read-only: ", health.why_not)
        yield console


def has_worker(console: AsyncConsole) -> bool:
    """Whether a worker lives in another process."""
    return any(worker.worker_id != console.worker_info.worker_id for worker in console.health().workers)


def tell_missing_worker(console: AsyncConsole, invocation: Invocation) -> None:
    """Say that nothing moves by itself where no worker is alive (X19)."""
    if not has_worker(console):
        invocation.output.note(NO_WORKER)
