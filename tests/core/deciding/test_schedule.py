"""When the next check may be: the arithmetic of delays, minimums and the final check, with the numbers in sight.

Every operation here began at 10:00:00 with a deadline at 10:40:00; times are seconds after 10:00:00. Without more, the schedule
is 5 s x 2**attempt, at most 120 s, of which 50 to 100 % are drawn: a draw of 0 is 50 %, of 0.5 it is 75 %.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.contracts.contract import Contract, Schedule
from jobconsole.core.deciding.schedule import CheckPlan, backoff, final_check_at, guidance, plan
from jobconsole.core.judging.answer import Observation
from jobconsole.core.operation import NotBefore
from jobconsole.core.vocabulary import DelaySource
from tests.core.sample_contract import CONFIRM, sample
from tests.core.sample_facts import DEADLINE, at, limited, missing, operation, running, unavailable

NEVER_MORE = 1 - 2**-53  # the largest draw


def planned(
    seen: Observation,
    contract: Contract | None = None,
    *,
    now: float = 0,
    draw: float = 0.0,
    held: float | None = None,
    **fields: Any,
) -> CheckPlan:
    """The plan after `seen` at `now`; `held` is when the account's hold ends."""
    op = operation(**fields)
    return plan(op, contract or sample(), seen, at(now), draw, None if held is None else at(held))


def minimum(seconds: float) -> NotBefore:
    """An earlier Retry-After that ends so many seconds after 10:00:00."""
    return NotBefore(at=at(seconds), up=1_000_000 + int(seconds * 1000), boot="boot-1")


# ---- backoff ------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B6")
@pytest.mark.parametrize(
    ("attempt", "draw", "expected"),
    [
        (0, 0.0, 5 * 0.5),
        (0, 0.5, 5 * 0.75),
        (1, 0.0, 5 * 2 * 0.5),
        (3, 0.5, 5 * 8 * 0.75),
        (4, 0.0, 5 * 16 * 0.5),
        (5, 0.0, 120 * 0.5),  # 5 x 32 = 160, over the most
        (60, 0.5, 120 * 0.75),
        (10**9, 0.0, 120 * 0.5),
    ],
)
def test_the_local_delay_is_half_to_all_of_the_capped_exponential(attempt: int, draw: float, expected: float) -> None:
    assert backoff(attempt, Schedule(), draw) == timedelta(seconds=expected)


@pytest.mark.rule("B6")
@pytest.mark.parametrize(
    ("schedule", "attempt", "draw", "expected"),
    [
        (Schedule(factor=1.5, max=timedelta(seconds=60)), 2, 0.0, 5 * 1.5**2 * 0.5),
        (Schedule(factor=1.5, max=timedelta(seconds=60)), 9, 0.0, 60 * 0.5),  # 5 x 38.4
        (Schedule(factor=1.0), 1_000, 0.0, 5 * 0.5),
        (Schedule(jitter=(0.0, 1.0)), 2, 0.0, 0.0),  # full jitter
        (Schedule(jitter=(1.0, 1.0)), 2, 0.9, 20.0),  # none
        (Schedule(base=timedelta(seconds=200)), 0, 0.0, 120 * 0.5),  # a base over the most
    ],
)
def test_a_contract_may_name_other_bounds(schedule: Schedule, attempt: int, draw: float, expected: float) -> None:
    assert backoff(attempt, schedule, draw).total_seconds() == pytest.approx(expected)


@pytest.mark.rule("B6", "B18")
@given(
    attempt=st.integers(0, 10**9),
    base=st.floats(0.001, 86_400),
    most=st.floats(0.001, 864_000),
    factor=st.floats(1.0, 1e6),
    low=st.floats(0.0, 1.0),
    width=st.floats(0.0, 1.0),
    draw=st.floats(0.0, NEVER_MORE),
)
def test_no_attempt_number_overflows(
    attempt: int, base: float, most: float, factor: float, low: float, width: float, draw: float
) -> None:
    high = low + (1 - low) * width
    schedule = Schedule(base=timedelta(seconds=base), max=timedelta(seconds=most), factor=factor, jitter=(low, high))
    delay = backoff(attempt, schedule, draw).total_seconds()
    raw = min(most, math.exp(min(math.log(base) + attempt * math.log(factor), 700)))
    assert math.isfinite(delay)
    assert low * raw * (1 - 1e-6) - 1e-5 <= delay <= high * raw * (1 + 1e-6) + 1e-5


