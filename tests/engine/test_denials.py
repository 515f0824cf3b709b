"""Who carries an account's refused credential: one operation at a time, the nearest deadline first (B11)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.core.operation import Phase, Reason
from jobconsole.engine.denials import pass_on_denial
from jobconsole.play.job import Reply
from jobconsole.protocols import HttpRequest
from tests.core.sample_contract import sample
from tests.engine.stage import ACCOUNT, Stage, says


def refusing(request: HttpRequest) -> Reply:
    """A provider that refuses everybody."""
    return Reply(401)


async def denied(*deadlines: str) -> Stage:
    """Operations `op-1`, `op-2`, ... of an account; the first one was refused and carries the escalation."""
    stage = Stage(refusing, sample(auth='secret = "env:K1"\nothers = ["env:K2"]'))
    for number, deadline in enumerate(deadlines, 1):
        await stage.track(f"op-{number}", deadline=deadline)
    await stage.look("op-1")
    return stage


async def carriers(stage: Stage) -> list[str]:
    """The operations that are escalated for the refused credential."""
    return [
        op.operation_id
        for op in await stage.console.operations()
        if op.escalation is not None and op.escalation.reason is Reason.AUTHORIZATION_DENIED
    ]


@pytest.mark.rule("B11")
async def test_there_is_one_escalation_however_many_operations_look() -> None:
    stage = await denied("10m", "20m", "30m")
    for number in (2, 3, 2, 3):
        await stage.look(f"op-{number}", waits=False)
        await pass_on_denial(stage.store, stage.console.book, ACCOUNT, "worker:test")
    assert await carriers(stage) == ["op-1"]
    assert len(stage.urls) == 1


@pytest.mark.rule("B11")
@pytest.mark.parametrize(("second", "third", "heir"), [("20m", "30m", "op-2"), ("30m", "20m", "op-3")])
async def test_the_nearest_deadline_inherits(second: str, third: str, heir: str) -> None:
    stage = await denied("10m", second, third)
    await stage.console.decide("op-1", "close", by="person:ana", reason="not needed")
    assert await carriers(stage) == [heir]
    assert (await stage.account()).denied.operation_id == heir  # type: ignore[union-attr]


@pytest.mark.rule("B11")
async def test_the_refusal_is_passed_on_until_nobody_is_left() -> None:
    stage = await denied("10m", "20m", "30m")
    for number in (1, 2, 3):
        assert await carriers(stage) == [f"op-{number}"]
        await stage.console.decide(f"op-{number}", "close", by="person:ana", reason="not needed")
    assert await carriers(stage) == []
    assert len(stage.urls) == 1


@pytest.mark.rule("B11")
async def test_an_operation_that_comes_later_inherits_a_refusal_that_nobody_carries() -> None:
    stage = await denied("10m")
    await stage.console.decide("op-1", "close", by="person:ana", reason="not needed")
    op = await stage.submit("op-2")
    assert (op.phase, await carriers(stage)) == (Phase.ESCALATED, ["op-2"])
    assert len(stage.urls) == 1


@pytest.mark.rule("B11")
async def test_a_mended_credential_lets_all_go_on() -> None:
    answers = iter([Reply(401), says("running"), says("done"), says("done")])
    stage = Stage(lambda request: next(answers))
    for number in (1, 2):
        await stage.track(f"op-{number}")
    await stage.look("op-1")
    await stage.console.decide("op-1", "credential_mended", by="person:ana")
    await stage.console.worker().run(once=True)
    assert (await stage.op("op-2")).phase is Phase.SUCCEEDED
    assert (await stage.account()).denied is None
    assert await carriers(stage) == []


@pytest.mark.rule("B11", "C11")
async def test_switching_one_operation_leaves_the_refusal_to_the_next() -> None:
    def by_credential(request: HttpRequest) -> Reply:
        return says("running") if request.auth.secret == "env:K2" else Reply(401)

    stage = Stage(by_credential, sample(auth='secret = "env:K1"\nothers = ["env:K2"]'))
    for number in (1, 2):
        await stage.track(f"op-{number}")
    await stage.look("op-1")
    await stage.console.decide("op-1", "use_credential", by="person:ana")
    await stage.console.worker().run(once=True)
    assert (await stage.op("op-1")).phase is Phase.WAITING
    assert await carriers(stage) == ["op-2"]
    stage.clock.advance(timedelta(minutes=1))
    await stage.console.worker().run(once=True)
    assert [request.auth.secret for request in stage.transport.sent] == ["env:K1", "env:K2", "env:K2"]


@pytest.mark.rule("B11")
async def test_an_account_that_was_not_refused_passes_nothing_on() -> None:
    stage = Stage([says("running")])
    await stage.track()
    await stage.look()
    await pass_on_denial(stage.store, stage.console.book, ACCOUNT, "worker:test")
    assert await carriers(stage) == []
