"""The worker's loop: what is due and nothing else, at most so much at a time, and an end within two seconds.

Time is a manual clock that goes on to the next moment at which the worker wakes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.judging.answer import Answer
from jobconsole.core.vocabulary import DelaySource, Phase, Reason
from jobconsole.errors import StoreReadOnly
from jobconsole.play.job import Reply
from jobconsole.protocols import Gate, HttpRequest
from jobconsole.testing.clock import ManualClock
from tests.cases.driver import quiet, run_for, run_until_settled
from tests.core.sample_contract import TABLES, sample
from tests.engine.stage import HangingTransport, Stage, accepts, says

MINUTES = timedelta(minutes=1)


def job_of(request: HttpRequest) -> str:
    """The job that a request asks about."""
    return request.url.rsplit("/", 1)[-1]


def other_account(**tables: Any) -> Any:
    """Another provider with an account of its own."""
    provider = TABLES["provider"].replace('"acme"', '"bolt"').replace("acme-prod", "bolt-prod").replace("api.acme", "api.bolt")
    return sample(provider=provider, **tables)


# ---- its work -----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B3", "S6")
async def test_a_worker_brings_every_operation_to_an_end_or_a_question() -> None:
    seen: Counter[str] = Counter()

    def answers(request: HttpRequest) -> Reply:
        if request.method == "POST":
            return accepts("job-new")
        job = job_of(request)
        seen[job] += 1
        endless = job == "job-op-2"
        return says("running" if endless or seen[job] < 4 else "failed" if job == "job-op-3" else "done")

    stage = Stage(answers)
    for operation_id in ("op-1", "op-2", "op-3"):
        await stage.track(operation_id)
    await stage.submit("op-4")
    await run_until_settled(stage.console, stage.console.worker(), stage.clock)
    phases = {op.operation_id: op.phase for op in await stage.console.operations(include_ended=True)}
    assert phases == {"op-1": Phase.SUCCEEDED, "op-2": Phase.ESCALATED, "op-3": Phase.FAILED, "op-4": Phase.SUCCEEDED}
    assert seen == {"job-op-1": 4, "job-op-2": 12, "job-op-3": 4, "job-new": 4}
    assert (await stage.store.verify()).is_valid


@pytest.mark.rule("B15", "B13")
async def test_a_job_that_never_ends_is_asked_about_as_often_as_its_budget_says() -> None:
    stage = Stage(lambda request: says("running"))
    await stage.track(status_requests=5)
    await run_until_settled(stage.console, stage.console.worker(), stage.clock)
    op = await stage.op()
    assert (len(stage.urls), op.status_requests_used) == (5, 5)
    assert op.escalation is not None
    assert op.escalation.reason is Reason.REQUEST_BUDGET_EXHAUSTED


@pytest.mark.rule("B13", "X5")
async def test_the_last_check_is_just_before_the_deadline() -> None:
    stage = Stage(lambda request: says("running"), sample(schedule='base = "100s"\nmax = "100s"\njitter = [1.0, 1.0]'))
    await stage.track(deadline="250s")
    await run_until_settled(stage.console, stage.console.worker(), stage.clock)
    asked = [event["at"] for event in await stage.events() if event["kind"] == "check_reserved"]
    assert [at[14:19] for at in asked] == ["00:00", "01:40", "03:20", "03:59"]  # 250 - 10 - 1 = 239 s
    op = await stage.op()
    assert op.escalation is not None
    assert op.escalation.reason is Reason.DEADLINE_EXCEEDED


@pytest.mark.rule("B2", "B14")
async def test_a_worker_that_wakes_after_the_deadline_sends_nothing() -> None:
    stage = Stage(lambda request: says("running"))
    for number in range(5):
        await stage.track(f"op-{number}")
    stage.clock.advance(41 * MINUTES)
    await run_until_settled(stage.console, stage.console.worker(), stage.clock)
    assert stage.urls == []
    assert {op.escalation.reason for op in await stage.console.operations() if op.escalation} == {Reason.DEADLINE_EXCEEDED}


@pytest.mark.rule("B5")
async def test_after_a_long_sleep_each_operation_is_asked_once() -> None:
    stage = Stage(lambda request: says("running"))
    for number in range(3):
        await stage.track(f"op-{number}", deadline="24h")
    await run_for(timedelta(seconds=1), stage.console.worker(), stage.clock)
    before = len(stage.urls)
    stage.clock.advance(timedelta(hours=8))
    await stage.console.worker().run(once=True)
    assert (before, len(stage.urls) - before) == (3, 3)


@pytest.mark.rule("S2", "B5")
async def test_once_does_what_is_due_now_and_ends() -> None:
    stage = Stage(lambda request: says("running"))
    await stage.track("op-1")
    await stage.track("op-2")
    await stage.console.worker().run(once=True)
    assert len(stage.urls) == 2
    await stage.console.worker().run(once=True)
    assert len(stage.urls) == 2
    assert all(op.lease is None for op in await stage.console.operations())


async def test_once_with_nothing_to_do_ends_at_once() -> None:
    stage = Stage()
    await asyncio.wait_for(stage.console.worker().run(once=True), 60)
    assert stage.transport.requests == []


@pytest.mark.rule("H1")
async def test_until_idle_ends_when_only_people_can_go_on() -> None:
    answers = iter([says("odd"), says("done")])
    stage = Stage(lambda request: next(answers))
    await stage.track("op-1")
    await stage.track("op-2")
    await asyncio.wait_for(stage.console.worker().run(until_idle=True), 60)
    phases = sorted(op.phase for op in await stage.console.operations(include_ended=True))
    assert phases == [Phase.ESCALATED, Phase.SUCCEEDED]


async def test_until_idle_waits_for_what_is_planned() -> None:
    answers = iter([says("running"), says("done")])
    stage = Stage(lambda request: next(answers))
    await stage.track()
    running = asyncio.create_task(stage.console.worker().run(until_idle=True))
    await quiet()
    assert not running.done()
    stage.clock.advance(30)
    await asyncio.wait_for(running, 60)
    assert (await stage.op()).phase is Phase.SUCCEEDED


# ---- one account, many operations ---------------------------------------------------------------------------------------
@pytest.mark.rule("B9")
async def test_the_nearest_deadline_goes_first() -> None:
    stage = Stage(lambda request: says("running"), sample(limits="per_minute = 6"))  # one token
    for number, deadline in enumerate(["40m", "20m", "30m"]):
        await stage.track(f"op-{number}", deadline=deadline)
    await stage.console.worker().run(once=True)
    assert [url.rsplit("-", 1)[-1] for url in stage.urls] == ["1"]


@pytest.mark.rule("B9")
async def test_an_account_without_a_token_starves_no_other_account() -> None:
    slow = sample(limits="per_minute = 1")
    stage = Stage(lambda request: says("done"), slow, other_account())
    for number in range(200):
        await stage.track(f"acme-{number}", deadline="20m")  # all of them before the others, by deadline
    for number in range(5):
        await stage.track(f"bolt-{number}", provider="bolt", deadline="30m")
    await stage.console.worker(max_concurrent=4).run(once=True)
    asked = Counter(request.auth_host for request in stage.transport.sent)
    assert asked == {"api.acme.example": 1, "api.bolt.example": 5}


@pytest.mark.rule("B9", "L1")
async def test_waiting_for_a_token_does_not_flood_the_log() -> None:
    stage = Stage(lambda request: says("done"), sample(limits="per_minute = 60"))
    for number in range(40):
        await stage.track(f"op-{number}")
    await run_until_settled(stage.console, stage.console.worker(), stage.clock)
    planned = [kind for number in range(40) for kind in await stage.kinds(f"op-{number}") if kind == "check_planned"]
    assert len(stage.urls) == 40
    assert len(planned) <= 40


@pytest.mark.rule("B9", "B14", "B11")
@pytest.mark.parametrize("answer", [Reply(429, retry_after_s=1800), Reply(401)])
async def test_deadlines_behind_a_held_account_are_booked_in_time(answer: Reply) -> None:
    stage = Stage(lambda request: answer)
    await stage.track("op-1", deadline="9m")
    await stage.console.worker().run(once=True)
    for number, deadline in ((2, "5m"), (3, "10m")):
        await stage.track(f"op-{number}", deadline=deadline)
    await run_for(6 * MINUTES, stage.console.worker(), stage.clock)
    second, third = await stage.op("op-2"), await stage.op("op-3")
    assert second.escalation is not None
    assert second.escalation.reason is Reason.DEADLINE_EXCEEDED
    assert (second.escalation.since - second.deadline_at).total_seconds() < 1
    assert third.phase is Phase.WAITING
    assert len(stage.urls) == 1


@pytest.mark.rule("B9")
async def test_a_hold_is_waited_out_by_every_operation() -> None:
    answers = iter([Reply(429, retry_after_s=60), says("done"), says("done"), says("done")])
    stage = Stage(lambda request: next(answers), sample(limits="max_concurrent = 1"))
    for number in range(3):
        await stage.track(f"op-{number}")
    began = stage.clock.wall()
    await run_until_settled(stage.console, stage.console.worker(), stage.clock)
    reserved = [
        event["at"] for number in range(3) for event in await stage.events(f"op-{number}") if event["kind"] == "check_reserved"
    ]
    assert len(reserved) == 4
    assert sorted(reserved)[1] >= (began + MINUTES).isoformat()[:19]


@pytest.mark.rule("S1", "B9")
async def test_twenty_workers_at_once_are_harmless() -> None:
    stage = Stage(lambda request: says("running"))
    for number in range(10):
        await stage.track(f"op-{number}", status_requests=3)
    others = [stage.beside(lambda request: says("running")) for _ in range(19)]
    workers = [each.console.worker() for each in (stage, *others)]
    running = [asyncio.create_task(worker.run(until_idle=True)) for worker in workers]
    while not all(task.done() for task in running):
        await quiet()
        if stage.clock.next_wake is not None:
            stage.clock.advance(timedelta(milliseconds=stage.clock.next_wake - stage.clock.up_ms()))
    sent = sum(len(each.urls) for each in (stage, *others))
    assert sent == sum(op.status_requests_used for op in await stage.console.operations()) == 30


# ---- faults of our own --------------------------------------------------------------------------------------------------


@pytest.mark.rule("S4")
async def test_a_computing_error_on_one_operation_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    def answers(request: HttpRequest) -> Reply:
        if job_of(request) == "job-op-2":
            raise ZeroDivisionError("a bug of ours")
        return says("done")

    stage = Stage(answers)
    for number in (1, 2, 3):
        await stage.track(f"op-{number}")
    await stage.console.worker().run(once=True)
    phases = [(await stage.op(f"op-{number}")).phase for number in (1, 2, 3)]
    assert phases == [Phase.SUCCEEDED, Phase.WAITING, Phase.SUCCEEDED]
    assert "op-2" in caplog.text
    assert len([each for each in stage.transport.requests if job_of(each.request) == "job-op-2"]) == 1  # it rests


@pytest.mark.rule("X13")
async def test_a_contract_that_is_gone_stops_no_other_operation() -> None:
    stage = Stage(lambda request: says("done"))
    await stage.track("op-1")
    await stage.track("op-2")
    other = Stage(lambda request: says("done"), other_account(), store=stage.store, clock=stage.clock)
    await other.console.worker().run(once=True)  # it has no file of this provider, but the kept copy
    assert [op.phase for op in await stage.console.operations(include_ended=True)] == [Phase.SUCCEEDED] * 2


@pytest.mark.rule("S4", "H11")
async def test_a_store_that_cannot_be_written_ends_the_worker_and_sends_nothing() -> None:
    stage = Stage()
    await stage.track()
    reader = Stage(store=stage.store.handle(is_read_only=True), clock=stage.clock)
    with pytest.raises(StoreReadOnly):
        await asyncio.wait_for(reader.console.worker().run(), 60)
    assert reader.transport.requests == []


# ---- stopping -----------------------------------------------------------------------------------------------------------
@pytest.mark.patient
async def test_a_stop_ends_a_sleeping_worker_at_once() -> None:
    stage = Stage()
    worker = stage.console.worker()
    running = asyncio.create_task(worker.run())
    await quiet()
    began = asyncio.get_running_loop().time()
    worker.stop()
    await running
    assert asyncio.get_running_loop().time() == began


@pytest.mark.patient
@pytest.mark.rule("S1", "B3")
async def test_a_stop_gives_the_leases_of_unanswered_requests_back_within_two_seconds() -> None:
    provider = HangingTransport()
    stage = Stage(transport=provider)
    for number in range(3):
        await stage.track(f"op-{number}")
    worker = stage.console.worker()
    running = asyncio.create_task(worker.run())
    await provider.asked.wait()
    await quiet()
    began = asyncio.get_running_loop().time()
    worker.stop()
    await running
    assert asyncio.get_running_loop().time() - began < 2
    assert provider.sent == 3
    for number in range(3):
        op = await stage.op(f"op-{number}")
        assert (op.lease, op.status_requests_used, op.transport_failures_used) == (None, 1, 0)


class SlowTransport(HangingTransport):
    """A provider that answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = asyncio.Event()

    async def send(self, request: HttpRequest, gate: Gate, *, fresh: bool = False) -> Answer:
        """Answer "done" when the event is set."""
        gate()
        self.asked.set()
        await self.answer.wait()
        at = ManualClock().wall()
        return Answer(200, (("Content-Type", "application/json"),), b'{"state": "done"}', request.url, at, 0)


