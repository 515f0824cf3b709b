"""What every store promises (STORE 5). One suite, run on each kind of store, always through two handles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, NoReturn

import pytest

from jobconsole.core.command import Plan, Refusal, Scope, View
from jobconsole.core.events import EventDraft, Kind
from jobconsole.core.keeping.line import parse
from jobconsole.core.vocabulary import Phase
from jobconsole.protocols import Receipt, WorkerInfo
from tests.store.conftest import Pair
from tests.store.made import ACCOUNT, START, begun, changed, count_one, counted, create, lease, lines_of, made, put

OP = Scope(operations=("op-1",))


# ---- commands -----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B1", "S4")
async def test_what_one_handle_stored_the_other_sees_whole(pair: Pair) -> None:
    """Every field of a record survives the store."""
    op = await begun(pair.a, made(params={"region": "eu-1"}, owner="ana", task="taxes"))
    assert await pair.b.get("op-1") == op
    assert op.owner == "ana"
    assert op.op_seq == 1


async def test_a_receipt_has_the_result_the_seqs_and_the_callers_clock(pair: Pair) -> None:
    """`asked_up` is taken before the store is asked, so that a timeout can count from it."""
    receipt = await pair.a.transact(Scope(operations=("op-1",), creating=True), create(made()), kind="create")
    assert isinstance(receipt, Receipt)
    assert receipt.result == "op-1"
    assert receipt.asked_up == pair.clock.up_ms()
    assert [parsed.seq for line in await lines_of(pair.a.events()) if (parsed := parse(line)) and parsed.operation_id] == [
        *receipt.seqs
    ]


async def test_a_refusal_is_returned_and_writes_nothing(pair: Pair) -> None:
    """A command's no is a value, not an error."""
    await begun(pair.a, made())
    before = await pair.a.heads()
    said: Receipt[str] | Refusal = await pair.b.transact(OP, create(made()), kind="create")
    assert said == Refusal("exists", "op-1 exists already")
    assert await pair.a.heads() == before


@pytest.mark.rule("H5", "S4")
async def test_the_events_of_a_refusal_are_written(pair: Pair) -> None:
    """A refused decision is evidence: its event is in the log."""
    await begun(pair.a, made())
    draft = EventDraft(kind=Kind.DECISION_REFUSED, actor="person:bob", operation_id="op-1", op_seq=2)
    said: Receipt[None] | Refusal = await pair.b.transact(
        OP, lambda view: Refusal("stale", "ana was first", (draft,)), kind="record"
    )
    assert isinstance(said, Refusal)
    last = parse((await lines_of(pair.a.events()))[-1])
    assert last is not None
    assert (last.kind, last.actor) == (Kind.DECISION_REFUSED, "person:bob")


@pytest.mark.rule("S1")
async def test_concurrent_commands_each_see_the_one_before(pair: Pair) -> None:
    """Forty counted requests over two handles: every number from 1 to 40 is given out once."""
    await begun(pair.a, made(max_status_requests=40))
    told = await asyncio.gather(*(counted(store, "op-1") for store in (pair.a, pair.b) for _ in range(20)))
    assert sorted(told) == [*range(1, 41)]


async def test_a_command_that_raises_fails_alone_and_leaves_nothing(pair: Pair) -> None:
    """Its neighbours in the same batch are stored; the error reaches only its own caller."""
    await begun(pair.a, made())

    def broken(view: View) -> NoReturn:
        raise ZeroDivisionError("a bug in a command")

    told: Any = await asyncio.gather(
        pair.a.transact(OP, count_one("op-1"), kind="reserve"),
        pair.a.transact(OP, broken, kind="reserve"),
        pair.a.transact(OP, count_one("op-1"), kind="reserve"),
        return_exceptions=True,
    )
    assert [type(one) for one in told] == [Receipt, ZeroDivisionError, Receipt]
    op = await pair.b.get("op-1")
    assert op is not None
    assert op.status_requests_used == 2


async def test_a_transaction_that_cannot_be_stored_leaves_nothing_of_itself(pair: Pair) -> None:
    """The second of its events has an unusable deadline: the first is not stored either, and the store goes on."""
    await begun(pair.a, made())
    good = EventDraft(kind=Kind.CHECK_PLANNED, actor="worker:w1", set={("operations", "op-1"): {"name": "half"}})
    bad = EventDraft(kind=Kind.CHECK_PLANNED, actor="worker:w1", set={("operations", "op-1"): {"deadline_at": "soon"}})
    with pytest.raises(ValueError, match="soon"):
        await pair.a.transact(OP, lambda view: Plan((good, bad), None), kind="record")
    assert await counted(pair.a, "op-1") == 1
    op = await pair.b.get("op-1")
    assert op is not None
    assert op.name is None


