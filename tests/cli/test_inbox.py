"""The inbox on the command line: who looks after an item, until when it rests, what was noted (SPEC H7)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from .conftest import Called, Shell

pytestmark = pytest.mark.slow_job_server(factor=20)
Submit = Callable[..., Called]


@pytest.fixture
def escalated(shell: Shell, submit: Submit) -> Shell:
    """A shell whose store holds `spent`: one check was allowed, and the job never ends."""
    submit("never-ends", "--id", "spent", "--requests", "1")
    assert shell("wait", "spent").code == 13
    return shell


@pytest.mark.rule("H7")
@pytest.mark.parametrize(
    ("args", "who", "said"),
    [
        (["--by", "ana"], "ana", "spent: with ana now\n"),
        (["--to", "ben", "--by", "ana"], "ben", "spent: with ben now\n"),
        (["ben", "--by", "ana"], "ben", "spent: with ben now\n"),  # as `:assign ben` in the dashboard
        (["nobody", "--by", "ana"], None, "spent: with nobody now\n"),
        (["--to", "nobody", "--by", "ana"], None, "spent: with nobody now\n"),
        (["--to", "person:ben", "--by", "ana"], "ben", "spent: with ben now\n"),
        (["--nobody", "--by", "ana"], None, "spent: with nobody now\n"),
    ],
)
def test_an_item_is_given_to_a_person_or_to_nobody(escalated: Shell, args: list[str], who: str | None, said: str) -> None:
    given = escalated("inbox", "assign", "spent", *args)
    assert (given.code, given.out) == (0, said)
    [item] = escalated("inbox", "--json").json
    assert item["attention"]["assigned_to"] == who
    assert (f"with: {who}, since" in escalated("inbox").out) == (who is not None)


@pytest.mark.rule("H7", "H4")
def test_what_another_has_is_claimed_by_nobody_and_taken_only_by_name(escalated: Shell) -> None:
    """As in the dashboard: who claims without a name is told who was faster; who names a person is told from whom it went."""
    assert escalated("inbox", "assign", "spent", "--by", "ana").out == "spent: with ana now\n"
    assert escalated("inbox", "assign", "spent", "--by", "ana").out == "spent: with ana now\n"
    refused = escalated("inbox", "assign", "spent", "--by", "ben o'neil")
    assert (refused.code, refused.out) == (4, "")
    assert re.search(r"spent was given to ana at [0-9:]{8} UTC, [0-9a-z.]+ ago; look again, or take it over: ", refused.err)
    command = shlex.split(refused.err.partition("take it over: jobconsole ")[2].strip())
    taken = escalated(*command, "--by", "ben o'neil")
    assert re.fullmatch(r"spent: with ben o'neil now, taken from ana, who had it for [0-9a-z.]+\n", taken.out)
    again = escalated("--json", "inbox", "assign", "spent", "cleo", "--by", "dora").json
    assert (again["taken_from"], again["attention"]["assigned_to"]) == ("ben o'neil", "cleo")
    freed = escalated("inbox", "assign", "spent", "nobody", "--by", "ana")
    assert freed.out.startswith("spent: with nobody now, taken from cleo, who had it for ")


@pytest.mark.rule("H7", "X7")
def test_looking_after_an_item_leaves_the_answers_to_it_as_they_are(escalated: Shell) -> None:
    """The revision that was read before still holds, and each change is a line of the audit."""
    revision = escalated("show", "spent", "--json").json["revision"]
    escalated("inbox", "assign", "spent", "--by", "ana")
    escalated("inbox", "snooze", "spent", "--until", "2h", "--by", "ana")
    escalated("inbox", "note", "spent", "asked the provider", "--by", "ana")
    assert escalated("extend", "spent", "--revision", str(revision), "--by", "ben").code == 0
    story = escalated("audit", "spent").out
    assert ["ana takes care of it" in story, "ana snoozed it until" in story, "ana noted: asked the provider" in story] == [
        True
    ] * 3


@pytest.mark.rule("H7", "H10")
@pytest.mark.parametrize("until", [("--until", "2h"), ("2h",)], ids=["option", "as in the dashboard"])
def test_a_snooze_says_until_when_and_waking_ends_it(escalated: Shell, until: tuple[str, ...]) -> None:
    asleep = escalated("inbox", "snooze", "spent", *until)
    assert asleep.code == 0
    assert asleep.out.startswith("spent: snoozed until ")
    [item] = escalated("inbox", "--json").json
    wakes_at = datetime.fromisoformat(item["attention"]["snoozed_until"])
    assert item["snoozed"] is True
    assert timedelta(hours=1, minutes=59) < wakes_at - datetime.now(wakes_at.tzinfo) <= timedelta(hours=2)
    assert escalated("inbox", "snooze", "spent", "--wake").out == "spent: awake\n"
    [item] = escalated("inbox", "--json").json
    assert (item["snoozed"], item["attention"]["snoozed_until"]) == (False, None)


@pytest.mark.rule("H7", "U5")
def test_a_note_is_kept_with_its_author_and_read_as_json(escalated: Shell) -> None:
    noted = escalated("--json", "inbox", "note", "spent", "asked the provider", "--by", "ana").json
    assert noted["operation_id"] == "spent"
    assert [(each["by"], each["text"]) for each in noted["attention"]["notes"]] == [("ana", "asked the provider")]
    assert "ana: asked the provider" in escalated("inbox").out


@pytest.mark.rule("U3")
def test_what_is_said_of_a_name_is_inert(escalated: Shell) -> None:
    """A right-to-left override in a name is refused; what is shown is printable."""
    refused = escalated("inbox", "assign", "spent", "--to", "b\u202een")
    assert (refused.code, refused.out) == (2, "")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["assign", "spent", "--to", "ben", "--nobody"], 2, "give one of them"),
        (["assign", "spent", "ben", "--nobody"], 2, "give one of them"),
        (["snooze", "spent", "1h", "--wake"], 2, "say until when"),
        (["snooze", "spent"], 2, "say until when, with T or --until T, or end the snooze with --wake"),
        (["snooze", "spent", "--until", "1h", "--wake"], 2, "say until when"),
        (["snooze", "spent", "--until", "soon"], 2, "is no time"),
        (["snooze", "spent", "--until", "31d"], 4, "within the next 30 days"),
        (["snooze", "spent", "--until", "2020-01-01T00:00:00Z"], 4, "within the next 30 days"),
        (["note", "spent", " "], 4, "a note has 1 to 2,000 characters"),
        (["note", "spent", "x" * 2_001], 4, "a note has 1 to 2,000 characters"),
        (["note", "nobody-knows", "x"], 1, "nobody-knows"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_mend(escalated: Shell, args: list[str], code: int, said: str) -> None:
    refused = escalated("inbox", *args)
    assert (refused.code, refused.out) == (code, "")
    assert said in refused.err


@pytest.mark.rule("H7")
def test_what_needs_nobody_is_not_in_the_inbox_but_may_be_noted(shell: Shell, submit: Submit) -> None:
    submit("quick", "--wait")
    for args in (["assign", "quick"], ["snooze", "quick", "--until", "1h"]):
        refused = shell("inbox", *args)
        assert (refused.code, "quick is not in the inbox: it needs nobody now" in refused.err) == (4, True)
    assert shell("inbox", "note", "quick", "used in the report").out == "quick: noted\n"


@pytest.mark.rule("H11")
@pytest.mark.parametrize("args", [["assign", "spent"], ["snooze", "spent", "--until", "1h"], ["note", "spent", "x"]])
def test_read_only_nobody_looks_after_anything(escalated: Shell, args: list[str]) -> None:
    refused = escalated("--read-only", "inbox", *args)
    assert (refused.code, refused.out) == (4, "")
    assert "item_changed" not in escalated("audit", "spent", "--json").out


@pytest.mark.rule("H6", "X20")
@pytest.mark.parametrize("args", [["--to", "ben", "--by", "agent:clever/1"], ["--to", "worker:w1", "--by", "ana"]])
def test_whoever_is_named_as_another_actor_is_no_person(escalated: Shell, args: list[str]) -> None:
    refused = escalated("inbox", "assign", "spent", *args)
    assert (refused.code, refused.out, "names another kind of actor" in refused.err) == (2, "", True)
    assert "item_changed" not in escalated("audit", "spent", "--json").out