@pytest.mark.rule("B6")
def test_the_attempts_of_the_record_drive_the_delay() -> None:
    assert planned(running(), attempts=2) == CheckPlan(at(5 * 4 * 0.5), DelaySource.LOCAL_BACKOFF)


@pytest.mark.rule("X2")
def test_the_submit_answers_hint_replaces_the_base() -> None:
    assert planned(running(), attempts=1, base_delay_ms=20_000).at == at(20 * 2 * 0.5)


# ---- what a provider says -----------------------------------------------------------------------------------------------
@pytest.mark.rule("B7")
@pytest.mark.parametrize(
    ("asked", "draw", "expected"),
    [
        (10, 0.0, 10.0),
        (10, 0.5, 10 + 1.0 * 0.5),  # a tenth of 10
        (120, 0.5, 120 + 2.0 * 0.5),  # a tenth would be 12: at most 2
        (120, NEVER_MORE, 122.0),
    ],
)
def test_retry_after_is_spread_a_little_and_never_cut(asked: float, draw: float, expected: float) -> None:
    delay = guidance(running(retry_after_s=asked), draw)
    assert delay is not None
    assert delay.total_seconds() == pytest.approx(expected)


@pytest.mark.rule("B7", "X2")
@pytest.mark.parametrize("seen", [running(retry_after_s=600), limited(600), unavailable(600)], ids=["200", "429", "503"])
def test_retry_after_replaces_the_local_delay_and_knows_no_cap(seen: Observation) -> None:
    capped = sample(hints='max_interval = "20s"')
    assert planned(seen, capped) == CheckPlan(at(600), DelaySource.PROVIDER_RETRY_AFTER)


@pytest.mark.rule("X2")
@pytest.mark.parametrize(("draw", "expected"), [(0.0, 30.0), (0.5, 30 * 1.05), (NEVER_MORE, 33.0)])
def test_a_hint_is_checked_between_itself_and_a_tenth_more(draw: float, expected: float) -> None:
    got = planned(running(hint_s=30.0), draw=draw)
    assert got.at is not None
    assert (got.at - at(0)).total_seconds() == pytest.approx(expected, abs=1e-5)
    assert got.source is DelaySource.PROVIDER_POLL_HINT


@pytest.mark.rule("C5", "X2")
def test_a_zero_hint_keeps_our_own_delay() -> None:
    assert planned(running(hint_s=0.0)) == CheckPlan(at(5 * 0.5), DelaySource.LOCAL_BACKOFF)


@pytest.mark.rule("C5", "X2", "B13")
@pytest.mark.parametrize("hint", [2400.0, 1e9, 3.15e8])
def test_a_hint_past_the_deadline_is_rejected_and_local_backoff_applies(hint: float) -> None:
    got = planned(running(hint_s=hint))
    assert got == CheckPlan(at(5 * 0.5), DelaySource.LOCAL_BACKOFF, hint_rejected="beyond the operation's deadline")


@pytest.mark.rule("X2")
@pytest.mark.parametrize("draw", [0.0, 0.5, NEVER_MORE])
def test_max_interval_caps_hints_and_backoff(draw: float) -> None:
    capped = sample(hints='max_interval = "20s"')
    assert planned(running(hint_s=300.0), capped, draw=draw).at == at(20)
    assert planned(running(), capped, draw=draw, attempts=9).at == at(20)  # 60 s at least were drawn


