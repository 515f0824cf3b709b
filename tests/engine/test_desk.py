"""The engine's face: what a caller may ask for, what it is granted, and what it is told (SPEC 12)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.engine.submissions import Budget, Wish
from jobconsole.errors import (
    ContractInvalid,
    InvalidValue,
    Refused,
    StoreFull,
    StoreReadOnly,
    UnknownOperation,
    UnknownProvider,
)
from jobconsole.protocols import WorkerInfo
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from tests.cases.driver import quiet
from tests.core.sample_contract import TABLES, WITH_TOKEN, budget, sample
from tests.engine.stage import Stage, accepts, says

ANA = "person:ana"
AGENT = "agent:claude/7"


def wish(by: str = ANA, **fields: Any) -> Wish:
    """A caller's wish."""
    return Wish(by, **fields)


# ---- starting -----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B1", "B17", "X13", "X18")
async def test_a_submission_is_written_down_with_its_contract_before_anything_is_sent() -> None:
    stage = Stage([], sample(submit=WITH_TOKEN))
    begun = await stage.console.submit("acme", {"quarter": 3}, wish=wish(task="Q3 filing", name="report"))
    op = begun.op
    assert (op.phase, op.task, op.name, op.owner, op.submitted_by) == (Phase.SUBMITTING, "Q3 filing", "report", "ana", ANA)
    assert op.operation_id.startswith("op_")
    assert len(op.operation_id) == 3 + 26
    assert op.idempotency_token
    assert await stage.store.contract_text(op.contract) == stage.shelf.get("acme").text
    assert stage.transport.requests == []


@pytest.mark.rule("X9", "X18")
async def test_the_same_id_and_request_return_the_same_operation() -> None:
    stage = Stage()
    first = await stage.console.submit("acme", {"quarter": 3}, wish=wish(operation_id="report-1"))
    again = await stage.console.submit("acme", {"quarter": 3}, wish=wish(operation_id="report-1"))
    assert (first.is_new, again.is_new, again.op.operation_id) == (True, False, "report-1")
    with pytest.raises(Refused, match="exists with another request"):
        await stage.console.submit("acme", {"quarter": 4}, wish=wish(operation_id="report-1"))


@pytest.mark.rule("X18")
@pytest.mark.parametrize("operation_id", ["a" * 129, "-a", ".a", "a/b", "a b", "ä", "../x", "a\n"])
async def test_a_speaking_id_has_a_shape(operation_id: str) -> None:
    with pytest.raises(InvalidValue):
        await Stage().console.submit("acme", {}, wish=wish(operation_id=operation_id))


@pytest.mark.rule("X18")
@pytest.mark.parametrize("operation_id", ["a", "9", "a" * 128, "report-export-2025-04-18-01", "A.b_c"])
async def test_a_speaking_id_may_be_given(operation_id: str) -> None:
    begun = await Stage().console.submit("acme", {}, wish=wish(operation_id=operation_id))
    assert begun.op.operation_id == operation_id


@pytest.mark.rule("X18")
@pytest.mark.parametrize(
    ("by", "owner", "expected"), [(ANA, None, "ana"), (AGENT, None, "nobody"), (AGENT, "team-tax", "team-tax")]
)
async def test_somebody_or_nobody_owns_an_operation(by: str, owner: str | None, expected: str) -> None:
    begun = await Stage().console.submit("acme", {}, wish=wish(by, owner=owner))
    assert begun.op.owner == expected


@pytest.mark.rule("X9")
async def test_a_job_is_tracked_once_by_id_or_by_its_status_url() -> None:
    stage = Stage()
    first = await stage.console.track("acme", job_id="job-7", wish=wish())
    assert (await stage.console.track("acme", job_id="job-7", wish=wish())).op.operation_id == first.op.operation_id
    url = "https://api.acme.example/v1/jobs/8"
    by_url = await stage.console.track("acme", status_url=url, wish=wish())
    again = await stage.console.track("acme", status_url=url, wish=wish())
    assert (by_url.is_new, again.is_new, again.op.status_url) == (True, False, url)


