"""How each scenario behaves: its answers as a table over age and request number, the same for the same seed."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files
from random import Random
from typing import Any

import pytest

from jobconsole.core.contracts.file import load
from jobconsole.core.vocabulary import Phase, Reason, StateClass
from jobconsole.play.job import FaultKind, Job, Reply
from jobconsole.play.scenarios import SCENARIOS
from jobconsole.play.server import DEFAULT_PORT

AT = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
NAMED_BY_THE_SPECIFICATION = (
    "slow late-failure never-ends duplicate-completion partial flaky rate-limited unknown-state contradiction "
    "not-found-then-found auth-expires html-error hints"
)


def job(scenario: str, *, factor: float = 1.0, duration_s: float = 10.0, **settings: Any) -> Job:
    """A job of ten seconds."""
    return Job("job_1", scenario, 7, 0.0, AT, factor, duration_s, settings)


def look(scenario: str, elapsed: float, number: int = 1, **more: Any) -> Reply:
    """One answer of a job of ten seconds."""
    return SCENARIOS[scenario].behaviour(job(scenario, **more), elapsed, number, Random(f"7/{number}"))


def test_every_scenario_that_the_specification_names_is_there() -> None:
    assert set(NAMED_BY_THE_SPECIFICATION.split()) <= set(SCENARIOS)


@pytest.mark.parametrize(
    ("scenario", "elapsed", "number", "status", "state"),
    [
        ("slow", 0.9, 1, 200, "queued"),  # queued for a tenth of 10 s
        ("slow", 1.0, 2, 200, "running"),
        ("slow", 9.9, 3, 200, "running"),
        ("slow", 10.0, 4, 200, "succeeded"),
        ("late-failure", 9.9, 3, 200, "running"),
        ("late-failure", 10.0, 4, 200, "failed"),
        ("never-ends", 1e6, 9, 200, "running"),
        ("duplicate-completion", 10.0, 3, 200, "succeeded"),
        ("duplicate-completion", 11.0, 4, 200, "running"),  # a stale read
        ("duplicate-completion", 12.0, 5, 200, "succeeded"),
        ("partial", 10.0, 4, 200, "completed_with_errors"),
        ("unknown-state", 4.9, 1, 200, "running"),
        ("unknown-state", 5.0, 2, 200, "defrosting"),
        ("late-result", 11.4, 1, 200, "succeeded"),
        ("not-found-then-found", 3.3, 1, 404, None),  # a third of 10 s
        ("not-found-then-found", 3.4, 2, 200, "running"),
        ("vanishes", 4.9, 1, 200, "running"),
        ("vanishes", 5.0, 2, 404, None),
        ("auth-expires", 4.9, 1, 200, "running"),
        ("auth-expires", 5.0, 2, 401, None),
        ("auth-expires", 13.0, 3, 200, "succeeded"),  # 5 s + 8 s
        ("needs-human", 5.0, 2, 200, "awaiting_review"),
        ("needs-human", 20.0, 3, 200, "running"),  # 5 s + 15 s of review, and 5 s of work left
        ("needs-human", 25.0, 4, 200, "succeeded"),
        ("no-outcome", 10.0, 1, 200, "skipped"),
        ("expired", 10.0, 1, 200, "expired"),
        ("cancelled-elsewhere", 10.0, 1, 200, "cancelled"),
        ("rate-limited", 5.0, 1, 200, "running"),
        ("rate-limited", 5.0, 2, 429, None),
        ("rate-limited", 5.0, 3, 429, None),
        ("rate-limited", 5.0, 4, 200, "running"),
        ("rate-limited-silently", 5.0, 2, 429, None),
        ("rate-limited-silently", 5.0, 3, 200, "running"),
        ("redirect-offsite", 5.0, 2, 302, None),
        ("refused", 5.0, 1, 404, None),
    ],
)
def test_an_answer_depends_on_age_and_number(
    scenario: str, elapsed: float, number: int, status: int, state: str | None
) -> None:
    reply = look(scenario, elapsed, number)
    assert reply.status == status
    assert (reply.body or {}).get("state") == state


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_the_same_seed_gives_the_same_answers(scenario: str) -> None:
    looks = [(elapsed, number) for number, elapsed in enumerate((0.0, 0.5, 3.0, 5.0, 8.0, 10.0, 14.0, 30.0), 1)]
    assert [look(scenario, *each) for each in looks] == [look(scenario, *each) for each in looks]


def test_partial_counts_add_up_to_the_total() -> None:
    counts = look("partial", 10.0).body["counts"]
    assert counts == {"total": 10, "processed": 10, "succeeded": 7, "failed": 3}
    assert counts["succeeded"] + counts["failed"] == counts["total"]


def test_progress_never_goes_back_and_says_100_only_at_the_end() -> None:
    seen = [look("slow", elapsed / 10, 1).body["progress"] for elapsed in range(0, 110)]
    assert seen == sorted(seen)
    assert (seen[99], seen[100]) == (99, 100)


@pytest.mark.parametrize(
    ("kind", "differs"),
    [
        ("times", lambda body: body["finished_at"] < body["started_at"]),
        ("id", lambda body: body["id"] != "job_1"),
        ("no_result", lambda body: body["result"] is None),
    ],
)
def test_a_contradiction_is_of_the_kind_that_was_asked_for(kind: str, differs: Any) -> None:
    body = look("contradiction", 10.0, kind=kind).body
    assert body["state"] == "succeeded"
    assert differs(body)


def test_flaky_answers_fail_at_even_numbers_only_and_surely_at_the_second() -> None:
    def is_good(number: int) -> bool:
        reply = look("flaky", 5.0, number)
        return reply.status == 200 and reply.fault is None

    assert all(is_good(number) for number in range(1, 40, 2))
    assert not is_good(2)
    assert not is_good(4)


def test_hints_come_in_every_form_and_in_real_seconds() -> None:
    """At ten provider seconds a real one, a wait of 1 s is told as 0.1 s."""
    first, second, third, fourth = (look("hints", 5.0, number, factor=10.0) for number in (1, 2, 3, 4))
    assert first.body["poll_after_seconds"] == 0.1
    assert second.body["next_check_at"] == "2026-11-29T10:00:00.600Z"  # (5 s + 1 s) / 10
    assert third.body["poll_after_seconds"] == -1
    assert fourth.retry_after_s == 1.0


@pytest.mark.parametrize(
    ("scenario", "number", "kind"),
    [
        ("truncated", 2, FaultKind.TRUNCATE),
        ("drip", 2, FaultKind.DRIP),
        ("hangs", 2, FaultKind.READ_TIMEOUT),
        ("closed-on-reuse", 2, FaultKind.CLOSED_ON_REUSE),
    ],
)
def test_a_faulty_way_suffers_at_its_numbers_only(scenario: str, number: int, kind: FaultKind) -> None:
    faults = [look(scenario, 5.0, each).fault for each in (number - 1, number, number + 1)]
    assert [fault and fault.kind for fault in faults] == [None, kind, None]


# ---- the contract `play` --------------------------------------------------------------------------------------------------
CONTRACT = load((files("jobconsole.play") / "play.toml").read_text(encoding="utf-8"), "play.toml")


def test_the_contract_is_the_built_in_one_and_its_port_is_the_servers() -> None:
    assert CONTRACT.name == "play"
    assert CONTRACT.params["port"].default == str(DEFAULT_PORT)


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
@pytest.mark.rule("C1")
def test_every_state_that_a_scenario_says_is_in_the_contract_but_the_unknown_one(scenario: str) -> None:
    said = set()
    for number, elapsed in enumerate((0.0, 2.0, 4.0, 5.0, 7.0, 10.0, 13.0, 30.0), 1):
        body = look(scenario, elapsed, number).body
        said |= {body["state"]} if isinstance(body, dict) and "state" in body else set()
    assert said - set(CONTRACT.states.exact) == ({"defrosting"} if scenario == "unknown-state" else set())


ENDS = {
    Phase.SUCCEEDED: StateClass.SUCCEEDED,
    Phase.COMPLETED_WITH_ERRORS: StateClass.PARTIAL,
    Phase.FAILED: StateClass.FAILED,
    Phase.CANCELLED: StateClass.CANCELLED,
    Phase.EXPIRED: StateClass.EXPIRED,
    Phase.NO_OUTCOME: StateClass.NO_OUTCOME,
}


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_a_scenario_ends_as_its_row_says_within_the_contracts_deadline(scenario: str) -> None:
    row = SCENARIOS[scenario]
    if row.ends_in is Phase.ESCALATED:
        assert row.reason in set(Reason)
        return
    assert row.reason is None
    assert row.duration_s < CONTRACT.budget.deadline.total_seconds() / 2
    if row.on_submit == "refuses":
        return
    body = look(scenario, 1000.0, 9, duration_s=row.duration_s).body
    assert CONTRACT.states.exact[body["state"]] is ENDS[row.ends_in]


@pytest.mark.parametrize("name", ["cancelled-elsewhere", "expired", "no-outcome"])
def test_a_job_that_is_not_done_never_says_100(name: str) -> None:
    """Nor when it is over."""
    assert look(name, 10.0, 1).body["progress"] == 99
