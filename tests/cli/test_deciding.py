"""Answers from the command line: one effect each, bound to what was read, and words for what happened instead."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable

import pytest

from .conftest import ROOT, Called, Shell

pytestmark = pytest.mark.slow_job_server(factor=20)
Submit = Callable[..., Called]


@pytest.fixture
def escalated(shell: Shell, submit: Submit) -> Shell:
    """A shell whose store holds `spent`: one check was allowed, and the job never ends."""
    submit("never-ends", "--id", "spent", "--requests", "1")
    assert shell("wait", "spent").code == 13
    return shell


def test_the_inbox_shows_the_question_and_how_to_answer(escalated: Shell) -> None:
    shown = escalated("inbox").out
    assert "every status request that was allowed is used" in shown
    assert "option extend: extend once: 1 minute and 8 more checks" in shown
    assert "answer: jobconsole decide spent OPTION --revision 3" in shown
    item = escalated("inbox", "--json").json[0]
    assert (item["kind"], item["reason"], item["operation_id"]) == ("decision", "request_budget_exhausted", "spent")


@pytest.mark.rule("H4", "H9")
def test_an_extension_shows_before_and_after_and_works_once(escalated: Shell) -> None:
    first = escalated("extend", "spent", "--checks", "3", "--revision", "3", "--reason", "tax filing", "--by", "ana")
    assert (first.code, "checks 1 -> 4" in first.out, "escalated -> waiting" in first.out) == (0, True, True)
    second = escalated("extend", "spent", "--checks", "3", "--revision", "3", "--by", "bob")
    assert (second.code, second.out) == (4, "")
    assert "already answered by ana at" in second.err
    view = escalated("show", "spent", "--json").json
    assert (view["max_status_requests"], view["budget"]["granted"]["times"]) == (4, 1)
    assert "ana chose extend" in escalated("audit", "spent").out


@pytest.mark.rule("H3", "X6")
def test_more_than_the_option_offers_is_refused_with_the_bound(escalated: Shell) -> None:
    refused = escalated("extend", "spent", "--checks", "9")
    assert (refused.code, refused.err) == (4, "jobconsole: extend grants 0 to 8 checks here\n")


@pytest.mark.rule("H5")
def test_closing_needs_a_reason_in_words(escalated: Shell) -> None:
    assert escalated("decide", "spent", "close").code == 4
    closed = escalated("decide", "spent", "close", "--reason", "not needed any more")
    assert (closed.code, "escalated -> abandoned" in closed.out) == (0, True)
    assert escalated("wait", "spent").code == 14


@pytest.mark.rule("A7", "C9")
def test_a_cancel_is_sent_from_here_where_no_worker_is_alive(escalated: Shell) -> None:
    cancelled = escalated("cancel", "spent", "--reason", "wrong input")
    assert cancelled.code == 0
    assert "Stops the job at its next step" in cancelled.err
    assert "done from here" in cancelled.err
    assert escalated("wait", "spent").code == 14
    assert escalated.phase("spent") == "cancelled"


def test_what_ended_cannot_be_cancelled_any_more(shell: Shell, submit: Submit) -> None:
    submit("quick", "--wait")
    refused = shell("cancel", "quick")
    assert (refused.code, refused.err) == (4, "jobconsole: cancel is not open for quick (succeeded)\n")


@pytest.mark.rule("H6", "X20")
def test_who_decides_on_the_command_line_is_a_person_and_no_agent(escalated: Shell) -> None:
    refused = escalated("extend", "spent", "--by", "agent:clever/1")
    assert (refused.code, "agent: names another kind of actor" in refused.err) == (2, True)
    assert '"kind":"decided"' not in escalated("audit", "spent", "--json").out
    escalated("extend", "spent", "--by", "clever")
    assert '"actor":"person:clever"' in escalated("audit", "spent", "--json").out


@pytest.mark.rule("H11")
@pytest.mark.parametrize("args", [["extend", "spent"], ["cancel", "spent"], ["decide", "spent", "close", "--reason", "x"]])
def test_read_only_nothing_is_decided(escalated: Shell, args: list[str]) -> None:
    refused = escalated("--read-only", *args)
    assert (refused.code, refused.out) == (4, "")
    assert escalated.phase("spent") == "escalated"


@pytest.mark.parametrize(("answer", "phase"), [("n", "escalated"), ("", "escalated"), ("y", "cancelled")])
def test_on_a_terminal_a_cancel_asks_and_the_default_is_no(escalated: Shell, answer: str, phase: str) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    done = subprocess.run(
        [sys.executable, "-m", "jobconsole", "--home", str(escalated.home), "cancel", "spent"],
        cwd=ROOT,
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, "[y/N]" in done.stderr) == (0, True)
    if phase == "cancelled":
        assert escalated("run", "--until-idle").code == 0
    assert escalated.phase("spent") == phase


@pytest.mark.rule("U7")
def test_why_answers_for_now_and_for_a_second_of_the_past(escalated: Shell) -> None:
    assert "waits for a person" in escalated("why", "spent").out
    started = escalated("show", "spent", "--json").json["last_http_at"]
    past = escalated("why", "spent", "--at", started, "--json").json
    assert past["operation_id"] == "spent"
    assert past["why"]
    clock = started.partition("T")[2][:8]  # as `audit spent` prints it
    assert f" at {clock}" in escalated("why", "spent", "--at", clock).out


@pytest.mark.rule("U8")
def test_an_ending_of_an_id_stands_for_it_and_the_answer_names_the_whole_id(escalated: Shell) -> None:
    extended = escalated("extend", "pent", "--checks", "3")
    assert (extended.code, extended.out.startswith("spent extend: ")) == (0, True)
    assert escalated("why", "pent", "--json").json["operation_id"] == "spent"
    assert escalated("show", "ent").code == 1
