"""The audit reads as a story: one line an event, in the words of SPEC X22."""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.core.commands.reservation import Reserved, give_back
from jobconsole.core.events import Kind
from jobconsole.core.telling.story import story
from jobconsole.core.telling.story_line import alone
from tests.core.staged_wait import WORKER, StagedWait, contract


async def told(wait: StagedWait) -> list[str]:
    """The story of the one operation."""
    return list(story(await wait.events()))


async def started(judge: Any = None) -> StagedWait:
    """A wait whose submission was accepted at 10:20:00; its first check is due at 10:20:05."""
    wait = StagedWait(judge)
    await wait.submit()
    wait.go("10:20:05")
    return wait


@pytest.mark.rule("X22")
async def test_reads_as_the_specification_writes_it() -> None:
    """The four lines of X22, to the letter, from the events of the real commands."""
    wait = await started()
    await wait.check(200, {"state": "queued"}, draw=0.45)  # 0.45 x 20 s = 9 s
    wait.go("10:20:31")
    await wait.check(503, headers={"Retry-After": "120"})
    for minute in range(30, 39):  # checks 3 to 11
        wait.go(f"10:{minute}:00")
        await wait.check(200, {"state": "running"}, draw=0.1)
    wait.go("10:58:00")
    await wait.check(200, {"state": "running"})  # check 12 of 12

    lines = await told(wait)

    assert lines[0] == "10:20:00 submitted job exp_71c, deadline 11:00:00, budget 12"
    assert lines[1] == "10:20:05 polled, state queued, next poll 10:20:14 from local backoff"
    assert lines[2] == "10:20:31 received 503, Retry-After 120, next poll 10:22:31 from provider guidance"
    assert lines[3] == "10:20:31 account acme-prod held until 10:22:31"
    assert lines[-1] == "10:58:00 polled, state running, request budget exhausted, escalated"
    assert len(lines) == 4 + 9 + 1


# ---- folding -----------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X22")
async def test_a_reservation_alone_reads_reserved_no_answer() -> None:
    """A request whose answer is not on record stands by itself."""
    wait = await started()
    await wait.reserve()
    assert (await told(wait))[1:] == ["10:20:05 reserved, no answer"]


@pytest.mark.rule("X22")
async def test_a_reservation_whose_owner_went_silent_stands_before_the_next_one() -> None:
    """The lost request is told in its place, the answered one folds."""
    wait = await started()
    await wait.reserve()
    wait.go("10:21:00")  # the lease of 15 s is over
    await wait.check(200, {"state": "running"}, draw=0.5)  # 2 checks are over: 0.5 x 40 s
    assert (await told(wait))[1:] == [
        "10:20:05 reserved, no answer",
        "10:21:00 lease of worker w1 lost, the request stays counted",
        "10:21:00 polled, state running, next poll 10:21:20 from local backoff",
    ]


@pytest.mark.rule("X22")
async def test_several_requests_of_one_check_fold_into_its_answer_and_are_counted() -> None:
    """A redirect hop or a repeat is a reservation of its own under the same token."""
    wait = await started()
    first = await wait.reserve()
    assert isinstance(first, Reserved)
    second = await wait.reserve(token=first.token)
    await wait.answer(second, await wait.seen(200, {"state": "running"}), draw=0.5)
    assert (await told(wait))[1] == "10:20:05 polled, state running, 2 requests, next poll 10:20:15 from local backoff"


@pytest.mark.rule("X24")
async def test_a_success_that_is_to_be_confirmed_says_so_and_the_second_look_is_a_line_of_its_own() -> None:
    """Two requests, two lines."""
    wait = await started(contract('[confirm]\nrequest = "GET /v1/exports/{job_id}/result"\ncodes = { 200 = "succeeded" }'))
    first = await wait.reserve()
    assert isinstance(first, Reserved)
    await wait.answer(first, await wait.seen(200, {"state": "succeeded", "result": 1}))
    wait.go("10:20:06")
    second = await wait.reserve("confirm", first.token)
    confirmed = await wait.seen(200, {"state": "succeeded"}, step="confirm")
    await wait.answer(second, confirmed, is_confirm=True)
    assert (await told(wait))[1:] == [
        "10:20:05 polled, state succeeded, a second look is to confirm it",
        "10:20:06 polled, state succeeded, ended as succeeded",
    ]


async def test_a_request_that_the_gate_kept_back_is_told_once() -> None:
    """`check_withheld` takes the place of the answer."""
    wait = await started()
    reserved = await wait.reserve()
    assert isinstance(reserved, Reserved)
    back = give_back("op_1", WORKER, reserved.token, kind=Kind.CHECK_WITHHELD, reason="account_hold")
    await wait.run(back)
    lines = (await told(wait))[1:]
    assert lines == ["10:20:05 not sent: account hold, the request stays counted, next poll 10:20:05 from local backoff"]


