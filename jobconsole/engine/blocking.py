"""A thread with an event loop, for callers that block: notebooks, scripts, the synchronous `Console` (STYLE, engine).

Only this file crosses from threads to the loop. A blocked caller can be interrupted within a moment; what it waited for goes on
or is cancelled in the loop, never in the caller's thread. The thread is a daemon: it never keeps an interpreter from ending.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar

T = TypeVar("T")
ATTENTION = 0.2  # seconds between looks for an interrupt, on platforms whose waits cannot be interrupted
LAST_WORDS_S = 5.0  # for calls that are ended by `close`: a worker records answers in flight
CLOSED = "the console is closed; open another one with jobconsole.open()"
CLOSED_MEANWHILE = (
    "the console was closed before this call was done; that ends no job: "
    "open another one with jobconsole.open() and look or wait there"
)


class Portal:
    """One event loop in one daemon thread. `call` runs a coroutine there and blocks until it is done.

    Any thread may call and close; it belongs to the process that made it.
    """

    def __init__(self, name: str = "jobconsole") -> None:
        self._pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._calls: set[asyncio.Task[Any]] = set()  # touched in the loop only
        self._mutex = threading.Lock()  # between a call that begins and the first close
        self._is_closing = False
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the loop and return its result; an interrupt cancels it there and is raised here.

        Raises `RuntimeError` from when `close` begins, for calls that are under way too; in a forked process, which has no such
        thread; and in the loop's own thread, for that would wait for itself.
        """
        try:
            self._refuse_strangers()
            with self._mutex:
                if self._is_closing:
                    raise RuntimeError(CLOSED)
                future = asyncio.run_coroutine_threadsafe(self._registered(work), self._loop)
        except RuntimeError:
            work.close()
            raise
        try:
            return _result(future)
        except CancelledError:
            if not self._is_closing:
                raise
            raise RuntimeError(CLOSED_MEANWHILE) from None

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """End the calls under way, await `last()` in the loop, stop it and wait for the thread.

        A second close does nothing but wait for the first; in a forked process there is nothing to close. Raises what `last`
        raises, and `RuntimeError` in the loop's own thread.
        """
        if os.getpid() != self._pid:
            return
        self._refuse_strangers()
        with self._mutex:
            is_first, self._is_closing = not self._is_closing, True
        if not is_first:
            while not self._closed.wait(ATTENTION):
                pass
            return
        try:
            _result(asyncio.run_coroutine_threadsafe(self._end(last), self._loop))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=5)
            self._closed.set()

    def _refuse_strangers(self) -> None:
        if os.getpid() != self._pid:
            raise RuntimeError(
                f"this console belongs to process {self._pid}, and a fork of it cannot use it; "
                "open another one here with jobconsole.open()"
            )
        if threading.current_thread() is self._thread:
            raise RuntimeError("a blocking call from the console's own thread would wait for itself; use the async console")

    async def _registered(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            return await work
        finally:
            self._calls.discard(task)

    async def _end(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        """Calls end before `last`, so that what they have still to write down finds the store open."""
        calls = tuple(self._calls)
        for task in calls:
            task.cancel()
        if calls:
            await asyncio.wait(calls, timeout=LAST_WORDS_S)
        if last is not None:
            await last()

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