@pytest.mark.rule("C6", "X9")
@pytest.mark.parametrize(
    "named",
    [{}, {"job_id": "a", "status_url": "https://api.acme.example/x"}, {"job_id": " "}],
)
async def test_a_job_is_named_by_exactly_one_thing(named: dict[str, str]) -> None:
    with pytest.raises(InvalidValue):
        await Stage().console.track("acme", wish=wish(), **named)


async def test_an_unknown_provider_and_an_unknown_operation_are_told() -> None:
    stage = Stage()
    with pytest.raises(UnknownProvider):
        await stage.console.submit("nobody", {}, wish=wish())
    with pytest.raises(UnknownOperation, match="no operation 'op-9'"):
        await stage.console.get("op-9")


# ---- budgets ------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X14", "H6")
@pytest.mark.parametrize(
    ("asked", "is_more"),
    [
        (Budget(), False),
        (Budget(deadline="30m", status_requests=5, transport_failures=1), False),
        (Budget(deadline="40m", status_requests=12, transport_failures=3), False),
        (Budget(deadline="41m"), True),
        (Budget(status_requests=13), True),
        (Budget(transport_failures=4), True),
    ],
)
@pytest.mark.parametrize("by", [ANA, AGENT, "worker:a"])
async def test_anybody_may_ask_for_less_and_only_a_person_for_more(by: str, asked: Budget, is_more: bool) -> None:
    stage = Stage()
    if is_more and by != ANA:
        with pytest.raises(Refused, match="only a person"):
            await stage.console.submit("acme", {}, wish=wish(by, budget=asked))
        assert await stage.console.operations() == []
    else:
        op = (await stage.console.submit("acme", {}, wish=wish(by, budget=asked))).op
        assert op.max_status_requests == (asked.status_requests or 12)


@pytest.mark.rule("X14", "B18")
@pytest.mark.parametrize(
    "asked",
    [
        Budget(deadline="0s"),
        Budget(deadline="11s"),  # one request of 10 s and a second
        Budget(deadline="367d"),
        Budget(deadline="soon"),
        Budget(status_requests=0),
        Budget(status_requests=10**7),
        Budget(transport_failures=-1),
    ],
)
async def test_a_budget_is_finite_and_fits_one_request(asked: Budget) -> None:
    with pytest.raises(InvalidValue):
        await Stage().console.submit("acme", {}, wish=wish(budget=asked))


@pytest.mark.rule("B14")
async def test_a_business_deadline_lies_ahead() -> None:
    stage = Stage()
    with pytest.raises(InvalidValue, match="has passed already"):
        await stage.track(business_deadline_at=stage.clock.wall())
    op = await stage.track(business_deadline_at=stage.clock.wall() + timedelta(minutes=5))
    assert op.due_at == stage.clock.wall()


# ---- deciding -----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("H4", "H5")
async def test_a_decision_is_taken_once_and_told_to_the_second_person() -> None:
    stage = Stage([says("odd")])
    await stage.track()
    shown = (await stage.look()).revision
    applied = await stage.console.decide("op-1", "pause", by=ANA, revision=shown)
    assert applied.effect == "one check at 10:15:00 UTC"
    with pytest.raises(Refused, match="already answered by ana"):
        await stage.console.decide("op-1", "pause", by="person:bo", revision=shown)


@pytest.mark.rule("H6", "H10", "X20")
@pytest.mark.parametrize("by", [AGENT, "worker:a", "push:github", "ana"])
async def test_nobody_but_a_person_decides(by: str) -> None:
    stage = Stage([says("odd")])
    await stage.track()
    await stage.look()
    with pytest.raises(Refused, match="only a person decides"):
        await stage.console.decide("op-1", "close", by=by, reason="please")


@pytest.mark.rule("H11")
async def test_a_read_only_store_refuses_every_change() -> None:
    stage = Stage()
    await stage.track()
    reader = Stage(store=stage.store.handle(is_read_only=True), clock=stage.clock)
    assert len(await reader.console.operations()) == 1
    with pytest.raises(StoreReadOnly):
        await reader.console.submit("acme", {}, wish=wish())
    with pytest.raises(StoreReadOnly):
        await reader.console.decide("op-1", "close", by=ANA, reason="no")


