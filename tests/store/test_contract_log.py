"""What every store promises of its log and its feed (STORE 5, 7); run on each kind of store, through two handles."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import timedelta

import pytest
from msgspec.structs import replace

from jobconsole.core.events import Table
from jobconsole.core.keeping.line import parse
from jobconsole.core.operation import document
from jobconsole.errors import StoreReadOnly
from jobconsole.protocols import Change, Retention
from tests.store.conftest import Pair
from tests.store.made import START, begun, changed, counted, lines_of, made, put, stored


@pytest.mark.rule("U1")
async def test_changes_come_in_commit_order_with_the_ids_that_changed(pair: Pair) -> None:
    """A listener on one handle hears the commits of both."""
    heard: list[Change] = []

    async def listen() -> None:
        async with aclosing(pair.a.changes()) as changes:  # type: ignore[type-var]
            async for change in changes:
                heard.append(change)
                if len(heard) == 3:
                    return

    listener = asyncio.create_task(listen())
    await asyncio.sleep(0.01)
    await begun(pair.a, made("op-1"))
    await begun(pair.b, made("op-2"))
    await counted(pair.a, "op-2")
    await asyncio.wait_for(listener, 60)
    told = [key for change in heard for key in change.keys if key[0] == Table.OPERATIONS]
    assert told[:2] == [("operations", "op-1"), ("operations", "op-2")]
    assert [change.cursor for change in heard] == sorted(change.cursor for change in heard)


async def test_changes_go_on_from_a_cursor(pair: Pair) -> None:
    """No change falls between two calls (G8)."""
    await begun(pair.a, made("op-1"))
    cursor = (await pair.a.heads())[0].seq
    await begun(pair.a, made("op-2"))
    async with aclosing(pair.a.changes(after=cursor)) as changes:  # type: ignore[type-var]
        first = await asyncio.wait_for(anext(changes), 60)
    assert ("operations", "op-2") in first.keys


async def test_events_are_the_stored_lines_and_can_be_narrowed(pair: Pair) -> None:
    """By operation, and behind a `seq`."""
    for number in (1, 2):
        await begun(pair.a, made(f"op-{number}"))
        await counted(pair.b, f"op-{number}")
    every = [parse(line) for line in await lines_of(pair.b.events())]
    assert [line.seq for line in every if line] == [*range(1, len(every) + 1)]
    own = [parse(line) for line in await lines_of(pair.b.events("op-2"))]
    assert [(line.kind, line.op_seq) for line in own if line] == [("submitted", 1), ("check_reserved", 2)]
    assert len(await lines_of(pair.b.events(after=len(every) - 1))) == 1


@pytest.mark.rule("L3", "L7")
async def test_the_chain_verifies_and_says_what_an_anchor_proves(pair: Pair) -> None:
    """Behind the last anchor a cut would leave no trace, and that is said."""
    op = await begun(pair.a, made())
    await counted(pair.b, "op-1")
    head = await pair.a.anchor()
    await changed(pair.a, "op-1", name="later")
    checked = await pair.b.verify()
    assert checked.is_valid, checked.story
    assert (checked.whole_to, checked.anchored_to) == (head.seq + 1, head.seq)
    assert document(op)["op_seq"] == 1


async def test_maintenance_forgets_deliveries_after_their_time(pair: Pair) -> None:
    """76 hours: Standard Webhooks retries for 75 h 35 min (P4)."""
    await put(pair.a, "deliveries", "old", received_at="2026-11-29T10:00:00Z")
    await put(pair.a, "deliveries", "new", received_at="2026-11-29T11:00:00Z")
    pair.clock.advance(timedelta(hours=76, minutes=30))
    await pair.b.maintain(Retention())
    assert [doc["delivery_id"] for doc in await pair.a.documents("deliveries")] == ["new"]


@pytest.mark.rule("X13")
async def test_a_contract_is_kept_by_its_digest(pair: Pair) -> None:
    """The copy is there for every handle."""
    await pair.a.keep_contract("a" * 64, "contract = 1\n")
    assert await pair.b.contract_text("a" * 64) == "contract = 1\n"
    assert await pair.b.contract_text("b" * 64) is None


@pytest.mark.rule("H11")
async def test_a_closed_handle_refuses_and_the_other_goes_on(pair: Pair) -> None:
    """Closing twice is no error."""
    await begun(pair.a, made())
    await pair.a.close()
    await pair.a.close()
    with pytest.raises(StoreReadOnly, match="closed"):
        await counted(pair.a, "op-1")
    assert await counted(pair.b, "op-1") == 1
    assert not pair.a.health().is_writable


async def test_a_document_handed_out_stays_as_it_was(pair: Pair) -> None:
    """Documents are replaced, never mutated: an old reader keeps its own."""
    await begun(pair.a, made())
    before = await pair.a.document("operations", "op-1")
    await changed(pair.a, "op-1", name="later")
    assert before is not None
    assert "name" not in before
    assert stored(replace(made(), op_seq=1, due_at=START)) == dict(before)
