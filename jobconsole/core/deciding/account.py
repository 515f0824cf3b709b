"""The account governor: one budget per account, not per job (SPEC B9).

Only this file decides how a bucket refills, what holds an account back, and when the next request of it may leave.
`reservation.py` takes tokens inside its own transaction, `recording.py` reports holds and rate-limit headers. Amounts are
whole micro-tokens on the boot clock, so that reservations in any interval W are at most burst + rate x W (STORE 4, G1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from jobconsole.core.command import Moment
from jobconsole.core.judging.answer import RateLimit
from jobconsole.core.operation import Value
from jobconsole.core.vocabulary import DelaySource

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import AccountLimits

TOKEN = 1_000_000  # micro-tokens
HOUR = timedelta(hours=1)


class Denied(Value, frozen=True, kw_only=True):
    """Credentials of the account were refused: one escalation for all operations that use the same one (B11)."""

    since: datetime
    http_status: int | None = None
    carriers: dict[str, str | None] = msgspec.field(default_factory=dict)
    """By refused credential ("" is the contract's own) the operation that asks about it; null where nobody does."""


class Account(Value, frozen=True, kw_only=True):
    """What one account may still send, and what it has spent."""

    account_key: str
    account: str
    rate: int | None = None  # micro-tokens per ms; null: no bucket
    burst: int = 0  # micro-tokens
    max_concurrent: int | None = None
    level: int = 0
    level_up: int = 0
    level_boot: str = ""
    hold_since_at: datetime | None = None  # for people; never compared
    hold_until_at: datetime | None = None
    hold_until_up: int = 0
    hold_boot: str = ""
    denied: Denied | None = None
    remote: RateLimit | None = None
    spacing_ms: int = 0  # between requests while the provider's quota is nearly empty
    last_up: int = 0  # boot clock of the last reservation
    spent: int = 0
    hour_at: datetime | None = None  # start of the hour that `spent_this_hour` counts
    spent_this_hour: int = 0
    silences_ms: tuple[int, ...] = ()  # longest ones of its last finished jobs (`stall.py`)


@dataclass(frozen=True, slots=True)
class Blocked:
    """Why the account may not send now, and when to look again (None: when somebody acts)."""

    source: DelaySource
    until: datetime | None


def account(doc: Mapping[str, Any]) -> Account:
    """The account that a document describes."""
    return msgspec.convert({k: v for k, v in doc.items() if v is not None}, Account)


def opened(existing: Mapping[str, Any] | None, key: str, name: str, limits: AccountLimits, now: Moment) -> Account:
    """The account as the contract bounds it now: a new one starts full, a new boot at 0, limits follow the contract."""
    rate = None if limits.per_minute is None else int(limits.per_minute * TOKEN / 60_000)
    burst = 0 if limits.per_minute is None else int(max(1.0, limits.per_minute / 6) * TOKEN)
    bounds = {"rate": rate, "burst": burst, "max_concurrent": limits.max_concurrent}
    if existing is None:
        new = Account(account_key=key, account=name, level=burst, level_up=now.up, level_boot=now.boot)
        return replace(new, **bounds)
    return replace(_refilled(account(existing), now), **bounds)


def _refilled(acc: Account, now: Moment) -> Account:
    if acc.rate is None:
        return acc
    same_boot = acc.level_boot == now.boot  # another one: empty when the machine started, so nothing need be written to fill it
    level, since_up = (acc.level, acc.level_up) if same_boot else (0, 0)
    level = min(acc.burst, level + max(0, now.up - since_up) * acc.rate)
    return replace(acc, level=level, level_up=max(now.up, since_up), level_boot=now.boot)


def held_until(acc: Account, now: Moment) -> datetime | None:
    """When the provider's hold ends, by the later of both clocks; None where nothing is held (B2)."""
    ends = []
    if acc.hold_until_at is not None and acc.hold_until_at > now.wall:
        ends.append(acc.hold_until_at)
    if acc.hold_boot == now.boot and acc.hold_until_up > now.up:
        ends.append(now.wall + timedelta(milliseconds=acc.hold_until_up - now.up))
    return max(ends, default=None)


def is_denied(acc: Account, credential: str | None) -> bool:
    """Whether this credential was refused; None is the contract's own. One that a person switched to stands for itself."""
    return acc.denied is not None and (credential or "") in acc.denied.carriers


def carrier(acc: Account, credential: str | None) -> str | None:
    """The operation that asks about this refused credential; None where nobody does."""
    return None if acc.denied is None else acc.denied.carriers.get(credential or "")


def refused(acc: Account, now: Moment, operation_id: str, credential: str | None, http_status: int | None) -> Account:
    """The account after this credential was refused: who carries the escalation goes on carrying it (B11)."""
    before = acc.denied or Denied(since=now.wall, http_status=http_status)
    carriers = {**before.carriers, credential or "": carrier(acc, credential) or operation_id}
    return replace(acc, denied=replace(before, carriers=carriers))


def mended(acc: Account, credential: str | None) -> Account:
    """The account after this credential was accepted: what else was refused stays so."""
    if acc.denied is None:
        return acc
    left = {name: carrier_id for name, carrier_id in acc.denied.carriers.items() if name != (credential or "")}
    return replace(acc, denied=replace(acc.denied, carriers=left) if left else None)


def blocked(
    acc: Account, now: Moment, live_leases: int, credential: str | None = None, *, is_probe: bool = False
) -> Blocked | None:
    """What keeps the account from sending now; None where a token and a slot are free. A probe may try a refused credential."""
    if is_denied(acc, credential) and not is_probe:
        return Blocked(DelaySource.ACCOUNT_HOLD, None)
    until = held_until(acc, now)
    if until is not None:
        return Blocked(DelaySource.ACCOUNT_HOLD, until)
    if acc.max_concurrent is not None and live_leases >= acc.max_concurrent:
        return Blocked(DelaySource.ACCOUNT_LIMIT, now.wall + timedelta(milliseconds=250))
    acc = _refilled(acc, now)
    wait_ms = 0
    if acc.rate is not None and acc.level < TOKEN:
        wait_ms = -((acc.level - TOKEN) // max(acc.rate, 1))
    if acc.spacing_ms and acc.level_boot in ("", now.boot):
        wait_ms = max(wait_ms, acc.last_up + acc.spacing_ms - now.up)
    return Blocked(DelaySource.ACCOUNT_LIMIT, now.wall + timedelta(milliseconds=wait_ms)) if wait_ms > 0 else None


def charged(acc: Account, now: Moment) -> Account:
    """The account after one request was reserved from it."""
    acc = _refilled(acc, now)
    hour = now.wall.replace(minute=0, second=0, microsecond=0)
    in_hour = acc.spent_this_hour if acc.hour_at == hour else 0
    level = acc.level - TOKEN if acc.rate is not None else acc.level
    return replace(acc, level=level, last_up=now.up, spent=acc.spent + 1, hour_at=hour, spent_this_hour=in_hour + 1)


def held(acc: Account, now: Moment, delay: timedelta) -> Account:
    """The account held back for `delay`; holds only grow (B9)."""
    at, up = now.wall + delay, now.up + -(-delay // timedelta(milliseconds=1))
    same_boot = acc.hold_boot == now.boot
    return replace(
        acc,
        hold_since_at=acc.hold_since_at if held_until(acc, now) is not None else now.wall,
        hold_until_at=max(at, acc.hold_until_at or at),
        hold_until_up=max(up, acc.hold_until_up) if same_boot else up,
        hold_boot=now.boot,
    )


def informed(acc: Account, now: Moment, rate: RateLimit | None) -> Account:
    """The account after rate-limit headers: empty holds to the reset, under a tenth spaces what is left (B9)."""
    if rate is None:
        return acc
    acc = replace(acc, remote=rate, spacing_ms=0)
    if rate.remaining is None or rate.reset_seconds is None:
        return acc
    if rate.remaining == 0:
        return held(acc, now, timedelta(seconds=rate.reset_seconds))
    if rate.limit and rate.remaining * 10 < rate.limit:
        return replace(acc, spacing_ms=int(rate.reset_seconds * 1000 / rate.remaining))
    return acc


def has_rate(acc: Account, now: datetime) -> bool:
    """Whether this hour says how fast requests are spent: some were, and not in its first minute."""
    return acc.hour_at is not None and timedelta(minutes=1) <= now - acc.hour_at < HOUR and acc.spent_this_hour > 0


def empty_at(acc: Account, per_hour: int, now: datetime) -> datetime | None:
    """When `per_hour` requests are spent if this hour goes on as it went so far (B9).

    None where they last for the hour, and in its first minute, which says nothing yet.
    """
    if acc.hour_at is None or not has_rate(acc, now):
        return None
    at = acc.hour_at + (now - acc.hour_at) * (per_hour / acc.spent_this_hour)
    return max(at, now) if at < acc.hour_at + HOUR else None
