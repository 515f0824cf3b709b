"""Waiting from the command line: the exit codes, what goes to which stream, and how it is interrupted (case CL-01)."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable

import pytest

from .conftest import Called, Shell, eventually

FAST = pytest.mark.slow_job_server(factor=20)
Submit = Callable[..., Called]


@FAST
@pytest.mark.rule("X26", "G1", "X16")
@pytest.mark.parametrize(
    ("scenario", "budget", "args", "code", "status"),
    [
        ("quick", [], [], 0, "succeeded"),
        ("late-failure", [], [], 10, "failed"),
        ("partial", [], [], 11, "completed_with_errors"),
        ("never-ends", [], ["--timeout", "300ms"], 12, "timed_out"),
        ("never-ends", ["--requests", "1"], [], 13, "needs_decision"),
        ("no-outcome", [], [], 14, "no_outcome"),
    ],
)
def test_each_outcome_has_its_word_and_its_code(
    shell: Shell, submit: Submit, scenario: str, budget: list[str], args: list[str], code: int, status: str
) -> None:
    submit(scenario, *budget)
    waited = shell("wait", scenario, *args, "--json")
    assert (waited.code, waited.json[0]["status"]) == (code, status)
    assert waited.json[0]["operation_id"] == scenario
    assert waited.json[0]["done"] is (code in (0, 10, 11, 14))


@FAST
@pytest.mark.rule("X26")
def test_of_several_operations_the_most_urgent_decides(shell: Shell, submit: Submit) -> None:
    for scenario in ("quick", "partial"):
        submit(scenario)
    submit("never-ends", "--requests", "1")
    waited = shell("wait", "quick", "partial", "never-ends", "quick")
    assert waited.code == 13
    assert [line.split()[1] for line in waited.out.splitlines()] == ["quick", "partial", "never-ends"]


@FAST
@pytest.mark.rule("U5")
def test_in_a_pipe_stdout_holds_one_json_document_and_progress_goes_to_stderr(shell: Shell, submit: Submit) -> None:
    submit("slow")
    waited = shell.finish(shell.start("wait", "slow", "--json"))
    assert waited.code == 0
    assert json.loads(waited.out)[0]["result"]["scenario"] == "slow"
    assert waited.out.count("\n") == 1
    assert "waiting: " in waited.err
    assert "\x1b" not in waited.out + waited.err


@FAST
@pytest.mark.rule("U5")
def test_on_a_terminal_the_escalation_that_ends_a_wait_is_told_once(shell: Shell, submit: Submit) -> None:
    submit("never-ends", "--requests", "1")
    waited = shell("wait", "never-ends")
    assert (waited.code, (waited.out + waited.err).count("escalated: ")) == (13, 1)


@FAST
def test_a_wait_needs_no_other_worker_and_leaves_to_one_that_lives(shell: Shell, submit: Submit) -> None:
    submit("slow", duration_s=30)
    worker = shell.start("run", "--until-idle")
    assert worker.stderr is not None
    assert "watches 1 operation" in worker.stderr.readline()
    assert shell("wait", "slow").code == 0
    assert shell.finish(worker).code == 0
    assert shell("audit", "verify").code == 0


def test_an_interrupt_ends_the_wait_and_not_the_job(shell: Shell, submit: Submit) -> None:
    submit("never-ends", "--deadline", "1h", "--requests", "1000")
    waiting = shell.start("wait", "never-ends")
    assert waiting.stderr is not None
    assert "waiting" in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    ended = shell.finish(waiting)
    assert ended.code == 130
    assert ended.err.splitlines()[-1] == (
        "jobconsole: interrupted; the jobs go on, and their bounds hold: wait again at any time"
    )
    assert shell.phase("never-ends") == "waiting"


@FAST
def test_read_only_a_wait_only_looks(shell: Shell, submit: Submit) -> None:
    submit("slow")
    waited = shell("--read-only", "wait", "slow", "--timeout", "100ms")
    assert waited.code == 12
    assert "this wait only looks" in waited.err
    assert shell("show", "slow", "--json").json["status_requests_used"] == 0


@pytest.mark.slow_job_server(factor=4)
@pytest.mark.slow
def test_two_workers_at_once_do_no_harm(shell: Shell, submit: Submit) -> None:
    names = [f"job-{number}" for number in range(6)]
    for number, name in enumerate(names):
        submit("slow", "--id", name, seed=number)
    workers = [shell.start("run", "--until-idle") for _ in range(2)]
    assert [shell.finish(worker).code for worker in workers] == [0, 0]
    listed = shell("ls", "--all", "--json").json
    assert {view["phase"] for view in listed} == {"succeeded"}
    assert eventually(lambda: shell("audit", "verify").code == 0)
