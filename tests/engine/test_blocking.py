"""The thread behind a console that blocks: who may call, what a close means for calls under way, and for other threads."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest

from jobconsole.engine.blocking import Portal

LONG_S = 60  # for what should take a moment: a call that hangs fails its test


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(12) as made:
        yield made


async def nothing() -> str:
    return "done"


def outcomes(futures: list[Future[str]]) -> set[str]:
    """What each came to: its result, or its error in words."""
    done, hanging = wait(futures, LONG_S)
    assert not hanging
    return {repr(error) if (error := each.exception()) is not None else each.result() for each in done}


def test_calls_under_way_end_at_once_when_another_thread_closes_and_say_what_to_do(threads: ThreadPoolExecutor) -> None:
    portal, begun = Portal(), threading.Semaphore(0)

    async def endless() -> str:
        begun.release()
        await asyncio.Event().wait()
        return "never"

    calls = [threads.submit(lambda: portal.call(endless())) for _ in range(5)]
    for _ in calls:
        assert begun.acquire(timeout=LONG_S)
    portal.close()
    (said,) = outcomes(calls)
    assert said.startswith("RuntimeError('the console was closed before this call was done; that ends no job")


def test_what_a_call_has_still_to_do_is_done_before_the_close_and_then_nothing_runs(threads: ThreadPoolExecutor) -> None:
    portal, begun, order = Portal(), threading.Event(), list[str]()

    async def careful() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            order.append("written down")
        return "never"

    async def last() -> None:
        order.append("given up")

    call = threads.submit(lambda: portal.call(careful()))
    assert begun.wait(LONG_S)
    portal.close(last)
    assert order == ["written down", "given up"]
    assert "closed before" in outcomes([call]).pop()


@pytest.mark.parametrize("turn", range(5))
def test_a_call_that_races_with_a_close_is_done_or_refused_and_never_hangs(threads: ThreadPoolExecutor, turn: int) -> None:
    portal = Portal()

    def many() -> str:
        for _ in range(10_000):
            portal.call(nothing())
        return "all"

    calls = [threads.submit(many) for _ in range(8)]
    threading.Event().wait(0.005 * turn)
    portal.close()
    assert all(said.startswith("RuntimeError('the console ") for said in outcomes(calls))


def test_several_threads_close_it_once_and_all_return_when_it_is_closed(threads: ThreadPoolExecutor) -> None:
    portal, closed, times = Portal(), threading.Event(), list[int]()

    async def last() -> None:
        times.append(1)
        await asyncio.sleep(0.05)
        closed.set()

    def close() -> str:
        portal.close(last)
        return "closed" if closed.is_set() else "too early"

    assert outcomes([threads.submit(close) for _ in range(6)]) == {"closed"}
    assert close() == "closed"
    assert times == [1]


def test_a_close_that_fails_says_so_to_whoever_closed_and_the_thread_ends() -> None:
    portal = Portal()

    async def last() -> None:
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        portal.close(last)
    portal.close(last)
    with pytest.raises(RuntimeError, match="the console is closed; open another one with"):
        portal.call(nothing())


def _in_child(use: Callable[[], object], told: multiprocessing.SimpleQueue[str]) -> None:
    try:
        told.put(repr(use()))
    except RuntimeError as error:
        told.put(str(error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.parametrize(("use", "says"), [("call", "a fork of it cannot use it; open another one here"), ("close", "None")])
def test_a_forked_process_is_told_that_the_console_is_not_its_own(use: str, says: str) -> None:
    """The fork has the memory and not the thread; what it closes stays open in the process that opened it."""
    portal, forking = Portal(), multiprocessing.get_context("fork")
    told: multiprocessing.SimpleQueue[str] = forking.SimpleQueue()
    act = (lambda: portal.call(nothing())) if use == "call" else portal.close
    child = forking.Process(target=_in_child, args=(act, told))
    child.start()
    child.join(LONG_S)
    assert child.exitcode == 0
    assert says in told.get()
    assert portal.call(nothing()) == "done"
    portal.close()
