"""The change feed of one handle: who listens hears every commit in order, or that something was missed (STORE 3.1).

Only this file keeps recent changes. The replica publishes what it merged, whoever wrote it; front ends and workers listen
through `Store.changes`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from jobconsole.errors import StoreError
from jobconsole.protocols import Change

KEPT: Final = 10_000


class Feed:
    """Recent changes, numbered; listeners read on from their own place."""

    def __init__(self, cursor: int) -> None:
        """`cursor` is the `seq` of the head: changes up to there are not in the feed."""
        self._before = cursor
        self._changes: deque[Change] = deque()
        self._count = 0  # of all changes ever published
        self._grown = asyncio.Event()
        self._is_closed = False
        self._error: StoreError | None = None
        self.listeners = 0

    def publish(self, change: Change) -> None:
        """Tell everybody."""
        self._changes.append(change)
        self._count += 1
        if len(self._changes) > KEPT:
            self._before = self._changes.popleft().cursor
        self._wake()

    def close(self, error: StoreError | None = None) -> None:
        """End all listening, in everybody with this error."""
        self._is_closed, self._error = True, self._error or error
        self._wake()

    async def changes(self, after: int | None) -> AsyncIterator[Change]:
        """Changes behind the cursor `after` (None: from now on); a gap is one `Change` with `reload`.

        Raises the error that the feed was closed with.
        """
        number = self._count
        if after is not None:
            if after < self._before:
                yield self._missed()
                number = self._count
            else:
                number -= sum(change.cursor > after for change in self._changes)
        self.listeners += 1
        try:
            while not self._is_closed:
                if number < self._count - len(self._changes):
                    number = self._count
                    yield self._missed()
                while number < self._count and number >= self._count - len(self._changes):
                    change = self._changes[number - self._count]
                    number += 1
                    yield change
                if number == self._count and not self._is_closed:
                    await self._grown.wait()
            if self._error is not None:
                raise self._error
        finally:
            self.listeners -= 1

    def _missed(self) -> Change:
        return Change(self._changes[-1].cursor if self._changes else self._before, reload=True)

    def _wake(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()