@pytest.mark.rule("X13")
async def test_an_operation_is_judged_by_its_own_contract_until_a_person_adopts_the_new_one() -> None:
    stage = Stage(lambda request: says("polishing"))
    await stage.track()
    op = await stage.look()
    assert op.escalation is not None
    assert op.escalation.reason is Reason.UNKNOWN_STATE
    assert "adopt_contract" not in {option.name for option in await stage.console.options(op)}
    newer = sample(states='waiting = ["queued", "running", "polishing"]\nsucceeded = ["done"]\nfailed = ["failed"]')
    stage.shelf.contracts["acme"] = newer
    assert "adopt_contract" in {option.name for option in await stage.console.options(op)}
    await stage.console.decide("op-1", "adopt_contract", by=ANA)
    op = await stage.look()
    assert (op.phase, op.contract) == (Phase.WAITING, newer.digest)


@pytest.mark.rule("X13", "S4")
@pytest.mark.parametrize("change", [("acme.example", "evil.example"), ("[provider]", "[provider"), ("acme", "\ufffd")])
async def test_a_kept_contract_that_was_changed_judges_nothing(change: tuple[str, str]) -> None:
    """Its digest names it: another text could send the account's credential elsewhere."""
    stage = Stage()
    op = await stage.track()
    await stage.store.keep_contract(op.contract, stage.shelf.get("acme").text.replace(*change))
    beside = stage.beside()
    assert await beside.console.contract_of(op) == stage.shelf.get("acme"), "the file as it is now is the same contract"
    beside = stage.beside()
    beside.shelf.contracts["acme"] = sample(status=TABLES["status"] + 'timeout = "7s"')
    with pytest.raises(ContractInvalid, match="op-1 was started with is damaged or changed in the store"):
        await beside.console.book.of(op)


@pytest.mark.rule("C10", "X21")
async def test_submitting_again_is_another_operation_with_another_token() -> None:
    stage = Stage([accepts(), says("failed")], sample(submit=WITH_TOKEN))
    await stage.submit()
    await stage.look()
    await stage.look()
    await stage.console.decide("op-1", "submit_again", by=ANA, reason="the input was mended")
    first, second = await stage.console.operations(include_ended=True)
    assert (first.phase, second.phase, second.resubmit_of) == (Phase.FAILED, Phase.SUBMITTING, "op-1")
    assert (second.request_fingerprint, second.request_body) == (first.request_fingerprint, first.request_body)
    assert second.idempotency_token not in (None, first.idempotency_token)


@pytest.mark.rule("X6")
async def test_an_extension_may_grant_less_than_the_contract_offers() -> None:
    stage = Stage(lambda request: says("running"), sample(budget=budget(requests=1)))
    await stage.track()
    await stage.look()
    op = (await stage.console.decide("op-1", "extend", by=ANA, minutes=5, checks=2)).op
    assert (op.max_status_requests, op.granted.minutes) == (3, 5)


# ---- waiting ------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X16")
async def test_a_wait_ends_with_the_outcome_and_tells_every_change() -> None:
    answers = iter([says("running"), says("done")])
    stage = Stage(lambda request: next(answers))
    await stage.track()
    told: list[str | None] = []
    waiting = asyncio.create_task(stage.console.wait(["op-1"], 30, lambda op: told.append(op.last_known_state)))
    await quiet()
    assert not waiting.done()
    await stage.look()
    await stage.look()
    (op,) = await waiting
    assert (op.phase, told[0], told[-1]) == (Phase.SUCCEEDED, None, "done")


@pytest.mark.rule("X16")
async def test_a_wait_ends_when_only_a_person_can_go_on() -> None:
    stage = Stage([says("odd")])
    await stage.track()
    await stage.look()
    (op,) = await stage.console.wait(["op-1"], 30)
    assert op.phase is Phase.ESCALATED


