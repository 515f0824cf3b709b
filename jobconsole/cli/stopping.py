"""Ending a command that runs in the foreground: Ctrl+C, SIGTERM and a closed terminal let it finish what it has begun.

Only this file handles signals. `run`, `mock` and the dashboard use it; all other commands are ended by a signal as Python does
it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from jobconsole.cli.exits import Exit

_ONCE = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Stop:
    """Which signal asked for the end, if one did."""

    by: signal.Signals | None = None

    @property
    def exit(self) -> Exit:
        """Ctrl+C is an interruption; SIGTERM and SIGHUP are how a service or a window is ended, and no fault of it."""
        return Exit.INTERRUPTED if self.by is signal.SIGINT else Exit.OK


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[Stop]:
    """Call `stop` at the first SIGINT, SIGTERM or SIGHUP while inside; a second SIGINT or SIGTERM has its usual effect.

    A SIGHUP that is ignored at the start stays so (nohup). Once one was heard, the process heeds no other: of a window that is
    closed, kernel and shell each tell.
    """
    loop, asked, terminals = asyncio.get_running_loop(), Stop(), _terminals()

    def heard(number: signal.Signals) -> None:
        if asked.by is None:
            asked.by = number
            for each in _ONCE:
                loop.remove_signal_handler(each)
            stop()

    def hung_up(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCONT, _go_on)
        for lost in terminals - _terminals():
            _lead_nowhere(lost)
        loop.call_soon_threadsafe(heard, signal.SIGHUP)

    for each in _ONCE:
        loop.add_signal_handler(each, heard, each)
    before = signal.getsignal(signal.SIGHUP)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, hung_up)
    try:
        yield asked
    finally:
        for each in _ONCE:
            loop.remove_signal_handler(each)
        if signal.getsignal(signal.SIGHUP) is hung_up:
            signal.signal(signal.SIGHUP, before if before is not None else signal.SIG_DFL)


def _terminals() -> frozenset[int]:
    """Which of stdout and stderr are terminals that are there."""
    return frozenset(number for number in (1, 2) if os.isatty(number))


def _lead_nowhere(number: int) -> None:
    """What is still written to a terminal that is gone is lost; an error would keep the end from being a proper one."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _go_on(_number: int, _frame: FrameType | None) -> None:
    """The kernel sends SIGCONT behind SIGHUP: the dashboard must not draw itself anew on a terminal that is gone."""