# ---- minimums -----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X2")
@pytest.mark.parametrize(
    ("retry_after", "hint", "before", "held", "expected"),
    [
        (10, 30, 5, 5, (30, DelaySource.PROVIDER_POLL_HINT)),
        (40, 30, 5, 5, (40, DelaySource.PROVIDER_RETRY_AFTER)),
        (10, 30, 50, 5, (50, DelaySource.PROVIDER_RETRY_AFTER)),
        (10, 30, 5, 60, (60, DelaySource.ACCOUNT_HOLD)),
        (None, None, None, 60, (60, DelaySource.ACCOUNT_HOLD)),
        (None, None, None, 1, (2.5, DelaySource.LOCAL_BACKOFF)),
        (1, None, None, None, (2, DelaySource.MIN_INTERVAL)),
    ],
)
def test_the_latest_of_all_minimums_decides_and_is_the_source(
    retry_after: float | None, hint: float | None, before: float | None, held: float | None, expected: tuple[float, DelaySource]
) -> None:
    contract = sample(hints='min_interval = "2s"')
    seen = running(retry_after_s=retry_after, hint_s=hint)
    got = planned(seen, contract, held=held, not_before=None if before is None else minimum(before))
    assert got == CheckPlan(at(expected[0]), expected[1])


@pytest.mark.rule("B2")
def test_a_minimum_that_passed_by_the_wall_clock_no_longer_plans() -> None:
    assert planned(running(), now=100, not_before=minimum(99)).at == at(100 + 2.5)


# ---- 429 ----------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B8", "X4")
@pytest.mark.parametrize(
    ("in_a_row", "attempts", "expected"),
    [
        (1, 1, 5 * 2 * 0.5 * 4),
        (2, 2, 5 * 4 * 0.5 * 4 * 2),
        (3, 3, 5 * 8 * 0.5 * 4 * 4),
        (1, 9, 120 * 0.5 * 4),  # above the most, if need be
        (2, 9, 120 * 0.5 * 4 * 2),
    ],
)
def test_a_429_without_guidance_quadruples_and_doubles(in_a_row: int, attempts: int, expected: float) -> None:
    got = planned(limited(), attempts=attempts, rate_limits_in_a_row=in_a_row)
    assert got == CheckPlan(at(expected), DelaySource.LOCAL_BACKOFF)


@pytest.mark.rule("B8", "B18")
def test_endless_429_do_not_overflow() -> None:
    got = planned(limited(), attempts=10**6, rate_limits_in_a_row=10**6)
    assert got == CheckPlan(at(2400 - 11), DelaySource.FINAL_CHECK)


@pytest.mark.rule("C7")
def test_a_404_within_the_grace_names_its_own_source() -> None:
    assert planned(missing()).source is DelaySource.NOT_FOUND_GRACE
    assert planned(missing(), not_found_in_a_row=1).source is DelaySource.LOCAL_BACKOFF


# ---- estimate and spread ------------------------------------------------------------------------------------------------
@pytest.mark.rule("X3")
@pytest.mark.parametrize(
    ("estimate", "now", "expected"),
    [
        (600, 0, 600 / 2),
        (600, 300, 300 / 2),
        (600, 590, 10 / 2),
        (600, 700, 2.5),  # over: our own 5 x 0.5
        (4, 0, 2.5),
    ],
)
def test_half_of_what_remains_of_an_estimate_is_waited(estimate: float, now: float, expected: float) -> None:
    assert planned(running(), now=now, estimated_seconds=estimate).at == at(now + expected)


@pytest.mark.rule("X3")
def test_a_hint_overrules_the_estimate() -> None:
    assert planned(running(hint_s=10.0), estimated_seconds=600.0).at == at(10)


@pytest.mark.rule("X14")
@pytest.mark.parametrize(
    ("used", "now", "expected"),
    [
        (2, 0, 2400 / 10),
        (8, 1200, 1200 / 4),
        (11, 2000, 400 - 11),  # 400 / 1 would be the deadline: the final check
    ],
)
def test_spread_stretches_delays_over_time_left_by_requests_left(used: int, now: float, expected: float) -> None:
    assert planned(running(), sample(schedule="spread = true"), now=now, status_requests_used=used).at == at(now + expected)


@pytest.mark.rule("X14", "X24")
def test_spread_keeps_one_request_for_the_confirmation() -> None:
    contract = sample(schedule="spread = true", confirm=CONFIRM)
    assert planned(running(), contract, status_requests_used=2).at == at(2400 / 9)  # of 10 left, one confirms


# ---- the deadline -------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X5")
def test_the_final_check_leaves_room_for_one_request_and_a_second() -> None:
    assert final_check_at(operation(), sample()) == DEADLINE - timedelta(seconds=10 + 1)


