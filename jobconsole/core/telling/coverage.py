"""How long a budget's checks will last, and what may end before the deadline (X14).

Only this file decides that, from a contract and a budget alone: pure arithmetic before anything was asked. `submit`, `track`
and `provider check` say what it finds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta

from jobconsole.core.contracts.contract import Contract, Schedule
from jobconsole.core.deciding.schedule import seconds
from jobconsole.core.durations import duration_text
from jobconsole.core.telling.wording import counted


@dataclass(frozen=True, slots=True)
class Coverage:
    """`checks_last`: from the start to the last check, at mean delays, where the provider never asks for another pace."""

    checks_last: timedelta
    deadline: timedelta
    status_requests: int
    warnings: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """`12 checks last about 14m20s of the 40m until the deadline`."""
        last, whole = duration_text(_rounded(self.checks_last)), duration_text(self.deadline)
        return f"{counted(self.status_requests, 'check')} last about {last} of the {whole} until the deadline"


def coverage(contract: Contract, deadline: timedelta | None = None, status_requests: int | None = None) -> Coverage:
    """What a wait with this budget covers; the contract's own figures where none are given."""
    until = contract.budget.deadline if deadline is None else deadline
    requests = contract.budget.status_requests if status_requests is None else status_requests
    last = _checks_last(contract, until, requests)
    found = Coverage(min(last, until), until, requests, ())
    said = [f"{found.sentence}; then a person is asked, unless the provider asks for longer waits"] if last < until else []
    for what, lasts in _lifetimes(contract):
        if lasts is not None and lasts < until:
            said.append(f"{what} after {duration_text(lasts)}, before the deadline of {duration_text(until)}")
    return Coverage(found.checks_last, until, requests, tuple(said))


def _lifetimes(contract: Contract) -> tuple[tuple[str, timedelta | None], ...]:
    return (
        ("the provider deletes the result", contract.result.retention),
        ("the result's URL expires", contract.result.url_lifetime),
        ("the provider forgets the job", contract.http.not_found.expired_after),
    )


def _checks_last(contract: Contract, until: timedelta, requests: int) -> timedelta:
    """The sum of the delays before each check; a contract that confirms keeps one request for that (X24)."""
    checks = requests - 1 if contract.confirm is not None and requests > 1 else requests
    if contract.schedule.spread:
        return until
    low, high = contract.schedule.jitter
    lasts = seconds(_raw_sum(contract.schedule, checks) * (low + high) / 2)
    most, least = contract.hints.max_interval, contract.hints.min_interval
    if most is not None:
        lasts = min(lasts, seconds(checks * most.total_seconds()))
    return max(lasts, seconds(checks * least.total_seconds()))


def _raw_sum(schedule: Schedule, checks: int) -> float:
    """The sum of min(max, base x factor**n) for n from 0 to checks - 1, in seconds, in closed form."""
    base, most, factor = schedule.base.total_seconds(), schedule.max.total_seconds(), schedule.factor
    if base >= most:
        return checks * most
    if factor <= 1:
        return checks * base
    growing = min(checks, math.ceil(math.log(most / base) / math.log(factor)))
    if growing * math.log(factor) > 700:  # e**700 is near the end of what a float holds
        return checks * most
    return base * (factor**growing - 1) / (factor - 1) + (checks - growing) * most


def _rounded(duration: timedelta) -> timedelta:
    """Whole seconds from a second on: more would be false precision."""
    return timedelta(seconds=round(duration.total_seconds())) if duration >= timedelta(seconds=1) else duration
