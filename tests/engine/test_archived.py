"""What the engine's desk makes of an operation that was archived: it is still the one of its id (X18, STORE 1.3)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.core.vocabulary import Phase
from jobconsole.engine.submissions import Wish
from jobconsole.errors import Refused
from jobconsole.protocols import Retention
from tests.engine.stage import Stage, accepts, says

WISH = Wish("person:ana", operation_id="op-1")


async def archived() -> Stage:
    """A stage whose only operation succeeded eight days ago."""
    stage = Stage([accepts(), says("done")])
    await stage.submit()
    await stage.look()
    await stage.look()
    assert (await stage.op()).phase is Phase.SUCCEEDED
    stage.clock.advance(timedelta(days=8))
    await stage.store.maintain(Retention())
    assert await stage.console.operations(include_ended=True) == []
    return stage


@pytest.mark.rule("X18", "C10")
async def test_the_same_id_and_request_returns_it_and_sends_nothing() -> None:
    stage = await archived()
    begun = await stage.console.submit("acme", {"quarter": 3}, wish=WISH)
    assert (begun.is_new, begun.op.phase) == (False, Phase.SUCCEEDED)
    assert len(stage.urls) == 2
    assert [op.operation_id for op in await stage.console.operations(include_ended=True, include_archived=True)] == ["op-1"]


@pytest.mark.rule("X18")
async def test_the_same_id_with_another_request_is_refused() -> None:
    stage = await archived()
    with pytest.raises(Refused, match="exists with another request"):
        await stage.console.submit("acme", {"quarter": 4}, wish=WISH)
    with pytest.raises(Refused, match="exists with another request"):
        await stage.console.track("acme", job_id="job-9", wish=WISH)


@pytest.mark.rule("X9", "X7")
async def test_its_job_may_be_tracked_anew() -> None:
    """A terminal phase is never reopened: it is a new operation."""
    stage = await archived()
    begun = await stage.console.track("acme", job_id="job-1", wish=Wish("person:ana", operation_id="op-2"))
    assert begun.is_new
    found = await stage.store.find("acme", begun.op.account, "job-1")
    assert [op.operation_id for op in found] == ["op-1", "op-2"]


@pytest.mark.rule("A3")
async def test_its_actions_went_along_and_nothing_is_left_to_decide() -> None:
    stage = await archived()
    assert [action["kind"] for action in await stage.console.actions("op-1")] == ["submit"]
    assert (await stage.console.wait(["op-1"], 60))[0].phase is Phase.SUCCEEDED
    with pytest.raises(Refused, match="was archived; nothing is left to decide"):
        await stage.console.decide("op-1", "close", by="person:ana", reason="late")
