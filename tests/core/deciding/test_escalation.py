"""Which reason permits which options: section 14 of the specification, written out again here and compared with the code.

The ordinary operation of these tests has used nothing, so every option that the table names is useful; the tests below the
table take that away, one bound at a time.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.escalation import (
    LOOK_ANSWERS,
    NEEDS_REASON_TEXT,
    OPTIONS,
    look_options,
    options_for,
    waiting_options,
)
from jobconsole.core.operation import Granted, Look, NotBefore, OpenAction, Option
from jobconsole.core.vocabulary import DelaySource, Phase, Reason
from tests.core.sample_contract import CANCEL, TABLES, WITH_TOKEN, budget, sample
from tests.core.sample_facts import DEADLINE, at, operation

EVERYTHING = sample(
    provider=TABLES["provider"] + 'console_url = "https://console.acme.example/{job_id}"',
    auth='secret = "env:ACME_KEY"\nothers = ["env:ACME_KEY_2"]',
    submit=WITH_TOKEN,
    cancel=CANCEL,
)
"""A contract that documents all that an option may need."""

TABLE: dict[Reason, set[str]] = {
    Reason.DEADLINE_EXCEEDED: {"extend"},
    Reason.REQUEST_BUDGET_EXHAUSTED: {"extend"},
    Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE: {"extend"},
    Reason.TRANSPORT_FAILURES_EXHAUSTED: {"extend", "pause", "check_once"},
    Reason.RATE_LIMITED: {"pause", "extend"},
    Reason.UNKNOWN_STATE: {"pause", "adopt_contract"},
    Reason.NEEDS_HUMAN_AT_PROVIDER: {"pause", "adopt_contract"},
    Reason.CONTRADICTORY_RESPONSE: {"pause", "check_once"},
    Reason.INTEGRATION_ERROR: {"pause", "adopt_contract"},
    Reason.JOB_NOT_FOUND: {"pause", "adopt_contract"},
    Reason.AUTHORIZATION_DENIED: {"credential_mended", "use_credential"},
    Reason.SUBMISSION_AMBIGUOUS: {"replay_submit", "adopt", "submit_again"},
    Reason.CANCEL_UNCONFIRMED: {"cancel", "check_once"},
    Reason.APPROVAL_REQUIRED: {"approve_once"},
}
"""Left out are `search`, `result_invalid` and the requests of agents: nothing raises or offers them yet."""

ALWAYS = {"inspect", "close", "cancel"}


def offered(reason: Reason, contract: Contract = EVERYTHING, *, now: float = 100, **fields: Any) -> dict[str, Option]:
    """The options of an escalation by name."""
    ordinary: dict[str, Any] = {"phase": Phase.ESCALATED, "request_body": "null"}
    return {option.name: option for option in options_for(operation(**(ordinary | fields)), reason, contract, at(now))}


# ---- the table ----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("H1")
@pytest.mark.parametrize("reason", TABLE, ids=str)
def test_each_reason_permits_what_the_table_says_and_nothing_else(reason: Reason) -> None:
    always = ALWAYS - {"cancel"} if reason is Reason.AUTHORIZATION_DENIED else ALWAYS
    assert set(offered(reason)) == TABLE[reason] | always


@pytest.mark.rule("H1")
def test_the_table_of_the_code_names_no_other_reason() -> None:
    assert {reason: set(names) for reason, names in OPTIONS.items()} == TABLE | {
        Reason.RESULT_INVALID: {"accept_result", "check_once"}
    }


@pytest.mark.rule("H2")
@pytest.mark.parametrize("reason", TABLE, ids=str)
def test_every_option_states_its_effect(reason: Reason) -> None:
    assert all(len(option.effect) > 10 for option in offered(reason).values())


@pytest.mark.rule("B11", "H1")
@pytest.mark.parametrize("fields", [{}, {"status_requests_used": 12}, {"deadline_at": at(50)}])
def test_a_refused_credential_is_never_extended_checked_or_used_to_cancel(fields: dict[str, Any]) -> None:
    assert not {"extend", "check_once", "cancel", "pause"} & set(offered(Reason.AUTHORIZATION_DENIED, **fields))


# ---- only what is documented --------------------------------------------------------------------------------------------
@pytest.mark.rule("C9")
@pytest.mark.parametrize(
    ("contract", "fields", "is_offered"),
    [
        (EVERYTHING, {}, True),
        (sample(), {}, False),  # not documented
        (EVERYTHING, {"provider_job_id": None}, False),  # nothing to cancel
        (EVERYTHING, {"open_actions": {"cancel": OpenAction(action_id="act-1")}}, False),  # asked for already
    ],
)
def test_cancel_is_offered_only_where_it_is_documented_and_makes_sense(
    contract: Contract, fields: dict[str, Any], is_offered: bool
) -> None:
    assert ("cancel" in offered(Reason.DEADLINE_EXCEEDED, contract, **fields)) is is_offered


@pytest.mark.rule("C9", "X11", "H2")
def test_cancel_tells_its_consequence_and_its_follow_up() -> None:
    option = offered(Reason.DEADLINE_EXCEEDED)["cancel"]
    assert (option.effect, option.checks, option.minutes) == ("Stops the job; partial output is lost.", 4, 10)


@pytest.mark.rule("C10")
@pytest.mark.parametrize(
    ("contract", "fields", "missing"),
    [
        (sample(), {}, {"replay_submit"}),  # no token is documented
        (EVERYTHING, {"request_body": None}, {"replay_submit", "submit_again"}),
    ],
)
def test_a_replay_needs_a_documented_token_and_the_request(
    contract: Contract, fields: dict[str, Any], missing: set[str]
) -> None:
    offers = set(offered(Reason.SUBMISSION_AMBIGUOUS, contract, provider_job_id=None, submitted_at=None, **fields))
    assert offers & {"replay_submit", "adopt", "submit_again"} == {"replay_submit", "adopt", "submit_again"} - missing


@pytest.mark.rule("B11", "C11")
@pytest.mark.parametrize(
    ("credential", "expected"),
    [(None, ("env:ACME_KEY_2",)), ("env:ACME_KEY_2", None)],
)
def test_only_another_credential_that_the_contract_names_may_be_used(
    credential: str | None, expected: tuple[str, ...] | None
) -> None:
    option = offered(Reason.AUTHORIZATION_DENIED, credential=credential).get("use_credential")
    assert (option.credentials if option else None) == expected


@pytest.mark.rule("X13")
def test_a_contract_file_that_has_not_changed_is_not_offered() -> None:
    op = operation(phase=Phase.ESCALATED)
    options = options_for(op, Reason.UNKNOWN_STATE, EVERYTHING, at(100), contract_is_newer=False)
    assert "adopt_contract" not in {option.name for option in options}


# ---- extension ----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("H9", "H2")
def test_an_extension_states_all_that_it_grants() -> None:
    option = offered(Reason.DEADLINE_EXCEEDED)["extend"]
    granted = (option.minutes, option.checks, option.failures, option.rate_limits, option.times_left)
    assert granted == (15, 4, 1, 1, 1)


@pytest.mark.rule("H9", "X6")
@pytest.mark.parametrize(("times", "used", "is_offered"), [(1, 0, True), (1, 1, False), (3, 2, True), (0, 0, False)])
def test_the_cap_counts_grants_in_the_operations_life(times: int, used: int, is_offered: bool) -> None:
    contract = sample(budget=budget(extension=f"{{ times = {times} }}"))
    options = offered(Reason.DEADLINE_EXCEEDED, contract, granted=Granted(times=used))
    assert ("extend" in options) is is_offered
    assert not is_offered or options["extend"].times_left == times - used


@pytest.mark.rule("X6")
@pytest.mark.parametrize(
    ("extension", "fields", "is_offered"),
    [
        ("checks = 4", {"status_requests_used": 12}, True),  # 12 of 16
        ("checks = 0", {"status_requests_used": 12}, False),  # 12 of 12
        ("checks = 0", {"status_requests_used": 11}, True),
        ("failures = 1", {"transport_failures_used": 3}, True),
        ("failures = 0", {"transport_failures_used": 3}, False),
        ("failures = 0", {"transport_failures_in_a_row": 3}, False),  # 3 of 3 in a row
        ("rate_limits = 0", {"rate_limits_used": 3}, False),
        ("rate_limits = 1", {"rate_limits_used": 4}, False),  # 4 of 4
        ("minutes = 0", {"deadline_at": at(100)}, False),
        ("minutes = 0", {"deadline_at": at(101)}, True),
    ],
)
def test_an_extension_that_leaves_a_spent_limit_spent_is_not_offered(
    extension: str, fields: dict[str, Any], is_offered: bool
) -> None:
    contract = sample(budget=budget(extension=f"{{ {extension} }}"))
    assert ("extend" in offered(Reason.DEADLINE_EXCEEDED, contract, **fields)) is is_offered


@pytest.mark.rule("B7", "X6")
@pytest.mark.parametrize(
    ("wait_ends", "is_offered"),
    [
        (2400 + 900 - 11, True),  # the new deadline less one request and a second
        (2400 + 900 - 10, False),
    ],
)
def test_an_extension_for_a_long_wait_must_cover_it(wait_ends: float, is_offered: bool) -> None:
    wait = NotBefore(at=at(wait_ends), up=0, boot="boot-1", source=DelaySource.PROVIDER_RETRY_AFTER)
    assert ("extend" in offered(Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE, not_before=wait)) is is_offered


@pytest.mark.rule("B14")
@pytest.mark.parametrize(
    ("business", "waived", "is_said"),
    [
        (2400 + 900 - 1, False, True),
        (2400 + 900, False, False),
        (2400, True, False),
        (None, False, False),
    ],
)
def test_an_extension_past_the_business_deadline_says_so(business: float | None, waived: bool, is_said: bool) -> None:
    option = offered(
        Reason.REQUEST_BUDGET_EXHAUSTED,
        business_deadline_at=None if business is None else at(business),
        is_business_deadline_waived=waived,
    )["extend"]
    assert ("past the business deadline 2026-11-29 10:" in option.effect) is is_said


# ---- pause --------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X12")
@pytest.mark.parametrize(
    ("now", "granted", "expected"),
    [
        (100, 0, at(100 + 900)),  # inside the bounds
        (2000, 0, at(2000 + 900)),  # as an extension: one is left
        (2000, 1, DEADLINE - timedelta(seconds=11)),  # none is left: the final check
        (2389, 1, None),  # too late even for that
    ],
)
def test_a_one_click_pause_is_one_check_after_the_extensions_minutes(
    now: float, granted: int, expected: datetime | None
) -> None:
    option = offered(Reason.UNKNOWN_STATE, now=now, granted=Granted(times=granted)).get("pause")
    assert (option.until_at if option else None) == expected


@pytest.mark.rule("X12", "B14")
def test_a_pause_past_the_business_deadline_says_so() -> None:
    option = offered(Reason.UNKNOWN_STATE, business_deadline_at=at(500))["pause"]
    assert "past the business deadline 2026-11-29 10:08:20 UTC" in option.effect


@pytest.mark.rule("X12")
@pytest.mark.parametrize("fields", [{"status_requests_used": 12}, {"provider_job_id": None}])
def test_a_pause_that_could_not_check_is_not_offered(fields: dict[str, Any]) -> None:
    assert "pause" not in offered(Reason.UNKNOWN_STATE, **fields)


# ---- beside escalations -------------------------------------------------------------------------------------------------
@pytest.mark.rule("H1")
def test_a_waiting_operation_may_be_extended_cancelled_and_closed() -> None:
    assert [option.name for option in waiting_options(operation(), EVERYTHING, at(100))] == ["extend", "cancel", "close"]
    assert [option.name for option in waiting_options(operation(), sample(), at(100))] == ["extend", "close"]


@pytest.mark.rule("H13", "X7")
@pytest.mark.parametrize("reason", LOOK_ANSWERS, ids=str)
def test_a_look_is_answered_once(reason: Reason) -> None:
    ended = operation(phase=Phase.FAILED, request_body="null", look=Look(reason=reason, since=at(100)))
    assert tuple(option.name for option in look_options(ended)) == LOOK_ANSWERS[reason]
    for answer in ("acknowledge", "accept", "reject"):
        told = operation(phase=Phase.FAILED, look=Look(reason=reason, since=at(100), answered_by="ana", answer=answer))
        assert look_options(told) == ()


@pytest.mark.rule("H13")
def test_a_look_that_is_under_review_stays_open() -> None:
    look = Look(reason=Reason.COMPLETED_WITH_ERRORS, since=at(100), answered_by="ana", answer="review")
    assert [o.name for o in look_options(operation(phase=Phase.COMPLETED_WITH_ERRORS, look=look))] == [
        "review",
        "accept",
        "reject",
    ]


@pytest.mark.rule("C10")
def test_a_tracked_job_is_not_submitted_again() -> None:
    ended = operation(phase=Phase.FAILED, is_tracked=True, look=Look(reason=Reason.PROVIDER_FAILURE, since=at(100)))
    assert [option.name for option in look_options(ended)] == ["acknowledge"]


@pytest.mark.rule("H5")
def test_three_options_need_a_reason_in_words() -> None:
    assert set(NEEDS_REASON_TEXT) == {"close", "accept_result", "submit_again"}


@pytest.mark.rule("X15", "X24")
@pytest.mark.parametrize(
    ("confirm", "checks"),
    [(None, 1), ('request = "GET /v1/jobs/{job_id}/result"\ncodes = { 200 = "succeeded" }', 2)],
)
def test_an_approval_covers_one_request_and_its_confirmation(confirm: str | None, checks: int) -> None:
    assert offered(Reason.APPROVAL_REQUIRED, sample(confirm=confirm))["approve_once"].checks == checks
