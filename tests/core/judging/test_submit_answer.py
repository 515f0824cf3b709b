"""The answer to a submission: whether the job was accepted, and how it is called from now on."""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.core.judging.answer import Known, Observation
from jobconsole.core.judging.observation import observe
from jobconsole.core.operation import ProviderError
from jobconsole.core.vocabulary import Delivery, StateClass
from tests.core.answers import DATE, JSON, answer, demo


def submitted(status: int, body: Any, headers: Any = (JSON, DATE), *edits: tuple[str, str]) -> Observation:
    known = Known(request_url="https://jobs.example.test/v1/tenants/7/jobs")
    return observe(demo("", *edits), answer(status, body, headers, url=known.request_url or ""), known, step="submit")


URL_TOO = ('job_id = "body.id"\n[status]', 'job_id = "body.id"\nstatus_url = "headers.location"\n[status]')


@pytest.mark.rule("C6", "B17", "B7")
def test_an_accepted_submission_waits_and_names_its_job() -> None:
    found = submitted(201, {"id": "job-1", "state": "succeeded"}, (JSON, DATE, ("Retry-After", "3")))
    assert (found.verdict, found.job_id, found.retry_after_s) == ("waiting", "job-1", 3)  # RA-11: it only paces the first check


@pytest.mark.rule("C6")
@pytest.mark.parametrize(
    ("location", "status_url"),
    [
        ("/v1/ops/job-1", "https://jobs.example.test/v1/ops/job-1"),
        ("../ops/job-1", "https://jobs.example.test/v1/tenants/ops/job-1"),
        ("?op=job-1", "https://jobs.example.test/v1/tenants/7/jobs?op=job-1"),
        ("https://evil.example.test/1", None),
    ],
)
def test_a_status_url_is_resolved_against_the_submission(location: str, status_url: str | None) -> None:
    """Case HT-01."""
    found = submitted(202, {"state": "queued"}, (JSON, DATE, ("Location", location)), URL_TOO)
    assert found.status_url == status_url
    assert found.verdict == ("integration_error" if status_url is None else "waiting")


@pytest.mark.rule("C6", "X10")
@pytest.mark.parametrize(
    ("status", "body", "verdict", "delivery", "job_id"),
    [
        (200, {}, "integration_error", "answered", None),
        (202, None, "integration_error", "answered", None),
        (201, {"id": ""}, "integration_error", "answered", None),
        (201, {"id": True}, "integration_error", "answered", None),
        (201, {"id": {"a": 1}}, "integration_error", "answered", None),
        (201, {"id": 17}, "waiting", "answered", "17"),
        (201, {"id": ["a", "b"]}, "waiting", "answered", "a"),
        (409, {"id": "job-1", "error": "duplicate"}, "integration_error", "answered", "job-1"),  # LC-09
        (400, {"error": "bad input"}, "integration_error", "answered", None),
        (401, {"error": "no"}, "authorization_denied", "answered", None),
        (429, {"error": "slow down"}, "rate_limited", "answered", None),
        (503, None, "delivery_failure", "ambiguous", None),
        (200, b"<html>Sign in</html>", "delivery_failure", "ambiguous", None),
        (200, b"{oops", "integration_error", "answered", None),
    ],
)
def test_a_submission_that_names_no_job_is_never_taken_for_accepted(
    status: int, body: Any, verdict: str, delivery: str, job_id: str | None
) -> None:
    found = submitted(status, body)
    assert (found.verdict, found.delivery, found.job_id) == (verdict, Delivery(delivery), job_id)


def test_a_refusal_brings_the_provider_s_words() -> None:
    assert submitted(400, {"error": {"code": "E1", "message": "bad input"}}).error == ProviderError(code="E1", text="bad input")


def test_several_jobs_of_one_submission_are_all_named() -> None:
    assert submitted(201, {"id": ["a", 2, "a"]}).job_ids == ("a", "2")


def test_a_header_may_name_the_job_whatever_the_body_holds() -> None:
    found = submitted(201, b"<html>Queued</html>", (("Location", "/queue/item/1/"),), URL_TOO)
    assert (found.verdict, found.status_url) == ("waiting", "https://jobs.example.test/queue/item/1/")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"state": "succeeded"}, "succeeded"),
        ({"state": "failed"}, "failed"),
        ({}, "waiting"),
        ({"state": []}, "waiting"),
        ({"state": "odd"}, "unknown"),
    ],
)
def test_a_submission_may_be_final_already_where_the_contract_says_so(body: dict[str, Any], word: str) -> None:
    already = ('job_id = "body.id"\n[status]', 'job_id = "body.id"\nalready = true\n[status]')
    found = submitted(201, {"id": "job-1", **body}, (JSON, DATE), already)
    assert (found.verdict, found.job_id) == (word, "job-1")
    assert found.state_class is StateClass(word)
