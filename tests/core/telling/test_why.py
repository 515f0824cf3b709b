"""Why? One answer for any second of an operation's life: why then, why not earlier, what comes next."""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.core.commands.clock_set_back import plan_anew
from jobconsole.core.commands.reservation import Reserved
from jobconsole.core.telling.why import why
from tests.core.staged_wait import StagedWait, at, contract


async def asked(wait: StagedWait, clock: str | None = None) -> str:
    """The answer about `clock`, or about now."""
    doc = await wait.store.document("accounts", "acme-prod@api.acme.example")
    account = await wait.account() if doc is not None else None
    moment = at(clock) if clock else None
    return why(await wait.op(), await wait.events(), moment, wait.clock.wall(), account, wait.contract)


async def started(judge: Any = None) -> StagedWait:
    """A wait whose submission was accepted at 10:20:00; its first check is due at 10:20:05."""
    wait = StagedWait(judge)
    await wait.submit()
    wait.go("10:20:05")
    return wait


async def life() -> StagedWait:
    """Queued, kept away for two minutes, hinted, out of time, extended, succeeded."""
    wait = await started()
    await wait.check(200, {"state": "queued"}, draw=0.45)  # 0.45 x 20 s
    wait.go("10:20:31")
    await wait.check(503, headers={"Retry-After": "120"})
    wait.go("10:22:31")
    await wait.check(200, {"state": "running", "poll_after": 30})
    wait.go("10:23:01")
    await wait.check(200, {"state": "running"}, draw=0.5)  # 0.5 x 120 s
    wait.go("10:59:00")
    await wait.check(200, {"state": "running"}, draw=0.99)  # would pass the deadline: final check at 10:59:49
    wait.go("11:00:00")
    await wait.reserve()
    wait.go("11:03:00")
    await wait.decide("extend", reason="tax filing is due")
    wait.go("11:03:02")
    await wait.check(200, {"state": "succeeded", "result": 1})
    wait.go("12:00:00")
    return wait


@pytest.mark.parametrize(
    ("clock", "parts"),
    [
        ("10:19:59", ["Nothing was sent at 10:19:59: the operation begins at 10:20:00."]),
        ("10:20:03", ["Nothing is sent at 10:20:03: the next check is planned for 10:20:05", "local backoff drew 5s",
                      "(from 10s, times 2, at most 2m)", "Next: 10:20:05 polled, state queued"]),
        ("10:20:05", ["Checked at 10:20:05 because local backoff drew 5s after the answer at 10:20:00"]),
        ("10:20:20", ["A check is due since 10:20:14", "No worker has taken it yet"]),
        ("10:21:00", ["Nothing is sent at 10:21:00: the next check is planned for 10:22:31 because the provider asked at "
                      "10:20:31 to wait 120 s (Retry-After); not earlier: a provider's wait is a minimum."]),
        ("10:22:31", ["Checked at 10:22:31 because the provider asked at 10:20:31 to wait 120 s (Retry-After); "
                      "not earlier: a provider's wait is a minimum. Next: 10:22:31 polled, state running"]),
        ("10:23:01", ["because the provider said at 10:22:31 to ask again after 30 s; not earlier: a provider's hint is"]),
        ("10:59:30", ["planned for 10:59:49 because the delay would have passed the deadline 11:00:00",
                      "Next: 11:00:00 deadline exceeded, escalated."]),
        ("11:01:00", ["Nothing is sent: it waits for a person since 11:00:00: deadline exceeded (11:00:00).",
                      "Next: 11:03:00 ana chose extend"]),
        ("11:03:02", ["Checked at 11:03:02 because ana decided so at 11:03:00",
                      "Next: 11:03:02 polled, state succeeded, ended as succeeded."]),
        ("11:30:00", ["Nothing is sent: it ended at 11:03:02 as succeeded. Nothing comes next."]),
        ("13:00:00", ["13:00:00 has not come yet."]),
    ],
)  # fmt: skip
async def test_any_second_of_a_life_has_its_reason(clock: str, parts: list[str]) -> None:
    """From the events alone, after everything is over."""
    answer = await asked(await life(), clock)
    for part in parts:
        assert part in answer


async def test_every_single_second_has_an_answer_that_says_what_comes_next() -> None:
    """No second between the record and an hour later is without one."""
    wait = await life()
    op, events, now = await wait.op(), await wait.events(), wait.clock.wall()
    for second in range(0, 3600, 7):
        clock = f"{10 + (20 * 60 + second) // 3600}:{(20 * 60 + second) // 60 % 60:02}:{second % 60:02}"
        answer = why(op, events, at(clock), now, None, None)
        assert "Next: " in answer or "Nothing comes next." in answer


