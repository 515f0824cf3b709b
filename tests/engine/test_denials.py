"""Who carries an account's refused credential: one operation at a time, the nearest deadline first (B11)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.core.commands.decisions import choose
from jobconsole.core.commands.effects import Choice
from jobconsole.core.deciding.account import carrier
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.engine.denials import pass_on_denial
from jobconsole.play.job import Reply
from jobconsole.protocols import HttpRequest, Scope
from tests.cases.driver import run_for, run_until_settled
from tests.core.sample_contract import CANCEL, TABLES, sample
from tests.core.sample_facts import reason
from tests.engine.stage import ACCOUNT, Stage, accepts, says


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
    assert carrier(await stage.account(), None) == heir


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


async def held_cancel(*, escalated: bool) -> Stage:
    """`op-1` carries the refusal; `op-2` has an approved cancel that waits for access, past its deadline where `escalated`."""
    answers = iter([says("running"), Reply(401)])
    stage = Stage(lambda request: next(answers), sample(cancel=CANCEL))
    await stage.track("op-1", deadline="40m")
    await stage.track("op-2", deadline="20m")
    await stage.look("op-2")
    await stage.look("op-1")
    if escalated:
        await run_for(timedelta(minutes=21), stage.console.worker(), stage.clock)
        assert reason(await stage.op("op-2")) is Reason.DEADLINE_EXCEEDED
    await stage.console.decide("op-2", "cancel", by="person:ana")
    return stage


@pytest.mark.rule("B11", "A7")
@pytest.mark.parametrize("escalated", [False, True])
async def test_a_cancel_that_waits_for_access_inherits_and_leaves_once_it_is_mended(escalated: bool) -> None:
    stage = await held_cancel(escalated=escalated)
    await stage.console.decide("op-1", "close", by="person:ana", reason="not needed")
    assert await carriers(stage) == ["op-2"]
    assert {option.name for option in await stage.console.options(await stage.op("op-2"))} == {"credential_mended", "close"}

    answers = iter([says("running"), Reply(202), says("cancelled")])
    mended = stage.beside(lambda request: next(answers))
    await stage.console.decide("op-2", "credential_mended", by="person:ana")
    await run_until_settled(mended.console, mended.console.worker(), stage.clock)
    assert [request.method for request in mended.transport.sent] == ["GET", "POST", "GET"]  # a read is the probe
    assert (await stage.op("op-2")).phase is Phase.CANCELLED
    assert (await stage.account()).denied is None


@pytest.mark.rule("B11")
@pytest.mark.parametrize("escalated", [False, True])
async def test_a_cancel_that_waits_for_access_is_not_looked_at_again_and_again(escalated: bool) -> None:
    stage = await held_cancel(escalated=escalated)
    assert await stage.store.due(stage.clock.wall(), 10) == []
    next_at = await stage.store.next_due()
    assert next_at == (None if escalated else (await stage.op("op-2")).deadline_at)


@pytest.mark.rule("B11")
async def test_one_check_that_waits_for_access_inherits_where_nobody_else_asks() -> None:
    answers = iter([says("odd", progress="x"), Reply(401), says("running")])
    stage = Stage(lambda request: next(answers), sample(states=TABLES["states"] + 'contradiction = ["odd"]'))
    await stage.track("op-1")
    await stage.track("op-2")
    await stage.look("op-1")
    await stage.look("op-2")
    await stage.console.decide("op-2", "close", by="person:ana", reason="not needed")
    assert await carriers(stage) == []
    await stage.console.decide("op-1", "check_once", by="person:ana")
    assert await carriers(stage) == ["op-1"]
    await stage.console.decide("op-1", "credential_mended", by="person:ana")
    assert (await stage.look("op-1")).phase is Phase.WAITING


@pytest.mark.rule("B11", "B14")
async def test_a_probe_that_missed_its_deadline_gives_the_question_back() -> None:
    stage = Stage(refusing, sample())
    await stage.submit("op-1", deadline="10m")
    await stage.look("op-1")
    await stage.track("op-2", deadline="30m")
    await stage.console.decide("op-1", "credential_mended", by="person:ana")
    stage.clock.advance(timedelta(minutes=11))
    await stage.console.worker().run(once=True)
    assert reason(await stage.op("op-1")) is Reason.DEADLINE_EXCEEDED
    assert await carriers(stage) == ["op-2"]
    await stage.console.decide("op-2", "close", by="person:ana", reason="not needed")
    await stage.console.decide("op-1", "extend", by="person:ana")
    assert await carriers(stage) == ["op-1"]


@pytest.mark.rule("B11")
async def test_whoever_dies_before_passing_it_on_leaves_it_to_the_next_worker() -> None:
    stage = await denied("10m", "20m")
    desk = Choice("op-1", "close", (await stage.op("op-1")).revision, "dec-1", "person:ana", sample(), reason="not needed")
    scope = Scope(operations=("op-1",), accounts=(ACCOUNT,))
    await stage.store.transact(scope, choose(desk), kind="record")
    assert await carriers(stage) == []
    await stage.console.worker().run(once=True)
    assert await carriers(stage) == ["op-2"]


@pytest.mark.rule("B11", "X10")
async def test_a_submission_that_was_in_flight_makes_no_second_question() -> None:
    stage = Stage(refusing, sample())
    await stage.submit("op-1", deadline="10m")
    await stage.submit("op-2", deadline="20m")
    await stage.console.worker().run(once=True)
    assert await carriers(stage) == ["op-1"]
    op = await stage.op("op-2")
    assert (op.phase, set(op.open_actions), len(stage.urls)) == (Phase.SUBMITTING, {"submit"}, 2)

    beside = stage.beside(lambda request: accepts(f"job-{len(beside.urls)}"))
    await stage.console.decide("op-1", "credential_mended", by="person:ana")
    worker = beside.console.worker()
    await worker.run(once=True)
    await worker.run(once=True)
    assert {op.phase for op in await stage.console.operations()} == {Phase.WAITING}


@pytest.mark.rule("B11", "C11")
async def test_each_refused_credential_has_a_question_of_its_own() -> None:
    stage = await denied("10m", "20m")
    await stage.console.decide("op-1", "use_credential", by="person:ana")
    assert await carriers(stage) == ["op-1", "op-2"]  # one tries the other credential, one asks about the first
    await stage.look("op-1")
    assert (await stage.account()).denied.carriers == {"": "op-2", "env:K2": "op-1"}  # type: ignore[union-attr]
    mended = stage.beside(lambda request: says("running") if request.auth.secret == "env:K1" else Reply(401))
    await stage.console.decide("op-2", "credential_mended", by="person:ana")
    await mended.console.worker().run(once=True)
    assert await carriers(stage) == ["op-1"]


@pytest.mark.rule("B11", "X11")
async def test_a_cancel_that_is_refused_releases_nobody() -> None:
    answers = iter([says("running"), Reply(401), Reply(401)])
    stage = Stage(lambda request: next(answers), sample(cancel=CANCEL))
    await stage.track("op-1")
    await stage.look("op-1")
    await stage.console.decide("op-1", "cancel", by="person:ana")
    await stage.look("op-1", waits=False)
    assert await carriers(stage) == []  # an answer to cancel decides nothing
    await stage.look("op-1")
    assert await carriers(stage) == ["op-1"]


@pytest.mark.rule("B11")
async def test_an_account_that_was_not_refused_passes_nothing_on() -> None:
    stage = Stage([says("running")])
    await stage.track()
    await stage.look()
    await pass_on_denial(stage.store, stage.console.book, ACCOUNT, "worker:test")
    assert await carriers(stage) == []