@pytest.mark.rule("S4")
async def test_a_payload_too_large_for_a_line_does_not_cost_the_state_change(pair: Pair) -> None:
    """Case DB-03: the phase is stored, the payload is left out, and the event names it."""
    await begun(pair.a, made())
    await changed(pair.a, "op-1", phase=Phase.SUCCEEDED, message="x" * 300_000, name="kept")
    op = await pair.b.get("op-1")
    assert op is not None
    assert (op.phase, op.message, op.name) == (Phase.SUCCEEDED, None, "kept")
    assert b'"not_stored":["_default/' in (await lines_of(pair.a.events()))[-1]


@pytest.mark.rule("S4")
async def test_a_value_that_json_cannot_hold_does_not_cost_the_state_change(pair: Pair) -> None:
    """Case DB-03: what memory holds is what the log says."""
    payload = {"nan": float("nan"), "lone": "\ud800", "big": 10**400, "set": {1}}
    draft = EventDraft(kind=Kind.CHECK_ANSWERED, actor="worker:w1", set={("accounts", "a"): {"level": 1, "payload": payload}})
    await pair.a.transact(Scope(accounts=("a",)), lambda view: Plan((draft,), None), kind="record")
    for store in (pair.a, pair.b):
        doc = await store.document("accounts", "a")
        assert doc is not None
        assert (doc["level"], doc["payload"]["nan"], doc["payload"]["lone"]) == (1, None, "\ufffd")


async def test_a_caller_that_goes_away_does_not_stop_its_batch(pair: Pair) -> None:
    """Cancellation of one caller: the other's command and the cancelled one's are both whole or absent."""
    await begun(pair.a, made())
    gone = asyncio.create_task(counted(pair.a, "op-1"))
    stays = asyncio.create_task(counted(pair.a, "op-1"))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays in (1, 2)
    assert (await pair.b.verify()).is_valid


@pytest.mark.rule("S1")
async def test_all_commands_of_a_batch_see_one_time_and_frozen_documents(pair: Pair) -> None:
    """A command cannot change a document in place, whatever it tries."""
    await begun(pair.a, made())
    seen: list[Any] = []

    def look(view: View) -> Plan[None]:
        doc: Any = view.get("operations", "op-1")
        seen.append(view.now)
        with pytest.raises(TypeError):
            doc["name"] = "changed in place"
        return Plan((), None)

    await asyncio.gather(*(pair.a.transact(OP, look, kind="record") for _ in range(3)))
    assert {now.wall for now in seen} == {pair.clock.wall()}


@pytest.mark.parametrize(
    ("scope", "look"),
    [
        (Scope(operations=("op-2",)), lambda view: view.get("operations", "op-1")),
        (Scope(), lambda view: view.get("operations", "op-1")),
        (Scope(job=("acme", "acme", "other")), lambda view: view.find("acme", "acme", "job of op-1")),
        (Scope(fingerprint="other"), lambda view: view.with_fingerprint("fingerprint of op-1")),
    ],
)
async def test_a_command_reads_only_what_its_scope_names(pair: Pair, scope: Scope, look: Callable[[View], Any]) -> None:
    """A store on a server locks exactly the scope: reading beside it would be unprotected."""
    await begun(pair.a, made())
    with pytest.raises(LookupError, match="scope"):
        await pair.a.transact(scope, lambda view: Plan((), look(view)), kind="record")


async def test_a_command_changes_only_what_its_scope_names(pair: Pair) -> None:
    """A write beside the scope fails that command."""
    await begun(pair.a, made())
    draft = EventDraft(kind=Kind.ITEM_CHANGED, actor="person:ana", set={("operations", "op-1"): {"name": "x"}})
    with pytest.raises(LookupError, match="scope"):
        await pair.a.transact(Scope(operations=("op-2",)), lambda view: Plan((draft,), None), kind="record")


@pytest.mark.rule("X9", "X18")
async def test_operations_are_found_by_job_and_by_fingerprint_inside_a_command(pair: Pair) -> None:
    """Also those that a command before it in the same batch has just created or renamed."""
    await begun(pair.a, made())
    scope = Scope(operations=("op-2",), job=("acme", "acme", "job of op-2"), fingerprint="same", creating=True)

    def look(view: View) -> Plan[tuple[list[str], list[str]]]:
        jobs = [doc["operation_id"] for doc in view.find("acme", "acme", "job of op-2")]
        return Plan((), (jobs, [doc["operation_id"] for doc in view.with_fingerprint("same")]))

    told = await asyncio.gather(
        pair.a.transact(scope, look, kind="record"),
        pair.a.transact(scope, create(made("op-2", request_fingerprint="same")), kind="create"),
        pair.a.transact(scope, look, kind="record"),
    )
    assert isinstance(told[0], Receipt)
    assert isinstance(told[2], Receipt)
    assert told[0].result == ([], [])
    assert told[2].result == (["op-2"], ["op-2"])
    assert [op.operation_id for op in await pair.b.find("acme", "acme", "job of op-2")] == ["op-2"]


