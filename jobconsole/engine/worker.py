"""The worker: takes what is due, a bounded number at a time, and sleeps until the next thing is due (B5, B9, S2).

Only this file decides when looks start and stop. There is no task and no timer per waiting operation: the store's heap says
what is due, and one sleep ends at the earliest time, at a change of the store, or when the worker is told to stop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobconsole.core.commands.clock_set_back import anew_at
from jobconsole.core.vocabulary import Phase
from jobconsole.engine.contracts import ContractBook
from jobconsole.engine.denials import pass_on_denial, pass_on_denials
from jobconsole.engine.poll import Looked, Looker
from jobconsole.errors import JobconsoleError, StoreError
from jobconsole.protocols import Clock, Retention, Store, WorkerInfo

log = logging.getLogger(__name__)
ANSWERS_IN_FLIGHT = 1.5  # seconds that a stop waits for them (STORE 5)
LONGEST_SLEEP = timedelta(seconds=30)  # a wall clock that jumped is noticed after so long
SET_BACK = timedelta(seconds=2)  # as much as makes the store record a jump (STORE 1.1)
STUMBLE = timedelta(seconds=30)  # how long an operation rests after a computing error of ours
MAINTENANCE = timedelta(seconds=15)
MASKED = timedelta(milliseconds=250)
MILLISECOND = timedelta(milliseconds=1)


@dataclass(slots=True)
class Worker:
    """One asyncio loop over all due operations. `max_concurrent` bounds requests in flight, over all accounts."""

    store: Store
    looker: Looker
    book: ContractBook
    clock: Clock
    info: WorkerInfo
    max_concurrent: int = 64
    retention: Retention = field(default_factory=Retention)
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict, init=False)
    _resting: dict[str, int] = field(default_factory=dict, init=False)  # operation -> boot clock, ms
    _accounts: dict[str, int] = field(default_factory=dict, init=False)  # account -> boot clock, ms: when it may send again
    _wake: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _clocks: tuple[datetime, int] | None = field(default=None, init=False)  # wall and boot clock, as of the last turn
    _is_stopping: bool = field(default=False, init=False)
    _failure: StoreError | None = field(default=None, init=False)

    def stop(self) -> None:
        """Start nothing more; `run` returns within two seconds."""
        self._is_stopping = True
        self._wake.set()

    async def run(self, *, until_idle: bool = False, once: bool = False) -> None:
        """Work until stopped. `once`: what is due now. `until_idle`: until nothing is submitting, waiting or acted on.

        Raises `StoreError` where the store cannot be written any more; whatever was acknowledged is durable.
        """
        async with self.store.announce(self.info):
            watch = asyncio.create_task(self._watch())
            tend = asyncio.create_task(self._tend())
            try:
                await self._loop(until_idle=until_idle, once=once)
            finally:
                for task in (watch, tend):
                    task.cancel()
                await asyncio.gather(watch, tend, return_exceptions=True)
                await self._finish()
        if self._failure is not None:
            raise self._failure

    @property
    def _actor(self) -> str:
        return f"worker:{self.info.worker_id}"

    async def _loop(self, *, until_idle: bool, once: bool) -> None:
        await pass_on_denials(self.store, self.book, self._actor)
        while not self._is_stopping:
            self._wake.clear()
            await self._notice_set_back()
            started = await self._start_due()
            if once and not self._running:
                return
            if until_idle and not started and not self._running and await self._is_idle():
                return
            if not started or len(self._running) >= self.max_concurrent:
                await self._sleep(once=once)

    async def _notice_set_back(self) -> None:
        """Delays that count by a wall clock which was set back count anew: looked for at the start and when it happens (B2).

        The store records the jump itself with the first thing that is written after it.
        """
        before, now, up = self._clocks, self.clock.wall(), self.clock.up_ms()
        if before is not None and now - before[0] >= MILLISECOND * (up - before[1]) - SET_BACK:
            self._clocks = now, up
            return
        try:
            for op in await self.store.in_flight(phase=Phase.WAITING):
                if anew_at(op, now) is not None:
                    await self.looker.plan_anew(op.operation_id)
        except StoreError as error:
            self._store_failed(error)
        else:
            self._clocks = now, up

    async def _start_due(self) -> int:
        """Start looks at what is due; returns how many."""
        now, up = self.clock.wall(), self.clock.up_ms()
        self._accounts = {key: until for key, until in self._accounts.items() if until > up}
        free = self.max_concurrent - len(self._running)
        if free <= 0:
            return 0
        self._resting = {key: until for key, until in self._resting.items() if until > up}
        due = await self.store.due(now, free + len(self._running) + len(self._resting), skip=tuple(self._accounts))
        fresh = [d for d in due if d.operation_id not in self._running and d.operation_id not in self._resting][:free]
        for item in fresh:
            self._running[item.operation_id] = asyncio.create_task(self._look(item.operation_id))
        return len(fresh)

    async def _look(self, operation_id: str) -> None:
        try:
            looked = await self.looker.look(operation_id)
            self._learn(operation_id, looked)
            if looked.op is not None:
                await pass_on_denial(self.store, self.book, looked.op.account_key, self._actor)
        except StoreError as error:
            self._store_failed(error)
            self._rest(operation_id)
        except Exception as error:
            expected = isinstance(error, JobconsoleError)
            log.error("operation %s rests for %s: %s", operation_id, STUMBLE, error, exc_info=not expected)
            self._rest(operation_id)
        finally:
            self._running.pop(operation_id, None)
            self._wake.set()

    def _learn(self, operation_id: str, looked: Looked) -> None:
        """Why nothing was sent: an account without a token is not asked again before it has one, nor is anything at once."""
        if looked.deferred is None or looked.op is None:
            return
        until = looked.deferred.until
        if looked.deferred.account_wide and until is not None:
            self._accounts[looked.op.account_key] = self._up_at(until)
        else:
            self._rest(operation_id, timedelta(milliseconds=250))

    def _up_at(self, at: datetime) -> int:
        """The boot clock at a moment of today's wall clock: nobody rests longer because the wall clock is set back."""
        return self.clock.up_ms() - (self.clock.wall() - at) // MILLISECOND

    def _rest(self, operation_id: str, pause: timedelta = STUMBLE) -> None:
        self._resting[operation_id] = self.clock.up_ms() + int(pause / MILLISECOND)

    async def _sleep(self, *, once: bool) -> None:
        """Until the next thing is due, something changed, a look ended, or a stop."""
        now, up = self.clock.wall(), self.clock.up_ms()
        times = [now + LONGEST_SLEEP, *(now + MILLISECOND * (until - up) for until in self._accounts.values())]
        if not once and len(self._running) < self.max_concurrent:
            next_at = await self.store.next_due(skip=tuple(self._accounts))
            if next_at is not None:
                times.append(next_at)
        wait = min(times) - now
        if wait <= timedelta(0):
            wait = MASKED  # what is due is running or resting here, and hides what comes next
        until_up = up + -(-wait // MILLISECOND)
        timer = asyncio.create_task(self.clock.sleep_until(until_up))
        woken = asyncio.create_task(self._wake.wait())
        try:
            await asyncio.wait({timer, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (timer, woken):
                task.cancel()
            await asyncio.gather(timer, woken, return_exceptions=True)

    async def _is_idle(self) -> bool:
        """Whether nothing is submitting, waiting, permitted or acted on: what else was asked for waits for a person."""
        return await self.store.next_due() is None

    async def _watch(self) -> None:
        """Other processes' changes wake this one within the store's reading interval; so does the end of the store."""
        try:
            async for _ in self.store.changes():
                self._wake.set()
        except StoreError as error:
            self._store_failed(error)

    async def _tend(self) -> None:
        """Checkpoints and anchors, cheap where nothing is due; a store that cannot be written stops the worker."""
        while True:
            await self.clock.sleep_until(self.clock.up_ms() + int(MAINTENANCE / MILLISECOND))
            try:
                await self.store.maintain(self.retention)
                await pass_on_denials(self.store, self.book, self._actor)
            except StoreError as error:
                self._store_failed(error)

    def _store_failed(self, error: StoreError) -> None:
        """A busy or full store is tried again; one that cannot be written any more ends the worker."""
        log.error("%s", error)
        if not self.store.health().is_writable:
            self._failure = error
            self.stop()

    async def _finish(self) -> None:
        """Wait a moment for answers in flight and record them, then give the rest of the leases back (STORE 5)."""
        tasks = set(self._running.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=ANSWERS_IN_FLIGHT)
            for task in late:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*late, return_exceptions=True)
