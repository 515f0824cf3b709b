"""What every store promises of operations that ended long ago (STORE 1.3); run on each kind of store, through two handles."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.core.keeping.line import parse
from jobconsole.core.operation import Look, OpenAction, Operation
from jobconsole.core.vocabulary import ActionState, Phase, Reason
from jobconsole.protocols import Retention
from tests.store.conftest import Pair
from tests.store.made import ACCOUNT, begun, changed, counted, ended, lines_of, made, put

KEEP = Retention()
DAY = timedelta(days=1)


async def over(pair: Pair, operation_id: str, **fields: object) -> Operation:
    """An operation that has just ended, with one counted request and one action that is over."""
    await begun(pair.a, made(operation_id))
    await counted(pair.a, operation_id)
    await put(pair.a, "actions", f"{operation_id}.cancel", operation_id=operation_id, account_key=ACCOUNT, kind="cancel",
              state="ended")  # fmt: skip
    given = {"phase": Phase.SUCCEEDED, "ended_at": pair.clock.wall(), **fields}
    await changed(pair.a, operation_id, **given)
    op = await pair.a.get(operation_id)
    assert op is not None
    return op


async def live(pair: Pair) -> list[str]:
    """The ids that the other handle has in memory."""
    return [op.operation_id for op in await pair.b.operations()]


def days(number: float) -> timedelta:
    """So many days."""
    return number * DAY


@pytest.mark.rule("S6")
@pytest.mark.parametrize(
    ("age", "keep", "is_archived"),
    [
        (days(7) - timedelta(seconds=1), KEEP, False),
        (days(7) + timedelta(seconds=1), KEEP, True),
        (days(2), Retention(ended=days(1)), False),  # 48 h are less than the 96 h that a late delivery may take
        (days(4) - timedelta(seconds=1), Retention(most_ended=0), False),
        (days(4) + timedelta(seconds=1), Retention(most_ended=0), True),
        (days(4) + timedelta(seconds=1), Retention(most_ended=1), False),
    ],
)
async def test_an_ended_operation_leaves_after_its_time(pair: Pair, age: timedelta, keep: Retention, is_archived: bool) -> None:
    """Seven days, or earlier where more have ended than are kept; never within 96 hours."""
    await over(pair, "op-1")
    pair.clock.advance(age)
    await pair.a.maintain(keep)
    assert await live(pair) == ([] if is_archived else ["op-1"])


async def test_of_too_many_what_ended_first_leaves_first(pair: Pair) -> None:
    """Four have ended, two are kept; the one that began first ended last."""
    for operation_id in ("op-4", "op-1", "op-2", "op-3"):
        await begun(pair.a, made(operation_id))
    for operation_id in ("op-1", "op-2", "op-3", "op-4"):
        pair.clock.advance(1)
        await changed(pair.a, operation_id, phase=Phase.FAILED, ended_at=pair.clock.wall())
    pair.clock.advance(days(5))
    await pair.a.maintain(Retention(most_ended=2))
    assert await live(pair) == ["op-4", "op-3"]
    assert [each.operation_id for each in await pair.b.archive()] == ["op-1", "op-2"]


@pytest.mark.rule("S6", "L1")
async def test_what_was_archived_is_still_found_with_its_actions_and_its_audit(pair: Pair) -> None:
    """By its id and by its job; listed apart from the live ones; the last line of its audit says that it was archived."""
    op = await over(pair, "op-1")
    await begun(pair.b, made("op-2", provider_job_id="job of op-1"))
    pair.clock.advance(days(8))
    await pair.b.maintain(KEEP)
    for store in (pair.a, pair.b):
        assert await store.get("op-1") == op
        assert [found.operation_id for found in await store.find("acme", "acme", "job of op-1")] == ["op-1", "op-2"]
        archived = await store.archived("op-1")
        assert archived is not None
        assert [action["action_id"] for action in archived.actions.values()] == ["op-1.cancel"]
        assert await store.documents("actions") == []
        lines = [parse(line) for line in await lines_of(store.events("op-1"))]
        assert [line.kind for line in lines if line] == ["submitted", "check_reserved", "check_planned", "archived"]
    assert await pair.a.archived("op-2") is None
    assert await pair.a.get("op-3") is None
    assert await pair.a.find("acme", "another account", "job of op-1") == []


@pytest.mark.rule("H13")
@pytest.mark.parametrize(
    ("answer", "is_archived"), [(None, False), ("review", False), ("acknowledge", True), ("accept", True), ("reject", True)]
)
async def test_an_open_look_keeps_its_operation_live(pair: Pair, answer: str | None, is_archived: bool) -> None:
    """What somebody should see does not vanish; a review is no final answer."""
    look = Look(reason=Reason.PROVIDER_FAILURE, since=pair.clock.wall(), answer=answer)
    await over(pair, "op-1", phase=Phase.FAILED, look=look)
    pair.clock.advance(days(30))
    await pair.a.maintain(Retention(most_ended=0))
    assert await live(pair) == ([] if is_archived else ["op-1"])


async def test_an_action_that_is_not_over_keeps_its_operation_live(pair: Pair) -> None:
    """Its outcome is still to be written down."""
    open_actions = {"fetch": OpenAction(action_id="op-1.fetch", state=ActionState.CLAIMED)}
    await over(pair, "op-1", open_actions=open_actions)
    pair.clock.advance(days(30))
    await pair.a.maintain(KEEP)
    assert await live(pair) == ["op-1"]
    await changed(pair.a, "op-1", open_actions={})
    await pair.a.maintain(KEEP)
    assert await live(pair) == []


@pytest.mark.rule("L3", "L7")
async def test_the_chain_verifies_with_what_was_archived(pair: Pair) -> None:
    """Nothing archived counts as missing or miscounted."""
    for number in range(3):
        await begun(pair.a, made(f"op-{number}"))
        await counted(pair.a, f"op-{number}")
        await ended(pair.a, f"op-{number}", pair.clock.wall())
    pair.clock.advance(days(8))
    await pair.a.maintain(KEEP)
    assert await live(pair) == []
    assert (await pair.b.verify()).is_valid
    assert (await pair.b.verify()).unarchived == ()


@pytest.mark.rule("S4")
async def test_the_archive_is_made_anew_from_the_log(pair: Pair) -> None:
    """With the same documents at the same places of the chain."""
    for number in range(3):
        await over(pair, f"op-{number}")
    pair.clock.advance(days(8))
    await pair.a.maintain(KEEP)
    before = await pair.a.archive()
    assert await pair.a.rebuild_archive() == 3
    assert await pair.b.archive() == before


async def test_two_handles_that_archive_at_once_do_it_once(pair: Pair) -> None:
    """The second one finds nothing left to remove."""
    await over(pair, "op-1")
    pair.clock.advance(days(8))
    await pair.a.maintain(KEEP)
    await pair.b.maintain(KEEP)
    assert [each.operation_id for each in await pair.b.archive()] == ["op-1"]
    kinds = [line.kind for line in map(parse, await lines_of(pair.a.events("op-1"))) if line]
    assert kinds.count("archived") == 1
