"""Contracts from the command line: listed, shown, and checked on samples."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Called, Shell

CONTRACT = """
contract = 1
[provider]
name = "acme-images"
title = "ACME images"
base_url = "https://api.acme.example"
account = "default"
docs = "https://docs.acme.example"
verified = "2026-11-29 against the documentation"
[submit]
request = "POST /v1/images"
job_id = "body.id"
[status]
request = "GET /v1/images/{job_id}"
read_only = true
state = "body.state"
[states]
waiting = ["queued", "running"]
succeeded = ["completed"]
failed = ["failed"]
[result]
retention = "30m"
[budget]
deadline = "1h"
status_requests = 60
transport_failures = 5
"""

SAMPLES = [
    {"situation": "at work", "http_status": 200, "headers": {}, "body": {"state": "running"}, "is": "waiting"},
    {"situation": "done", "http_status": 200, "headers": {}, "body": {"state": "completed"}, "is": "succeeded"},
]


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    """A valid contract file."""
    file = tmp_path / "acme.toml"
    file.write_text(CONTRACT)
    return file


def test_all_contracts_are_listed_and_shown(shell: Shell) -> None:
    names = [each["name"] for each in shell("providers", "--json").json]
    assert "play" in names
    assert names == sorted(names)
    assert "play" in shell("providers").out
    assert shell("provider", "show", "play", "--json").json["status"]["request"]["request"] == "GET /v1/jobs/{job_id}"
    assert "effect  Stops the job at its next step" in shell("provider", "show", "play").out


@pytest.mark.rule("B9")
def test_a_provider_says_what_its_account_has_spent(shell: Shell, submit: Callable[..., Called]) -> None:
    """A submission and the checks that followed it, of the 1,200 a minute that its contract allows; others spent nothing."""
    assert submit("quick", "--wait", "--name", "Q3").code == 0
    listed = {each["name"]: each["accounts"] for each in shell("providers", "--json").json}
    (account,) = listed["play"]
    assert account["text"] == f"{account['spent']:,} of 72,000 this hour"
    assert [(each["operation_id"], each["name"]) for each in account["spent_by"]] == [("quick", "Q3")]
    assert listed["openai-batch"] == []
    assert account["text"] in shell("providers").out


@pytest.mark.rule("X14")
def test_a_valid_contract_is_said_to_be_one_with_how_long_its_checks_last(shell: Shell, contract: Path) -> None:
    checked = shell("provider", "check", str(contract))
    assert (checked.code, checked.out) == (0, "acme-images: a valid contract\n")
    assert checked.err.splitlines() == [
        "60 checks last about 1h of the 1h until the deadline",
        "warning: the provider deletes the result after 30m, before the deadline of 1h",
    ]


@pytest.mark.parametrize(("said", "code"), [("succeeded", 0), ("failed", 1)])
def test_samples_decide_the_exit_code(shell: Shell, contract: Path, tmp_path: Path, said: str, code: int) -> None:
    file = tmp_path / "samples.json"
    file.write_text(json.dumps([SAMPLES[0], {**SAMPLES[1], "is": said}]))
    args = ["provider", "check", str(contract), "--samples", str(file)]
    checked = shell(*args, "--json")
    assert checked.code == code
    assert checked.json == [
        {"situation": "at work", "is": "waiting", "got": "waiting", "ok": True},
        {"situation": "done", "is": said, "got": "succeeded", "ok": code == 0},
    ]
    assert ("NO" in shell(*args).out) == (code == 1)


def test_a_contract_file_can_be_used_and_may_extend_another(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('extends = "play"\n[budget]\ndeadline = "50s"\nstatus_requests = 9\ntransport_failures = 2\n')
    assert shell("provider", "check", str(file)).code == 0
    shown = shell("--provider-file", str(file), "provider", "show", "play", "--json")
    assert (shown.code, shown.json["budget"]["deadline"]) == (0, "50s")


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        (CONTRACT.replace("[provider]", "[provder]"), 1, "did you mean provider?"),
        (CONTRACT.replace("read_only = true\n", ""), 1, "read_only"),
        ("contract = 1\n[", 1, "acme.toml: "),
        ("\udcff", 1, "is no UTF-8 text"),
    ],
)
def test_what_is_wrong_with_a_contract_is_one_line(shell: Shell, contract: Path, text: str, code: int, told: str) -> None:
    contract.write_text(text, errors="surrogateescape")
    checked = shell("provider", "check", str(contract))
    assert (checked.code, checked.out, told in checked.err, checked.err.count("\n")) == (code, "", True, 1)
