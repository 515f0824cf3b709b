"""Contracts tried on samples: every sample of the catalogue, and what a sample file may say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jobconsole.core.contracts.file import load
from jobconsole.core.durations import duration_text
from jobconsole.core.judging.samples import judge_samples
from jobconsole.errors import InvalidValue
from tests.core.answers import demo

PACKAGE = Path(__file__).parents[3] / "jobconsole" / "providers"
SAMPLES = Path(__file__).parents[2] / "provider_samples"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.json"))
ALL = [
    (name, place) for name in NAMES for place in range(len(json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))))
]


def contract_of(name: str) -> Any:
    return load((PACKAGE / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")


@pytest.mark.rule("C1", "C2", "C3", "C4", "C7", "C12")
@pytest.mark.parametrize(("name", "place"), ALL)
def test_every_sample_of_the_catalogue_is_taken_for_what_it_is(name: str, place: int) -> None:
    sample = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))[place]
    (result,) = judge_samples(contract_of(name), [sample])
    assert (result.situation, result.got, result.ok) == (sample["situation"], result.got, True), result


def test_every_built_in_contract_has_samples() -> None:
    assert sorted(path.stem for path in PACKAGE.glob("*.toml")) == NAMES
    assert len(ALL) >= 250


@pytest.mark.rule("X14", "C9")
@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_contract_is_named_after_its_file_and_says_what_a_person_needs(name: str) -> None:
    contract = contract_of(name)
    assert contract.name == name
    assert contract.verified != "unknown"
    assert contract.docs.startswith("https://")
    assert contract.auth.secret is not None
    assert contract.cancel is None or contract.cancel.effect
    checks = contract.budget.status_requests * contract.schedule.max
    assert checks >= contract.budget.deadline, f"checks last for {duration_text(checks)} only"


@pytest.mark.rule("C7")
@pytest.mark.parametrize(
    ("age", "seen", "got"),
    [
        ("30s", False, "waiting"),  # younger than grace
        (59, True, "waiting"),
        ("60s", False, "not_found"),
        ("23h", True, "not_found"),
        ("24h", True, "expired"),  # seen, and older than expired_after
        ("24h", False, "not_found"),
        (None, True, "not_found"),  # a tracked job has no age and no grace
    ],
)
def test_a_404_is_what_age_and_sight_make_of_it(age: str | int | None, seen: bool, got: str) -> None:
    contract = demo('\n[http]\nnot_found = { grace = "60s", expired_after = "24h" }\n')
    sample = {"http_status": 404, "body": {"error": "no"}, "is": got, "seen": seen} | ({} if age is None else {"age": age})
    assert [(result.got, result.ok) for result in judge_samples(contract, [sample])] == [(got, True)]


@pytest.mark.parametrize(
    ("expected", "body"),
    [
        ("unknown_state", {"state": "odd"}),
        ("provider_failure", {"state": "failed"}),
        ("contradictory_response", {"id": "other", "state": "running"}),
        ("job_expired", {"state": "expired"}),
        ("cancelled_elsewhere", {"state": "cancelled"}),
        ("integration_error", {"state": []}),
    ],
)
def test_a_sample_may_name_the_reason_instead(expected: str, body: dict[str, Any]) -> None:
    (result,) = judge_samples(demo(), [{"body": body, "is": expected, "job_id": "job-1"}])
    assert (result.is_, result.ok) == (expected, True)


def test_a_success_that_lacks_something_is_judged_as_if_the_lag_were_over() -> None:
    contract = demo('\n[result]\nsuccess_requires = ["body.result"]\n')
    (result,) = judge_samples(contract, [{"situation": "empty", "body": {"state": "succeeded"}, "is": "succeeded"}])
    assert (result.situation, result.got, result.ok) == ("empty", "contradiction", False)


def test_a_body_that_is_a_text_is_the_answer_as_it_was_sent() -> None:
    page = {
        "note": "seen in November",
        "headers": {"Content-Type": "application/json"},
        "body": "<!DOCTYPE html>",
        "is": "delivery_failure",
    }
    broken = {"headers": {"Content-Type": "application/json"}, "body": "{oops", "is": "integration_error"}
    assert all(result.ok for result in judge_samples(demo(), [page, broken]))


@pytest.mark.parametrize(
    ("sample", "why"),
    [
        ("text", "sample 1 is no JSON object"),
        ({"is": "succeeded", "boddy": 1}, "unknown key 'boddy'; did you mean body"),
        ({"situation": "x", "is": "success"}, "x: 'is' must be a class, a call error or a reason"),
        ({"body": {}}, "'is' must be"),
        ({"is": "waiting", "step": "confirm"}, "step 'confirm' is none of this contract"),
        ({"is": "waiting", "http_status": "200"}, "http_status must be a number"),
        ({"is": "waiting", "headers": []}, "headers must be a JSON object"),
        ({"is": "waiting", "age": "old"}, "no duration"),
        ({"is": "waiting", "age": -1}, "'age' must be a duration"),
        ({"is": "waiting", "seen": "yes"}, "'seen' must be true or false"),
    ],
)
def test_a_sample_that_is_none_is_refused_with_its_place(sample: Any, why: str) -> None:
    if sample == {"is": "waiting", "headers": []}:
        sample = {"is": "waiting", "headers": ["a"]}
    with pytest.raises(InvalidValue, match=why):
        judge_samples(demo(), [sample])


def test_samples_are_a_list() -> None:
    with pytest.raises(InvalidValue, match="a JSON list"):
        judge_samples(demo(), {"is": "waiting"})  # type: ignore[arg-type]  # what a file may hold