async def test_a_submission_is_recorded_sent_repeated_and_then_folds_into_the_answer_that_accepts_it() -> None:
    """What is not accepted stays visible."""
    wait = StagedWait()
    await wait.record_submission()
    assert await told(wait) == ["10:20:00 recorded the submission, deadline 11:00:00, budget 12"]
    claimed = await wait.start_action()
    assert (await told(wait))[1:] == ["10:20:00 submission sent, no answer"]
    wait.go("10:20:10")
    await wait.end_action(claimed, wait.lost(), draw=0.5)  # sent again in 0.5 x 10 s
    wait.go("10:20:15")
    claimed = await wait.start_action()
    await wait.end_action(claimed, await wait.seen(202, {"id": "exp_71c"}, step="submit"), draw=0.5)
    assert await told(wait) == [
        "10:20:00 recorded the submission, deadline 11:00:00, budget 12",
        "10:20:10 submission outcome unknown, the answer did not come within 10s, sent again 10:20:15",
        "10:20:15 submitted job exp_71c, deadline 11:00:00, budget 12",
    ]


async def test_a_job_that_is_tracked_reads_as_adopted() -> None:
    """Nobody here submitted it."""
    wait = StagedWait()
    await wait.track()
    assert await told(wait) == ["10:20:00 adopted job exp_71c, deadline 11:00:00, budget 12"]


# ---- answers -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("status", "body", "headers", "said"),
    [
        (  # a hint h is spread over [h, 1.1 h]: 31.5 s
            200,
            {"state": "running", "poll_after": 30},
            {},
            "polled, state running, hint 30 s, next poll 10:20:36 from provider hint",
        ),
        (429, None, {}, "received 429, next poll 10:20:45 from local backoff"),  # 4 x 0.5 x 20 s
        (404, None, {}, "received 404, next poll 10:20:15 from local backoff"),
        (
            503,
            None,
            {"Retry-After": "Sun, 29 Nov 2026 10:21:05 GMT"},
            "received 503, Retry-After 60, next poll 10:21:06 from provider guidance",
        ),
        (401, None, {}, "received 401, authorization denied, escalated"),
        (
            200,
            {"state": "weird"},
            {},
            "polled, state weird, unknown state: the state 'weird' is not in the contract, escalated",
        ),
        (200, {"state": "succeeded", "result": 1}, {}, "polled, state succeeded, ended as succeeded"),
        (200, {"state": "partial", "total": 9, "bad": 2}, {}, "polled, state partial, ended as completed with errors"),
        (200, {"state": "failed", "error": "no disk"}, {}, "polled, state failed, ended as failed"),
        (
            200,
            {"state": "running"},
            {"Age": "40"},
            "polled, state running, answer 40 s old, next poll 10:20:15 from local backoff",
        ),
    ],
)
async def test_an_answer_and_what_follows_from_it_are_one_line(
    status: int, body: Any, headers: dict[str, str], said: str
) -> None:
    """State or code, guidance, and the end, the question or the next poll."""
    wait = await started()
    await wait.check(status, body, headers=headers, draw=0.5)  # after the first check: 0.5 x 20 s = 10 s
    assert f"10:20:05 {said}" in await told(wait)


async def test_no_answer_says_why_and_that_delivery_is_ambiguous() -> None:
    """A request without an answer is no state of the job."""
    wait = await started()
    await wait.answer(await wait.reserve(), wait.lost(), draw=0.5)
    assert (await told(wait))[1] == (
        "10:20:05 no answer: the answer did not come within 10s, delivery is ambiguous, next poll 10:20:15 from local backoff"
    )


async def test_a_hint_that_was_not_obeyed_is_a_line_of_its_own() -> None:
    """What was rejected, its value and why."""
    wait = await started()
    await wait.check(200, {"state": "running", "poll_after": -3}, draw=0.5)
    assert (await told(wait))[2] == '10:20:05 hint rejected: poll_after_seconds "-3", negative'


# ---- people ------------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("H5")
async def test_a_decision_tells_who_what_and_why_and_a_refused_one_too() -> None:
    """One line for the decision and what it changed; the second click is told as refused."""
    wait = await started()
    wait.go("11:00:00")
    await wait.reserve()
    wait.go("11:05:00")
    shown = (await wait.op()).revision
    await wait.decide("extend", reason="tax filing is due", revision=shown)
    await wait.decide("extend", by="ben", revision=shown)
    assert (await told(wait))[1:] == [
        "11:00:00 deadline exceeded, escalated",
        "11:05:00 ana chose extend: deadline 11:00:00 -> 11:20:00 UTC, checks 12 -> 16, "
        "next poll 11:05:00 from a person's decision, reason: tax filing is due",
        "11:05:00 ben chose extend, refused: stale",
    ]


