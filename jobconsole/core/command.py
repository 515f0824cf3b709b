"""Commands: how the core changes what the store holds (STORE 5).

Only this file decides what a command may see and return. A command is a pure function that a store runs on fresh, locked
documents: no await, no clock, no randomness; it may run twice and keeps nothing. The commands themselves are in `commands/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from jobconsole.core.events import EventDraft

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment by both clocks: the one time that a command sees. `up` is the boot clock in ms, `boot` names the boot."""

    wall: datetime
    up: int
    boot: str


class View(Protocol):
    """What a command sees: frozen documents of its scope and the store's time. May run twice, keeps nothing."""

    @property
    def now(self) -> Moment:
        """The store's time, one for the batch."""

    def get(self, table: str, key: str) -> Mapping[str, Any] | None:
        """A document named by the scope, or None."""

    def find(self, provider: str, account: str, job_id: str) -> Sequence[Mapping[str, Any]]:
        """Operations of one external job, ended ones included (needs `Scope.job`)."""

    def with_fingerprint(self, fingerprint: str) -> Sequence[Mapping[str, Any]]:
        """Operations with this request fingerprint, ended ones included (needs `Scope.fingerprint`)."""

    def live_leases(self, account_key: str) -> int:
        """Leases and claims of the account that have not ended: its slots in use."""

    def held_operations(self, account_key: str) -> Sequence[str]:
        """Ids of the account's operations that have not ended, nearest deadline first."""

    def is_dead(self, owner: str) -> bool:
        """True where the owner is known to be gone (its worker lock can be taken): its lease need not be waited for."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Documents that a command may read and write, all named beforehand."""

    operations: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    deliveries: tuple[str, ...] = ()
    job: tuple[str, str, str] | None = None  # provider, account, job id
    fingerprint: str | None = None
    creating: bool = False


@dataclass(frozen=True, slots=True)
class Plan(Generic[R_co]):
    """What a command wants written, all or nothing, and what its caller is told. No events: nothing to write."""

    events: tuple[EventDraft, ...]
    result: R_co


@dataclass(frozen=True, slots=True)
class Refusal:
    """A command's "no": `why` is stable, `text` says what happened instead. `events` (evidence only) are still written."""

    why: str
    text: str
    events: tuple[EventDraft, ...] = ()


Command: TypeAlias = Callable[[View], "Plan[R] | Refusal"]
CommandKind: TypeAlias = Literal["create", "reserve", "record"]