async def test_now_is_told_from_the_record() -> None:
    """Before, during and after a request."""
    wait = StagedWait()
    await wait.record_submission()
    assert "The submission is on record and waits to be sent" in await asked(wait)
    claimed = await wait.start_action()
    wait.go("10:20:01")
    assert "The submission is on its way since 10:20:00" in await asked(wait)
    await wait.end_action(claimed, await wait.seen(202, {"id": "exp_71c"}, step="submit"), draw=0.5)
    assert "Next: the check at 10:20:06; 12 requests left until the deadline 11:00:00." in await asked(wait)
    wait.go("10:20:06")
    reserved = await wait.reserve()
    assert "A status request is under way since 10:20:06: request 1 of 12. Next: its answer decides." in await asked(wait)
    assert "Next: its answer; the request is under way." in await asked(wait, "10:20:06")
    await wait.answer(reserved, await wait.seen(200, {"state": "succeeded", "result": 1}))
    assert await asked(wait) == "Nothing is sent: it ended at 10:20:06 as succeeded. Nothing comes next."


async def test_while_escalated_it_says_what_is_waited_for_and_that_nothing_happens_by_itself() -> None:
    """12 of 12 requests."""
    wait = await started()
    for minute in range(21, 33):
        await wait.check(200, {"state": "running"}, draw=0.1)
        wait.go(f"10:{minute}:00")
    assert await asked(wait) == (
        "Nothing is sent: it waits for a person since 10:31:00: request budget exhausted (12 of 12). "
        "Next: a person decides (extend, cancel, inspect, close); nothing happens by itself."
    )


@pytest.mark.rule("B11")
async def test_while_held_with_its_account_it_names_who_asks() -> None:
    """Another operation of the account carries the question."""
    wait, other = await started(), StagedWait(operation_id="op_2")
    await wait.check(401)
    await other.submit()
    answer = why(await other.op(), [], None, wait.clock.wall(), await wait.account(), other.contract)
    assert answer == (
        "Nothing is sent: account acme-prod is held since 10:20:05: its credential was refused, one question is open (op_1). "
        "Next: a person answers that question; then the checks go on, as long as the deadline allows."
    )


async def test_while_the_account_is_held_for_a_time_it_says_until_when() -> None:
    """A 503 with Retry-After holds back every operation of the account."""
    wait = await started()
    await wait.check(503, headers={"Retry-After": "120"})
    assert await asked(wait) == (
        "Nothing is sent: account acme-prod is held since 10:20:05 until 10:22:05 because the provider asked for it. "
        "Next: the check at 10:22:05; 11 requests left until the deadline 11:00:00."
    )


async def test_further_requests_of_one_check_have_their_own_reasons() -> None:
    """A repeat under the same token, and a look that is to confirm a success."""
    judge = contract('[confirm]\nrequest = "GET /v1/exports/{job_id}/result"\n')
    wait = await started(judge)
    first = await wait.reserve()
    assert isinstance(first, Reserved)
    wait.go("10:20:06")
    second = await wait.reserve(token=first.token)
    await wait.answer(second, await wait.seen(200, {"state": "succeeded", "result": 1}))
    wait.go("10:20:07")
    await wait.reserve("confirm", first.token)
    assert "because the request before it was redirected or found its connection closed" in await asked(wait, "10:20:06")
    assert "because a success is confirmed by a second look" in await asked(wait, "10:20:07")


@pytest.mark.rule("B14")
async def test_the_business_deadline_is_named_where_it_is_the_earlier_one() -> None:
    """From the record, and for a past second from the first event."""
    wait = StagedWait()
    budget = wait.new().budget
    early = type(budget)(budget.deadline, 12, 3, 3, at("10:50:00"))
    await wait.submit(budget=early)
    assert "until the deadline 10:50:00" in await asked(wait)
    wait.go("10:49:41")
    await wait.check(200, {"state": "running"}, draw=0.99)  # 0.99 x 20 s would be 10:50:00.8
    wait.go("10:49:45")
    assert "would have passed the deadline 10:50:00" in await asked(wait, "10:49:44")


@pytest.mark.rule("U3")
async def test_foreign_text_in_an_answer_is_inert() -> None:
    """A state that nobody knows, with an escape sequence."""
    wait = await started()
    await wait.check(200, {"state": "odd\x1b[31m"})
    assert (await asked(wait)).isprintable()
    assert (await asked(wait, "10:20:05")).isprintable()


@pytest.mark.rule("U7", "B2")
async def test_a_plan_that_counts_anew_says_that_the_clock_was_set_back() -> None:
    """Planned for 10:20:05, then the clock goes back to 10:10:00: 5 s from there."""
    wait = await started()
    wait.clock.jump_wall(at("10:10:00") - wait.clock.wall())
    await wait.run(plan_anew("op_1", "worker:a"))
    answer = await asked(wait)
    assert "planned for 10:10:05 because the clock had been set back when it was 10:10:00, and the whole delay counts" in answer


async def test_without_the_audit_the_present_is_still_explained() -> None:
    """The record alone gives plan and source."""
    wait = await started()
    answer = why(await wait.op(), [], None, at("10:20:01"), None, wait.contract)
    assert "the next check is planned for 10:20:05 because its delay comes from local backoff" in answer
    assert why(await wait.op(), [], at("10:20:00"), at("10:20:01"), None, None) == (
        "The audit at hand tells nothing about 10:20:00."
    )
