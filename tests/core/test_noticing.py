"""One message about an inbox item: taken on once, and what became of it is on record (H7, H10).

Operations are tracked at 10:00:00 and stopped by their deadline at 10:41:00.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest

from jobconsole.core.command import Command, Scope
from jobconsole.core.commands.noticing import LOST_AFTER, claim_notices, lost_at, record_lost, record_notices
from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import inbox_items, item_lines
from jobconsole.core.telling.story import story
from jobconsole.core.vocabulary import NoticeResult
from tests.core.desk import Desk
from tests.core.sample_facts import at

MINUTES = timedelta(minutes=1)
A, B = "worker:a", "worker:b"


def asking(*operation_ids: str) -> Desk:
    """A desk whose operations need a person."""
    desk = Desk()
    for operation_id in operation_ids or ("op-1",):
        desk.track(operation_id)
    desk.clock.advance(41 * MINUTES)
    for operation_id in operation_ids or ("op-1",):
        desk.reserve(operation_id)
    return desk


def items(desk: Desk, *operation_ids: str) -> dict[str, datetime]:
    """Since when these are items."""
    found = {operation_id: item_since(desk.op(operation_id)) for operation_id in operation_ids or ("op-1",)}
    return {operation_id: since for operation_id, since in found.items() if since is not None}


def run(desk: Desk, command: Command[tuple[Operation, ...]], *operation_ids: str) -> list[str]:
    """The ids of the operations that the command changed."""
    changed = desk.told(Scope(operations=operation_ids or ("op-1",)), command)
    return [op.operation_id for op in changed]


def claimed(desk: Desk, *operation_ids: str) -> Mapping[str, datetime]:
    """When the messages about these were taken on."""
    found = {operation_id: desk.op(operation_id).attention.notified_at for operation_id in operation_ids or ("op-1",)}
    return {operation_id: notified_at for operation_id, notified_at in found.items() if notified_at is not None}


def told(desk: Desk) -> list[str]:
    """What the story says of messages."""
    return [line for line in story(desk.events()) if "message" in line or "reached" in line]


@pytest.mark.rule("H7")
def test_of_two_processes_that_want_to_tell_the_same_one_does() -> None:
    desk = asking()
    since = items(desk)
    before = desk.op().revision
    assert run(desk, claim_notices(since, A, "slack")) == ["op-1"]
    assert run(desk, claim_notices(since, B, "slack")) == []
    assert desk.op().revision == before
    assert told(desk) == ["10:41:00 a message goes out by slack"]


@pytest.mark.rule("H7")
def test_one_message_about_several_items_claims_all_that_nobody_has_claimed() -> None:
    ids = ("op-1", "op-2", "op-3")
    desk = asking(*ids)
    run(desk, claim_notices(items(desk, "op-2"), A, "slack"), "op-2")
    assert run(desk, claim_notices(items(desk, *ids), B, "slack"), *ids) == ["op-1", "op-3"]


@pytest.mark.rule("H7")
def test_an_item_that_was_answered_meanwhile_is_not_told_of_and_the_next_one_is() -> None:
    desk = asking()
    first = items(desk)
    desk.chosen("extend")
    assert run(desk, claim_notices(first, A, "slack")) == []
    desk.clock.advance(60 * MINUTES)
    desk.reserve()
    assert run(desk, claim_notices(first, A, "slack")) == []
    assert run(desk, claim_notices(items(desk), A, "slack")) == ["op-1"]


@pytest.mark.rule("H10")
@pytest.mark.parametrize(
    ("result", "detail", "line"),
    [
        (NoticeResult.REACHED, "", "10:41:00 slack took the message"),
        (NoticeResult.REACHED, "mailto: refused", "10:41:00 slack took the message; mailto: refused"),
        (NoticeResult.NOT_REACHED, "slack: 404", "10:41:00 nobody was reached by slack: slack: 404"),
    ],
)
def test_the_story_tells_who_took_the_message_or_that_nobody_was_reached(result: NoticeResult, detail: str, line: str) -> None:
    desk = asking()
    run(desk, claim_notices(items(desk), A, "slack"))
    run(desk, record_notices(claimed(desk), A, result, "slack", detail))
    assert told(desk) == ["10:41:00 a message goes out by slack", line]
    assert desk.op().attention.notice_result is result


@pytest.mark.rule("H10", "A6")
def test_a_message_whose_sender_died_is_said_to_be_lost_and_not_sent_again() -> None:
    desk = asking()
    run(desk, claim_notices(items(desk), A, "slack"))
    assert lost_at(desk.op()) == at(0) + 41 * MINUTES + LOST_AFTER
    desk.clock.advance(LOST_AFTER)
    assert run(desk, record_lost(desk.op(), B)) == ["op-1"]
    assert run(desk, record_lost(desk.op(), A)) == []
    assert lost_at(desk.op()) is None
    assert run(desk, claim_notices(items(desk), B, "slack")) == []
    assert told(desk)[1] == (
        "10:43:00 nobody knows whether the message went out, and it is not sent again: whoever sent it ended before it knew"
    )


def test_a_sender_that_slept_says_after_all_that_its_message_went_out() -> None:
    desk = asking()
    run(desk, claim_notices(items(desk), A, "slack"))
    mine = claimed(desk)
    run(desk, record_lost(desk.op(), B))
    assert run(desk, record_notices(mine, A, NoticeResult.REACHED, "slack")) == ["op-1"]
    assert desk.op().attention.notice_result is NoticeResult.REACHED
    assert run(desk, record_notices(mine, A, NoticeResult.NOT_REACHED, "slack")) == []


@pytest.mark.rule("H10")
def test_that_nobody_was_reached_stands_in_the_audit_of_an_item_that_was_answered_meanwhile() -> None:
    desk = asking()
    run(desk, claim_notices(items(desk), A, "slack"))
    mine = claimed(desk)
    desk.chosen("extend")
    assert run(desk, record_notices(mine, A, NoticeResult.NOT_REACHED, "slack", "no route")) == ["op-1"]
    assert told(desk)[-1] == "10:41:00 nobody was reached by slack: no route"
    attention = desk.op().attention
    assert (attention.notified_at, attention.notice_result) == (None, None)


@pytest.mark.rule("H10")
def test_the_inbox_says_what_became_of_the_message() -> None:
    desk = asking()
    run(desk, claim_notices(items(desk), A, "slack"))
    assert "message: 10:41:00 UTC, is on its way" in said(desk)
    run(desk, record_notices(claimed(desk), A, NoticeResult.NOT_REACHED, "slack", "no route"))
    assert "message: 10:41:00 UTC, reached nobody" in said(desk)


def said(desk: Desk) -> list[str]:
    """The inbox's lines about the one item."""
    now = desk.clock.wall()
    return item_lines(inbox_items([desk.op()], now)[0], now)
