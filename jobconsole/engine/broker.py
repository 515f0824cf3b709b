"""The change feed for front ends: what is in the store now, and which operations changed since the last look (U1, U2).

Only this file decides how changes of the store reach a screen: coalesced, at most every `interval` seconds, by id. Dashboards
and widgets keep no truth of their own; they read `operations` and `accounts` here and repaint what they are told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from jobconsole.core.deciding.account import Account, account
from jobconsole.core.events import Table
from jobconsole.core.operation import Operation
from jobconsole.protocols import Change, Store

INTERVAL = 0.25  # seconds between two tellings: four a second


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed since the last telling. `is_reload`: something was missed, everything was read again."""

    operation_ids: frozenset[str]
    account_keys: frozenset[str] = frozenset()
    is_reload: bool = False


class Broker:
    """Operations and accounts as last seen, and the news about them. Run it as a task; one serves any number of listeners."""

    def __init__(self, store: Store, *, interval: float = INTERVAL) -> None:
        self.operations: dict[str, Operation] = {}
        self.accounts: dict[str, Account] = {}
        self._store, self._interval = store, interval
        self._listeners: list[Callable[[Changed], None]] = []
        self._operation_ids: set[str] = set()
        self._account_keys: set[str] = set()
        self._is_reload = False
        self._cursor = 0  # how far what was loaded goes
        self._news = asyncio.Event()

    def listen(self, listener: Callable[[Changed], None]) -> Callable[[], None]:
        """Call `listener` in this loop with each telling; the function returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    async def load(self) -> None:
        """Read everything once: the first picture. The cursor is taken first: what is read twice is told twice, not lost."""
        self._cursor = self._store.cursor()
        self.operations = {op.operation_id: op for op in await self._store.operations()}
        self.accounts = {doc["account_key"]: account(doc) for doc in await self._store.documents(Table.ACCOUNTS)}

    async def run(self) -> None:
        """Follow the store from where `load` began, until cancelled; without a `load`, a folder store begins with a reload."""
        telling = asyncio.create_task(self._tell())
        try:
            async for change in self._store.changes(after=self._cursor):
                await self._note(change)
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _note(self, change: Change) -> None:
        if change.reload:
            await self.load()
            self._is_reload = True
            self._operation_ids.update(self.operations)
        for table, key in change.keys:
            doc = self._store.peek(table, key)
            if table == Table.OPERATIONS:
                self._operation_ids.add(key)
                op = await self._store.get(key) if doc is not None else None
                if op is not None:
                    self.operations[key] = op
                else:
                    self.operations.pop(key, None)
            elif table == Table.ACCOUNTS:
                self._account_keys.add(key)
                if doc is not None:
                    self.accounts[key] = account(doc)
        if self._operation_ids or self._account_keys or self._is_reload:
            self._news.set()

    async def _tell(self) -> None:
        """At most every `interval`: nothing is told while nothing changes, and no change is told late."""
        while True:
            await self._news.wait()
            self._news.clear()
            told = Changed(frozenset(self._operation_ids), frozenset(self._account_keys), self._is_reload)
            self._operation_ids, self._account_keys, self._is_reload = set(), set(), False
            for listener in list(self._listeners):
                listener(told)
            await asyncio.sleep(self._interval)
