"""The seams: what the engine needs from a store, a transport, a gate, secrets and a clock (STORE 5).

Only this file decides what an adapter must fulfil. The engine and the front ends see these; adapters implement them; one
contract suite in the tests runs on every store.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from jobconsole.core.command import Command, CommandKind, Moment, Plan, Refusal, Scope, View
from jobconsole.core.contracts.http_request import HttpRequest
from jobconsole.core.events import Key

if TYPE_CHECKING:  # whoever only looks needs the seams, not all that goes through them
    from jobconsole.core.contracts.contract import Contract
    from jobconsole.core.judging.answer import Answer
    from jobconsole.core.keeping.archive import Archived
    from jobconsole.core.keeping.chain import Verification
    from jobconsole.core.operation import Operation
    from jobconsole.core.telling.notice import Notice
    from jobconsole.errors import ContractInvalid

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
StoreTime: TypeAlias = Moment

__all__ = [
    "Change",
    "Clock",
    "Command",
    "CommandKind",
    "Contracts",
    "Due",
    "Gate",
    "Head",
    "HttpRequest",
    "Moment",
    "Notifier",
    "Plan",
    "Reach",
    "Receipt",
    "Refusal",
    "Retention",
    "Scope",
    "Secrets",
    "Sent",
    "Store",
    "StoreHealth",
    "StoreTime",
    "Transport",
    "View",
    "WorkerInfo",
]


# ---- the clock ----------------------------------------------------------------------------------------------------------
class Clock(Protocol):
    """Wall clock, boot clock and sleeping; store, engine and gate get the same one."""

    @property
    def boot_id(self) -> str:
        """Names this boot of the machine; boot clocks of different boots do not compare."""

    def wall(self) -> datetime:
        """Aware UTC time; may jump."""

    def up_ms(self) -> int:
        """Milliseconds since boot, suspend included; never goes back within one boot."""

    async def sleep_until(self, up_ms: int) -> None:
        """Return when `up_ms()` has reached the given value."""


@dataclass(frozen=True, slots=True)
class Receipt(Generic[R_co]):
    """What became durable. `asked_up` is the caller's own boot clock, taken before the store was asked."""

    result: R_co
    seqs: tuple[int, ...]
    asked_up: int


@dataclass(frozen=True, slots=True)
class Due:
    """A hint that an operation is to be looked at; never a permission."""

    operation_id: str
    account_key: str
    due_at: datetime
    deadline_at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """Committed changes, in commit order. `reload` means: something was missed, read everything again."""

    cursor: int
    keys: tuple[Key, ...] = ()
    reload: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """The durable head of one chain."""

    chain: str
    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker as others see it."""

    worker_id: str
    label: str  # "run", "wait", "demo", ...: what kind of process it lives in
    pid: int
    started_at: datetime


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """Whether the store can be written, or why not; who lives; what was repaired or is missing.

    `damage` names the place where something acknowledged is missing or changed, as far as a look at the end can tell.
    """

    is_writable: bool
    why_not: str = ""
    damage: str = ""
    workers: tuple[WorkerInfo, ...] = ()
    lock_holder: str = ""
    sync_ms: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retention:
    """How long ended operations stay live and deliveries are remembered.

    With more than `most_ended`, the oldest leave before their time. Nothing leaves within 96 hours of its end.
    """

    ended: timedelta = timedelta(days=7)
    most_ended: int = 5_000
    deliveries: timedelta = timedelta(hours=76)


class Store(Protocol):
    """The durable truth. Commands of one store are serial per document; each sees all earlier commits of its scope.

    Checked on paper against PostgreSQL (STORE 6): a scope names every row that a command locks (operations by id, then
    accounts, actions, deliveries); `live_leases`, `held_operations`, `due` and `next_due` are indexed queries under those
    locks; a cursor is the xid of the last transaction read, and a transaction is never split between two changes; `peek` is
    what this process read last, kept fresh by NOTIFY; `announce` and `is_dead` are a session's advisory lock; `verify` goes
    chain by chain.
    """

    async def transact(self, scope: Scope, command: Command[R], *, kind: CommandKind) -> Receipt[R] | Refusal:
        """Run `command` on fresh, locked documents; return when its events are durable, all or none."""

    async def get(self, operation_id: str) -> Operation | None:
        """The operation as last seen, live or archived; a hint, never a permission."""

    async def archived(self, operation_id: str) -> Archived | None:
        """The operation with its actions as it was archived; None where it is live or unknown."""

    async def archive(self) -> Sequence[Archived]:
        """Everything that was archived; read when asked for, as a whole."""

    async def rebuild_archive(self) -> int:
        """Make the archive anew from the journal; returns how many operations the journal has archived."""

    def peek(self, table: str, key: str) -> Mapping[str, Any] | None:
        """Any document as last seen in this process's memory, without waiting: what the gate looks at (STORE 4)."""

    async def document(self, table: str, key: str) -> Mapping[str, Any] | None:
        """Any document as last seen (accounts, actions, deliveries); a hint."""

    async def documents(self, table: str) -> Sequence[Mapping[str, Any]]:
        """All documents of a table as last seen, oldest first."""

    async def due(self, until: datetime, limit: int, *, skip: Collection[str] = ()) -> Sequence[Due]:
        """Operations to look at by `until` without a valid lease, nearest deadline first; a hint.

        Offers none of an account that is held, of a refused credential only probes, of an account no more than it has slots
        free, and none of the account keys in `skip`: those that have no token left right now. What has passed its deadline, or
        another bound that a look books, is offered always.
        """

    async def next_due(self, *, skip: Collection[str] = ()) -> datetime | None:
        """When the earliest planned look is, so that a worker can sleep until then; None where nothing is planned."""

    async def in_flight(self, **where: str) -> Sequence[Operation]:
        """Every operation that has not ended (S6), oldest first; `where` compares fields of the document."""

    async def operations(self) -> Sequence[Operation]:
        """Every live operation, ended ones included, oldest first."""

    async def find(self, provider: str, account: str, job_id: str) -> Sequence[Operation]:
        """Operations of one external job, ended and archived ones included."""

    def cursor(self) -> int:
        """How far the changes seen by now go: `changes(after=cursor)` tells what comes behind them. In the folder a `seq`.

        Syncs nothing and waits for nothing; what it counts may not be durable yet, unlike `heads`.
        """

    def changes(self, after: int | None = None) -> AsyncIterator[Change]:
        """Committed changes of all processes, in commit order; a gap is a `Change` with `reload`."""

    def events(self, operation_id: str | None = None, after: int | None = None) -> AsyncIterator[bytes]:
        """Stored lines, verbatim, in chain order; `after` is a `seq`."""

    async def blocks(self) -> Iterable[bytes]:
        """The whole audit as it is now: stored lines, verbatim, many at a time; iterating may read files."""

    async def verify(self) -> Verification:
        """Verify the stored lines against the anchors and the live records (L3, L7)."""

    async def heads(self) -> Sequence[Head]:
        """Durable chain heads: one in the folder, one per operation in PostgreSQL."""

    async def anchor(self) -> Head:
        """Write the durable head down outside the log (L7)."""

    async def maintain(self, keep: Retention) -> None:
        """Checkpoint, anchor, archive what ended long ago, forget deliveries; cheap when nothing is due."""

    async def keep_contract(self, digest: str, text: str) -> None:
        """Keep a copy of a contract, durable before the operation that names it is written (X13)."""

    async def contract_text(self, digest: str) -> str | None:
        """The kept copy, or None."""

    def announce(self, worker: WorkerInfo) -> AbstractAsyncContextManager[None]:
        """Be seen as a living worker while inside (X19); nothing is written per heartbeat."""

    def health(self) -> StoreHealth:
        """Writable or why not, living workers, lock holder, sync time, what was repaired or is missing."""

    async def close(self) -> None:
        """Finish queued commands, checkpoint, give up the handle."""


