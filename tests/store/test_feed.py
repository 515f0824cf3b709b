"""The change feed: a listener that is too slow learns that it missed something (STORE 3.1)."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from jobconsole.adapters.feed import KEPT, Feed
from jobconsole.protocols import Change


async def heard(feed: Feed, after: int | None, most: int) -> list[Change]:
    """What a listener hears, at most so many, without waiting."""
    changes: list[Change] = []
    async with aclosing(feed.changes(after)) as listening:  # type: ignore[type-var]
        while len(changes) < most:
            try:
                changes.append(await asyncio.wait_for(anext(listening), 0.05))
            except (TimeoutError, StopAsyncIteration):
                break
    return changes


def filled(count: int) -> Feed:
    """A feed that began behind `seq` 10 and has so many changes since."""
    feed = Feed(10)
    for seq in range(11, 11 + count):
        feed.publish(Change(seq, (("operations", "op-1"),)))
    return feed


async def test_a_cursor_inside_the_feed_goes_on_without_a_gap() -> None:
    """From exactly the next change on."""
    assert [change.cursor for change in await heard(filled(5), 12, 9)] == [13, 14, 15]
    assert await heard(filled(5), 15, 9) == []
    assert await heard(filled(5), None, 9) == []


async def test_a_cursor_before_the_feed_is_told_to_read_everything_again() -> None:
    """One `reload`, then what follows."""
    changes = await heard(filled(3), 4, 9)
    assert [(change.cursor, change.reload) for change in changes] == [(13, True)]


async def test_a_slow_listener_is_told_once_that_it_missed_something() -> None:
    """The feed keeps the last ten thousand."""
    feed = filled(1)
    async with aclosing(feed.changes(10)) as listening:  # type: ignore[type-var]
        assert (await anext(listening)).cursor == 11
        for seq in range(12, 12 + KEPT + 5):
            feed.publish(Change(seq))
        missed = await anext(listening)
        assert (missed.reload, missed.cursor) == (True, 11 + KEPT + 5)
        feed.publish(Change(99_999))
        assert (await anext(listening)).cursor == 99_999


async def test_closing_ends_all_listening() -> None:
    """Also of those who wait."""
    feed = filled(0)
    waiting = asyncio.create_task(heard(feed, None, 1))
    await asyncio.sleep(0)
    feed.close()
    assert await waiting == []