# ---- documents ----------------------------------------------------------------------------------------------------------
async def test_accounts_actions_and_deliveries_are_documents_too(pair: Pair) -> None:
    """Each table has its own ids; fields are replaced whole, other fields stay."""
    await put(pair.a, "accounts", ACCOUNT, account="acme", level=3, hold=None)
    await put(pair.b, "accounts", ACCOUNT, level=2)
    await put(pair.a, "deliveries", "d-1", received_at="2026-11-29T10:00:00Z")
    assert await pair.a.document("accounts", ACCOUNT) == {"account_key": ACCOUNT, "account": "acme", "level": 2, "hold": None}
    assert [doc["delivery_id"] for doc in await pair.b.documents("deliveries")] == ["d-1"]
    assert await pair.a.document("accounts", "nobody") is None


async def test_a_field_that_went_back_to_its_default_does_so_in_the_store(pair: Pair) -> None:
    """Null in a `set` is a value, and a reader takes it for the default."""
    await begun(pair.a, made(name="first"))
    await changed(pair.a, "op-1", name=None)
    op = await pair.b.get("op-1")
    assert op is not None
    assert op.name is None


async def test_fields_of_a_newer_version_survive(pair: Pair) -> None:
    """A document keeps what this version does not know."""
    await begun(pair.a, made())
    await put(pair.a, "operations", "op-1", invented_later={"x": 1})
    await changed(pair.b, "op-1", name="known")
    doc = await pair.a.document("operations", "op-1")
    assert doc is not None
    assert doc["invented_later"] == {"x": 1}


@pytest.mark.rule("S6")
async def test_in_flight_lists_what_has_not_ended_oldest_first(pair: Pair) -> None:
    """Ended operations are listed by `operations` only; `where` compares fields."""
    for number in (1, 2, 3):
        await begun(pair.a, made(f"op-{number}", owner="ana" if number > 1 else "bob"))
    await changed(pair.a, "op-2", phase=Phase.SUCCEEDED, ended_at=START)
    assert [op.operation_id for op in await pair.b.in_flight()] == ["op-1", "op-3"]
    assert [op.operation_id for op in await pair.b.in_flight(owner="ana")] == ["op-3"]
    assert [op.operation_id for op in await pair.b.operations()] == ["op-1", "op-2", "op-3"]
    assert await pair.b.get("op-9") is None


@pytest.mark.rule("B9")
async def test_live_leases_are_counted_over_all_handles(pair: Pair) -> None:
    """Leases and claims that have not ended; an ended one frees its slot by itself."""
    up = pair.clock.up_ms()
    await begun(pair.a, made("op-1", lease=lease(up + 15_000)))
    await begun(pair.b, made("op-2", lease=lease(up + 5_000)))
    await put(pair.a, "actions", "op-1.cancel", operation_id="op-1", account_key=ACCOUNT, kind="cancel", state="claimed",
              owner="worker:w1", boot="boot-1", until_up=up + 15_000)  # fmt: skip
    scope = Scope(accounts=(ACCOUNT,))

    async def slots() -> Any:
        receipt = await pair.b.transact(scope, lambda view: Plan((), view.live_leases(ACCOUNT)), kind="reserve")
        assert isinstance(receipt, Receipt)
        return receipt.result

    assert await slots() == 3
    pair.clock.advance(5)
    assert await slots() == 2
    pair.clock.reboot("boot-2")
    assert await slots() == 0


async def test_held_operations_are_the_accounts_open_ones_nearest_deadline_first(pair: Pair) -> None:
    """What a command needs to hand an account's escalation on."""
    await begun(pair.a, made("op-1", deadline_at=START + timedelta(hours=3)))
    await begun(pair.a, made("op-2", deadline_at=START + timedelta(hours=1)))
    await begun(pair.a, made("op-3", phase=Phase.FAILED, ended_at=START))
    await begun(pair.a, made("op-4", account_key="another"))
    scope = Scope(accounts=(ACCOUNT,))
    receipt = await pair.b.transact(scope, lambda view: Plan((), [*view.held_operations(ACCOUNT)]), kind="record")
    assert isinstance(receipt, Receipt)
    assert receipt.result == ["op-2", "op-1"]


# ---- workers ------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X19")
async def test_a_worker_is_seen_by_all_while_it_lives(pair: Pair) -> None:
    """Nothing is written per heartbeat."""
    worker = WorkerInfo("w1", "run", 4711, START)
    async with pair.a.announce(worker):
        assert pair.a.health().workers == (worker,)
        assert pair.b.health().workers == (worker,)
    assert pair.b.health().workers == ()


def _is_dead(owner: str, view: View) -> Plan[bool]:
    return Plan((), view.is_dead(owner))


async def test_a_worker_that_left_cleanly_or_never_was_is_not_known_to_be_dead(pair: Pair) -> None:
    """Only a lock that can be taken proves a death; a missing file says nothing."""
    async with pair.a.announce(WorkerInfo("w1", "run", 4711, START)):
        pass
    for owner in ("worker:w1", "worker:never", "person:ana", ""):
        receipt = await pair.b.transact(Scope(), partial(_is_dead, owner), kind="reserve")
        assert isinstance(receipt, Receipt)
        assert receipt.result is False
