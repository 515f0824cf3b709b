"""The mark `patient`: an event loop for tests of time limits, whose clock moves only while nothing else happens.

Only this file decides what time is in such a test. A limit is then overrun by what the test lets happen, never by a machine
that stood still for a second: client and server are in the same process, so whatever one of them has sent comes before any
timer. It is for tests of one process; it does not wait for what other processes and threads of one's own do.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

import pytest

QUIET_S = 0.02  # of real time without anything to read or write: only timers are left

_Args = TypeVarTuple("_Args")
_Made = TypeVar("_Made")


class PatientLoop(asyncio.SelectorEventLoop):
    """Its time stands while anything is under way, jobs in its executor included, and then jumps to the next timer."""

    def __init__(self) -> None:
        self._now, self._elsewhere = 0.0, 0
        super().__init__(_Quiet(self))

    def time(self) -> float:
        """Seconds since the loop was made, as it counts them."""
        return self._now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Args], _Made], *args: *_Args
    ) -> asyncio.Future[_Made]:
        """As ever, but time stands until the job is done."""
        job = super().run_in_executor(executor, func, *args)
        self._elsewhere += 1
        job.add_done_callback(self._one_less)
        return job

    def _one_less(self, job: asyncio.Future[Any]) -> None:
        self._elsewhere -= 1

    def pass_over(self, seconds: float) -> None:
        """Nothing happens for so long, unless somebody works elsewhere."""
        if not self._elsewhere:
            self._now += seconds


class _Quiet(selectors.DefaultSelector):
    """Waits a moment for files, then lets the loop's time pass in place of waiting."""

    def __init__(self, loop: PatientLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; empty where `timeout` seconds of the loop's time have passed."""
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(QUIET_S)
        if not ready:
            self._loop.pass_over(timeout)
        return ready


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known to `--strict-markers`."""
    config.addinivalue_line("markers", "patient: runs on a loop whose clock moves only while nothing else happens")


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop of each async test: the usual one, where it has no mark."""
    if item.get_closest_marker("patient") is not None:
        return {"patient": PatientLoop}
    return {"usual": asyncio.new_event_loop}
