"""How long and how many unused connections are kept."""

from __future__ import annotations

import asyncio

from jobconsole.adapters.http_idle import IdleConnections


class Held:
    """A connection that knows when it was closed."""

    def __init__(self, *, fails: bool = False) -> None:
        self.closed, self._fails = asyncio.Event(), fails
        self.is_free = self.is_ready = True

    async def aclose(self) -> None:
        self.closed.set()
        if self._fails:
            raise OSError("already gone")


async def test_the_connection_that_was_used_last_comes_first_and_only_for_its_own_key() -> None:
    idle: IdleConnections[Held] = IdleConnections(longest_s=60, most=8)
    first, second, other = Held(), Held(), Held()
    for key, connection in (("a", first), ("a", second), ("b", other)):
        idle.keep(key, connection)
    assert [idle.take("a"), idle.take("a"), idle.take("a"), idle.take("b")] == [second, first, None, other]
    await idle.close()


async def test_more_than_the_most_are_not_kept() -> None:
    idle: IdleConnections[Held] = IdleConnections(longest_s=60, most=1)
    kept, surplus = Held(), Held()
    assert (idle.keep("a", kept), idle.keep("a", surplus)) == (True, False)
    assert idle.take("a") is kept
    assert idle.keep("a", surplus)
    await idle.close()


async def test_what_is_not_free_is_not_kept_and_what_is_not_ready_is_not_given_out() -> None:
    """The newest was spoilt while it lay there: it is closed, and the one before it serves."""
    idle: IdleConnections[Held] = IdleConnections(longest_s=60, most=2)
    good, spoilt, busy = Held(), Held(), Held()
    busy.is_free = False
    assert [idle.keep("a", each) for each in (good, spoilt, busy)] == [True, True, False]
    spoilt.is_ready = False
    assert idle.take("a") is good
    await idle.close()
    assert (good.closed.is_set(), spoilt.closed.is_set()) == (False, True)


async def test_what_is_unused_too_long_is_closed_without_anybody_asking() -> None:
    idle: IdleConnections[Held] = IdleConnections(longest_s=0.01, most=8)
    old = [Held(), Held(fails=True)]
    for connection in old:
        idle.keep("a", connection)
    await asyncio.wait_for(asyncio.gather(*(connection.closed.wait() for connection in old)), 30)
    assert idle.take("a") is None
    await idle.close()


async def test_close_closes_what_is_idle_and_keeps_no_more() -> None:
    idle: IdleConnections[Held] = IdleConnections(longest_s=60, most=8)
    held = Held()
    idle.keep("a", held)
    await idle.close()
    assert held.closed.is_set()
    assert (idle.take("a"), idle.keep("a", Held())) == (None, False)