async def test_a_wait_whose_console_is_closed_says_so_and_how_to_go_on() -> None:
    stage = Stage([says("running")])
    await stage.track()
    waiting = asyncio.create_task(stage.console.wait(["op-1"], 30))
    await quiet()
    await stage.console.close()
    with pytest.raises(RuntimeError, match=r"closed during this wait; the job goes on.* run: jobconsole wait op-1"):
        await waiting


@pytest.mark.rule("X16")
async def test_a_wait_that_runs_out_returns_what_is_known() -> None:
    stage = Stage()
    await stage.track()
    (op,) = await stage.console.wait(["op-1"], 0.05)
    assert op.phase is Phase.WAITING


# ---- an embedded worker -------------------------------------------------------------------------------------------------
@pytest.mark.rule("X19")
async def test_an_embedded_worker_works_where_no_other_one_lives() -> None:
    stage = Stage([says("done")])
    await stage.track()
    async with stage.console.embedded_worker():
        (op,) = await stage.console.wait(["op-1"], 60)
    assert op.phase is Phase.SUCCEEDED
    assert stage.console.health().workers == ()


@pytest.mark.rule("X19")
async def test_an_embedded_worker_leaves_the_work_to_one_that_lives_and_takes_over_when_it_dies() -> None:
    stage = Stage([])
    beside = stage.beside([says("running")])
    running = asyncio.create_task(beside.console.worker().run())
    await quiet()
    async with stage.console.embedded_worker():
        await stage.track()
        await quiet()
        assert (len(stage.urls), len(beside.urls)) == (0, 1)
        beside.store.crash()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        stage.clock.advance(1)
        await quiet()
        assert len(stage.console.health().workers) == 1


class FullForAMoment(MemoryStore):
    """No worker can write down that it lives, until there is room."""

    has_room = False

    @contextlib.asynccontextmanager
    async def announce(self, worker: WorkerInfo) -> AsyncIterator[None]:
        """As the store's, where there is room."""
        if not self.has_room:
            raise StoreFull("the disk is full")
        async with super().announce(worker):
            yield


@pytest.mark.rule("X19", "S4")
async def test_an_embedded_worker_that_falls_is_told_and_followed_by_another(caplog: pytest.LogCaptureFixture) -> None:
    """Else the jobs of an open dashboard would pass their deadlines unseen for as long as it stays open."""
    clock = ManualClock()
    store = FullForAMoment(clock)
    stage = Stage([says("done")], store=store, clock=clock)
    await stage.track()
    async with stage.console.embedded_worker():
        await quiet()
        assert caplog.messages == ["the worker of this process fell: the disk is full"]
        store.has_room = True
        clock.advance(5)
        (op,) = await stage.console.wait(["op-1"], 60)
    assert op.phase is Phase.SUCCEEDED


@pytest.mark.rule("X19", "B2")
async def test_opening_books_the_deadlines_that_passed_meanwhile() -> None:
    stage = Stage()
    await stage.track("op-1", deadline="10m")
    await stage.track("op-2", deadline="30m")
    await stage.submit("op-3", deadline="10m")
    stage.clock.advance(timedelta(minutes=11))
    assert await stage.console.book_deadlines() == 2
    assert [op.phase for op in await stage.console.operations()] == [Phase.ESCALATED, Phase.WAITING, Phase.ESCALATED]
    assert await stage.console.book_deadlines() == 0
    assert stage.transport.requests == []


@pytest.mark.rule("S6", "B4")
async def test_the_in_flight_list_is_there_for_whoever_starts_next() -> None:
    stage = Stage([says("running"), says("done")])
    for number in (1, 2, 3):
        await stage.track(f"op-{number}")
    await stage.look("op-1")
    await stage.look("op-2")
    next_one = stage.beside()
    in_flight = await next_one.console.operations()
    assert [(op.operation_id, op.status_requests_used) for op in in_flight] == [("op-1", 1), ("op-3", 0)]


async def test_closing_closes_the_connections() -> None:
    stage = Stage([says("running")])
    await stage.track()
    await stage.look()
    await stage.console.close()
    assert stage.transport.is_closed
