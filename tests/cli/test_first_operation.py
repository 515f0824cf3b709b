"""The way of one job over real HTTP: submitted, waited for, listed, shown, audited, fetched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jobconsole.testing.server import SlowJobServer

from .conftest import Called, Shell

FAST = pytest.mark.slow_job_server(factor=20)
Submit = Callable[..., Called]


@FAST
@pytest.mark.rule("B1", "B17")
def test_a_job_is_submitted_watched_to_its_end_and_told_everywhere(shell: Shell, submit: Submit) -> None:
    begun = submit("slow", "--name", "Q3 report")
    assert (begun.code, begun.out.splitlines()[0]) == (0, "operation  slow")
    assert "no worker is running" in begun.err
    assert "waiting" in shell("ls").out
    assert shell("run", "--until-idle").code == 0
    assert shell("ls").out == ""
    listed = shell("ls", "--all").out
    assert "succeeded" in listed
    assert "Q3 report" in listed
    shown = shell("show", "slow").out
    assert "result          {" in shown
    assert shell("fetch", "slow").json["scenario"] == "slow"
    story = shell("audit", "slow").out.splitlines()
    assert "submitted job" in story[0]
    assert "succeeded" in story[-1]
    assert shell("audit", "verify").code == 0


@FAST
def test_json_of_a_new_operation_has_the_fields_that_programs_rely_on(shell: Shell, submit: Submit) -> None:
    view = submit("quick", "--task", "books", "--deadline", "1h", "--json").json
    assert (view["operation_id"], view["phase"], view["task"]) == ("quick", "waiting", "books")
    assert view["provider_job_id"].startswith("job_")
    assert (view["max_status_requests"], view["status_requests_used"]) == (25, 0)
    assert view["deadline_at"].endswith("Z")
    [listed] = shell("ls", "--json").json
    for each in (view, listed):
        assert each.pop("elapsed_seconds") == each["budget"]["used"].pop("elapsed_seconds")
    assert listed == view


@FAST
@pytest.mark.rule("X18")
def test_the_same_id_with_the_same_request_begins_nothing_new(
    shell: Shell, submit: Submit, slow_job_server: SlowJobServer
) -> None:
    first, second = submit("slow", "--json"), submit("slow", "--json")
    assert second.json["provider_job_id"] == first.json["provider_job_id"]
    assert "nothing new was begun" in second.err
    assert sum(seen.on == "submit" for seen in slow_job_server.log) == 1
    other = submit("slow", duration_s=2)
    assert (other.code, other.err.count("\n")) == (4, 1)
    assert "exists with another request" in other.err


@FAST
def test_an_equal_live_submission_is_allowed_and_named(shell: Shell, submit: Submit) -> None:
    submit("slow")
    again = submit("slow", "--id", "slow-2")
    assert again.code == 0
    assert "the same request is live already as slow;" in again.err


@FAST
@pytest.mark.rule("X9")
def test_a_job_of_somebody_else_is_adopted_once(shell: Shell, slow_job_server: SlowJobServer) -> None:
    job_id = slow_job_server.submit("slow")
    tracked = ["track", "play", "--job-id", job_id, "--param", f"port={slow_job_server.port}", "--json"]
    first, second = shell(*tracked), shell(*tracked)
    assert second.json["operation_id"] == first.json["operation_id"]
    assert "is watched already" in second.err
    waited = shell("wait", first.json["operation_id"], "--json")
    assert (waited.code, waited.json[0]["status"]) == (0, "succeeded")


@FAST
@pytest.mark.rule("B17", "X10")
def test_a_refused_submission_ends_as_failed_job(shell: Shell, submit: Submit) -> None:
    refused = submit("refused")
    assert (refused.code, "refused failed" in refused.out) == (10, True)
    assert shell.phase("refused") == "failed"


@FAST
@pytest.mark.rule("X14")
def test_a_budget_that_ends_before_the_deadline_is_said(submit: Submit) -> None:
    assert "warning: 2 checks last about" in submit("slow", "--requests", "2", "--deadline", "20s").err
    assert "warning" not in submit("slow", "--id", "whole").err


@FAST
def test_submit_can_wait_for_the_end(submit: Submit) -> None:
    done = submit("quick", "--wait", "--json")
    assert (done.code, done.json[0]["status"], done.json[0]["done"]) == (0, "succeeded", True)


@FAST
def test_a_body_comes_from_a_file_as_well(shell: Shell, slow_job_server: SlowJobServer) -> None:
    shell.home.mkdir()
    file = shell.home / "body.json"
    file.write_text(json.dumps({"scenario": "quick"}))
    given = shell("submit", "play", "--param", f"port={slow_job_server.port}", "--json-body", f"@{file}", "--wait")
    assert (given.code, "succeeded" in given.out) == (0, True)


@pytest.mark.slow_job_server(
    factor=20,
    script=[
        {"on": "submit", "status": 202, "body": {"ids": ["job-a", "job-b"]}},
        {"on": "poll", "repeat": 9, "body": {"state": "failed"}},
    ],
)
def test_a_submission_that_starts_several_jobs_waits_for_each(
    shell: Shell, slow_job_server: SlowJobServer, tmp_path: Path
) -> None:
    contract = tmp_path / "several.toml"
    contract.write_text('extends = "play"\n[submit]\nrequest = "POST /v1/jobs"\njob_id = "body.ids"\n')
    port = ["--param", f"port={slow_job_server.port}"]
    begun = shell("--provider-file", str(contract), "submit", "play", *port, "--id", "group", "--wait")
    assert begun.code == 10
    assert "the others are group.2" in begun.err
    assert [line.split()[1] for line in begun.out.splitlines()] == ["group", "group.2"]
