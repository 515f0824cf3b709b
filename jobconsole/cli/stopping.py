"""Ending a command that runs in the foreground: Ctrl+C and SIGTERM let it finish what it has begun.

Only this file handles signals. `run` and `mock` use it; all other commands are ended by an interrupt as Python does it.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from jobconsole.cli.exits import Exit


@dataclass(slots=True)
class Stop:
    """Which signal asked for the end, if one did."""

    by: signal.Signals | None = None

    @property
    def exit(self) -> Exit:
        """Ctrl+C is an interruption; SIGTERM is how a service is ended, and no fault of it."""
        return Exit.INTERRUPTED if self.by is signal.SIGINT else Exit.OK


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[Stop]:
    """Call `stop` at the first SIGINT or SIGTERM while inside; a second one has its usual effect."""
    loop, asked = asyncio.get_running_loop(), Stop()

    def heard(number: signal.Signals) -> None:
        asked.by = number
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
        stop()

    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, heard, each)
    try:
        yield asked
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
