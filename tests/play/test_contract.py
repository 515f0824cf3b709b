"""The contract `play` judges what the scenarios say as they mean it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.resources import files
from random import Random
from typing import Any

import pytest

from jobconsole.core.contracts.file import load
from jobconsole.core.judging.answer import Answer, Known, Observation
from jobconsole.core.judging.observation import observe
from jobconsole.play.book import Book, Call
from jobconsole.play.job import Job, Reply, whole_real_seconds
from jobconsole.play.scenarios import SCENARIOS

AT = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
CONTRACT = load((files("jobconsole.play") / "play.toml").read_text(encoding="utf-8"), "play.toml")
URL = "http://127.0.0.1:8642/v1/jobs/job_1"


def answer_of(reply: Reply, elapsed: float = 0.0, url: str = URL) -> Answer:
    """The reply as a transport would hand it over, with the Date and the headers of the server."""
    at = AT + timedelta(seconds=elapsed)
    headers = [*reply.headers, ("Date", format_datetime(at, usegmt=True))]
    if not any(name == "Content-Type" for name, _ in headers):
        headers.append(("Content-Type", "application/json"))
    if reply.retry_after_s is not None:
        headers.append(("Retry-After", str(whole_real_seconds(reply.retry_after_s, 1.0))))
    body = reply.body if isinstance(reply.body, bytes) else b"" if reply.body is None else json.dumps(reply.body).encode()
    return Answer(reply.status, tuple(headers), body, url, at, 0)


def observed(scenario: str, elapsed: float, number: int, **settings: Any) -> Observation:
    """What the contract makes of one answer of a job of ten seconds."""
    job = Job("job_1", scenario, 7, 0.0, AT, 1.0, 10.0, settings)
    reply = SCENARIOS[scenario].behaviour(job, elapsed, number, Random(f"7/{number}"))
    return observe(CONTRACT, answer_of(reply, elapsed), Known(job_id="job_1", submitted_at=AT))


@pytest.mark.rule("C1", "C2", "C3", "C4", "B10", "B12", "H13")
@pytest.mark.parametrize(
    ("scenario", "elapsed", "number", "settings", "verdict"),
    [
        ("slow", 0.5, 1, {}, "waiting"),
        ("slow", 5.0, 2, {}, "waiting"),
        ("slow", 10.0, 3, {}, "succeeded"),
        ("late-failure", 10.0, 3, {}, "failed"),
        ("partial", 10.0, 3, {}, "partial"),
        ("never-ends", 1000.0, 9, {}, "waiting"),
        ("unknown-state", 6.0, 2, {}, "unknown"),
        ("contradiction", 10.0, 3, {}, "contradiction"),
        ("contradiction", 10.0, 3, {"kind": "id"}, "contradiction"),
        ("cancelled-elsewhere", 10.0, 3, {}, "cancelled"),
        ("no-outcome", 10.0, 3, {}, "no_outcome"),
        ("expired", 10.0, 3, {}, "expired"),
        ("needs-human", 6.0, 2, {}, "needs_human"),
        ("not-found-then-found", 1.0, 1, {}, "not_found"),
        ("vanishes", 6.0, 2, {}, "not_found"),
        ("auth-expires", 6.0, 2, {}, "authorization_denied"),
        ("rate-limited", 5.0, 2, {}, "rate_limited"),
        ("html-error", 5.0, 2, {}, "delivery_failure"),
        ("garbled", 5.0, 2, {}, "integration_error"),
        ("flaky", 5.0, 2, {}, "delivery_failure"),
    ],
)
def test_an_answer_is_taken_for_what_the_scenario_means(
    scenario: str, elapsed: float, number: int, settings: dict[str, str], verdict: str
) -> None:
    assert observed(scenario, elapsed, number, **settings).verdict == verdict


@pytest.mark.rule("C3")
def test_a_success_without_its_result_lacks_it_and_one_with_it_brings_it() -> None:
    early, late = observed("late-result", 10.5, 3).result, observed("late-result", 12.0, 4).result
    assert early is not None
    assert late is not None
    assert early.missing
    assert (late.missing, late.has_inline, set(late.inline)) == ((), True, {"rows", "scenario"})


@pytest.mark.rule("C12")
def test_a_partial_end_brings_its_counts_and_where_the_errors_are() -> None:
    seen = observed("partial", 10.0, 3)
    assert seen.counts is not None
    assert (seen.counts.total, seen.counts.succeeded, seen.counts.failed) == (10, 7, 3)
    assert seen.errors_url is not None
    assert seen.errors_url.endswith("/v1/jobs/job_1/errors")


@pytest.mark.rule("C5", "B7")
def test_hints_are_read_in_each_form_and_the_unusable_one_is_rejected() -> None:
    first, second, third, fourth = (observed("hints", 5.0, number) for number in (1, 2, 3, 4))
    assert (first.hint_s, second.hint_s, third.hint_s) == (1.0, 1.0, None)
    assert [hint.what for hint in third.rejected] == ["poll_after_seconds"]
    assert fourth.retry_after_s == 1.0
    assert observed("waits-past-deadline", 5.0, 2).retry_after_s == 86_400.0


@pytest.mark.rule("C6")
def test_the_submit_answer_brings_the_job_id() -> None:
    call = Call("POST", "/v1/jobs", {}, b'{"scenario": "slow"}', 0.0, AT)
    reply = Book().answer(call)
    seen = observe(CONTRACT, answer_of(reply, url="http://127.0.0.1:8642/v1/jobs"), Known(), step="submit")
    assert (seen.verdict, seen.job_id) == ("waiting", reply.body["id"])
