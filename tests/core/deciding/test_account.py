"""The account's one budget: bucket, holds, the provider's own quota.

The first half is arithmetic on values; 60 a minute is one token a second, and its burst is 60 / 6 = 10. The second half runs
the commands on a store with several operations of one account.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.command import Moment
from jobconsole.core.commands.reservation import Deferred, Reserved
from jobconsole.core.contracts.contract import AccountLimits
from jobconsole.core.deciding.account import (
    TOKEN,
    Account,
    Blocked,
    blocked,
    charged,
    held,
    held_until,
    informed,
    opened,
)
from jobconsole.core.operation import document
from jobconsole.core.vocabulary import DelaySource
from tests.core.desk import Desk
from tests.core.sample_contract import sample
from tests.core.sample_facts import at, limited, moment, quota, running, unavailable

LIMITS = AccountLimits(per_minute=60)


def account(limits: AccountLimits = LIMITS, **fields: Any) -> Account:
    """A new account, with these fields changed."""
    new = opened(None, "acme-prod@api.acme.example", "acme-prod", limits, moment())
    return Account(**({name: getattr(new, name) for name in new.__struct_fields__} | fields))


def later(acc: Account, now: Moment, limits: AccountLimits = LIMITS) -> Account:
    """The account as a command finds it at `now`."""
    return opened(document(acc), acc.account_key, acc.account, limits, now)


# ---- the bucket ---------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B9")
@pytest.mark.parametrize(
    ("per_minute", "rate", "burst"),
    [
        (60, 1_000, 10 * TOKEN),  # micro-tokens a millisecond
        (6, 100, 1 * TOKEN),
        (3, 50, 1 * TOKEN),  # a burst is one token at least
        (None, None, 0),
    ],
)
def test_rate_and_burst_follow_from_requests_a_minute(per_minute: float | None, rate: int | None, burst: int) -> None:
    acc = account(AccountLimits(per_minute=per_minute))
    assert (acc.rate, acc.burst, acc.level) == (rate, burst, burst)  # a new account starts full


@pytest.mark.rule("B9")
def test_ten_requests_leave_at_once_and_the_eleventh_a_second_later() -> None:
    acc = account()
    for _ in range(10):
        assert blocked(acc, moment(), 0) is None
        acc = charged(acc, moment())
    assert blocked(acc, moment(), 0) == Blocked(DelaySource.ACCOUNT_LIMIT, at(1.0))
    assert blocked(acc, moment(0.999), 0) == Blocked(DelaySource.ACCOUNT_LIMIT, at(1.0))
    assert blocked(acc, moment(1.0), 0) is None


@pytest.mark.rule("B9")
def test_an_idle_account_saves_no_more_than_its_burst() -> None:
    acc = later(charged(account(), moment()), moment(3600))
    assert acc.level == acc.burst


@pytest.mark.rule("B9")
def test_a_new_boot_starts_with_an_empty_bucket_that_fills_although_nobody_writes() -> None:
    """400 ms after the machine started 60 a minute have made 0.4 tokens; whoever is refused writes nothing, and gets one."""
    soon = Moment(at(60), 400, "boot-2")
    assert later(account(), soon).level == 400_000
    assert blocked(account(), soon, 0) == Blocked(DelaySource.ACCOUNT_LIMIT, at(60.6))
    assert blocked(account(), Moment(at(60.6), 1_000, "boot-2"), 0) is None


@pytest.mark.rule("B9", "B2")
def test_the_wall_clock_fills_no_bucket() -> None:
    acc = account(level=0)
    jumped = Moment(at(3600), moment().up, "boot-1")
    assert blocked(acc, jumped, 0) == Blocked(DelaySource.ACCOUNT_LIMIT, at(3601))


@pytest.mark.rule("B9")
@pytest.mark.parametrize(("live", "is_blocked"), [(0, False), (1, False), (2, True), (3, True)])
def test_no_more_requests_are_in_flight_than_the_contract_allows(live: int, is_blocked: bool) -> None:
    acc = account(AccountLimits(max_concurrent=2))
    assert (blocked(acc, moment(), live) is not None) is is_blocked


@pytest.mark.rule("B9")
@given(
    per_minute=st.floats(0.5, 6_000),
    steps=st.lists(st.tuples(st.integers(0, 5_000), st.integers(-3_600_000, 3_600_000)), max_size=80),
)
def test_no_interval_sees_more_than_burst_and_rate_times_its_length(per_minute: float, steps: list[tuple[int, int]]) -> None:
    limits = AccountLimits(per_minute=per_minute)
    acc = account(limits)
    up, taken = moment().up, list[int]()
    for passed, wall_jump in steps:
        up += passed
        now = Moment(at(0) + timedelta(milliseconds=wall_jump), up, "boot-1")
        acc = later(acc, now, limits)
        if blocked(acc, now, 0) is None:
            acc = charged(acc, now)
            taken.append(up)
    assert acc.rate is not None
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            spent = (last - first + 1) * TOKEN
            assert spent <= acc.burst + acc.rate * (taken[last] - taken[first])


@pytest.mark.rule("B9")
def test_what_was_spent_is_counted_in_all_and_by_the_hour() -> None:
    acc = account()
    for second in (0, 10, 3600):
        acc = charged(acc, moment(second))
    assert (acc.spent, acc.spent_this_hour, acc.hour_at) == (3, 1, at(3600))


# ---- holds --------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B9")
@given(delays=st.lists(st.tuples(st.floats(0, 600), st.floats(0, 6_000)), min_size=1, max_size=20))
def test_holds_only_grow(delays: list[tuple[float, float]]) -> None:
    acc, now, ends = account(), 0.0, at(0)
    for passed, delay in delays:
        now += passed
        acc = held(acc, moment(now), timedelta(seconds=delay))
        assert acc.hold_until_at is not None
        assert acc.hold_until_at >= max(ends, at(now) + timedelta(seconds=delay))
        ends = acc.hold_until_at


@pytest.mark.rule("B9", "B2")
@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (moment(59), at(60)),
        (moment(60), None),
        (Moment(at(500), moment(10).up, "boot-1"), at(550)),  # the wall clock jumped ahead: 50 s are left
        (Moment(at(-500), moment(60).up, "boot-1"), at(60)),  # it jumped back: by the wall clock it still holds
        (Moment(at(59), 5, "boot-2"), at(60)),  # another boot: by the wall clock
        (Moment(at(60), 5, "boot-2"), None),
    ],
)
def test_a_hold_ends_by_the_later_of_both_clocks(now: Moment, expected: object) -> None:
    acc = held(account(), moment(), timedelta(seconds=60))
    assert held_until(acc, now) == expected


# ---- the provider's own quota -------------------------------------------------------------------------------------------
@pytest.mark.rule("B9")
@pytest.mark.parametrize(
    ("remaining", "reset_s", "spacing_ms", "hold"),
    [
        (50, 60, 0, None),
        (10, 60, 0, None),  # a tenth is not under a tenth
        (9, 60, 60_000 // 9, None),
        (1, 60, 60_000, None),
        (0, 60, 0, at(60)),
    ],
)
def test_rate_limit_headers_slow_down_before_the_quota_is_empty(
    remaining: int, reset_s: float, spacing_ms: int, hold: object
) -> None:
    acc = informed(account(), moment(), quota(remaining, reset_s))
    assert (acc.spacing_ms, acc.hold_until_at) == (spacing_ms, hold)


@pytest.mark.rule("B9")
def test_spacing_counts_from_the_last_request() -> None:
    acc = charged(informed(account(), moment(), quota(6, 60)), moment(5))
    assert blocked(acc, moment(14.999), 0) == Blocked(DelaySource.ACCOUNT_LIMIT, at(15))
    assert blocked(acc, moment(15), 0) is None


@pytest.mark.rule("B9")
def test_an_empty_quota_holds_anew_each_time_it_is_told() -> None:
    first = informed(account(), moment(0), quota(0, 60))
    second = informed(first, moment(100), quota(0, 60))
    assert held_until(second, moment(100)) == at(160)


@pytest.mark.rule("B9")
def test_a_full_quota_ends_the_spacing() -> None:
    acc = informed(informed(account(), moment(), quota(5, 60)), moment(60), quota(100, 60))
    assert acc.spacing_ms == 0


@pytest.mark.rule("B9", "L1")
def test_a_quota_that_is_told_rides_in_the_answers_event_and_holds_nobody() -> None:
    desk = Desk()
    desk.track()
    for remaining in (90, 80, 70):
        desk.check(running(rate=quota(remaining, 60)))
    assert desk.account().remote == quota(70, 60)
    assert "held" not in desk.kinds()
    desk.check(running(rate=quota(5, 60)))
    assert desk.kinds().count("held") == 1
    assert desk.account().spacing_ms == 12_000


# ---- one account, several operations ------------------------------------------------------------------------------------
def three() -> Desk:
    """Three operations of one account, `op-1` to `op-3`, their deadlines in this order."""
    desk = Desk()
    for number in (1, 2, 3):
        desk.track(f"op-{number}", deadline=30 + number)
    return desk


@pytest.mark.rule("B9")
@pytest.mark.parametrize(("seen", "is_held"), [(limited(90), True), (unavailable(90), True), (unavailable(), False)])
def test_a_wait_that_one_operation_is_told_holds_all_of_the_account(seen: Any, is_held: bool) -> None:
    desk = three()
    desk.check(seen)
    got = desk.reserve("op-2")
    if not is_held:
        assert isinstance(got, Reserved)
        return
    assert isinstance(got, Deferred)
    assert (got.why, got.until, got.account_wide) == (DelaySource.ACCOUNT_HOLD, desk.op().not_before.at, True)  # type: ignore[union-attr]
    assert desk.op("op-2").delay_source is DelaySource.ACCOUNT_HOLD
    assert desk.op("op-2").status_requests_used == 0


@pytest.mark.rule("B9", "B8")
def test_a_429_without_guidance_holds_the_account_as_long_as_the_operation() -> None:
    desk = three()
    op = desk.check(limited(), draw=0.0).op
    assert op.next_poll_at == at(5 * 2 * 0.5 * 4)
    assert desk.account().hold_until_at == op.next_poll_at


@pytest.mark.rule("B9", "L1")
def test_a_hold_is_one_event_on_the_account() -> None:
    desk = three()
    desk.check(limited(90))
    assert [desk.kinds(f"op-{number}").count("held") for number in (1, 2, 3)] == [1, 0, 0]


@pytest.mark.rule("B9")
def test_the_bucket_rides_in_the_reservation() -> None:
    desk = Desk(sample(limits="per_minute = 6"))  # burst 1, a token every 10 s
    desk.track("op-1")
    desk.track("op-2")
    desk.reserved("op-1")
    got = desk.reserve("op-2")
    assert isinstance(got, Deferred)
    assert (got.why, got.until) == (DelaySource.ACCOUNT_LIMIT, at(10))
    desk.clock.advance(10.001)
    assert isinstance(desk.reserve("op-2"), Reserved)
    assert desk.account().spent == 2


@pytest.mark.rule("B9")
def test_a_dead_owners_slot_frees_itself() -> None:
    desk = Desk(sample(limits="max_concurrent = 1"))
    desk.track("op-1")
    desk.track("op-2")
    desk.reserved("op-1")
    assert isinstance(desk.reserve("op-2"), Deferred)
    desk.clock.advance(15)  # the lease of op-1 has ended
    assert isinstance(desk.reserve("op-2"), Reserved)
