"""Binds the engine's change feed to the screen: operations as shown, told at most four times a second (SPEC U1, U2).

Only this file decides when a screen hears of something. It owns what the dashboard shows of the store: `operations` and
`accounts` change only together with a `Changed` message, so that a paused screen stays as it is. The app runs one `Feed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from textual.message import Message
from textual.message_pump import MessagePump

from jobconsole.console import Broker, BrokerNews, Desk
from jobconsole.core.deciding.account import Account
from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import is_snoozed
from jobconsole.core.telling.provider_health import ProviderHealth, ProviderTally
from jobconsole.protocols import StoreHealth
from jobconsole.tui.messages import Changed, Decided, HealthChanged, PauseChanged, Ticked

WORKER_BEGINS_MS = 4_000
"""How long a worker of this process may take to begin, on a busy machine."""


class Feed:
    """What is shown of the store, and who hears of changes. `run` it as a task; `tick` it once a second."""

    def __init__(self, desk: Desk) -> None:
        self.operations: dict[str, Operation] = {}
        self.accounts: dict[str, Account] = {}
        self.asking: set[str] = set()  # ids of what stands in the inbox
        self._snoozed: set[str] = set()  # of them those that were told to rest, whether or not their time has come
        self.health: StoreHealth = desk.health()
        self.is_loaded = False
        self.is_paused = False
        self.polled_at: datetime | None = None  # the last answer of any provider
        self._desk = desk
        self._tally = ProviderTally()
        self._broker = Broker(desk.store)
        self._listeners: list[MessagePump] = []
        self._overhearing: list[Callable[[BrokerNews, Mapping[str, Operation]], None]] = []
        self._paused_at: datetime | None = None
        self._waiting: set[str] = set()
        self._waiting_accounts: set[str] = set()
        self._is_reload_waiting = False
        self._worker_due_up = 0

    @property
    def has_worker(self) -> bool:
        """Whether a worker is alive, in this process or another (X19)."""
        return bool(self.health.workers)

    def expect_worker(self) -> None:
        """This process begins one: for a moment nobody can say that none is running."""
        self._worker_due_up = self._desk.clock.up_ms() + WORKER_BEGINS_MS

    @property
    def lacks_worker(self) -> bool:
        """Whether nobody checks anything, as far as that is known: not before everything was read once."""
        return self.is_loaded and not self.has_worker and self._desk.clock.up_ms() >= self._worker_due_up

    def now(self) -> datetime:
        """The desk's wall clock."""
        return self._desk.clock.wall()

    @property
    def awake(self) -> int:
        """How many items of the inbox need a person now: those that rest until a time that has not come do not count (H7)."""
        now = self.now()
        resting = (self.operations[operation_id] for operation_id in self._snoozed)
        return len(self.asking) - sum(is_snoozed(op, now) for op in resting)

    @property
    def shown_at(self) -> datetime:
        """The time for which rows are drawn: now, or when repainting was paused."""
        return self._paused_at or self.now()

    def provider_healths(self) -> tuple[ProviderHealth, ...]:
        """How the providers in use stand."""
        return self._tally.healths(self.accounts, self.shown_at)

    def subscribe(self, listener: MessagePump) -> None:
        """Post `Changed`, `Ticked`, `HealthChanged` and `PauseChanged` to `listener` as long as it runs."""
        self._listeners.append(listener)

    def overhear(self, listener: Callable[[BrokerNews, Mapping[str, Operation]], None]) -> None:
        """Call `listener` with each telling of the store and the operations as they are, while repainting is paused too."""
        self._overhearing.append(listener)

    # ---- the store ------------------------------------------------------------------------------------------------------
    async def run(self) -> None:
        """Read everything once, then follow the store until cancelled."""
        await self._broker.load()
        self.is_loaded = True
        self._hear(BrokerNews(frozenset(self._broker.operations), frozenset(self._broker.accounts), is_reload=True))
        stop = self._broker.listen(self._hear)
        try:
            await self._broker.run()
        finally:
            stop()

    def _hear(self, news: BrokerNews) -> None:
        for overhear in self._overhearing:
            overhear(news, self._broker.operations)
        self._waiting |= news.operation_ids
        self._waiting_accounts |= news.account_keys
        self._is_reload_waiting |= news.is_reload
        if self.is_paused:
            waiting = len(self._waiting)
            self._tell(lambda: PauseChanged(is_paused=True, waiting=waiting))
        else:
            self._apply()

    def _apply(self) -> None:
        """Take over what changed, then tell."""
        ids, accounts, is_reload = frozenset(self._waiting), frozenset(self._waiting_accounts), self._is_reload_waiting
        self._waiting, self._waiting_accounts, self._is_reload_waiting = set(), set(), False
        if is_reload:
            ids |= self.operations.keys()
        now = self._broker.operations
        for operation_id in [*now, *(self.operations.keys() - now.keys())] if is_reload else ids:  # kept in the store's order
            self._take(operation_id, now.get(operation_id))
        if accounts or is_reload:
            self.accounts = dict(self._broker.accounts)
        self._tell(lambda: Changed(ids, accounts, is_reload=is_reload))

    def _take(self, operation_id: str, op: Operation | None) -> None:
        self._tally.take(self.operations.get(operation_id), op)
        if op is None:
            self.operations.pop(operation_id, None)
            self.asking.discard(operation_id)
            self._snoozed.discard(operation_id)
            return
        self.operations[operation_id] = op
        is_asking = item_since(op) is not None
        (self.asking.add if is_asking else self.asking.discard)(operation_id)
        is_resting = is_asking and op.attention.snoozed_until is not None
        (self._snoozed.add if is_resting else self._snoozed.discard)(operation_id)
        if op.last_http_at is not None and (self.polled_at is None or op.last_http_at > self.polled_at):
            self.polled_at = op.last_http_at

    # ---- time -----------------------------------------------------------------------------------------------------------
    def tick(self) -> None:
        """A second passed: tell the time, and whether a worker is alive. Reads no documents."""
        health = self._desk.health()
        if health != self.health:
            self.health = health
            self._tell(lambda: HealthChanged(health))
        now = self.now()
        self._tell(lambda: Ticked(now))

    def toggle_pause(self) -> None:
        """Stop taking changes over, or take over all that wait."""
        self.is_paused = not self.is_paused
        self._paused_at = self.now() if self.is_paused else None
        is_paused = self.is_paused
        self._tell(lambda: PauseChanged(is_paused=is_paused, waiting=0))
        if not self.is_paused:
            self._apply()

    def tell_decided(self, operation_ids: Iterable[str]) -> None:
        """What a person here chose for these operations was taken."""
        ids = frozenset(operation_ids)
        self._tell(lambda: Decided(ids))

    def _tell(self, make: Callable[[], Message]) -> None:
        """A message of its own for each listener: Textual keeps in it who has handled it."""
        self._listeners = [each for each in self._listeners if each.is_running]
        for each in self._listeners:
            each.post_message(make())
