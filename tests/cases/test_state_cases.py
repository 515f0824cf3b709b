"""Cases of what an answer means: words, styles, counts, shapes that nobody expected (area states)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jobconsole.core.operation import Counts, ProviderError
from jobconsole.core.vocabulary import Phase, Reason, StateClass
from tests.cases.case_file import Case, each
from tests.cases.demo_contract import INTERVAL_S, Tables
from tests.cases.runner import ended, exit_of, played

Ending = tuple[Phase, Reason | None]
SUCCEEDED: Ending = (Phase.SUCCEEDED, None)
FAILED: Ending = (Phase.FAILED, Reason.PROVIDER_FAILURE)
CONTRADICTS: Ending = (Phase.ESCALATED, Reason.CONTRADICTORY_RESPONSE)
NOT_UNDERSTOOD: Ending = (Phase.ESCALATED, Reason.INTEGRATION_ERROR)


def by_body(*expected: tuple[str, Any]) -> dict[str, Any]:
    """What is right for each body of a case, by the body's JSON."""
    return {json.dumps(json.loads(body)): right for body, right in expected}


def of(table: dict[str, Any], case: Case) -> Any:
    """What is right for this variant."""
    return table[json.dumps(case.value)]


@pytest.mark.rule("C1")
@each("ST-01")
async def test_a_word_is_matched_without_its_case_and_outer_blanks(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert (ended(op), stage.count("poll")) == (SUCCEEDED, 1)
        assert (op.last_known_state, op.state_class) == (case.value.strip(), StateClass.SUCCEEDED)


@pytest.mark.rule("C1", "B12")
@each("ST-02")
async def test_a_word_that_is_not_in_the_table_is_asked_about_at_once(case: Case) -> None:
    # The case repeats it three times; B12 stops at the first.
    async with played(case) as stage:
        op = await stage.op()
        assert ended(op) == (Phase.ESCALATED, Reason.UNKNOWN_STATE)
        assert (stage.count("poll"), op.last_known_state, op.state_class) == (1, case.value, StateClass.UNKNOWN)
        assert op.escalation is not None
        assert repr(case.value) in op.escalation.detail
        (answered,) = await stage.events("check_answered")
        assert answered["observation"]["is_state_end"] is True  # there is an error beside the word
        assert op.error == ProviderError(text="interrupted")


OPERATION_STYLE = by_body(
    ('{"name": "op-1", "done": true, "error": {"code": 8, "message": "quota"}}', (FAILED, 1)),
    ('{"name": "op-1", "done": true}', (CONTRADICTS, 13)),  # the lag of 60 s, in reads of 5 s, and the first one
    ('{"name": "op-1", "done": true, "response": {}, "error": {"code": 0, "message": ""}}', (CONTRADICTS, 1)),
    ('{"name": "op-1", "done": "false"}', (NOT_UNDERSTOOD, 1)),
    ('{"done": true, "response": {"rows": 3}}', (SUCCEEDED, 1)),
)


@pytest.mark.rule("C2", "C3", "C4")
@each("ST-04")
async def test_done_is_success_only_with_a_response_and_without_an_error(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert (ended(op), stage.count("poll")) == of(OPERATION_STYLE, case)
        if op.phase is Phase.FAILED:
            assert op.error == ProviderError(code="8", text="quota")
        if op.phase is Phase.SUCCEEDED:
            assert op.result is not None
            assert op.result.inline == {"rows": 3}


@pytest.mark.rule("C3", "G3")
@each("ST-05")
async def test_a_success_without_its_result_is_read_again_within_bounds_and_then_asked_about(case: Case) -> None:
    rereads = case.settings["result_reread"]
    async with played(case) as stage:
        op = await stage.op()
        assert op.last_known_state == "succeeded"
        assert op.result is not None
        if case.value < rereads:
            assert (ended(op), stage.count("poll")) == (SUCCEEDED, case.value + 1)
            assert op.result.inline == {"rows": 3}
        else:
            assert (ended(op), stage.count("poll")) == (CONTRADICTS, 1 + rereads)
            assert op.state_class is StateClass.SUCCEEDED
            assert op.result.has_inline is False  # null is no result
        assert set(stage.gaps()) == {float(INTERVAL_S)}


@pytest.mark.rule("C3")
@each("ST-05")
async def test_where_the_contract_says_that_there_is_no_result_null_is_fine(case: Case) -> None:
    async with played(case, {"result": {"success_requires": None, "inline": None}}) as stage:
        assert (ended(await stage.op()), stage.count("poll")) == (SUCCEEDED, 1)


TWO_LEVELS: Tables = {
    "status": {"state": "body.state || join('/', [body.life, body.outcome || 'none'])"},
    "states": {
        "waiting": ["queued", "running", "RUNNING/none"],
        "succeeded": ["succeeded", "TERMINATED/SUCCESS"],
        "failed": ["failed", "INTERNAL_ERROR/*"],
        "cancelled": ["cancelled", "TERMINATED/CANCELED"],
        "no_outcome": ["SKIPPED/*"],
        "contradiction": ["TERMINATED/none"],
    },
    "result": {"success_requires": None},
}
TWO_LEVEL_ENDINGS = by_body(
    ('{"id": "job-1", "state": "cancelled"}', (Phase.CANCELLED, Reason.CANCELLED_ELSEWHERE)),
    ('{"id": "job-1", "life": "TERMINATED", "outcome": "CANCELED"}', (Phase.CANCELLED, Reason.CANCELLED_ELSEWHERE)),
    ('{"id": "job-1", "life": "TERMINATED", "outcome": null}', CONTRADICTS),
    ('{"id": "job-1", "life": "INTERNAL_ERROR"}', FAILED),
    ('{"id": "job-1", "life": "SKIPPED", "outcome": "SUCCESS"}', (Phase.NO_OUTCOME, Reason.NO_OUTCOME)),
)


@pytest.mark.rule("C1", "C2", "H13", "X26")
@each("ST-07")
async def test_only_the_pair_that_the_table_names_is_success(case: Case) -> None:
    async with played(case, TWO_LEVELS) as stage:
        op = await stage.op()
        assert (ended(op), stage.count("poll")) == (of(TWO_LEVEL_ENDINGS, case), 1)
        assert exit_of(op) != 0


BATCH_ENDINGS = by_body(
    ('{"id": "job-1", "state": "ended", "counts": {"ok": 0, "errored": 10, "expired": 0}}', FAILED),
    (
        '{"id": "job-1", "state": "ended", "counts": {"ok": 7, "errored": 3, "expired": 0}}',
        (Phase.COMPLETED_WITH_ERRORS, Reason.COMPLETED_WITH_ERRORS),
    ),
    (
        '{"id": "job-1", "state": "expired", "counts": {"ok": 4, "errored": 0, "expired": 6}, "output": "o-1"}',
        (Phase.EXPIRED, Reason.JOB_EXPIRED),
    ),
    ('{"id": "job-1", "state": "ended", "counts": {"ok": 0, "errored": 0, "expired": 0}}', CONTRADICTS),
)


@pytest.mark.rule("C2", "C12", "A5")
@each("ST-09")
async def test_counts_judge_a_batch_that_ended(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert (ended(op), stage.count("poll")) == (of(BATCH_ENDINGS, case), 1)
        told = case.value["counts"]
        assert op.counts == Counts(succeeded=told["ok"], failed=told["errored"] + told["expired"])
        if op.phase is Phase.EXPIRED:  # what was finished before is still offered
            assert op.result is not None
            assert op.result.result_id == "o-1"


@pytest.mark.rule("C1", "H1", "H2")
@each("ST-11")
async def test_a_job_that_waits_for_a_person_is_asked_about_at_the_first_such_answer(case: Case) -> None:
    # The case lets the polls slow down; an escalation sends nothing at all (SPEC 1), and one check follows at `pause`'s time.
    tables = {"states": {case.input["states"]["paused"]: ["paused"]}, "status": {"message": "body.reason"}}
    async with played(case, tables) as stage:
        op = await stage.op()
        assert ended(op) == (Phase.ESCALATED, Reason.NEEDS_HUMAN_AT_PROVIDER)
        assert (stage.count("poll"), op.status_requests_used, op.message) == (1, 1, "needs approval")
        await stage.for_a_while(3600)
        assert stage.count("poll") == 1
        assert await stage.option_names() == {"pause", "cancel", "close"}


CONDITIONS: Tables = {
    "status": {"state": "body.state || (body.conditions[?status == 'True'].type | [0])"},
    "states": {"succeeded": ["succeeded", "Complete"]},
}
SHAPES = by_body(
    ('{"id": "job-1", "state": "failed"}', (FAILED, None)),
    ('{"id": "job-1", "state": "failed", "error": "plain text"}', (FAILED, "plain text")),
    ('{"id": "job-1", "state": "failed", "error": [{"message": "a"}, {"message": "b"}]}', (FAILED, "a; b")),
    ('{"id": "job-1", "state": null}', (NOT_UNDERSTOOD, None)),
    ('{"error_code": "TEMPORARILY_UNAVAILABLE"}', (NOT_UNDERSTOOD, None)),
    ("[1, 2]", (NOT_UNDERSTOOD, None)),
    ('{"id": "job-2", "state": "succeeded"}', (CONTRADICTS, None)),
    (
        '{"id": "job-1", "conditions": [{"type": "Complete", "status": "False"}, {"type": "Failed", "status": "True"}]}',
        (FAILED, None),
    ),
)


@pytest.mark.rule("B12", "C2", "C4", "X23")
@each("ST-13")
async def test_an_unexpected_shape_hides_no_reason_and_raises_nothing(case: Case) -> None:
    async with played(case, CONDITIONS) as stage:
        op = await stage.op()
        assert (ended(op), op.error.text if op.error else None) == of(SHAPES, case)
        assert stage.count("poll") == 1
        if case.value == {"id": "job-2", "state": "succeeded"}:
            assert op.last_known_state is None  # another job's state is not ours
