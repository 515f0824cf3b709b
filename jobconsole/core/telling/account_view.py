"""What all front ends show of an account: what was spent of what, by whom, when it is empty, what holds it back (B9, B11).

Only this file decides that, as JSON values with the words beside the numbers; command line, dashboard and notebook take them
from here. No secret is in here, only references (C13).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jobconsole.core.deciding.account import HOUR, Account, empty_at, has_rate
from jobconsole.core.denial import carries
from jobconsole.core.operation import Operation
from jobconsole.core.telling.views import View, stamp
from jobconsole.core.telling.wording import clock_text

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Contract


def account_view(
    account: Account, now: datetime, operations: Iterable[Operation] = (), contract: Contract | None = None
) -> View:
    """The JSON of an account; `spent_by` tells of those of `operations` that are its own.

    `text` is `312 of 5,000 this hour; at this rate empty 14:20 UTC` where a contract of the account bounds its requests per
    minute, else `312 this hour`; `lasts` says that they are enough for this hour as it went so far. `standing` is what holds
    the account back, in words; empty where nothing does.
    """
    spent = account.spent_this_hour if account.hour_at is not None and now - account.hour_at < HOUR else 0
    per_minute = contract.limits.per_minute if contract is not None else None
    per_hour = round(per_minute * 60) if per_minute is not None else None
    empty = empty_at(account, per_hour, now) if per_hour is not None else None
    mine = [op for op in operations if op.account_key == account.account_key]
    is_held = account.hold_until_at is not None and account.hold_until_at > now
    return {
        "account_key": account.account_key,
        "account": account.account,
        "text": _spending(spent, per_hour, empty),
        "standing": _standing(account, now),
        "spent_this_hour": spent,
        "per_hour": per_hour,
        "empty_at": stamp(empty),
        "lasts": per_hour is not None and empty is None and has_rate(account, now),
        "spent": account.spent,
        "max_concurrent": account.max_concurrent,
        "remote": _remote(account),
        "spacing_seconds": account.spacing_ms / 1_000,
        "held_since": stamp(account.hold_since_at) if is_held else None,
        "held_until": stamp(account.hold_until_at) if is_held else None,
        "denied": _denied(account, mine),
        "spent_by": [
            {"operation_id": op.operation_id, "name": op.name, "status_requests_used": op.status_requests_used}
            for op in sorted(mine, key=lambda op: (-op.status_requests_used, op.operation_id))
        ],
    }


def _spending(spent: int, per_hour: int | None, empty: datetime | None) -> str:
    of = f" of {per_hour:,}" if per_hour is not None else ""
    ends = f"; at this rate empty {empty.astimezone(UTC):%H:%M} UTC" if empty is not None else ""
    return f"{spent:,}{of} this hour{ends}"


def _standing(account: Account, now: datetime) -> str:
    """A refused credential comes first: no waiting mends it."""
    if account.denied is not None:
        return f"credential refused since {clock_text(account.denied.since, now)} UTC"
    if account.hold_until_at is not None and account.hold_until_at > now:
        return f"held until {clock_text(account.hold_until_at, now)} UTC"
    return ""


def _denied(account: Account, operations: Sequence[Operation]) -> View | None:
    """Since when the credential is refused, and which operation asks about it."""
    denied = account.denied
    if denied is None:
        return None
    asks = (op.operation_id for op in operations if any(carries(op, credential) for credential in denied.carriers))
    return {"since": stamp(denied.since), "http_status": denied.http_status, "operation_id": next(asks, None)}


def _remote(account: Account) -> View | None:
    """What the provider's rate-limit headers said last; its window is the provider's own, so no hour is named."""
    rate = account.remote
    if rate is None:
        return None
    is_known = rate.limit is not None and rate.remaining is not None
    used = max(0, rate.limit - rate.remaining) if rate.limit is not None and rate.remaining is not None else None
    return {
        "limit": rate.limit,
        "remaining": rate.remaining,
        "reset_seconds": rate.reset_seconds,
        "text": f"the provider counts {used:,} of {rate.limit:,}" if is_known else None,
    }
