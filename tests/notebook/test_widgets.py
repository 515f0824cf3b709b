"""Widgets over a real store and a real provider, with a recording comm in the browser's place."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jobconsole
from jobconsole.api import Console
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import InvalidValue, UnknownOperation
from jobconsole.notebook.live import Live
from jobconsole.testing.server import SlowJobServer
from tests.notebook.conftest import click, receive, state, told

pytestmark = pytest.mark.slow_job_server(factor=8)

KINDS = ("table", "inbox_widget", "dashboard", "timeline", "progress")
DECISION = "dec_" + "a" * 32


def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds: real processes and threads are at work."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


def submitted(console: Console, params: dict[str, str], scenario: str, **asked: Any) -> Operation:
    return console.submit("play", json={"scenario": scenario}, params=params, name=f"the {scenario}", **asked)


def escalated(console: Console, params: dict[str, str]) -> Operation:
    """An operation that has spent its one status request."""
    op = submitted(console, params, "never-ends", budget=jobconsole.Budget(status_requests=1))
    assert console.wait(op, timeout="60s").status == "needs_decision"
    return console.operation(op)


def make(console: Console, kind: str, op: Operation) -> Any:
    return getattr(console, kind)(*([op] if kind in ("timeline", "progress") else []))


@pytest.mark.parametrize("kind", KINDS)
def test_a_widget_opens_one_comm_with_its_state_in_it(console: Console, comms: Any, params: dict[str, str], kind: str) -> None:
    op = submitted(console, params, "quick")
    before = len(comms.made)
    widget = make(console, kind, op)
    opened = [made for made in comms.made[before:] if made.target_name == "jupyter.widget"]
    own = [made for made in opened if "snapshot" in made.sent[0]["data"]["state"]]
    assert len(own) == 1
    assert state(widget)["snapshot"]["sequence"] == 0


@pytest.mark.rule("U1")
def test_a_change_arrives_as_a_patch_of_its_row(console: Console, params: dict[str, str]) -> None:
    for _ in range(5):
        submitted(console, params, "never-ends")
    table = console.table()
    assert len(state(table)["snapshot"]["rows"]) == 5
    op = submitted(console, params, "quick")
    console.wait(op, timeout="60s")
    until(lambda: any(row["phase"] == "succeeded" for patch in told(table, "rows_patch") for row in patch.get("rows", [])))
    ids = {row["id"] for patch in told(table, "rows_patch") for row in patch.get("rows", []) if row["phase"] == "succeeded"}
    assert ids == {op.operation_id}
    assert [patch["sequence"] for patch in told(table, "rows_patch")] == list(range(1, len(told(table, "rows_patch")) + 1))


@pytest.mark.rule("U2")
def test_patches_come_at_most_twice_a_second(console: Console, params: dict[str, str]) -> None:
    table = console.table()
    began = time.monotonic()
    for _ in range(30):
        submitted(console, params, "quick")
    until(lambda: table.comm.sent[-1] and len(table._feed.picture.operations) == 30)
    patches = [each for each in told(table) if each["type"] in ("rows_patch", "snapshot")]
    lasted = time.monotonic() - began
    assert len(patches) <= 2 * lasted + 2


@pytest.mark.rule("H4", "U8")
def test_a_click_takes_effect_once_however_often_it_arrives(console: Console, params: dict[str, str]) -> None:
    op = escalated(console, params)
    widget = console.inbox_widget(by="ana")
    message = {"type": "decide", "id": op.operation_id, "option": "extend", "revision": op.revision, "decision_id": DECISION}
    for _ in range(5):
        click(widget, **message)
    until(lambda: len(told(widget, "answer")) == 5)
    assert all(answer["ok"] for answer in told(widget, "answer"))
    assert len([answer for answer in told(widget, "answer") if "already" in answer["text"]]) == 4
    now = console.operation(op)
    assert (now.granted.times, now.decided[-1].by) == (1, "ana")
    assert len(told(widget, "got")) == 5


@pytest.mark.rule("H4", "U8")
def test_a_click_for_an_older_revision_is_refused_and_says_what_happened(console: Console, params: dict[str, str]) -> None:
    op = escalated(console, params)
    widget = console.inbox_widget(by="ben")
    console.decide(op, "extend", by="ana")
    click(widget, type="decide", id=op.operation_id, option="extend", revision=op.revision, decision_id=DECISION)
    until(lambda: bool(told(widget, "answer")))
    (answer,) = told(widget, "answer")
    assert not answer["ok"]
    assert "already answered by ana" in answer["text"]
    assert console.operation(op).granted.times == 1


@pytest.mark.rule("U8")
@pytest.mark.parametrize(
    "broken",
    [
        {"revision": "1"},
        {"revision": True},
        {"decision_id": "x"},
        {"decision_id": None},
        {"id": None},
        {"option": ["extend"]},
        {"reason": {"a": 1}},
        {"job_id": "j" * 500},
    ],
)
def test_a_message_of_the_wrong_shape_decides_nothing(console: Console, params: dict[str, str], broken: dict[str, Any]) -> None:
    op = escalated(console, params)
    widget = console.inbox_widget()
    whole = {"type": "decide", "id": op.operation_id, "option": "extend", "revision": op.revision, "decision_id": DECISION}
    click(widget, **{**whole, **broken})
    until(lambda: bool(told(widget, "answer")))
    assert not told(widget, "answer")[0]["ok"]
    assert console.operation(op).granted.times == 0


def test_the_inbox_shows_the_same_words_as_everywhere(console: Console, params: dict[str, str]) -> None:
    op = escalated(console, params)
    (card,) = state(console.inbox_widget())["snapshot"]["items"]
    (extend,) = [option for option in card["options"] if option["name"] == "extend"]
    (item,) = console.inbox()
    (word,) = [option for option in item.options if option["name"] == "extend"]
    assert (card["id"], card["revision"]) == (op.operation_id, op.revision)
    assert (extend["title"], extend["cost"]) == (word["title"], word["cost"])
    assert " → " in extend["change"]


def test_selection_comes_back_to_python(console: Console, params: dict[str, str]) -> None:
    ops = [submitted(console, params, "never-ends") for _ in range(3)]
    table = console.table()
    receive(table, selected=[ops[1].operation_id, "op_gone", ops[1].operation_id])
    assert table.selected == [ops[1].operation_id, "op_gone"]
    assert table.op.operation_id == ops[1].operation_id
    assert list(table.df()["operation_id"]) == [ops[1].operation_id]
    receive(table, opened=ops[2].operation_id)
    assert table.op.operation_id == ops[2].operation_id
    receive(table, opened="", selected=[])
    assert table.op is None
    assert len(table.df()) == 3


def test_opening_a_row_sends_its_detail(console: Console, params: dict[str, str]) -> None:
    op = submitted(console, params, "never-ends")
    table = console.table()
    told_by_core = {console.why(op)}
    receive(table, opened=op.operation_id)
    until(lambda: bool(told(table, "detail")))
    told_by_core.add(console.why(op))  # its check may have become due meanwhile
    detail = told(table, "detail")[-1]["detail"]
    assert detail["id"] == op.operation_id
    assert {"extend", "cancel", "close"} <= {option["name"] for option in detail["options"]}
    assert detail["attempts"][0]["what"] == "submit"
    assert detail["why"] in told_by_core


@pytest.mark.rule("U7")
def test_a_request_that_is_pointed_at_is_explained(console: Console, params: dict[str, str]) -> None:
    op = submitted(console, params, "quick")
    console.wait(op, timeout="60s")
    timeline = console.timeline(op)
    asked = [each["at"] for each in state(timeline)["snapshot"]["detail"]["attempts"] if each["what"] == "status"]
    for broken in ("x", None, -1, True):
        click(timeline, type="why", id=op.operation_id, at=broken)
    click(timeline, type="why", id="another", at=asked[0])
    click(timeline, type="why", id=op.operation_id, at=asked[0])
    until(lambda: bool(told(timeline, "why")))
    (answer,) = told(timeline, "why")
    assert answer["text"].startswith("Checked at ")


def test_a_filter_can_be_set_from_python(console: Console, params: dict[str, str]) -> None:
    op = submitted(console, params, "never-ends")
    table = console.table()
    table.filter("state:failed")
    assert told(table, "snapshot")[-1]["query"]["text"] == "state:failed"
    assert op.operation_id not in table._repr_mimebundle_()["text/html"]


def test_a_filter_that_hides_everything_is_told_from_an_empty_store(console: Console, params: dict[str, str]) -> None:
    table = console.table()
    table.filter("state:failed")
    assert repr(table).startswith("No operations yet.")
    submitted(console, params, "never-ends")
    until(lambda: len(table.df()) == 1)
    table.filter("<b>\x1b", phase="failed")
    assert repr(table).startswith('No operation matches "<b>\\x1b failed" (1 hidden).')
    assert "<b>" not in table._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(("text", "phase"), [("", "fail"), (5, ""), ("x" * 201, ""), ("\ud83d", ""), ("age>xx", "")])
def test_a_filter_of_a_program_that_cannot_be_one_is_refused(console: Console, text: Any, phase: str) -> None:
    """It would show everything, as if everything matched."""
    table = console.table()
    before = len(told(table))
    with pytest.raises(InvalidValue):
        table.filter(text, phase=phase)
    assert len(told(table)) == before


@pytest.mark.rule("U1")
def test_the_still_picture_is_filtered_as_the_live_table(console: Console, params: dict[str, str]) -> None:
    waiting, asking = submitted(console, params, "never-ends"), escalated(console, params)
    table = console.table()
    table.filter("needs:you !age>2h")
    until(lambda: f"({asking.operation_id})" in table._repr_mimebundle_()["text/html"])
    assert waiting.operation_id not in table._repr_mimebundle_()["text/html"]
    click(table, type="query", text="age>xx")
    until(lambda: any("fault" in patch for patch in told(table, "rows_patch")))
    (fault,) = [patch["fault"] for patch in told(table, "rows_patch") if "fault" in patch]
    assert fault.startswith("'xx' is no duration")
    assert waiting.operation_id not in table._repr_mimebundle_()["text/html"]


def test_a_browser_that_connects_later_gets_the_state_of_then(console: Console, params: dict[str, str]) -> None:
    table = console.table()
    submitted(console, params, "never-ends")
    until(lambda: bool(told(table, "rows_patch")))
    fresh = json.loads(table.get_state()["snapshot"])
    assert len(fresh["rows"]) == 1
    assert fresh["sequence"] == told(table, "rows_patch")[-1]["sequence"]
    click(table, type="hello")
    until(lambda: bool(told(table, "snapshot")))


def test_a_query_of_the_browser_is_answered_with_ids(console: Console, params: dict[str, str]) -> None:
    submitted(console, params, "never-ends")
    table = console.table()
    click(table, type="query", text="nothing", sort="name", page=0)
    until(lambda: any("query" in patch for patch in told(table, "rows_patch")))
    (answer,) = [patch for patch in told(table, "rows_patch") if "query" in patch]
    assert (answer["query"]["text"], answer["ids"], "rows" in answer) == ("nothing", [], False)


async def test_a_progress_widget_can_be_awaited(tmp_path: Any, comms: Any, params: dict[str, str]) -> None:
    async with await jobconsole.open_async(tmp_path / "store") as console:
        op = await console.submit("play", json={"scenario": "quick"}, params=params)
        await console.start()
        outcome = await asyncio.wait_for(_awaited(await console.progress(op)), 60)
        assert outcome.status == "succeeded"


async def _awaited(widget: Any) -> Any:
    return await widget


def test_a_closed_console_says_so_in_its_widgets(tmp_path: Any, comms: Any) -> None:
    console = jobconsole.open(tmp_path / "store")
    table = console.table()
    console.close()
    assert told(table, "closed") == [{"type": "closed"}]


def test_all_widgets_of_a_console_share_one_feed(console: Console) -> None:
    assert console.table()._feed is console.dashboard()._feed


def test_a_theme_is_a_file_and_an_unknown_one_is_told(console: Console) -> None:
    palettes = json.loads(state(console.table(theme="jobconsole-dark"))["theme"])
    assert palettes["chosen"]["dark"] is True
    assert "chosen" not in json.loads(state(console.table())["theme"])
    with pytest.raises(InvalidValue, match="jobconsole-light"):
        console.table(theme="jobconsole-drak")


def test_an_unknown_operation_is_told(console: Console) -> None:
    with pytest.raises(UnknownOperation):
        console.timeline("op_unknown")


def test_a_widget_that_was_closed_hears_nothing(console: Console, params: dict[str, str]) -> None:
    table = console.table()
    feed = table._feed
    table.close()
    submitted(console, params, "quick")
    until(lambda: len(feed.picture.operations) == 1)


def test_a_widget_that_was_closed_shows_its_picture(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    table = console.table()
    table.close()
    table._ipython_display_()
    shown = capsys.readouterr().out
    assert "No operations yet." in shown
    assert "widget-view" not in shown


@pytest.mark.rule("A1")
def test_showing_again_submits_nothing_again(console: Console, params: dict[str, str], slow_job_server: SlowJobServer) -> None:
    op = submitted(console, params, "never-ends", id="report-1")
    for _ in range(3):
        assert submitted(console, params, "never-ends", id="report-1").operation_id == op.operation_id
        console.progress(op)
        console.table()
    assert len([seen for seen in slow_job_server.log if seen.on == "submit"]) == 1
    assert console.operation(op).phase is Phase.WAITING


def test_without_the_extra_the_error_names_it(tmp_path: Any) -> None:
    script = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import jobconsole\n"
        f"with jobconsole.open({str(tmp_path)!r}) as console:\n"
        "    try: console.table()\n"
        "    except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "anywidget is missing: the widgets need the extra: pip install 'jobconsole[notebook]'"


@pytest.mark.rule("H11")
def test_a_store_opened_to_be_read_says_so_and_decides_nothing(tmp_path: Any, comms: Any, params: dict[str, str]) -> None:
    with jobconsole.open(tmp_path / "store") as writing:
        op = escalated(writing, params)
    with jobconsole.open(tmp_path / "store", read_only=True) as console:
        widget = console.inbox_widget()
        assert json.loads(state(widget)["pulse"])["why_not"]
        click(widget, type="decide", id=op.operation_id, option="extend", revision=op.revision, decision_id=DECISION)
        until(lambda: bool(told(widget, "answer")))
        assert not told(widget, "answer")[0]["ok"]
        assert console.operation(op).granted.times == 0


def test_a_widget_of_which_something_is_missing_cannot_be_made() -> None:
    """When it is made, not when a browser connects."""

    class Unfinished(Live):
        _kind = "unfinished"

    with pytest.raises(TypeError, match="abstract"):
        Unfinished(None, {}, "person:ana")  # type: ignore[arg-type]  # nothing of it is looked at


@pytest.mark.rule("L3")
def test_a_damaged_line_is_told_on_top_of_the_audit(console: Console, tmp_path: Path, params: dict[str, str]) -> None:
    """The others are shown as ever."""
    submitted(console, params, "never-ends")
    (journal,) = (tmp_path / "store" / "journal").iterdir()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([b"#" * (len(lines[0]) - 1) + b"\n", *lines[1:]]))
    shown = state(console.dashboard())["snapshot"]["audit"]
    assert shown[0][2] == "A line of the audit is damaged: console.audit().verify() tells which."
    assert len(shown) > 1


def test_a_store_that_is_taken_away_is_told_and_what_was_seen_stays(
    console: Console, tmp_path: Path, params: dict[str, str]
) -> None:
    """With each beat, until it is back."""
    op = submitted(console, params, "never-ends")
    widget = console.table()
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    until(lambda: str(tmp_path / "store") in json.loads(widget.get_state()["pulse"])["why_not"])
    assert op.operation_id in widget.get_state()["snapshot"]
