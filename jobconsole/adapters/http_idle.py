"""Kept-alive connections between two requests: a free list per origin, bounded in number and age.

Only this file decides how long an unused connection is kept. `http.py` takes and gives back; each connection is a transport
of its own with one connection in it, because one shared pool looks at all of them on every request (PERF 1).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar


class Keepable(Protocol):
    """A connection, as far as it is this file's business."""

    @property
    def is_free(self) -> bool:
        """Whether it may be kept for another request."""

    @property
    def is_ready(self) -> bool:
        """Whether it can serve another request right now."""

    async def aclose(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Keepable)


class IdleConnections(Generic[C]):
    """A last-in, first-out list per key. Ages are of the event loop's clock."""

    def __init__(self, *, longest_s: float, most: int) -> None:
        self._longest_s, self._most, self._count = longest_s, most, 0
        self._lists: dict[Hashable, deque[tuple[float, C]]] = {}
        self._is_closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def take(self, key: Hashable) -> C | None:
        """The connection that was used last and is still ready, or None; one that is not is closed."""
        listed = self._lists.get(key)
        while listed:
            self._count -= 1
            _, connection = listed.pop()
            if connection.is_ready:
                return connection
            self._close_later(connection)
        return None

    def keep(self, key: Hashable, connection: C) -> bool:
        """Keep a connection. False where it is not free for another request, there are too many, or the list is closed."""
        if self._count >= self._most or self._is_closed or not connection.is_free:
            return False
        loop = asyncio.get_running_loop()
        self._lists.setdefault(key, deque()).append((loop.time(), connection))
        self._count += 1
        if self._timer is None:
            self._timer = loop.call_later(self._longest_s, self._sweep)
        return True

    async def close(self) -> None:
        """Close all connections that are idle now, and keep none from now on."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for listed in self._lists.values():
            for _, connection in listed:
                self._close_later(connection)
        self._lists.clear()
        self._count = 0
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _sweep(self) -> None:
        """Close what has been idle too long; come back for the rest."""
        loop = asyncio.get_running_loop()
        for key, listed in list(self._lists.items()):
            while listed and loop.time() - listed[0][0] >= self._longest_s:
                self._count -= 1
                self._close_later(listed.popleft()[1])
            if not listed:
                del self._lists[key]
        oldest = min((listed[0][0] for listed in self._lists.values()), default=None)
        self._timer = None if oldest is None else loop.call_at(oldest + self._longest_s, self._sweep)

    def _close_later(self, connection: C) -> None:
        task = asyncio.get_running_loop().create_task(close_quietly(connection))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def close_quietly(connection: Keepable) -> None:
    """Close a connection that nothing depends on any more; a fault while closing means that it is closed."""
    with contextlib.suppress(Exception):
        await connection.aclose()
