"""Answers that do not settle it: a 404, a success that lacks its result, a success that is to be confirmed (C3, C7, X24).

Times are seconds after 10:00:00; the deadline is at 2400, one request of twelve is used.
"""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.core.deciding.decide import (
    ConfirmFirst,
    Decision,
    Escalate,
    Stop,
    Succeed,
    WaitUntil,
    decide,
    in_grace,
    tallied,
)
from jobconsole.core.judging.answer import Observation, ResultFacts
from jobconsole.core.vocabulary import Phase, Reason, StateClass
from tests.core.judged import concluded, counted
from tests.core.sample_contract import CONFIRM, TABLES, sample
from tests.core.sample_facts import (
    at,
    denied,
    done,
    lacking,
    missing,
    moment,
    operation,
    running,
    state,
    unanswered,
)

REQUIRES = 'success_requires = ["body.url"]\nlag = "60s"'


# ---- 404 ----------------------------------------------------------------------------------------------------------------
GRACE = sample(http='not_found = { grace = "60s", in_a_row = 2, expired_after = "24h" }', budget=TABLES["budget"])


@pytest.mark.rule("C7")
@pytest.mark.parametrize(
    ("now", "fields", "expected"),
    [
        (59, {}, True),
        (60, {}, False),
        (10, {"was_seen": True}, False),
        (10, {"is_tracked": True}, False),
        (10, {"submitted_at": None}, False),
    ],
)
def test_a_404_is_in_grace_only_shortly_after_our_own_submission(now: float, fields: dict[str, Any], expected: bool) -> None:
    assert in_grace(operation(**fields), GRACE, at(now)) is expected


@pytest.mark.rule("C7")
@pytest.mark.parametrize(
    ("now", "in_a_row", "fields", "expected"),
    [
        (30, 0, {}, None),  # grace: not even counted
        (30, 5, {}, Reason.JOB_NOT_FOUND),  # counted before (tracked ones are)
        (100, 0, {}, None),  # 1 of 2
        (100, 1, {}, Reason.JOB_NOT_FOUND),  # 2 of 2
        (100, 1, {"was_seen": True}, Reason.JOB_NOT_FOUND),
    ],
)
def test_404s_in_a_row_escalate(now: float, in_a_row: int, fields: dict[str, Any], expected: Reason | None) -> None:
    decision = concluded(missing(), GRACE, now=now, not_found_in_a_row=in_a_row, **fields)
    assert isinstance(decision, Escalate) is (expected is not None)
    assert not isinstance(decision, Escalate) or decision.reason is expected


@pytest.mark.rule("C7")
def test_a_404_uses_no_other_budget_than_the_requests() -> None:
    op = tallied(operation(was_seen=True), missing(), GRACE, moment(100))
    assert (op.not_found_in_a_row, op.transport_failures_used, op.rate_limits_used) == (1, 0, 0)


@pytest.mark.rule("C7")
@pytest.mark.parametrize(
    ("age_h", "was_seen", "expected"),
    [
        (24, True, Stop(Phase.EXPIRED, Reason.JOB_EXPIRED)),
        (23.9, True, None),
        (24, False, None),  # never seen: it may not exist
    ],
)
def test_a_seen_job_that_is_gone_after_its_retention_has_expired(
    age_h: float, was_seen: bool, expected: Decision | None
) -> None:
    decision = concluded(
        missing(), GRACE, now=age_h * 3600, was_seen=was_seen, deadline_at=at(90 * 3600), max_status_requests=50
    )
    assert decision == expected if expected else isinstance(decision, WaitUntil)


# ---- success that lacks its result --------------------------------------------------------------------------------------
@pytest.mark.rule("C3")
@pytest.mark.parametrize(
    ("reads", "since", "now", "contradicts"),
    [
        (0, None, 1000, False),  # the first time
        (1, 0, 1000, False),  # one re-read, however long ago
        (2, 960, 1000, False),  # two re-reads within the lag: 40 s < 60 s
        (2, 940, 1000, True),  # two re-reads, 60 s
        (9, 999, 1000, False),
    ],
)
def test_a_success_without_its_result_waits_for_the_lag_and_two_rereads(
    reads: int, since: float | None, now: float, contradicts: bool
) -> None:
    lacked: dict[str, Any] = {"lacking_reads": reads, "lacking_since": None if since is None else at(since)}
    decision = concluded(lacking(), sample(result=REQUIRES), now=now, **lacked)
    assert isinstance(decision, Escalate) is contradicts
    assert not isinstance(decision, Escalate) or decision == Escalate(
        Reason.CONTRADICTORY_RESPONSE, "succeeded without body.url"
    )


@pytest.mark.rule("C3")
def test_a_success_that_lacks_its_result_is_never_success_whatever_is_spent() -> None:
    assert concluded(lacking(), status_requests_used=12) == Escalate(Reason.REQUEST_BUDGET_EXHAUSTED)
    assert concluded(lacking(), now=2400) == Escalate(Reason.DEADLINE_EXCEEDED, "deadline")


@pytest.mark.rule("C3")
def test_going_back_to_running_starts_the_lag_anew() -> None:
    op = counted(running(), lacking_since=at(10), lacking_reads=2)
    assert (op.lacking_since, op.lacking_reads) == (None, 0)


@pytest.mark.rule("C3")
def test_a_partial_outcome_needs_no_result() -> None:
    seen = state("done_with_errors", StateClass.PARTIAL, result=ResultFacts(missing=("body.url",)))
    assert concluded(seen) == Stop(Phase.COMPLETED_WITH_ERRORS, Reason.COMPLETED_WITH_ERRORS)


# ---- confirm ------------------------------------------------------------------------------------------------------------
CONFIRMED = sample(confirm=CONFIRM, result=REQUIRES)


@pytest.mark.rule("X24")
def test_a_success_is_confirmed_by_a_second_request() -> None:
    assert concluded(done(), CONFIRMED) == ConfirmFirst()
    assert concluded(done(), CONFIRMED, is_confirm=True) == Succeed()


@pytest.mark.rule("X24")
@pytest.mark.parametrize(("used", "is_asked"), [(11, True), (12, False)])
def test_a_success_whose_confirm_has_no_request_left_is_a_spent_budget(used: int, is_asked: bool) -> None:
    decision = concluded(done(), CONFIRMED, status_requests_used=used)
    assert isinstance(decision, ConfirmFirst) is is_asked
    assert is_asked or (isinstance(decision, Escalate) and decision.reason is Reason.REQUEST_BUDGET_EXHAUSTED)


@pytest.mark.rule("X24")
@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (Observation(verdict=StateClass.FAILED, http_status=422), Stop),
        (Observation(verdict=StateClass.WAITING, http_status=504), WaitUntil),
        (unanswered(), WaitUntil),
        (denied(), Escalate),
    ],
)
def test_the_confirmation_decides(seen: Observation, expected: type) -> None:
    assert isinstance(concluded(seen, CONFIRMED, is_confirm=True), expected)


@pytest.mark.rule("X24", "C3")
def test_a_confirmed_success_still_needs_its_result() -> None:
    looked = tallied(operation(status_requests_used=1), lacking(), CONFIRMED, moment(100))
    said = Observation(verdict=StateClass.SUCCEEDED, http_status=200)
    confirmed = tallied(looked, said, CONFIRMED, moment(101), is_confirm=True)
    decision = decide(confirmed, said, CONFIRMED, moment(101), 0.0, is_confirm=True)
    assert isinstance(decision, WaitUntil)
    assert (confirmed.lacking_since, confirmed.lacking_reads) == (at(100), 1)
