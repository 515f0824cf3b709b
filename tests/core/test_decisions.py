"""What a person's choice does, and when it is refused: bound to a revision, one-shot, inside stated bounds, written down.

The ordinary operation here was tracked at 10:00:00 with 40 minutes and 12 requests; an extension grants 15 minutes, 4 checks,
1 failure and 1 rate limit, once.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from jobconsole.core.commands.effects import Applied
from jobconsole.core.commands.reservation import Deferred, Reserved
from jobconsole.core.operation import Granted
from jobconsole.core.vocabulary import DelaySource, Phase, Reason, StateClass
from jobconsole.errors import InvalidValue
from tests.core.desk import Desk
from tests.core.sample_contract import CANCEL, budget, sample
from tests.core.sample_facts import at, done, limited, reason, running, state, unanswered

MINUTES = timedelta(minutes=1)
UNKNOWN = state("odd", StateClass.UNKNOWN)


def late(desk: Desk | None = None, **budget: Any) -> Desk:
    """An operation that was stopped by its deadline, at 10:41."""
    desk = desk or Desk()
    desk.track(**budget)
    desk.clock.advance(41 * MINUTES)
    desk.reserve()
    assert reason(desk.op()) is Reason.DEADLINE_EXCEEDED
    return desk


def odd(desk: Desk | None = None, **budget: Any) -> Desk:
    """An operation that was stopped by an unknown state, at 10:00."""
    desk = desk or Desk()
    desk.track(**budget)
    desk.check(UNKNOWN)
    assert reason(desk.op()) is Reason.UNKNOWN_STATE
    return desk


# ---- extend -------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X6", "H9", "B4")
def test_an_extension_after_the_deadline_counts_from_now() -> None:
    op = late().chosen("extend")
    assert op.phase is Phase.WAITING
    assert op.deadline_at == at(0) + (41 + 15) * MINUTES
    assert (op.max_status_requests, op.max_transport_failures, op.max_rate_limits) == (12 + 4, 3 + 1, 3 + 1)
    assert op.max_transport_failures_in_a_row == 3 + 1
    assert op.granted == Granted(times=1, minutes=15, checks=4, failures=1, rate_limits=1)
    assert (op.original.status_requests, op.original.deadline_at) == (12, at(0) + 40 * MINUTES)


@pytest.mark.rule("X6")
def test_an_extension_before_the_deadline_counts_from_the_deadline() -> None:
    desk = Desk()
    desk.track()
    assert desk.chosen("extend").deadline_at == at(0) + (40 + 15) * MINUTES


@pytest.mark.rule("X6", "X2")
@pytest.mark.parametrize(
    ("before", "seconds", "source"),
    [
        (running(), 0, DelaySource.MANUAL_EXTENSION),
        (running(retry_after_s=2300.0), 2300, DelaySource.PROVIDER_RETRY_AFTER),
        (limited(2300.0), 2300, DelaySource.PROVIDER_RETRY_AFTER),
    ],
)
def test_the_next_check_follows_at_once_unless_a_minimum_forbids(before: Any, seconds: float, source: DelaySource) -> None:
    desk = Desk()
    desk.track()
    desk.check(before)
    op = desk.chosen("extend")
    assert (op.next_poll_at, op.delay_source) == (at(seconds), source)


@pytest.mark.rule("H9")
def test_the_time_spent_waiting_for_a_person_is_kept() -> None:
    desk = late()
    desk.clock.advance(7 * MINUTES)
    assert desk.chosen("extend").waited_for_person_ms == 7 * 60_000


@pytest.mark.rule("H9", "X6")
def test_the_cap_counts_over_all_reasons_and_is_absolute() -> None:
    desk = late()
    desk.chosen("extend")
    got = desk.refused("extend")
    assert got.why == "not_open"
    assert "the cap of 1 extension(s)" in got.text
    assert desk.op().granted.times == 1
    desk.chosen("close", reason="nobody needs it")
    assert "extend is not open for" in desk.refused("extend").text  # nothing remains of what has ended


@pytest.mark.rule("X6", "H9")
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"minutes": 5, "checks": 1, "failures": 0, "rate_limits": 0}, None),  # less is allowed
        ({"minutes": 16}, "over_bound"),
        ({"checks": 5}, "over_bound"),
        ({"failures": 2}, "over_bound"),
        ({"rate_limits": 2}, "over_bound"),
        ({"minutes": -1}, "over_bound"),
        ({"minutes": 0}, "leaves_spent"),
    ],
)
def test_an_extension_stays_inside_the_contracts_and_mends_what_is_spent(asked: dict[str, Any], why: str | None) -> None:
    desk = late()
    got = desk.choose("extend", "op-1", **asked)
    assert (None if isinstance(got, Applied) else got.why) == why
    assert why is None or desk.op().granted == Granted()


@pytest.mark.rule("B7", "X6")
@pytest.mark.parametrize(("minutes", "why"), [(15, None), (10, "leaves_spent")])
def test_an_extension_for_a_long_wait_must_cover_it(minutes: int, why: str | None) -> None:
    desk = Desk()
    desk.track()
    desk.check(limited(50 * 60.0))  # the deadline is at 40 minutes; 40 + 10 less 11 s does not reach 50
    assert reason(desk.op()) is Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE
    got = desk.choose("extend", minutes=minutes)
    assert (None if isinstance(got, Applied) else got.why) == why
    if why is None:
        assert (desk.op().next_poll_at, desk.op().delay_source) == (at(3000), DelaySource.PROVIDER_RETRY_AFTER)


@pytest.mark.rule("B14")
def test_extending_past_the_business_deadline_is_said_and_waives_it() -> None:
    desk = Desk()
    desk.track(business_at=at(600))
    desk.clock.advance(600)
    desk.reserve()
    got = desk.choose("extend")
    assert isinstance(got, Applied)
    assert "past the business deadline 10:10:00 UTC" in got.effect
    assert got.op.is_business_deadline_waived
    assert isinstance(desk.reserve(), Reserved)


@pytest.mark.rule("B15", "X6")
def test_extending_a_spent_budget_allows_the_next_check() -> None:
    desk = Desk()
    desk.track(requests=1)
    desk.check(running())
    assert reason(desk.op()) is Reason.REQUEST_BUDGET_EXHAUSTED
    desk.chosen("extend")
    desk.check(running())
    assert desk.op().phase is Phase.WAITING


@pytest.mark.rule("B17", "X6")
def test_extending_an_unsent_submission_sends_it() -> None:
    desk = Desk()
    desk.submit()
    desk.clock.advance(41 * MINUTES)
    desk.claim()
    op = desk.chosen("extend")
    assert (op.phase, set(op.open_actions), op.idempotency_token) == (Phase.SUBMITTING, {"submit"}, "token-1")


# ---- pause --------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X12")
def test_a_pause_is_one_check_at_its_time() -> None:
    desk = odd()
    op = desk.chosen("pause")
    assert (op.phase, op.next_poll_at, op.delay_source) == (Phase.WAITING, at(900), DelaySource.PAUSE)
    assert (op.granted.times, op.deadline_at) == (0, at(2400))
    assert isinstance(desk.reserve(), Deferred)
    desk.check(UNKNOWN)
    assert reason(desk.op()) is Reason.UNKNOWN_STATE


@pytest.mark.rule("X12", "H9")
def test_a_pause_past_the_deadline_is_an_extension() -> None:
    desk = odd()
    op = desk.chosen("pause", until_at=at(2400 + 300))
    assert op.deadline_at == at(2700 + 11)  # room for the one check
    assert (op.granted.times, op.granted.minutes, op.granted.checks) == (1, 6, 0)
    assert "extended" in desk.kinds()
    desk.check(running())
    assert desk.op().phase is Phase.WAITING


@pytest.mark.rule("X12")
@pytest.mark.parametrize(
    ("until", "times", "why"),
    [
        (-1, 1, "over_bound"),
        (2389, 0, None),  # the final check's time needs no extension
        (2390, 0, "over_bound"),
        (2400 + 900, 1, None),
        (2400 + 901, 1, "over_bound"),
    ],
)
def test_a_pause_stays_inside_the_bounds(until: float, times: int, why: str | None) -> None:
    desk = odd(Desk(sample(budget=budget(extension=f"{{ times = {times} }}"))))
    got = desk.choose("pause", until_at=at(until))
    assert (None if isinstance(got, Applied) else got.why) == why


@pytest.mark.rule("X12", "B14")
def test_a_pause_past_the_business_deadline_is_said_and_waives_it() -> None:
    desk = odd(business_at=at(600))
    got = desk.choose("pause", until_at=at(700))
    assert isinstance(got, Applied)
    assert "past the business deadline 10:10:00 UTC" in got.effect
    desk.check(running())
    assert desk.op().phase is Phase.WAITING


# ---- adopt, submit again, close -----------------------------------------------------------------------------------------
def ambiguous(contract: Any = None) -> Desk:
    """A submission of which nobody knows whether it was accepted."""
    desk = Desk(contract or sample())
    desk.submit()
    desk.perform(unanswered())
    return desk


@pytest.mark.rule("X10")
def test_a_person_may_name_the_job_that_exists() -> None:
    desk = ambiguous()
    assert desk.refused("adopt", job_id="  ").why == "job_id_needed"
    op = desk.chosen("adopt", job_id=" job-9 ")
    assert (op.phase, op.provider_job_id, op.next_poll_at) == (Phase.WAITING, "job-9", at(0))


@pytest.mark.rule("C10", "X21")
@pytest.mark.parametrize("is_look", [False, True])
def test_submitting_again_is_a_new_linked_operation(is_look: bool) -> None:
    desk = ambiguous()
    if is_look:
        desk.chosen("adopt", job_id="job-9")
        desk.check(state("failed"))
    again = replace(
        desk.new("op-2", fingerprint="body:op-1", request_body='{"quarter":3}', idempotency_token="token-2",
                 action_id="act-op-2"),
        resubmit_of="op-1",
    )  # fmt: skip
    assert desk.refused("submit_again", again=again).why == "reason_needed"
    got = desk.choose("submit_again", again=again, reason="the first one is lost")
    assert isinstance(got, Applied)
    assert "the first may still run" in got.effect
    second = desk.op("op-2")
    assert (second.resubmit_of, second.idempotency_token, second.phase) == ("op-1", "token-2", Phase.SUBMITTING)
    assert desk.op("op-1").phase is (Phase.FAILED if is_look else Phase.ABANDONED)
    assert "submit_again" not in desk.options("op-1")


@pytest.mark.rule("X21", "C10")
def test_a_waiting_operation_is_not_submitted_again() -> None:
    desk = Desk()
    desk.track()
    assert desk.refused("submit_again", reason="why not").why == "not_open"


@pytest.mark.rule("H5")
def test_closing_needs_a_reason_and_ends_without_knowing() -> None:
    desk = late()
    assert desk.refused("close", reason="  ").why == "reason_needed"
    op = desk.chosen("close", reason="the release was called off")
    assert (op.phase, op.look, op.ended_at) == (Phase.ABANDONED, None, desk.clock.wall())
    decided = next(event for event in desk.events() if event["kind"] == "decided")
    assert (decided["actor"], decided["reason_text"]) == ("person:ana", "the release was called off")


@pytest.mark.rule("A1", "H4")
def test_an_answer_to_a_closed_operation_changes_nothing() -> None:
    desk = Desk()
    desk.track()
    got = desk.reserved()
    desk.chosen("close", reason="enough")
    assert desk.record(got.token, done()).decision is None
    assert (desk.op().phase, desk.kinds()[-1]) == (Phase.ABANDONED, "late_answer")


# ---- who, when, why -----------------------------------------------------------------------------------------------------
@pytest.mark.rule("H5")
def test_who_decided_when_why_and_what_it_changed_is_an_event() -> None:
    desk = late()
    revision = desk.op().revision
    desk.chosen("extend", reason="tax filing is due")
    decided = next(event for event in desk.events() if event["kind"] == "decided")
    assert decided["actor"] == "person:ana"
    assert decided["option"] == "extend"
    assert decided["reason_text"] == "tax filing is due"
    assert decided["effect"] == "deadline 10:40:00 -> 10:56:00 UTC, checks 12 -> 16"
    assert decided["shown_revision"] == revision
    assert decided["at"].startswith("2026-11-29T10:41:00")


@pytest.mark.rule("H5")
def test_one_click_elsewhere_records_that_no_reason_was_given() -> None:
    desk = late()
    desk.chosen("extend")
    assert next(event for event in desk.events() if event["kind"] == "decided")["reason_text"] == "no reason given"


@pytest.mark.rule("H6", "X20", "H10")
@pytest.mark.parametrize("actor", ["agent:claude/7", "worker:a", "push:github", "person:", "ana", ""])
@pytest.mark.parametrize("option", ["extend", "close"])
def test_only_a_person_decides(actor: str, option: str) -> None:
    desk = late()
    before = desk.op()
    assert desk.refused(option, actor=actor, reason="please").why == "not_a_person"
    after = desk.op()
    assert (after.phase, after.revision, after.granted) == (before.phase, before.revision, before.granted)
    assert desk.kinds()[-1] == "decision_refused"


# ---- once, for what was shown -------------------------------------------------------------------------------------------
@pytest.mark.rule("H4")
def test_the_same_click_twice_gives_one_effect_and_the_first_answer() -> None:
    desk = late(Desk(sample(budget=budget(extension="{ times = 5 }"))))
    revision = desk.op().revision
    first = desk.choose("extend", decision_id="dec-x", revision=revision)
    second = desk.choose("extend", decision_id="dec-x", revision=revision)
    assert isinstance(first, Applied)
    assert isinstance(second, Applied)
    assert (second.is_repeat, second.effect, desk.op().granted.times) == (True, first.effect, 1)


@pytest.mark.rule("H4")
def test_a_second_person_is_told_what_happened_instead() -> None:
    desk = late(Desk(sample(budget=budget(extension="{ times = 5 }"))))
    revision = desk.op().revision
    desk.chosen("extend", revision=revision)
    got = desk.refused("extend", revision=revision, actor="person:bo")
    assert got.why == "stale"
    assert got.text == (
        "already answered by ana at 2026-11-29 10:41:00 UTC: "
        "deadline 10:40:00 -> 10:56:00 UTC, checks 12 -> 16; nothing was changed"
    )
    assert desk.op().granted.times == 1


@pytest.mark.rule("H4", "X7")
def test_a_choice_for_an_older_revision_is_refused() -> None:
    desk = Desk()
    desk.track()
    shown = desk.op().revision
    desk.check(UNKNOWN)
    got = desk.refused("extend", revision=shown)
    assert (got.why, "has changed since it was shown" in got.text) == ("stale", True)


@pytest.mark.rule("X7", "H4")
def test_polls_between_look_and_click_refuse_nothing() -> None:
    desk = Desk()
    desk.track()
    shown = desk.op().revision
    for _ in range(3):
        desk.check(running())
    assert desk.op().revision == shown
    assert isinstance(desk.choose("extend", revision=shown), Applied)


@pytest.mark.rule("H4")
@pytest.mark.parametrize("option", ["check_once", "credential_mended", "approve_once", "replay_submit", "nonsense", ""])
def test_an_option_that_is_not_open_is_refused(option: str) -> None:
    assert late().refused(option).why == "not_open"


@pytest.mark.rule("C9")
def test_an_undocumented_cancel_is_refused_with_its_reason() -> None:
    assert late().refused("cancel").text == "acme documents no cancel; open now: extend, close"


@pytest.mark.rule("H4", "X7")
def test_asking_for_a_cancel_changes_the_options() -> None:
    desk = late(Desk(sample(cancel=CANCEL)))
    revision = desk.op().revision
    desk.chosen("cancel")
    assert desk.op().revision > revision
    assert set(desk.options()) == {"close"}
    assert desk.refused("cancel").why == "not_open"


# ---- looks --------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("H13", "X7")
def test_a_look_only_records_its_answer() -> None:
    desk = Desk()
    desk.track()
    desk.check(state("failed"))
    op = desk.chosen("acknowledge")
    assert (op.phase, op.look.answered_by, op.look.answer) == (Phase.FAILED, "ana", "acknowledge")  # type: ignore[union-attr]
    assert desk.refused("acknowledge").why == "not_open"


@pytest.mark.rule("H13")
def test_a_partial_outcome_is_reviewed_and_then_accepted() -> None:
    desk = Desk()
    desk.track()
    desk.check(state("done_with_errors", StateClass.PARTIAL))
    desk.chosen("review")
    op = desk.chosen("accept")
    assert (op.phase, op.look.answer) == (Phase.COMPLETED_WITH_ERRORS, "accept")  # type: ignore[union-attr]


@pytest.mark.rule("B18", "S4")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"minutes": 1.5}, "minutes is a whole number, not float"),  # stored, no version could read the record again
        ({"minutes": "15"}, "minutes is a whole number, not str"),
        ({"checks": True}, "checks is a whole number, not bool"),
        ({"reason": 5}, "reason is a text, not int"),
        ({"reason": None}, "reason is a text, not NoneType"),  # left out it is empty, and looked into
        ({"until_at": datetime(2026, 11, 29, 12)}, "until_at has no time zone.*give a time zone"),  # noqa: DTZ001
        ({"until_at": "2h"}, "until_at is a datetime, not str"),
    ],
)
def test_a_value_of_another_kind_is_refused_and_never_stored(asked: dict[str, Any], said: str) -> None:
    desk = Desk()
    desk.track()
    written = len(desk.events())
    with pytest.raises(InvalidValue, match=said):
        desk.choose("extend", **asked)
    assert len(desk.events()) == written
