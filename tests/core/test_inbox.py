"""The inbox: what needs an answer and what should be seen, apart, oldest first, with what a person needs to know."""

from __future__ import annotations

import json

import pytest

from jobconsole.core.inbox import InboxItem, inbox_items, inbox_view, item_lines
from jobconsole.core.operation import Operation
from tests.core.staged_wait import StagedWait, contract

H2 = (
    "operation_id provider_job_id last_known_state elapsed_seconds status_requests_used max_status_requests last_http_status "
    "last_http_at reason options"
)


async def ended(operation_id: str, body: dict[str, object], clock: str) -> Operation:
    """An operation whose job ended so at that time."""
    wait = StagedWait(operation_id=operation_id)
    await wait.submit()
    wait.go(clock)
    await wait.check(200, body)
    return await wait.op()


async def asking(operation_id: str, clock: str) -> StagedWait:
    """An operation that escalated at that time because of a state that nobody knows."""
    wait = StagedWait(operation_id=operation_id)
    await wait.submit()
    wait.go(clock)
    await wait.check(200, {"state": "odd"})
    return wait


def of(items: list[InboxItem]) -> list[tuple[str, str]]:
    """Kind and operation of each item."""
    return [(item.kind, item.view["operation_id"]) for item in items]


@pytest.mark.rule("H7", "H13")
async def test_decisions_and_looks_stand_apart_and_the_oldest_first() -> None:
    """What only waits is in neither."""
    first, second = await asking("op_d1", "10:21:00"), await asking("op_d2", "10:25:00")
    looks = [await ended("op_l1", {"state": "failed"}, "10:20:30"), await ended("op_l2", {"state": "cancelled"}, "10:30:00")]
    waiting = StagedWait(operation_id="op_w")
    await waiting.submit()
    operations = [looks[1], await second.op(), await waiting.op(), looks[0], await first.op()]
    items = inbox_items(operations, second.clock.wall())
    assert of(items) == [("decision", "op_d1"), ("decision", "op_d2"), ("look", "op_l1"), ("look", "op_l2")]
    assert [item.reason for item in items[2:]] == ["provider_failure", "cancelled_elsewhere"]
    assert items[0].age_seconds == 4 * 60  # from 10:21:00 to 10:25:00


@pytest.mark.rule("H13")
async def test_a_look_stays_while_it_is_reviewed_and_goes_when_it_is_answered() -> None:
    """A partial outcome is reviewed by ana, then accepted."""
    wait = StagedWait()
    await wait.submit()
    wait.go("10:20:05")
    await wait.check(200, {"state": "partial", "total": 9, "bad": 2})
    await wait.decide("review")
    items = inbox_items([await wait.op()], wait.clock.wall())
    assert [(item.kind, item.taken_by) for item in items] == [("look", "ana")]
    await wait.decide("accept")
    assert inbox_items([await wait.op()], wait.clock.wall()) == []


@pytest.mark.rule("H2")
async def test_an_item_has_what_a_person_needs_and_no_raw_dump() -> None:
    """Every fact that H2 names is a key of the JSON."""
    wait = await asking("op_1", "10:20:05")
    [item] = inbox_items([await wait.op()], wait.clock.wall(), {wait.contract.digest: wait.contract})
    shown = inbox_view(item)
    json.dumps(shown, allow_nan=False)
    assert [key for key in H2.split() if shown[key] is None] == []
    assert "token-that-nobody-sees" not in json.dumps(shown)


@pytest.mark.rule("H2")
async def test_the_lines_of_a_decision_say_why_where_it_stands_and_what_each_option_costs() -> None:
    """Read at 10:58:00, two minutes after the last of 12 requests."""
    wait = StagedWait()
    await wait.submit()
    for minute in range(45, 57):
        wait.go(f"10:{minute}:00")
        await wait.check(200, {"state": "running"}, draw=0.1)
    wait.go("10:58:00")
    [item] = inbox_items([await wait.op()], wait.clock.wall(), {wait.contract.digest: wait.contract})
    assert item_lines(item, wait.clock.wall()) == [
        "decision: op_1 Q3 report, acme-exports job exp_71c, open for 2m",
        "why: every status request that was allowed is used",
        "state: running, seen 10:56:00Z",
        "used: 12 of 12 requests, 38m elapsed",
        "last HTTP: 200 at 10:56:00Z",
        "option extend: extend once: 15 minutes and 4 more checks; deadline 11:00:00Z -> 11:15:00Z, checks 12 -> 16, "
        "transport failures 3 -> 4, rate-limit answers 3 -> 4, extensions 0 -> 1 of 2",
        "option cancel: cancel at provider: Stops billing; partial output is lost; "
        "costs up to 4 checks in 10 minutes to learn how it ended",
        "option inspect: inspect: opens the provider's console: https://console.acme.example/exports/exp_71c",
        "option close: close: stops watching without knowing the outcome; the job itself is not touched",
    ]


async def test_what_was_decided_and_not_done_yet_is_said_and_leaves_little_to_choose() -> None:
    """The probe of a mended credential is granted; until it is sent, it can only be looked at or closed."""
    wait = StagedWait()
    await wait.submit()
    wait.go("10:20:05")
    await wait.check(401)
    await wait.decide("credential_mended")
    [item] = inbox_items([await wait.op()], wait.clock.wall(), {wait.contract.digest: wait.contract})
    assert item.taken_by == "credential mended is under way"
    assert [option["name"] for option in item.options] == ["inspect", "close"]


@pytest.mark.rule("X13")
async def test_a_newer_contract_file_is_offered_where_there_is_one() -> None:
    """The file changed since the operation began: it may be adopted."""
    wait = await asking("op_1", "10:20:05")
    newer = contract(waiting='["queued", "running", "odd"]')
    judged = {wait.contract.digest: wait.contract}

    def names(digest: str) -> list[str]:
        [item] = inbox_items([operation], wait.clock.wall(), judged, {"acme-exports": digest})
        return [option["name"] for option in item.options]

    operation = await wait.op()
    assert "adopt_contract" in names(newer.digest)
    assert "adopt_contract" not in names(wait.contract.digest)


@pytest.mark.rule("U3")
async def test_foreign_text_in_the_lines_is_inert() -> None:
    """A state with escape sequences and line breaks stays harmless."""
    wait = StagedWait()
    await wait.submit(job_id="exp\x1b]0;x\x07")
    wait.go("10:20:05")
    await wait.check(200, {"state": "a\n\x1b[2J"})
    [item] = inbox_items([await wait.op()], wait.clock.wall())
    assert all(line.isprintable() for line in item_lines(item, wait.clock.wall()))
