"""A thread with an event loop, for callers that block: notebooks, scripts, the synchronous `Console` (STYLE, engine).

Only this file crosses from threads to the loop. A blocked caller can be interrupted within a moment; what it waited for goes on
or is cancelled in the loop, never in the caller's thread. The thread is a daemon: it never keeps an interpreter from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar

T = TypeVar("T")
ATTENTION = 0.2  # seconds between looks for an interrupt, on platforms whose waits cannot be interrupted


class Portal:
    """One event loop in one daemon thread. `call` runs a coroutine there and blocks until it is done."""

    def __init__(self, name: str = "jobconsole") -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the loop and return its result; an interrupt cancels it there and is raised here.

        Raises `RuntimeError` when called from the loop's own thread, for that would wait for itself, and after `close`.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a blocking call from the console's own thread would wait for itself; use the async console")
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("the console is closed; open another one with jobconsole.open()")
        return _result(asyncio.run_coroutine_threadsafe(work, self._loop))

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` in the loop and return at once."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Stop the loop and wait for the thread; a second call does nothing."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            pending = asyncio.all_tasks(self._loop)
            for task in pending:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())  # an unfinished one holds what it opened
            self._loop.close()


def _result(future: Future[T]) -> T:
    try:
        while True:
            try:
                return future.result(timeout=ATTENTION)
            except NotYet:
                if future.done():
                    raise
    except (KeyboardInterrupt, SystemExit):
        future.cancel()
        raise
