"""An operation whose contract is lost, over a store: one escalation, its deadline booked, and a person who goes on."""

from __future__ import annotations

import pytest

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.telling.inbox import item_lines
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.errors import Refused
from jobconsole.testing.memory_store import MemoryStore
from tests.core.sample_contract import TABLES, sample
from tests.engine.stage import Stage, says

ANA = "person:ana"
NEWER = sample(status=TABLES["status"] + 'timeout = "7s"')
LOST = "acme: the contract that op-1 was started with is {}; restore contracts/, or the provider's file as it was"


class Forgetful(MemoryStore):
    """A store whose folder `contracts/` was emptied."""

    async def contract_text(self, digest: str) -> str | None:
        """Nothing is kept."""
        return None


async def lost(*files: Contract, deadline: str = "40m") -> Stage:
    """Another process on a store where `op-1` was tracked and its contract is gone; `files` are its catalogue."""
    first = Stage(store=Forgetful(clock := Stage().clock), clock=clock)
    await first.track(deadline=deadline)
    stage = Stage(lambda request: says("running"), store=first.store, clock=clock)
    stage.shelf.contracts = {contract.name: contract for contract in files}
    return stage


@pytest.mark.rule("X13", "S4")
@pytest.mark.parametrize("is_changed", [False, True])
async def test_a_worker_that_meets_it_asks_a_person_once(is_changed: bool) -> None:
    """Lost, or changed so that its digest does not fit: nothing is sent, and the sentence names the contract and the mend."""
    stage = await lost()
    state = "not in the store"
    if is_changed:
        first = Stage()
        await first.track()
        await first.store.keep_contract((await first.op()).contract, "another text")
        stage, state = first.beside(), "damaged or changed in the store"
        stage.shelf.contracts.clear()
    worker = stage.console.worker()
    await worker.run(until_idle=True)
    op = await stage.op()
    assert op.escalation is not None
    assert (op.phase, op.escalation.reason, op.escalation.detail) == (
        Phase.ESCALATED,
        Reason.INTEGRATION_ERROR,
        LOST.format(state),
    )
    await stage.console.worker().run(until_idle=True)
    await stage.look()
    assert (await stage.kinds()).count("escalated") == 1
    assert stage.transport.requests == []


@pytest.mark.rule("X19", "B2")
@pytest.mark.parametrize("books", [True, False])
async def test_its_deadline_is_booked_at_opening_or_by_a_worker(books: bool) -> None:
    """10 minutes are allowed, 11 have passed."""
    stage = await lost(deadline="10m")
    stage.clock.advance(9 * 60)
    assert await stage.console.book_deadlines() == 0
    stage.clock.advance(2 * 60)
    if books:
        assert (await stage.console.book_deadlines(), await stage.console.book_deadlines()) == (1, 0)
    else:
        await stage.console.worker().run(until_idle=True)
    op = await stage.op()
    assert op.escalation is not None
    assert (op.escalation.reason, op.escalation.detail) == (
        Reason.DEADLINE_EXCEEDED,
        f"deadline reached; {LOST.format('not in the store')}",
    )


@pytest.mark.parametrize("is_met", [False, True])
async def test_a_person_may_stop_watching(is_met: bool) -> None:
    """Before a worker has met it, and after."""
    stage = await lost()
    if is_met:
        await stage.look()
    assert [option.name for option in await stage.console.options(await stage.op())] == ["close"]
    with pytest.raises(Refused, match="its contract is lost, and cancel needs it; restore contracts/"):
        await stage.console.decide("op-1", "cancel", by=ANA)
    applied = await stage.console.decide("op-1", "close", by=ANA, reason="nobody needs it")
    assert applied.op.phase is Phase.ABANDONED


@pytest.mark.rule("X13")
async def test_a_person_adopts_the_file_as_it_is_now() -> None:
    stage = await lost(NEWER)
    await stage.look()
    assert [option.name for option in await stage.console.options(await stage.op())] == ["adopt_contract", "close"]
    await stage.console.decide("op-1", "adopt_contract", by=ANA)
    op = await stage.look()
    assert (op.phase, op.contract, op.last_known_state) == (Phase.WAITING, NEWER.digest, "running")


@pytest.mark.rule("X13")
async def test_a_contract_that_was_restored_judges_again() -> None:
    """The provider's file is there as it was: a pause of the option's own length, then one check."""
    stage = await lost()
    await stage.look()
    stage.shelf.contracts["acme"] = sample()
    assert [option.name for option in await stage.console.options(await stage.op())] == ["pause", "close"]
    await stage.console.decide("op-1", "pause", by=ANA)
    assert (await stage.look()).last_known_state == "running"


@pytest.mark.rule("U7", "U1")
async def test_every_face_tells_the_truth_before_and_after_a_worker_has_met_it() -> None:
    stage = await lost(NEWER)
    mend = "restore contracts/, or the provider's file as it was"
    assert await stage.console.why("op-1") == (
        f"Nothing can be asked: the contract that it was started with is lost; {mend}. "
        "Next: the look that is due since 10:00:00 asks a person."
    )
    (view,) = await stage.console.views([await stage.op()])
    assert [option["name"] for option in view["options"]] == ["close"]
    await stage.look()
    said = f"the job cannot be followed by its contract: {LOST.format('not in the store')}"
    (item,) = await stage.console.inbox()
    assert f"why: {said}" in item_lines(item, stage.clock.wall())
    assert [option["name"] for option in item.options] == ["adopt_contract", "close"]
    assert await stage.console.why("op-1") == (
        f"Nothing is sent: it waits for a person since 10:00:00: integration error: {LOST.format('not in the store')}. "
        "Next: a person decides (adopt contract, close); nothing happens by itself."
    )


@pytest.mark.rule("U7")
async def test_why_tells_what_cannot_be_chosen_any_more_since_the_contract_was_lost() -> None:
    """The question was asked while the contract was there: its options were extend and close."""
    stage = Stage(lambda request: says("running"), store=Forgetful(clock := Stage().clock), clock=clock)
    await stage.track(status_requests=1)
    await stage.look()
    assert "(extend, close)" in await stage.console.why("op-1")
    beside = Stage(store=stage.store, clock=clock)
    beside.shelf.contracts.clear()
    answer = await beside.console.why("op-1")
    assert "The contract that it was started with is lost, and what needs it cannot be chosen; restore contracts/" in answer
    assert "Next: a person decides (close)" in answer


@pytest.mark.rule("H13")
async def test_what_ended_is_acknowledged_without_its_contract() -> None:
    stage = Stage(lambda request: says("failed"), store=Forgetful(clock := Stage().clock), clock=clock)
    await stage.track()
    await stage.look()
    beside = Stage(store=stage.store, clock=clock)
    beside.shelf.contracts.clear()
    applied = await beside.console.decide("op-1", "acknowledge", by=ANA)
    assert applied.op.look is not None
    assert applied.op.look.answered_by == "ana"
