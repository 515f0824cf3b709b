"""What the widgets of one console see of its store: one picture, replaced as a whole, at most twice a second (SPEC U1, U2).

Only this file decides when a widget hears of something. One feed serves all widgets of a console and lives in the console's
event loop; `picture` may be read from any thread, because nothing in it ever changes. A beat every few seconds tells the
browser that the kernel is still there, also while a cell keeps its main thread busy.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Any, Protocol, TypeVar

from jobconsole.console import Broker, BrokerNews, Desk
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account
from jobconsole.core.operation import Operation
from jobconsole.core.telling.views import View, operation_view
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import StoreError
from jobconsole.protocols import StoreHealth

log = logging.getLogger(__name__)
T = TypeVar("T")
INTERVAL = 0.5  # seconds between two messages to a widget
BEAT = 5.0  # seconds between two signs of life
BEATS_TO_REFRESH = 6  # what an option would do moves with the clock: told anew after so many


@dataclass(frozen=True, slots=True)
class Picture:
    """The store as last seen: operations by id, oldest first, and what their views need beside them."""

    operations: Mapping[str, Operation] = field(default_factory=dict)
    accounts: Mapping[str, Account] = field(default_factory=dict)
    contracts: Mapping[str, Contract | None] = field(default_factory=dict)  # by digest; None where it cannot be read
    new_digests: Mapping[str, str] = field(default_factory=dict)  # by provider: the contract file as it is now (X13)

    def view(self, op: Operation, now: datetime) -> View:
        """The core's projection of an operation."""
        account, contract = self.accounts.get(op.account_key), self.contracts.get(op.contract)
        is_lost = contract is None and op.contract in self.contracts
        return operation_view(op, now, account, contract, self.new_digests.get(op.provider), is_contract_lost=is_lost)

    def brief_view(self, op: Operation, now: datetime) -> View:
        """The same for a row, which shows no options: the contract is only asked whether the job has stalled (H12)."""
        contract = self.contracts.get(op.contract)
        can_stall = contract is not None and contract.schedule.stalled_after is not None and op.phase is Phase.WAITING
        return operation_view(op, now, self.accounts.get(op.account_key), contract if can_stall else None)


@dataclass(frozen=True, slots=True)
class News:
    """What is different in the picture since the last telling; `is_reload` where anything may be."""

    operation_ids: frozenset[str] = frozenset()
    is_reload: bool = False


class Listener(Protocol):
    """A widget, as its feed sees it. All three are called in the console's loop."""

    async def hear(self, news: News) -> None:
        """The picture was replaced."""

    def beat(self) -> None:
        """A few seconds passed, and the kernel is alive."""

    def part(self) -> None:
        """The console was closed: nothing will be told any more."""


class Feed:
    """Follows one desk's store. Build it with `Feed.open` in the loop that the desk belongs to."""

    def __init__(self, desk: Desk, loop: asyncio.AbstractEventLoop) -> None:
        self.desk = desk
        self.picture = Picture()
        self._loop = loop
        self._broker = Broker(desk.store, interval=INTERVAL)
        self._listeners: list[Listener] = []
        self._waiting: set[str] = set()
        self._is_reload_waiting = False
        self._woken = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def open(cls, desk: Desk) -> Feed:
        """A feed whose first picture is complete, and which follows from now on. Raises `StoreError`."""
        feed = cls(desk, asyncio.get_running_loop())
        await feed._broker.load()
        await feed._take()
        feed._broker.listen(feed._hear)
        feed._tasks = [asyncio.create_task(work) for work in (feed._follow(), feed._tell(), feed._beat())]
        return feed

    async def close(self) -> None:
        """Follow no more, and tell the widgets so."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for listener in self._listeners:
            listener.part()
        self._listeners.clear()

    # ---- for widgets ----------------------------------------------------------------------------------------------------
    def now(self) -> datetime:
        """The desk's wall clock: what elapsed times and countdowns are measured by."""
        return self.desk.clock.wall()

    def health(self) -> StoreHealth:
        """Whether the store can be written, and whether a worker lives (X19)."""
        return self.desk.health()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` in the console's loop, from any thread; returns at once."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` from now on; the function returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    # ---- following ------------------------------------------------------------------------------------------------------
    async def _follow(self) -> None:
        try:
            await self._broker.run()
        except StoreError as error:  # the store is lost; each beat says so, beside what was seen last
            log.warning("%s", error)

    def _hear(self, news: BrokerNews) -> None:
        self._waiting |= news.operation_ids
        if news.account_keys:  # a hold shows in each of the account's operations
            self._waiting |= {op.operation_id for op in self._broker.operations.values() if op.account_key in news.account_keys}
        self._is_reload_waiting |= news.is_reload
        self._woken.set()

    async def _tell(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            news = News(frozenset(self._waiting), self._is_reload_waiting)
            self._waiting, self._is_reload_waiting = set(), False
            try:
                await self._take()
            except Exception:  # such as a contract that cannot be read just now; the next change tries again
                log.exception("the store could not be read anew")
                self._waiting, self._is_reload_waiting = self._waiting | news.operation_ids, news.is_reload
                continue
            for listener in list(self._listeners):
                await _shielded(listener, news)

    async def _take(self) -> None:
        """Replace the picture by the broker's state, with the contracts that it needs."""
        operations, contracts = dict(self._broker.operations), dict(self.picture.contracts)
        for op in operations.values():
            is_lost = contracts.get(op.contract) is None and not op.phase.is_terminal  # it may have been restored
            if is_lost or op.contract not in contracts:
                contracts[op.contract] = await self.desk.contract_of(op)
        asking = {op.provider for op in operations.values() if op.escalation is not None}
        files = {provider: self.desk.book.current_or_none(provider) for provider in asking}
        self.picture = replace(
            self.picture,
            operations=operations,
            accounts=dict(self._broker.accounts),
            contracts=contracts,
            new_digests={provider: contract.digest for provider, contract in files.items() if contract is not None},
        )

    async def _beat(self) -> None:
        for number in count(1):
            await asyncio.sleep(BEAT)
            for listener in list(self._listeners):
                _unhindered(listener.beat)
                if number % BEATS_TO_REFRESH == 0:
                    await _shielded(listener, News())


def _unhindered(tell: Callable[[], None]) -> None:
    """One widget that stumbles keeps nothing from the others."""
    try:
        tell()
    except Exception:
        log.exception("a widget could not be told that its kernel lives")


async def _shielded(listener: Listener, news: News) -> None:
    """One widget that stumbles keeps nothing from the others."""
    try:
        await listener.hear(news)
    except Exception:
        log.exception("a widget could not be told what changed")
