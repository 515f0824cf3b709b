"""Nothing is ever stuck: whatever happened, each operation ends, or asks a person a question that leads on.

`JOBCONSOLE_LIVENESS_SEEDS` says how many random histories are tried (40), `JOBCONSOLE_LIVENESS_FIRST` which one is first (0).
"""

from __future__ import annotations

import os

import pytest

from jobconsole.core.deciding.escalation import leaves_spent
from jobconsole.core.operation import Operation, Option
from jobconsole.core.vocabulary import Phase, Reason
from tests.engine.chaos import World

SEEDS = int(os.environ.get("JOBCONSOLE_LIVENESS_SEEDS", "40"))
FIRST = int(os.environ.get("JOBCONSOLE_LIVENESS_FIRST", "0"))
STEPS = 60
LEAD_ON_ALWAYS = frozenset(
    {
        Reason.AUTHORIZATION_DENIED,
        Reason.APPROVAL_REQUIRED,
        Reason.CANCEL_UNCONFIRMED,
        Reason.CONTRADICTORY_RESPONSE,
        Reason.SUBMISSION_AMBIGUOUS,
    }
)
"""Reasons with an option that no bound takes away, so that with a provider that behaves none of them is left."""


def is_bound(op: Operation, world: World) -> bool:
    """Whether neither an extension nor one more check inside the bounds is left."""
    ext = world.contract.budget.extension
    option = Option(name="extend", minutes=ext.minutes, checks=ext.checks, failures=ext.failures, rate_limits=ext.rate_limits)
    has_no_extension = op.granted.times >= ext.times or leaves_spent(op, option, world.clock.wall())
    return has_no_extension or op.status_requests_used >= op.max_status_requests or op.provider_job_id is None


@pytest.mark.rule("L6", "B3", "B11", "H1", "L3")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + SEEDS))
async def test_every_operation_ends_or_asks_a_question_that_leads_on(seed: int) -> None:
    world = World(seed)
    for _ in range(STEPS):
        await world.step()
        await world.check()
    await world.settle()
    await world.check()
    for op in await world.person.console.operations():
        assert op.phase is Phase.ESCALATED, op
        assert (op.lease, op.permit, op.open_actions) == (None, None, {}), op
        assert op.escalation is not None
        assert op.escalation.reason not in LEAD_ON_ALWAYS, op
        assert is_bound(op, world), op  # only the contract's own bounds leave nothing but to close it
        assert "close" in {option.name for option in await world.person.console.options(op)}
    assert (await world.person.store.verify()).is_valid