@pytest.mark.patient
@pytest.mark.rule("A2")
async def test_a_stop_waits_a_moment_for_answers_in_flight_and_records_them() -> None:
    provider = SlowTransport()
    stage = Stage(transport=provider)
    await stage.track()
    worker = stage.console.worker()
    running = asyncio.create_task(worker.run())
    await provider.asked.wait()
    worker.stop()
    await quiet()
    assert not running.done()
    provider.answer.set()
    await asyncio.wait_for(running, 60)
    assert (await stage.op()).phase is Phase.SUCCEEDED


# ---- being seen ---------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X19")
async def test_a_worker_is_seen_while_it_runs() -> None:
    stage = Stage()
    worker = stage.console.worker()
    running = asyncio.create_task(worker.run())
    await quiet()
    assert [each.worker_id for each in stage.console.health().workers] == [worker.info.worker_id]
    worker.stop()
    await running
    assert stage.console.health().workers == ()


@pytest.mark.rule("S1", "X19", "B4")
async def test_a_killed_workers_lease_is_taken_over_without_waiting_for_it() -> None:
    provider = HangingTransport()
    stage = Stage(transport=provider)
    await stage.track()
    running = asyncio.create_task(stage.console.worker().run())
    await provider.asked.wait()
    beside = stage.beside([says("done")])
    stage.store.crash()
    await beside.console.worker().run(once=True)
    op = await beside.op()
    assert (op.phase, op.status_requests_used) == (Phase.SUCCEEDED, 2)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.rule("B11", "X20")
async def test_the_worker_passes_a_refusal_on_under_its_own_name() -> None:
    stage = Stage(lambda request: Reply(401))
    await stage.track("op-1", deadline="10m")
    await stage.track("op-2", deadline="20m")
    await stage.console.worker().run(once=True)
    await stage.console.decide("op-1", "close", by="person:ana", reason="not needed")
    escalated = (await stage.events("op-2"))[-1]
    assert (escalated["kind"], escalated["reason"]) == ("escalated", "authorization_denied")
    assert escalated["actor"].startswith("worker:")
    assert (await stage.op("op-2")).delay_source is not DelaySource.LOCAL_BACKOFF
