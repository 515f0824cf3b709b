"""Where operations stand, what they cost, how late their ends were seen, how their budgets went down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jobconsole import analysis
from tests.analysis.log import Log, at, cells, rows


@pytest.mark.rule("L6")
def test_an_outcome_and_an_escalation_are_what_a_bounded_wait_may_come_to() -> None:
    """Of five operations one has time left; of the other four one is overdue, and must not be."""
    log = Log()
    for name in ("ended", "failed", "asking", "late", "young"):
        log.submitted(name, 0, deadline_at=at(1_000 if name == "young" else 60))
    log.add("closed", "ended", 10, phase="succeeded", deadline_at=at(60))
    log.add("closed", "failed", 20, phase="failed", deadline_at=at(60))
    log.add("escalated", "asking", 60, phase="escalated", deadline_at=at(60), reason="deadline_exceeded")
    log.waiting("check_planned", "young", 121, deadline_at=at(1_000))  # 60 s of grace after the deadline of 60 s are over
    found = analysis.outcomes(log.frame())
    assert dict(zip(found.index, rows(found, "operations", "share"), strict=True)) == {
        ("outcome", "succeeded"): (1, 0.25),
        ("outcome", "failed"): (1, 0.25),
        ("escalation", "escalated"): (1, 0.25),
        ("under way", "waiting"): (1, None),
        ("overdue", "submitting"): (1, 0.25),
    }
    figures = analysis.figures(log.frame())["value"]
    assert (figures["operations"], figures["under_way"], figures["bounded"]) == (5, 1, 0.75)


def test_within_the_grace_after_its_deadline_an_operation_is_not_overdue() -> None:
    log = Log()
    log.submitted("op", 0, deadline_at=at(60))
    log.waiting("check_planned", "op", 119, deadline_at=at(60))
    assert list(analysis.outcomes(log.frame()).index) == [("under way", "waiting")]


@pytest.mark.rule("L6", "B3")
def test_requests_are_the_logged_reservations_of_the_limit_with_its_extensions() -> None:
    log = Log()
    log.submitted("busy", 0)
    log.submitted("idle", 1, provider="other")
    for number, seconds in enumerate((5, 10, 20), start=1):
        log.waiting("check_reserved", "busy", seconds, status_requests_used=number, purpose="status", lease_token=number)
    log.waiting("extended", "busy", 30, max_status_requests=15, status_requests_used=3)
    found = analysis.requests_per_operation(log.frame())
    assert list(found.index) == ["busy", "idle"]
    assert rows(found, "provider", "requests", "allowed", "share") == [("acme", 3, 15, 0.2), ("other", 0, 12, 0.0)]


@pytest.mark.rule("L6")
def test_the_delay_is_from_the_providers_end_time_and_at_most_from_the_last_look_that_saw_it_waiting() -> None:
    """It ended at 17 s, was seen waiting at 10 s and ended at 30 s: 13 s, and at most 20 s."""
    log = Log()
    log.submitted("op", 0)
    log.waiting("check_answered", "op", 10, observation={"verdict": "waiting"})
    log.waiting("check_answered", "op", 20, observation={"verdict": "delivery_failure"})
    log.waiting("check_answered", "op", 30, tx=5, observation={"verdict": "succeeded", "ended_at": at(17)})
    log.add("closed", "op", 30, phase="succeeded")
    log.submitted("untold", 30)
    log.waiting("check_answered", "untold", 34, tx=8, observation={"verdict": "failed"})
    log.add("closed", "untold", 34, phase="failed")
    found = analysis.detection_delay(log.frame())
    assert rows(found, "phase", "delay", "at_most") == [("succeeded", 13.0, 20.0), ("failed", None, 4.0)]


def test_an_operation_that_a_person_closed_has_no_end_that_was_seen() -> None:
    log = Log()
    log.submitted("op", 0)
    log.waiting("check_answered", "op", 10, observation={"verdict": "waiting"})
    log.add("decided", "op", 20, tx=4, phase="escalated", option="close")
    log.add("closed", "op", 20, phase="abandoned")
    assert analysis.detection_delay(log.frame()).empty


@pytest.mark.rule("B4")
def test_a_budget_goes_down_with_each_request_and_up_with_an_extension_only() -> None:
    log = Log()
    log.submitted("op", 0, max_status_requests=2)
    log.waiting("check_reserved", "op", 5, status_requests_used=1, max_status_requests=2)
    log.waiting("check_answered", "op", 6, status_requests_used=1, max_status_requests=2)
    log.waiting("check_reserved", "op", 15, status_requests_used=2, max_status_requests=2)
    log.add("escalated", "op", 16, phase="escalated", status_requests_used=2, max_status_requests=2, deadline_at=at(600))
    log.waiting("extended", "op", 700, status_requests_used=2, max_status_requests=6, deadline_at=at(900))
    found = analysis.burn_down(log.frame())
    assert rows(found, "kind", "elapsed", "requests_left", "time_left") == [
        ("submitted", 0.0, 2, 600.0),
        ("check_reserved", 5.0, 1, 595.0),
        ("check_reserved", 15.0, 0, 585.0),
        ("escalated", 16.0, 0, 584.0),
        ("extended", 700.0, 4, 200.0),
    ]


def test_time_left_ends_at_zero() -> None:
    log = Log()
    log.submitted("op", 0, deadline_at=at(60))
    log.add("escalated", "op", 75, phase="escalated", deadline_at=at(60))
    assert cells(analysis.burn_down(log.frame())["time_left"]) == [60.0, 0.0]


@pytest.mark.rule("L6")
@pytest.mark.parametrize(
    "analyse",
    [
        analysis.outcomes,
        analysis.requests_per_operation,
        analysis.detection_delay,
        analysis.burn_down,
        analysis.waiting_by_reason,
        analysis.provider_health,
        analysis.guidance,
        analysis.figures,
    ],
    ids=lambda analyse: analyse.__name__,
)
def test_an_empty_log_gives_a_frame_of_the_same_types(analyse: Callable[[Any], Any]) -> None:
    log = Log()
    log.submitted("op", 0)
    log.waiting("check_reserved", "op", 5, status_requests_used=1, lease_token=2)
    seen = {"verdict": "succeeded", "retry_after_s": 3.0, "ended_at": at(6)}
    log.waiting("check_answered", "op", 7, tx=4, status_requests_used=1, observation=seen)
    log.add("closed", "op", 7, phase="succeeded")
    full, empty = analyse(log.frame()), analyse(Log().frame())
    assert list(empty.columns) == list(full.columns)
    assert [str(dtype) for dtype in empty.dtypes] == [str(dtype) for dtype in full.dtypes]