@pytest.mark.rule("B13", "X5")
@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (2300, 2360),  # 60 s fit: 2360 < 2400
        (2350, 2400 - 11),
        (2388, 2400 - 11),
        (2389, None),  # it is the final check that has just been answered
        (2395, None),
    ],
)
def test_a_delay_that_would_pass_the_deadline_becomes_the_final_check(now: float, expected: float | None) -> None:
    got = planned(running(), now=now, attempts=9)  # 120 x 0.5 = 60 s
    assert got.at == (None if expected is None else at(expected))


@pytest.mark.rule("B13", "X2", "X5")
@pytest.mark.parametrize(
    ("held", "before", "expected"),
    [
        (2388, None, 2389),
        (2390, None, None),  # the account is held to one second behind the final check
        (None, 2389, 2389),
        (None, 2395, None),
    ],
)
def test_the_final_check_is_dropped_where_a_minimum_forbids_it(
    held: float | None, before: float | None, expected: float | None
) -> None:
    not_before = None if before is None else minimum(before)
    got = planned(running(), now=2350, attempts=9, held=held, not_before=not_before)  # 2350 + 60 passes 2400
    assert got.at == (None if expected is None else at(expected))


@pytest.mark.rule("B7", "X5")
def test_a_retry_after_just_before_the_deadline_is_kept_to_the_letter() -> None:
    assert planned(running(retry_after_s=45), now=2350).at == at(2395)


@pytest.mark.rule("B14")
def test_the_earlier_deadline_rules_the_final_check() -> None:
    business = at(1200)
    assert planned(running(), now=1170, attempts=9, business_deadline_at=business).at == at(1200 - 11)
    waived = planned(running(), now=1170, attempts=9, business_deadline_at=business, is_business_deadline_waived=True)
    assert waived.at == at(1170 + 60)


@pytest.mark.rule("B14")
@pytest.mark.parametrize(
    ("expires", "now", "expected"),
    [
        (30, 0, 30 + 60 + 1),  # right after the expiry, its tolerance and a second: 91 < 120
        (90, 0, 120),  # the ordinary check comes before
        (30, 95, 95 + 120),  # checked already
    ],
)
def test_one_check_follows_the_providers_own_expiry(expires: float, now: float, expected: float) -> None:
    contract = sample(schedule="jitter = [1.0, 1.0]")
    assert planned(running(), contract, now=now, attempts=9, provider_expires_at=at(expires)).at == at(expected)


@pytest.mark.rule("B14", "X2")
def test_the_check_after_the_expiry_waits_for_the_providers_minimum() -> None:
    got = planned(running(retry_after_s=110), attempts=9, provider_expires_at=at(30))
    assert got == CheckPlan(at(110), DelaySource.PROVIDER_RETRY_AFTER)


@pytest.mark.rule("X2", "X5", "B7")
@given(
    now=st.floats(0, 2399),
    draw=st.floats(0.0, NEVER_MORE),
    attempts=st.integers(0, 10**9),
    retry_after=st.none() | st.floats(0.001, 2e9),
    hint=st.none() | st.floats(0, 2e9),
    before=st.none() | st.floats(0, 5e6),
    held=st.none() | st.floats(0, 5e6),
    estimate=st.none() | st.floats(0, 1e12),
)
def test_no_plan_lies_before_a_minimum_or_behind_the_deadline(
    now: float, draw: float, attempts: int, retry_after: float | None, hint: float | None,
    before: float | None, held: float | None, estimate: float | None,
) -> None:  # fmt: skip
    contract = sample(hints='min_interval = "2s"')
    seen = running(retry_after_s=retry_after, hint_s=hint)
    got = planned(
        seen, contract, now=now, draw=draw, held=held, attempts=attempts,
        estimated_seconds=estimate, not_before=None if before is None else minimum(before),
    )  # fmt: skip
    if got.at is None:
        return
    assert at(now) < got.at < DEADLINE
    assert got.at >= at(now) + timedelta(seconds=2)
    for least in (before, held, None if retry_after is None else now + retry_after):
        assert least is None or got.at >= at(min(least, 1e9)) - timedelta(microseconds=1)  # floats are rounded
