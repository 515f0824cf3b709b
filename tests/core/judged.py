"""What follows from an answer, for tests of `decide.py`: tally first, then decide, as `recording.py` does."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.decide import Decision, decide, tallied
from jobconsole.core.judging.answer import Observation
from jobconsole.core.operation import Operation
from tests.core.sample_contract import sample
from tests.core.sample_facts import moment, operation


def concluded(
    seen: Observation,
    contract: Contract | None = None,
    *,
    now: float = 100,
    held: datetime | None = None,
    is_confirm: bool = False,
    **fields: Any,
) -> Decision:
    """What `seen` leads to, after it was tallied on an operation with these fields (one request is used)."""
    contract = contract or sample()
    op = tallied(operation(**({"status_requests_used": 1} | fields)), seen, contract, moment(now), is_confirm=is_confirm)
    return decide(op, seen, contract, moment(now), 0.0, held, is_confirm=is_confirm)


def counted(seen: Observation, *, now: float = 100, **fields: Any) -> Operation:
    """The record after `seen` was counted."""
    return tallied(operation(**fields), seen, sample(), moment(now))
