"""Taking the right to send one request: each condition, its order, its event, and what a silent owner leaves behind.

The lease lasts 15 s of the boot clock; the operation was tracked at 10:00:00 and is due at once, its deadline is at 2400 s.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.commands.reservation import Deferred, Reserved, Stopped
from jobconsole.core.events import Kind
from jobconsole.core.vocabulary import DelaySource, Delivery, Phase, Reason
from jobconsole.protocols import WorkerInfo
from tests.core.desk import Desk, finished
from tests.core.sample_contract import budget, sample
from tests.core.sample_facts import at, done, limited, reason, running, state


def tracked(**budget: Any) -> Desk:
    """One operation that is due."""
    desk = Desk()
    desk.track(**budget)
    return desk


# ---- what a reservation is ----------------------------------------------------------------------------------------------
@pytest.mark.rule("B3", "S1", "L1")
def test_a_reservation_counts_and_leases_in_one_event() -> None:
    desk = tracked()
    got = desk.reserved()
    event = desk.events()[-1]
    assert (got.op.status_requests_used, got.until) == (1, at(2400))
    assert got.op.lease is not None
    assert (got.op.lease.token, got.op.lease.owner) == (got.token, "worker:a")
    assert got.op.lease.until_up == desk.clock.up_ms() + 15_000
    assert (event["kind"], event["op_seq"], event["actor"]) == ("check_reserved", got.token, "worker:a")
    assert (event["status_requests_used"], event["max_status_requests"], event["lease_token"]) == (1, 12, got.token)
    assert (event["planned_at"], event["deadline_at"]) == ("2026-11-29T10:00:00Z", "2026-11-29T10:40:00Z")


@pytest.mark.rule("S1")
def test_the_token_is_the_events_own_number_and_grows() -> None:
    desk = tracked()
    tokens = []
    for _ in range(3):
        got = desk.reserved()
        tokens.append(got.token)
        desk.record(got.token, running())
        desk.clock.advance(120)
    assert tokens == sorted(set(tokens))


@pytest.mark.rule("S2")
def test_no_lease_is_held_while_waiting() -> None:
    desk = tracked()
    desk.check(running())
    assert desk.op().lease is None


@pytest.mark.rule("B3", "X24", "B10")
@pytest.mark.parametrize("purpose", ["status", "confirm"])
def test_every_further_request_under_a_lease_is_counted_by_itself(purpose: str) -> None:
    desk = tracked()
    first = desk.reserved()
    second = desk.reserved(token=first.token, purpose=purpose)
    assert (second.token, second.op.status_requests_used) == (first.token, 2)
    assert second.op.lease is not None
    assert (second.op.lease.requests, second.op.lease.purpose) == (2, purpose)
    assert desk.account().spent == 2


@pytest.mark.rule("B3", "X24")
@pytest.mark.parametrize(
    ("requests", "seconds", "why"),
    [(1, 0, "request_budget"), (5, 15, "lease_lost"), (5, 14, None)],
)
def test_a_further_request_meets_the_same_conditions(requests: int, seconds: float, why: str | None) -> None:
    desk = tracked(requests=requests)
    token = desk.reserved().token
    desk.clock.advance(seconds)
    got = desk.reserve(token=token)
    assert (got.why if isinstance(got, Deferred) else None) == why


@pytest.mark.rule("B2", "B3")
def test_a_further_request_is_not_sent_after_the_deadline() -> None:
    desk = tracked()
    desk.check(running())
    desk.clock.advance(2395)
    token = desk.reserved().token
    desk.clock.advance(10)
    got = desk.reserve(token=token)
    assert isinstance(got, Deferred)
    assert got.why == "deadline"


# ---- one owner ----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("S1")
def test_a_live_lease_keeps_everybody_else_out() -> None:
    desk = tracked()
    desk.reserved()
    desk.clock.advance(14.999)
    got = desk.reserve(owner="worker:b")
    assert isinstance(got, Deferred)
    assert (got.why, got.until) == ("leased", at(15))
    assert desk.op().status_requests_used == 1


@pytest.mark.rule("S1", "B3", "B10")
def test_a_lease_that_ran_out_is_lost_still_counted_and_no_transport_failure() -> None:
    desk = tracked()
    desk.reserved()
    desk.clock.advance(15)
    got = desk.reserved(owner="worker:b")
    assert desk.kinds()[-2:] == ["lease_lost", "check_reserved"]
    assert (got.op.status_requests_used, got.op.attempts, got.op.transport_failures_used) == (2, 1, 0)
    assert got.op.delivery is Delivery.AMBIGUOUS


@pytest.mark.rule("S1", "B2")
@pytest.mark.parametrize("jump", [timedelta(days=400), timedelta(days=-400)])
def test_a_jump_of_the_wall_clock_ends_no_lease(jump: timedelta) -> None:
    desk = tracked()
    desk.reserved()
    desk.clock.jump_wall(jump)
    got = desk.reserve(owner="worker:b")
    assert isinstance(got, Deferred)
    assert got.why == "leased"


@pytest.mark.rule("S1", "B4")
def test_another_boot_ends_a_lease_and_keeps_the_counters() -> None:
    desk = tracked()
    desk.reserved()
    desk.clock.reboot("boot-2", away=timedelta(seconds=1))
    got = desk.reserved(owner="worker:b")
    assert got.op.status_requests_used == 2


@pytest.mark.rule("S1")
def test_a_dead_owner_need_not_be_waited_for() -> None:
    desk = tracked()
    other = desk.store.handle()
    announced = other.announce(WorkerInfo("a", "run", 1, desk.clock.wall()))
    finished(announced.__aenter__())
    desk.reserved(owner="worker:a")
    assert isinstance(desk.reserve(owner="worker:b"), Deferred)
    other.crash()
    assert isinstance(desk.reserve(owner="worker:b"), Reserved)


@pytest.mark.rule("B2", "S1")
def test_a_deadline_is_not_decided_over_a_live_lease() -> None:
    desk = tracked()
    desk.check(running())
    desk.clock.advance(2395)
    token = desk.reserved().token
    desk.clock.advance(10)
    assert isinstance(desk.reserve(owner="worker:b"), Deferred)
    assert desk.record(token, done()).op.phase is Phase.SUCCEEDED


# ---- when ---------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B2", "B14")
@pytest.mark.parametrize(
    ("business", "now", "detail"),
    [(None, 2400, "deadline reached"), (1200, 1200, "business deadline reached"), (9000, 2400, "deadline reached")],
)
def test_a_worker_that_wakes_late_sends_nothing(business: float | None, now: float, detail: str) -> None:
    desk = Desk()
    desk.track(business_at=None if business is None else at(business))
    desk.clock.advance(now)
    got = desk.reserve()
    assert isinstance(got, Stopped)
    assert (reason(got.op), got.op.status_requests_used) == (Reason.DEADLINE_EXCEEDED, 0)
    assert got.op.escalation is not None
    assert got.op.escalation.detail == detail


@pytest.mark.rule("B5")
def test_a_sleep_of_any_length_is_followed_by_one_request() -> None:
    desk = tracked(deadline=60 * 24)
    desk.check(running())
    desk.clock.advance(timedelta(hours=8))
    desk.check(running(), after=0)
    assert desk.op().status_requests_used == 2
    assert isinstance(desk.reserve(), Deferred)


@pytest.mark.rule("B2", "B7")
@pytest.mark.parametrize(
    ("wall_jump", "passed", "is_sent"),
    [
        (0, 59.9, False),
        (0, 60.1, True),
        (3600, 30, False),  # the wall clock says an hour, the boot clock half a minute
        (-3600, 60.1, False),  # the wall clock went back: it does not say yet
    ],
)
def test_a_providers_wait_ends_by_both_clocks(wall_jump: float, passed: float, is_sent: bool) -> None:
    desk = tracked(deadline=60 * 24)
    desk.check(running(retry_after_s=60.0), draw=0.0)
    desk.clock.advance(passed)
    desk.clock.jump_wall(wall_jump)
    assert isinstance(desk.reserve(), Reserved) is is_sent


@pytest.mark.rule("B2", "L1")
def test_a_wait_that_a_jumped_clock_seems_to_end_moves_the_plan_once() -> None:
    desk = tracked(deadline=60 * 24)
    desk.check(running(retry_after_s=60.0), draw=0.0)
    desk.clock.jump_wall(3600)
    for _ in range(3):
        desk.reserve()
    assert desk.kinds().count("check_planned") == 1
    assert desk.op().next_poll_at == at(3600 + 60.001)
    assert desk.op().delay_source is DelaySource.PROVIDER_RETRY_AFTER


@pytest.mark.rule("B3", "B15")
def test_a_spent_budget_stops_the_next_reservation() -> None:
    desk = tracked(requests=2)
    token = desk.reserved().token
    desk.reserved(token=token)
    desk.give_back(token)
    desk.clock.advance(30)
    got = desk.reserve()
    assert isinstance(got, Stopped)
    assert (reason(got.op), got.op.status_requests_used) == (Reason.REQUEST_BUDGET_EXHAUSTED, 2)


@pytest.mark.rule("H1", "X7")
def test_nothing_is_reserved_for_what_is_escalated_or_ended() -> None:
    desk = tracked()
    desk.check(state("failed"))
    got = desk.reserve()
    assert isinstance(got, Deferred)
    assert got.why == "ended"
    desk.track("op-2", failures=1)
    desk.clock.advance(2400)
    desk.reserve("op-2")
    got = desk.reserve("op-2")
    assert isinstance(got, Deferred)
    assert got.why == "escalated"


@pytest.mark.rule("L1", "B9")
def test_a_reason_for_not_sending_is_logged_once_and_not_for_each_look() -> None:
    desk = Desk(sample(budget=budget()))
    desk.track("op-1")
    desk.track("op-2")
    desk.check(limited(90))
    for _ in range(5):
        desk.reserve("op-2")
    assert desk.kinds("op-2") == ["submitted", "check_planned"]
    assert desk.events("op-2")[-1]["delay_source"] == "account_hold"


# ---- giving back --------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B3", "L1")
@pytest.mark.parametrize(
    ("kind", "delivery", "attempts"),
    [(Kind.CHECK_WITHHELD, Delivery.NONE, 0), (Kind.LEASE_LOST, Delivery.AMBIGUOUS, 1)],
)
def test_what_was_not_sent_or_dropped_stays_counted(kind: Kind, delivery: Delivery, attempts: int) -> None:
    desk = tracked()
    op = desk.give_back(desk.reserved().token, kind=kind)
    assert op is not None
    assert (op.lease, op.status_requests_used, op.transport_failures_used) == (None, 1, 0)
    assert (op.delivery, op.attempts, desk.kinds()[-1]) == (delivery, attempts, kind)


@pytest.mark.rule("S1")
def test_a_stale_token_gives_nothing_back() -> None:
    desk = tracked()
    stale = desk.reserved().token
    desk.clock.advance(15)
    fresh = desk.reserved(owner="worker:b").token
    desk.give_back(stale)
    assert desk.op().lease is not None
    assert desk.op().lease.token == fresh  # type: ignore[union-attr]
