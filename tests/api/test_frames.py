"""Frames and files from a console: what an analyst gets of a store with a few jobs in it (SPEC 12)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.formatters import HTMLFormatter
from pandas.testing import assert_frame_equal

import jobconsole
from jobconsole import analysis
from jobconsole.api import Console
from jobconsole.testing.server import SlowJobServer

pytestmark = pytest.mark.slow_job_server(factor=8)


@pytest.fixture
def console(tmp_path: Path, slow_job_server: SlowJobServer) -> Iterator[Console]:
    """A console whose three jobs have ended, ended partly, and become a question."""
    with jobconsole.open(tmp_path / "store") as opened:
        params, budget = {"port": str(slow_job_server.port)}, jobconsole.Budget(status_requests=2)
        for scenario in ("quick", "partial"):
            opened.submit("play", json={"scenario": scenario}, id=scenario, params=params, by="ana")
            opened.wait(scenario, timeout="60s")
        opened.submit("play", json={"scenario": "never-ends"}, id="never-ends", params=params, budget=budget, by="ana")
        opened.wait("never-ends", timeout="60s")
        yield opened


@pytest.mark.rule("L2", "L6")
def test_operations_and_audit_are_frames_and_the_figures_follow(console: Console) -> None:
    operations = console.to_frame()
    assert dict(zip(operations["operation_id"], operations["phase"], strict=True)) == {
        "quick": "succeeded",
        "partial": "completed_with_errors",
        "never-ends": "escalated",
    }
    assert list(console.to_frame(include_ended=False)["operation_id"]) == ["never-ends"]
    assert list(console.to_frame("succeeded")["operation_id"]) == ["quick"]
    assert list(console.to_frame("failed").dtypes) == list(operations.dtypes)
    assert str(console.to_frame("failed", unit="ns", dtype_backend="pyarrow")["started_at"].dtype).startswith("timestamp[ns")
    events = console.audit().to_frame()
    assert str(console.audit().to_frame(unit="ns")["at"].dtype) == "datetime64[ns, UTC]"
    requests = analysis.requests_per_operation(events)["requests"]
    assert requests.to_dict() == dict(zip(operations["operation_id"], operations["status_requests_used"], strict=True))
    assert analysis.figures(events).loc["bounded", "value"] == 1


@pytest.mark.rule("L2", "L3")
def test_the_audit_as_json_lines_is_the_stored_lines_byte_by_byte(console: Console, tmp_path: Path) -> None:
    console.audit().to_file(tmp_path / "audit.jsonl")
    stored = b"".join(path.read_bytes() for path in sorted((tmp_path / "store" / "journal").glob("*.jsonl")))
    assert (tmp_path / "audit.jsonl").read_bytes() == stored
    assert b"".join(console.audit().lines) == stored


@pytest.mark.rule("L2")
@pytest.mark.parametrize("name", ["audit.jsonl", "audit.csv", "audit.parquet"])
@pytest.mark.parametrize("op", [None, "partial"], ids=["of the store", "of an operation"])
def test_an_audit_that_was_written_reads_back_as_its_frame(console: Console, tmp_path: Path, name: str, op: str | None) -> None:
    audit = console.audit(op)
    audit.to_file(tmp_path / name)
    assert_frame_equal(jobconsole.read_audit(tmp_path / name), audit.to_frame())


@pytest.mark.rule("S5")
def test_an_audit_stays_what_it_was_when_it_was_asked_for(console: Console) -> None:
    """Its lines are read from the disk when they are needed, and not beyond the place that was known."""
    audit = console.audit()
    frame, story = audit.to_frame(), audit.story()
    console.decide("never-ends", "close", reason="it never ends", by="ana")
    assert_frame_equal(audit.to_frame(), frame)
    assert (audit.story(), len(audit)) == (story, len(frame))
    assert len(console.audit()) > len(audit)


def test_a_stores_folder_can_be_read_without_a_console_and_beside_one(console: Console, tmp_path: Path) -> None:
    assert_frame_equal(jobconsole.read_audit(tmp_path / "store"), console.audit().to_frame())


async def test_the_async_twin_gives_the_same_frames(tmp_path: Path) -> None:
    async with await jobconsole.open_async(tmp_path / "store") as console:
        assert (await console.to_frame()).empty
        assert (await console.audit()).to_frame()["kind"].iloc[0] == "store_created"


def test_a_store_that_was_never_written_has_an_empty_audit(tmp_path: Path) -> None:
    with jobconsole.open(tmp_path / "store", read_only=True) as console:
        assert (len(console.audit()), len(console.audit().to_frame()), console.audit().story()) == (0, 0, "")


@pytest.mark.rule("U3")
def test_a_frame_holds_foreign_text_as_it_came_and_a_notebook_shows_no_markup_of_it(tmp_path: Path) -> None:
    """The values are data and change in no way; how to see what a terminal would act on, the documentation says."""
    name = "a\x1b[31m\u202e<b>x</b>&amp;"
    with jobconsole.open(tmp_path / "store") as opened:
        opened.track("play", job_id="<img src=x>", name=name, params={"port": "9"})
        frame = opened.to_frame()
    assert (frame["name"][0], frame["provider_job_id"][0]) == (name, "<img src=x>")
    shown = HTMLFormatter()(frame[["name", "provider_job_id"]])
    assert "&lt;b&gt;x&lt;/b&gt;&amp;amp;" in shown
    assert "<b>" not in shown
    assert "<img" not in shown
    assert frame["name"].map(ascii)[0] == ascii(name)
