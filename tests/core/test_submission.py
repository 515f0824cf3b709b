"""How a record begins: what is durable before anything is sent, and when an equal operation is returned instead."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobconsole.core.command import Refusal
from jobconsole.core.commands.submission import Begun
from jobconsole.core.vocabulary import Phase
from tests.core.desk import Desk
from tests.core.sample_facts import accepted, at, done, running

MINUTES = timedelta(minutes=1)


def begun(got: Begun | Refusal) -> Begun:
    """A submission that was written down."""
    assert isinstance(got, Begun), got
    return got


@pytest.mark.rule("B1", "B17")
def test_a_submission_is_on_record_with_its_token_before_anything_is_sent() -> None:
    desk = Desk()
    op = begun(desk.submit()).op
    assert (op.phase, op.idempotency_token, op.request_body) == (Phase.SUBMITTING, "token-1", '{"quarter":3}')
    assert (op.submit_attempts, op.status_requests_used) == (0, 0)
    assert desk.kinds() == ["submitted", "action_requested"]
    assert desk.events()[0]["set"]["_default/2"]["operation_id"] == "op-1"  # the whole document, in its first event


@pytest.mark.rule("B1")
def test_the_whole_record_is_durable_before_the_first_status_request() -> None:
    desk = Desk()
    op = desk.track().op
    assert (op.provider_job_id, op.account, op.request_fingerprint) == ("job-op-1", "acme-prod", "job:job-op-1")
    assert (op.started_at, op.deadline_at) == (at(0), at(2400))
    assert (op.max_status_requests, op.max_transport_failures, op.max_rate_limits) == (12, 3, 3)
    assert (op.original.status_requests, op.original.deadline_at) == (12, at(2400))
    assert desk.kinds() == ["submitted"]


@pytest.mark.rule("X9")
def test_the_deadline_of_a_tracked_job_counts_from_its_adoption() -> None:
    desk = Desk()
    desk.clock.advance(300)
    op = desk.track().op
    assert (op.started_at, op.deadline_at, op.submitted_at) == (at(300), at(300 + 2400), None)


@pytest.mark.rule("X9")
def test_the_deadline_of_a_submission_counts_from_its_record() -> None:
    desk = Desk()
    desk.submit()
    desk.clock.advance(60)
    op = desk.perform(accepted())
    assert (op.submitted_at, op.deadline_at) == (at(60), at(2400))


@pytest.mark.rule("X9")
def test_a_second_track_returns_the_live_operation() -> None:
    desk = Desk()
    first = desk.track("op-1", job_id="job-7")
    second = desk.track("op-2", job_id="job-7")
    assert (first.is_new, second.is_new, second.op.operation_id) == (True, False, "op-1")


@pytest.mark.rule("X9", "X7")
def test_an_ended_operation_is_tracked_anew_and_never_reopened() -> None:
    desk = Desk()
    desk.track("op-1", job_id="job-7")
    desk.check(done())
    again = desk.track("op-2", job_id="job-7")
    assert (again.is_new, again.op.operation_id) == (True, "op-2")
    assert desk.op("op-1").phase is Phase.SUCCEEDED


@pytest.mark.rule("X18")
@pytest.mark.parametrize("move", [None, running, done])
def test_the_same_id_with_the_same_request_is_the_same_operation(move: Any) -> None:
    desk = Desk()
    desk.submit("op-1", fingerprint="body:q3")
    if move is not None:
        desk.perform(accepted())
        desk.check(move())
    again = begun(desk.submit("op-1", fingerprint="body:q3"))
    assert (again.is_new, again.op) == (False, desk.op("op-1"))


@pytest.mark.rule("X18")
def test_the_same_id_with_another_request_is_refused() -> None:
    desk = Desk()
    desk.submit("op-1", fingerprint="body:q3")
    got = desk.submit("op-1", fingerprint="body:q4")
    assert isinstance(got, Refusal)
    assert (got.why, len(desk.events())) == ("id_taken", 2)


@pytest.mark.rule("X18")
def test_without_an_id_an_equal_live_submission_is_allowed_and_named() -> None:
    desk = Desk()
    desk.submit("op-1", fingerprint="body:q3")
    second = begun(desk.submit("op-2", fingerprint="body:q3"))
    assert (second.is_new, second.equal_live) == (True, ("op-1",))


@pytest.mark.rule("X14", "B14")
def test_the_row_of_failures_is_never_longer_than_all_of_them() -> None:
    op = Desk().track(failures=2, business_at=at(60)).op
    assert (op.max_transport_failures, op.max_transport_failures_in_a_row) == (2, 2)
    assert op.business_deadline_at == at(60)


@pytest.mark.rule("S6")
def test_the_deadline_is_due_from_the_beginning() -> None:
    desk = Desk()
    assert desk.track().op.due_at == at(0)
    assert desk.check(running()).op.due_at == desk.op().next_poll_at
    assert begun(desk.submit("op-2")).op.due_at == at(0)
