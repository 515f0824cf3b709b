"""The inbox: what needs an answer and what should be seen, apart, oldest first, with what a person needs to know."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from msgspec.structs import replace

from jobconsole.core.commands.attending import assign, note, snooze
from jobconsole.core.commands.submission import Wanted
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import InboxItem, age_mark, answer_to, closing_words, inbox_items, inbox_view, item_lines
from jobconsole.core.vocabulary import Phase
from tests.core.staged_wait import StagedWait, at, contract

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
        "state: running, seen 10:56:00 UTC",
        "used: 12 of 12 requests, 38m elapsed",
        "last HTTP: 200 at 10:56:00 UTC",
        "option extend: extend once: 15 minutes and 4 more checks; deadline 11:00:00 -> 11:15:00 UTC, checks 12 -> 16, "
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


@pytest.mark.rule("H7")
async def test_the_lines_say_who_looks_after_an_item_until_when_it_rests_and_what_was_noted() -> None:
    """Given to ben at 10:22:00, snoozed for two hours a minute later, noted at 10:24:00; a note keeps its own lines."""
    wait = await asking("op_1", "10:21:00")
    wait.go("10:22:00")
    await wait.run(assign("op_1", "person:ana", "ben", shown=None))
    wait.go("10:23:00")
    await wait.run(snooze("op_1", "person:ben", at("12:23:00")))
    wait.go("10:24:00")
    await wait.run(note("op_1", "person:ben", "asked the provider\nticket\t4711"))
    [item] = inbox_items([await wait.op()], wait.clock.wall())
    assert [line for line in item_lines(item, wait.clock.wall()) if line.startswith(("with", "snoozed", "note", " "))] == [
        "with: ben, since 10:22:00 UTC",
        "snoozed: until 12:23:00 UTC",
        "note: 10:24:00 UTC ben: asked the provider",
        "      ticket\\t4711",
    ]
    [later] = inbox_items([await wait.op()], at("12:23:00"))  # the second at which it wakes
    assert [line for line in item_lines(later, at("12:23:00")) if line.startswith("snoozed")] == []


@pytest.mark.rule("H7")
async def test_what_is_snoozed_stands_behind_what_is_awake_until_its_time_has_come() -> None:
    """op_1 is the older one, and rests until 10:40:00."""
    first, second = await asking("op_1", "10:21:00"), await asking("op_2", "10:25:00")
    await first.run(snooze("op_1", "person:ana", at("10:40:00")))
    operations = [await first.op(), await second.op()]
    before, then = (inbox_items(operations, at(clock)) for clock in ("10:39:59", "10:40:00"))
    assert [(item.operation_id, item.is_snoozed) for item in before] == [("op_2", False), ("op_1", True)]
    assert [(item.operation_id, item.is_snoozed) for item in then] == [("op_1", False), ("op_2", False)]


@pytest.mark.rule("H8")
async def test_an_option_that_serves_no_purpose_any_more_says_so_and_stays() -> None:
    """The release window closed at 10:30:00; at 10:58:00 more time would serve nothing, and closing still does."""
    wait = StagedWait()
    await wait.submit(
        budget=Wanted(
            deadline=timedelta(hours=2),
            status_requests=1,
            transport_failures=3,
            rate_limits=3,
            business_deadline_at=at("10:30:00"),
        )
    )
    wait.go("10:25:00")
    await wait.check(200, {"state": "running"})
    wait.go("10:58:00")
    [item] = inbox_items([await wait.op()], wait.clock.wall(), {wait.contract.digest: wait.contract})
    lines = {line.split(":")[0]: line for line in item_lines(item, wait.clock.wall())}
    why = "(serves no purpose any more: the business deadline 10:30:00 UTC has passed, an outcome comes too late for it)"
    assert lines["option extend"].endswith(why)
    assert "purpose" not in lines["option close"]


@pytest.mark.rule("H7")
@pytest.mark.parametrize(
    ("minutes", "told"),
    [(0, ""), (15, ""), (15.1, "over 15 min"), (60, "over 15 min"), (60.1, "over 1 h"), (3_000, "over 1 h")],
)
def test_an_item_that_waits_for_too_long_is_marked_in_words(minutes: float, told: str) -> None:
    assert age_mark(timedelta(minutes=minutes)) == told


@pytest.mark.rule("H4")
async def test_what_became_of_an_item_is_who_answered_what_and_no_older_answer() -> None:
    """Ben paused the first item; the second one, an unknown state again, ended when Ana closed it."""
    wait = await asking("op_1", "10:21:00")
    first = (await wait.op()).escalation
    assert first is not None
    await wait.decide("pause", by="ben", until_at=at("10:30:00"))
    assert closing_words(await wait.op(), first.since) == "answered by ben: pause"
    wait.go("10:30:00")
    await wait.check(200, {"state": "odd"})
    second = (await wait.op()).escalation
    assert second is not None
    assert answer_to(await wait.op(), second.since) is None
    await wait.decide("close", by="ana", reason="not needed")
    assert closing_words(await wait.op(), second.since) == "answered by ana: close"


@pytest.mark.rule("X8")
async def test_an_item_that_nobody_answered_says_how_the_operation_goes_on() -> None:
    """A success that comes by itself ends the operation: nobody has answered."""
    wait = await asking("op_1", "10:21:00")
    asked = (await wait.op()).escalation
    assert asked is not None
    ended = replace(await wait.op(), phase=Phase.SUCCEEDED, escalation=None)
    assert closing_words(ended, asked.since) == "needs nobody any more: succeeded"


async def test_an_item_shows_itself_without_its_view() -> None:
    wait = await asking("op_d1", "10:21:00")
    [item] = inbox_items([await wait.op()], wait.clock.wall())
    assert repr(item).startswith("<InboxItem decision op_d1: the provider named a state that its contract")
    assert "request_fingerprint" not in repr(item)