class Contracts(Protocol):
    """Where contracts come from: the catalogue of built-in ones, packages, the store's folder, files named by the caller."""

    def get(self, name: str) -> Contract:
        """The contract of this provider. Raises `UnknownProvider` (with the nearest names) or `ContractInvalid`."""

    def names(self) -> Sequence[str]:
        """All provider names, sorted."""

    def all(self) -> Sequence[Contract | ContractInvalid]:
        """Every contract, or the reason why one was refused, by name."""


# ---- the transport ------------------------------------------------------------------------------------------------------
class Gate(Protocol):
    """The last check, directly before the first byte of a request (STORE 4). One gate belongs to one reservation."""

    def __call__(self) -> None:
        """Return once, or raise `Withheld`: then nothing is sent."""


class Transport(Protocol):
    """Sends one request, once: no repeat, no redirect, no cookies (STORE 4)."""

    async def send(self, request: HttpRequest, gate: Gate, *, fresh: bool = False) -> Answer:
        """Send and read the whole answer, or raise.

        Raises `Withheld` (from the gate: nothing sent), `PeerClosedIdle` (reused connection; `fresh=True` asks for a new
        one), `TransportFault`, `CertificateFault`, `HostRefused`, `SecretMissing` (before anything is sent).
        """

    def credential_changed(self, request: HttpRequest) -> bool:
        """Read the reference again: is its value another than the one last sent for it (B11)?"""

    async def close(self) -> None:
        """Close all connections."""


# ---- telling people ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Reach:
    """By which channels people can be told right now, each named by its scheme (`slack`), and why not by the others."""

    channels: tuple[str, ...]
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """Whether one channel took a message (None: nobody knows), and what was wrong where it did not; no secret is in it."""

    channel: str
    is_taken: bool | None
    detail: str = ""


class Notifier(Protocol):
    """Sends messages to people, by every channel that was configured. Nothing that a channel does is raised."""

    async def reach(self) -> Reach:
        """Look at the channels, sending nothing."""

    async def send(self, notice: Notice) -> Sequence[Sent]:
        """Send one message by every channel, once, and return within a bounded time what became of it."""


class Secrets(Protocol):
    """Turns a reference (`env:NAME`, `keyring:service/user`, `file:path`) into a value, anew at each read (C13)."""

    def read(self, reference: str) -> str:
        """The value. Raises `SecretMissing`, which names the reference only."""
