"""What the waiting was spent on, how the providers answered, and whether their guidance was obeyed."""

from __future__ import annotations

import pytest

from jobconsole import analysis
from tests.analysis.log import Log, at, cells, rows


@pytest.mark.rule("L6")
def test_each_second_of_an_operations_life_has_one_reason() -> None:
    """3 s submission, 7 s backoff, 1 s request, 30 s Retry-After, 2 s request, 60 s person, then it ends: 103 s."""
    log = Log()
    log.submitted("op", 0)
    log.waiting("submit_answered", "op", 3, delay_source="local_backoff", planned_at=at(10))
    log.waiting("check_reserved", "op", 10, delay_source="local_backoff", lease_token=3)
    log.waiting("check_answered", "op", 11, delay_source="provider_retry_after", planned_at=at(41))
    log.waiting("check_reserved", "op", 41, delay_source="provider_retry_after", lease_token=5)
    log.add("escalated", "op", 43, phase="escalated", reason="request_budget_exhausted")
    log.add("decided", "op", 103, tx=8, phase="escalated", option="close")
    log.add("closed", "op", 103, phase="abandoned")
    log.add("item_changed", "op", 500, phase="abandoned")
    found = analysis.waiting_by_reason(log.frame())
    assert dict(zip(found.index, cells(found["waited"]), strict=True)) == {
        "person": 60.0,
        "provider_retry_after": 30.0,
        "local_backoff": 7.0,
        "submission": 3.0,
        "request": 3.0,
    }
    assert sum(cells(found["waited"])) == 103
    assert found["share"].sum() == pytest.approx(1)


def test_the_time_can_be_split_by_provider() -> None:
    log = Log()
    for provider, lasts in (("acme", 5), ("other", 20)):
        log.submitted(f"op-{provider}", 0, provider)
        log.waiting("submit_answered", f"op-{provider}", lasts, delay_source="local_backoff")
    found = analysis.waiting_by_reason(log.frame(), by="provider")
    assert dict(zip(found.index, cells(found["waited"]), strict=True)) == {
        ("other", "submission"): 20.0,
        ("acme", "submission"): 5.0,
    }


@pytest.mark.rule("B2")
@pytest.mark.parametrize(
    ("reboots", "waited"), [(False, 10.0), (True, 3_610.0)], ids=["wall clock set in one boot", "machine restarted"]
)
def test_a_wall_clock_that_was_set_lengthens_no_wait_within_a_boot(reboots: bool, waited: float) -> None:
    """The wall clock jumps an hour ahead while ten seconds pass."""
    log = Log()
    log.submitted("op", 0)
    if reboots:
        log.boot = "boot-2"
    log.waiting("submit_answered", "op", 3_610, up=-3_600, delay_source="local_backoff")
    assert cells(analysis.waiting_by_reason(log.frame())["waited"]) == [waited]


@pytest.mark.rule("L6")
def test_health_counts_what_came_back_in_each_hour() -> None:
    log = Log()
    log.submitted("op", 0)
    verdicts = ["waiting", "delivery_failure", "rate_limited", "succeeded"]
    for number, verdict in enumerate(verdicts):
        began = 1_500 * number  # 0, 25, 50 and 75 minutes after ten o'clock: the last one is in the next hour
        log.waiting("check_reserved", "op", began, lease_token=1)
        log.waiting("check_answered", "op", began + 2, observation={"verdict": verdict})
    found = analysis.provider_health(log.frame())
    assert [hour.hour for _, hour in found.index] == [10, 11]
    assert rows(found, "answers", "good", "not_seen", "limited", "refused", "other", "good_share") == [
        (3, 1, 1, 1, 0, 0, pytest.approx(1 / 3)),
        (1, 1, 0, 0, 0, 0, 1.0),
    ]
    assert cells(found["typical"]) == [2.0, 2.0]


@pytest.mark.rule("L6", "B7")
def test_guidance_is_obeyed_where_the_next_request_came_no_sooner() -> None:
    """Retry-After 30 was followed after 30 s, a hint of 20 s after 5 s, a Retry-After of a day by nothing."""
    log = Log()
    log.submitted("op", 0)
    log.waiting("check_answered", "op", 10, observation={"verdict": "rate_limited", "retry_after_s": 30.0})
    log.waiting("check_reserved", "op", 40, lease_token=3)
    log.waiting("check_answered", "op", 41, observation={"verdict": "waiting", "hint_s": 20.0})
    log.waiting("check_reserved", "op", 46, lease_token=5)
    log.waiting("check_answered", "op", 47, observation={"verdict": "waiting", "retry_after_s": 86_400.0})
    found = analysis.guidance(log.frame())
    assert rows(found, "guidance", "asked", "waited", "obeyed") == [
        ("retry_after", 30.0, 30.0, True),
        ("poll_hint", 20.0, 5.0, False),
        ("retry_after", 86_400.0, None, None),
    ]
    figures = analysis.figures(log.frame())["value"]
    assert (figures["guidance"], figures["guidance_obeyed"]) == (2, 0.5)


@pytest.mark.rule("C5", "B7")
def test_a_hint_that_was_rejected_or_overruled_by_a_person_asks_for_nothing_and_a_retry_after_always_does() -> None:
    log = Log()
    for name in ("rejected", "overruled", "strict"):
        log.submitted(name, 0)
    log.waiting("check_answered", "rejected", 10, tx=5, observation={"verdict": "waiting", "hint_s": 9_000.0})
    log.waiting("hint_rejected", "rejected", 10)
    log.waiting("check_answered", "overruled", 10, observation={"verdict": "waiting", "hint_s": 60.0})
    log.waiting("decided", "overruled", 11, option="extend")
    log.waiting("check_answered", "strict", 10, observation={"verdict": "waiting", "retry_after_s": 60.0})
    log.waiting("decided", "strict", 11, option="extend")
    for name in ("rejected", "overruled", "strict"):
        log.waiting("check_reserved", name, 12, lease_token=1)
    assert rows(analysis.guidance(log.frame()), "operation_id", "obeyed") == [("strict", False)]


def test_a_hint_of_zero_asks_for_nothing() -> None:
    log = Log()
    log.submitted("op", 0)
    log.waiting("check_answered", "op", 10, observation={"verdict": "waiting", "hint_s": 0.0})
    log.waiting("check_reserved", "op", 12, lease_token=1)
    assert analysis.guidance(log.frame()).empty
