"""What a wait came to, in words that cannot be misread (X16, X17, G1-G3)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.core.operation import Escalation, Operation, ProviderError, Result
from jobconsole.core.telling.outcome import answer, outcome
from jobconsole.core.vocabulary import Phase, Reason
from tests.core.sample_facts import at, operation


def asked(reason: Reason) -> Operation:
    """An operation that waits for a person."""
    return operation(phase=Phase.ESCALATED, escalation=Escalation(reason=reason, since=at(0)))


@pytest.mark.rule("X16", "G1", "G3")
@pytest.mark.parametrize(
    ("phase", "done"),
    [
        (Phase.SUCCEEDED, True),
        (Phase.COMPLETED_WITH_ERRORS, True),
        (Phase.FAILED, True),
        (Phase.CANCELLED, True),
        (Phase.EXPIRED, True),
        (Phase.NO_OUTCOME, True),
        (Phase.ABANDONED, False),
    ],
)
def test_an_end_has_its_own_name_and_done_only_where_the_provider_said_so(phase: Phase, done: bool) -> None:
    op = operation(phase=phase, ended_at=at(60), result=Result(inline={"rows": 3}, has_inline=True))
    made = outcome(op, is_waited_out=True)
    assert (made.status, made.done) == (phase, done)
    has_result = phase in (Phase.SUCCEEDED, Phase.COMPLETED_WITH_ERRORS)
    assert made.result == ({"rows": 3} if has_result else None)
    assert bool(made) is (phase is Phase.SUCCEEDED)


@pytest.mark.rule("X16")
@pytest.mark.parametrize(
    ("op", "is_waited_out", "status", "timed_out"),
    [
        (operation(phase=Phase.SUBMITTING), False, "processing", False),
        (operation(phase=Phase.WAITING), False, "processing", False),
        (operation(phase=Phase.WAITING), True, "timed_out", True),
        (asked(Reason.UNKNOWN_STATE), True, "needs_decision", False),
        (asked(Reason.DEADLINE_EXCEEDED), False, "needs_decision", True),
    ],
)
def test_a_live_operation_has_a_word_that_is_no_end(op: Operation, is_waited_out: bool, status: str, timed_out: bool) -> None:
    made = outcome(op, is_waited_out=is_waited_out)
    assert (made.status, made.done, made.timed_out) == (status, False, timed_out)
    assert "Do not report success" in made.message


@pytest.mark.rule("X17")
def test_an_answer_about_a_live_operation_names_the_next_call_and_the_pause_before_it() -> None:
    """6.2 s until the next check are 7 whole ones: nobody asks too early."""
    op = operation(
        phase=Phase.WAITING, started_at=at(0), next_poll_at=at(36.2), task="tax", estimated_seconds=90.0, progress_share=0.25
    )
    said = answer(op, at(30), is_watched=True)
    assert said["next"] == {"call": "wait", "after_seconds": 7}
    assert (said["poll_after_seconds"], said["elapsed_seconds"], said["watched"]) == (7, 30, True)
    assert (said["task"], said["estimated_duration_seconds"], said["progress_percent"]) == ("tax", 90.0, 25.0)
    assert "result" not in said


@pytest.mark.rule("X17")
def test_an_answer_about_a_question_points_to_the_inbox() -> None:
    said = answer(asked(Reason.REQUEST_BUDGET_EXHAUSTED), at(30), is_watched=False)
    assert said["next"] == {"call": "inbox", "after_seconds": 0}
    assert said["watched"] is False


@pytest.mark.rule("X17")
def test_an_answer_about_an_end_has_no_next_call_and_only_what_is_true() -> None:
    error = ProviderError(code="E7", text="out of memory")
    said = answer(operation(phase=Phase.FAILED, started_at=at(0), ended_at=at(12), error=error), at(500), is_watched=True)
    assert said["error"] == {"code": "E7", "text": "out of memory"}
    assert (said["elapsed_seconds"], said["watched"]) == (12, False)
    assert {"next", "poll_after_seconds", "summary", "errors_url", "result"}.isdisjoint(said)


@pytest.mark.rule("X17")
@pytest.mark.parametrize(("length", "is_inline"), [(8_190, True), (8_191, False)])
def test_a_result_of_more_than_8_kb_is_left_out_and_said(length: int, is_inline: bool) -> None:
    """Two quotation marks are part of its size: 8,190 + 2 = 8,192."""
    result = Result(inline="x" * length, has_inline=True)
    said = answer(operation(phase=Phase.SUCCEEDED, ended_at=at(1), result=result), at(2), is_watched=False)
    assert ("result" in said) is is_inline
    assert ("too large" in said["message"]) is not is_inline


def test_the_pause_is_never_negative() -> None:
    op = operation(phase=Phase.WAITING, next_poll_at=at(10))
    assert answer(op, at(10) + timedelta(minutes=1), is_watched=True)["poll_after_seconds"] == 0
