"""Cases of guidance: when the provider says when to ask again, and what it says instead (area polling/retry-after)."""

from __future__ import annotations

import math

import pytest

from jobconsole.core.vocabulary import DelaySource, Phase, Reason
from tests.cases.case_file import Case, each
from tests.cases.demo_contract import INTERVAL_S
from tests.cases.runner import ended, played, staged

SPREAD_S = 2.0  # guidance of r seconds is obeyed in [r, r + min(0.1 r, 2 s)]


@pytest.mark.rule("B7")
@each("RA-01")
async def test_all_three_forms_of_a_date_give_the_same_wait(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert ended(op) == (Phase.SUCCEEDED, None)
        assert 90.0 <= stage.gaps()[1] <= 90.0 + SPREAD_S
        assert await stage.events("hint_rejected") == []
        (answered, _) = await stage.events("check_answered")
        assert answered["delay_source"] == DelaySource.PROVIDER_RETRY_AFTER


@pytest.mark.rule("B7", "B8")
@each("RA-03")
async def test_a_decimal_is_rounded_up_and_never_undercut(case: Case) -> None:
    async with played(case) as stage:
        least = math.ceil(float(case.value))
        assert least <= stage.gaps()[1] <= least + min(0.1 * least, SPREAD_S)
        op = await stage.op()
        assert (op.rate_limits_used, op.transport_failures_used) == (1, 0)
        states = [event.get("job_state") for event in await stage.events("check_answered")]
        assert states == [None, "succeeded"]  # the 429 says nothing of the job
        assert op.phase is Phase.SUCCEEDED


@pytest.mark.rule("B7", "B18", "C5")
@each("RA-04")
async def test_what_is_no_delay_is_recorded_once_and_our_own_backoff_holds(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert op.phase is Phase.SUCCEEDED
        assert stage.gaps()[1] == INTERVAL_S
        assert [event["hint"] for event in await stage.events("hint_rejected")] == ["retry-after"]
        assert op.transport_failures_used == 1


@pytest.mark.rule("B7", "B18")
@each("RA-06")
async def test_a_wait_beyond_the_deadline_is_asked_about_at_once(case: Case) -> None:
    async with staged(case) as stage:
        await stage.submit()
        op = await stage.until_polls(1)
        assert stage.count("poll") == 1
        if case.value == "Sun, 29 Nov 99999 12:00:00 GMT":  # a year of five digits is no HTTP-date
            assert op.phase is Phase.WAITING
            assert [event["hint"] for event in await stage.events("hint_rejected")] == ["retry-after"]
            return
        assert ended(op) == (Phase.ESCALATED, Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE)
        # The case offers "poll once now"; section 14 never does here, and an extension only where it covers the wait.
        assert await stage.option_names() == {"cancel", "close"}


@pytest.mark.rule("B7", "X2")
@each("RA-08")
async def test_of_several_valid_headers_the_longest_holds(case: Case) -> None:
    # The case takes the first valid one in an order of its own; B7 takes the longest: 30 s in every row.
    async with played(case) as stage:
        assert 30.0 <= stage.gaps()[1] <= 30.0 + SPREAD_S
        empty_or_negative = [value for value in case.values.values() if value in ("", "-5")]
        assert len(await stage.events("hint_rejected")) == len(empty_or_negative)


@pytest.mark.rule("B7", "B15", "C5")
@each("RA-09")
async def test_now_is_not_at_once(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert stage.count("poll") == case.settings["request_budget"]
        assert min(stage.gaps()) >= case.settings["poll_floor_s"]
        assert set(stage.gaps()) == {case.settings["poll_interval_s"]}  # zero leaves the local delay as it is
        assert ended(op) == (Phase.ESCALATED, Reason.REQUEST_BUDGET_EXHAUSTED)
        assert op.last_known_state == "running"


@pytest.mark.rule("B7")
@each("RA-11")
async def test_a_header_of_the_submission_paces_the_first_check_and_submits_nothing(case: Case) -> None:
    async with played(case) as stage:
        assert (stage.count("submit"), stage.count("poll")) == (1, 1)
        assert 3.0 <= stage.gaps()[0] <= 3.3
        assert (await stage.op()).phase is Phase.SUCCEEDED


@pytest.mark.rule("C5", "X2", "B18")
@each("RA-13")
async def test_each_valid_hint_replaces_the_last_and_an_invalid_one_is_recorded(case: Case) -> None:
    async with played(case) as stage:
        first, second, third = stage.gaps()
        assert first == 1.0  # 500 ms, held to the floor
        assert 4.0 <= second <= 4.4
        if case.value == "4000":  # digits in a text are a number
            assert 4.0 <= third <= 4.4
        else:
            assert third >= case.settings["poll_floor_s"]
        rejected = [event["hint"] for event in await stage.events("hint_rejected")]
        assert rejected == ([] if case.value in ("4000", None, 0) else ["poll_after_ms"])
        assert (await stage.op()).phase is Phase.SUCCEEDED