async def test_a_cancel_is_told_from_the_decision_to_the_end() -> None:
    """Chosen, answered, observed."""
    wait = await started()
    await wait.check(200, {"state": "running"}, draw=0.5)
    wait.go("10:20:08")
    await wait.decide("cancel")
    claimed = await wait.start_action("cancel")
    wait.go("10:20:09")
    await wait.end_action(claimed, wait.lost())
    wait.go("10:20:10")
    await wait.check(200, {"state": "cancelled"})
    assert (await told(wait))[2:] == [
        "10:20:08 ana chose cancel: cancel at provider: Stops billing; partial output is lost, no reason given",
        "10:20:09 cancel outcome unknown, the answer did not come within 10s, checks go on until it is known how the job ends",
        "10:20:10 polled, state cancelled, ended as cancelled",
    ]


# ---- the whole store, days, foreign text -------------------------------------------------------------------------------------
async def test_over_the_whole_store_each_line_names_its_operation() -> None:
    """The store's own events have no operation to name."""
    wait = await started()
    lines = list(story(await wait.events(everything=True), with_operation=True))
    assert lines[0].startswith("10:20:00 store created")
    assert lines[1] == "10:20:00 op_1 submitted job exp_71c, deadline 11:00:00, budget 12"


async def test_the_date_is_shown_where_it_changes_and_with_times_of_another_day() -> None:
    """A wait over midnight."""
    wait = StagedWait(contract(deadline='"6h"', base='"60s"', max='"120s"'), start="23:59:00")
    await wait.submit(draw=0.5)  # 0.5 x 60 s
    wait.go("23:59:30")
    await wait.check(200, {"state": "running"}, draw=0.5)  # 0.5 x 120 s
    wait.go("00:00:30", days=1)
    await wait.check(200, {"state": "running"}, draw=0.5)
    assert await told(wait) == [
        "23:59:00 submitted job exp_71c, deadline 2026-11-30 05:59:00, budget 12",
        "23:59:30 polled, state running, next poll 2026-11-30 00:00:30 from local backoff",
        "2026-11-30 00:00:30 polled, state running, next poll 00:01:30 from local backoff",
    ]


@pytest.mark.rule("U3")
async def test_foreign_text_in_the_story_is_inert() -> None:
    """A state with an escape sequence, a line break and a bidirectional control stays one harmless line."""
    wait = await started()
    await wait.check(200, {"state": "x\x1b[31m\n\u202eevil"})
    lines = await told(wait)
    assert len(lines) == 2
    assert lines[1].isprintable()
    assert r"state x\x1b[31m\n\u202eevil" in lines[1]


async def test_an_event_of_a_kind_without_words_is_still_told() -> None:
    """A newer version's events lose nothing but their wording."""
    at = "2026-11-29T10:20:00.000Z"
    assert list(story([{"seq": 1, "at": at, "kind": "tea_made", "actor": "store:x", "cups": 2, "set": {}}])) == [
        "10:20:00 tea made, cups 2"
    ]


async def test_interleaved_operations_keep_the_order_of_the_chain() -> None:
    """A reservation that waits for its answer holds back what came after it, so that no line stands too early."""
    at = "2026-11-29T10:20:0{}.000Z"
    base = {"phase": "waiting", "deadline_at": "2026-11-29T11:00:00Z"}
    reserved = {**base, "at": at.format(1), "kind": "check_reserved", "operation_id": "a", "lease_token": 5}
    other = {**base, "at": at.format(2), "kind": "escalated", "operation_id": "b", "reason": "deadline_exceeded"}
    lost = {**base, "at": at.format(3), "kind": "lease_lost", "operation_id": "a", "lost_by": "worker:x"}
    assert [line[:10] for line in story([reserved, other, lost], with_operation=True)] == [
        "10:20:01 a",
        "10:20:02 b",
        "10:20:03 a",
    ]


# ---- one event by itself -----------------------------------------------------------------------------------------------------
@pytest.mark.rule("H5")
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"action": "cancel", "approved_by": "person:ana"}, "cancel approved by ana"),
        ({"action": "submit", "approved_by": None}, "submission asked for by ana"),
        ({"action": "cancel", "approved_by": "person:ben"}, "cancel approved by ben, asked for by ana"),
    ],
)
def test_a_requested_action_says_first_who_approved_it(fields: dict[str, str | None], told: str) -> None:
    """That is what people look for."""
    assert alone({"kind": Kind.ACTION_REQUESTED, "actor": "person:ana", **fields}) == told


def test_a_grant_by_itself_says_what_it_grants() -> None:
    """What is zero is left out."""
    event = {"kind": Kind.EXTENDED, "minutes": 15, "checks": 1, "failures": 0, "rate_limits": 2, "times": 2}
    assert alone(event) == "15 minutes, 1 check, 2 rate-limit answers more, extension 2"
