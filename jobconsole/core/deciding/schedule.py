"""When the next check may be: backoff, provider guidance, minimums, final check (SPEC B5-B8, B13, B14, X2-X5).

Only this file decides delays. `decide.py` calls `plan` after every answer that leaves an operation waiting; the random draw is
an argument, so a replay gives the same plan. All delays are `timedelta` or seconds as named, all moments aware UTC datetimes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.operation import Operation, deadline
from jobconsole.core.vocabulary import DelaySource

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Contract, Schedule

MAX_DELAY = timedelta(days=3650)  # no sum with a datetime overflows, whatever a provider says (B18)
EXPIRY_TOLERANCE = timedelta(seconds=60)  # CONTRACT, order of evaluation, step 12
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """When the next check is (None: none fits before the deadline) and why."""

    at: datetime | None
    source: DelaySource
    hint_rejected: str = ""  # why the provider's hint was not obeyed


def seconds(value: float) -> timedelta:
    """`value` seconds, between 0 and ten years."""
    return min(timedelta(seconds=min(max(value, 0.0), MAX_DELAY.total_seconds())), MAX_DELAY)


def backoff(attempt: int, schedule: Schedule, draw: float, base: timedelta | None = None) -> timedelta:
    """The local delay after `attempt` finished checks: uniform in jitter x min(max, base x factor**attempt) (B6).

    `draw` lies in [0, 1). No attempt number overflows (B18).
    """
    first, most = (base or schedule.base).total_seconds(), schedule.max.total_seconds()
    if first <= 0:
        return timedelta(0)
    growth = attempt * math.log(schedule.factor) if schedule.factor > 1 else 0.0
    raw = most if growth > math.log(most / first) + 1e-9 else min(most, first * schedule.factor**attempt)
    low, high = schedule.jitter
    return seconds(raw * (low + (high - low) * draw))


def local_delay(op: Operation, contract: Contract, now: datetime, draw: float) -> timedelta:
    """Our own delay: backoff, at least half of what remains of an estimate (X3), stretched where the contract spreads (X14)."""
    base = timedelta(milliseconds=op.base_delay_ms) if op.base_delay_ms else None
    delay = backoff(max(op.attempts, 0), contract.schedule, draw, base)
    if contract.schedule.spread:
        planned_for_confirm = 1 if contract.confirm is not None else 0  # X24
        left = op.max_status_requests - op.status_requests_used - planned_for_confirm
        delay = max(delay, (deadline(op) - now) / max(left, 1))
    if op.estimated_seconds:
        remaining = op.started_at + seconds(op.estimated_seconds) - now
        delay = max(delay, remaining / 2)
    if contract.hints.max_interval is not None:
        delay = min(delay, contract.hints.max_interval)
    return delay


def final_check_at(op: Operation, contract: Contract) -> datetime:
    """Just before the deadline: early enough for one whole request and a second to spare (X5)."""
    return deadline(op) - contract.status.timeout - SECOND


def guidance(seen: Observation, draw: float) -> timedelta | None:
    """A valid positive Retry-After, spread over [r, r + min(0.1 r, 2 s)]; it is a minimum and never cut (B7)."""
    if not seen.retry_after_s:
        return None
    spread = min(0.1 * seen.retry_after_s, 2.0) * draw
    return seconds(seen.retry_after_s + spread)


def plan(
    op: Operation, contract: Contract, seen: Observation, now: datetime, draw: float, held: datetime | None = None
) -> CheckPlan:
    """The next check of an operation that goes on waiting.

    Guidance or a positive hint replaces the local delay; then the latest of all minimums decides and is the source (X2). Past
    the deadline the check is placed just before it, where no minimum of the provider's forbids that (B13, X5).
    """
    rejected = ""
    chosen: list[tuple[datetime, DelaySource]] = []
    minimums: list[tuple[datetime, DelaySource]] = []
    asked = guidance(seen, draw)
    if asked is not None:
        chosen.append((now + asked, DelaySource.PROVIDER_RETRY_AFTER))
        minimums.append((now + seconds(seen.retry_after_s or 0), DelaySource.PROVIDER_RETRY_AFTER))
    if seen.hint_s:
        hint, spread = seconds(seen.hint_s), seconds(seen.hint_s * (1 + 0.1 * draw))
        if contract.hints.max_interval is not None:
            hint, spread = min(hint, contract.hints.max_interval), min(spread, contract.hints.max_interval)
        if now + hint >= deadline(op):
            rejected = "beyond the operation's deadline"
        else:
            chosen.append((now + spread, DelaySource.PROVIDER_POLL_HINT))
            minimums.append((now + hint, DelaySource.PROVIDER_POLL_HINT))
    if not chosen:
        chosen.append((now + _own_delay(op, contract, seen, now, draw), _own_source(op, seen)))
    if contract.hints.min_interval:
        minimums.append((now + contract.hints.min_interval, DelaySource.MIN_INTERVAL))
    if op.not_before is not None and op.not_before.at > now:
        minimums.append((op.not_before.at, op.not_before.source))
    if held is not None:
        minimums.append((held, DelaySource.ACCOUNT_HOLD))
    earliest = max(minimums, default=(now, DelaySource.LOCAL_BACKOFF))
    at, source = max([*chosen, *minimums], key=lambda item: item[0])
    at, source = _after_expiry(op, now, at, source, earliest[0])
    return CheckPlan(*_before_deadline(op, contract, now, at, source, earliest[0]), hint_rejected=rejected)


def _own_delay(op: Operation, contract: Contract, seen: Observation, now: datetime, draw: float) -> timedelta:
    """The local delay; after a 429 without guidance four times as long, doubled for each further one in a row (B8, X4)."""
    delay = local_delay(op, contract, now, draw)
    if seen.call_error is CallError.RATE_LIMITED:
        doubled = min(max(op.rate_limits_in_a_row - 1, 0), 40)
        return seconds(delay.total_seconds() * 4 * 2.0**doubled)
    return delay


def _own_source(op: Operation, seen: Observation) -> DelaySource:
    """A 404 that was not counted came within the contract's grace (C7)."""
    is_grace = seen.call_error is CallError.NOT_FOUND and op.not_found_in_a_row == 0
    return DelaySource.NOT_FOUND_GRACE if is_grace else DelaySource.LOCAL_BACKOFF


def _after_expiry(
    op: Operation, now: datetime, at: datetime, source: DelaySource, earliest: datetime
) -> tuple[datetime, DelaySource]:
    """One check follows right after the provider's own expiry, as soon as its answer can decide (B14)."""
    if op.provider_expires_at is None:
        return at, source
    after = op.provider_expires_at + EXPIRY_TOLERANCE + SECOND
    return (after, source) if now < after < at and earliest <= after else (at, source)


def _before_deadline(
    op: Operation, contract: Contract, now: datetime, at: datetime, source: DelaySource, earliest: datetime
) -> tuple[datetime | None, DelaySource]:
    if at < deadline(op):
        return at, source
    final = final_check_at(op, contract)
    if final > now and final >= earliest:
        return final, DelaySource.FINAL_CHECK
    return None, source
