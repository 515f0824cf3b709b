"""The audit from the command line: verbatim lines, one line an event, and a chain whose faults are found."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import jobconsole
from jobconsole.core.telling.spreadsheet import COLUMNS

from .conftest import Called, Shell

pytestmark = pytest.mark.slow_job_server(factor=20)
Submit = Callable[..., Called]


def journal(shell: Shell) -> Path:
    """The store's first segment."""
    return shell.home / "journal" / "000000000001.jsonl"


@pytest.mark.rule("L2", "L3")
def test_json_is_the_stored_lines_byte_by_byte(shell: Shell, submit: Submit, tmp_path: Path) -> None:
    submit("quick", "--wait", "--name", "ünïcode 日本")
    stored = journal(shell).read_bytes()
    shown = shell.finish(shell.start("audit", "--format", "json"))
    assert shown.out.encode() == stored
    target = tmp_path / "copy.jsonl"
    assert shell("audit", "--json", "-o", str(target)).out == ""
    assert target.read_bytes() == stored


@pytest.mark.rule("L2")
def test_the_story_has_one_line_an_event_and_names_the_operation_where_there_are_several(shell: Shell, submit: Submit) -> None:
    for scenario in ("quick", "partial"):
        submit(scenario, "--wait")
    whole = shell("audit").out.splitlines()
    assert any(" quick " in line for line in whole)
    assert any(" partial " in line for line in whole)
    assert all(" partial " not in line for line in shell("audit", "quick").out.splitlines())


@pytest.mark.rule("L2", "U3")
def test_csv_keeps_one_line_an_event_whatever_a_name_holds(shell: Shell, submit: Submit, tmp_path: Path) -> None:
    submit("quick", "--wait", "--by", "=cmd|x")
    target = tmp_path / "audit.csv"
    assert shell("audit", "quick", "--format", "csv", "-o", str(target)).code == 0
    rows = list(csv.DictReader(target.read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == len(target.read_text().splitlines()) - 1
    assert rows[0]["actor"] == "person:=cmd|x"
    assert {row["operation_id"] for row in rows} == {"quick"}


@pytest.mark.rule("L3", "L7")
def test_a_changed_event_is_found_and_named(shell: Shell, submit: Submit) -> None:
    submit("quick", "--wait")
    assert shell("audit", "verify", "--json").json["valid"] is True
    lines = journal(shell).read_bytes().splitlines(keepends=True)
    seq = next(number for number, line in enumerate(lines, 1) if b'"actor":"person:' in line)
    lines[seq - 1] = lines[seq - 1].replace(b"person:", b"nobody:", 1)
    journal(shell).write_bytes(b"".join(lines))
    broken = shell("audit", "verify")
    assert broken.code == 1
    assert f"the audit does not verify: changed at seq {seq} " in broken.err


@pytest.mark.rule("L3")
def test_an_operation_without_a_line_is_no_empty_audit(shell: Shell, submit: Submit) -> None:
    """Each began with one: they were damaged or taken away."""
    submit("quick", "--wait")
    lines = journal(shell).read_bytes().splitlines(keepends=True)
    journal(shell).write_bytes(b"".join(b"#" * (len(line) - 1) + b"\n" if b'"quick"' in line else line for line in lines))
    told = shell("audit", "quick")
    assert told.code == 1
    assert "the audit has no line of quick" in told.err


@pytest.mark.rule("L7")
def test_a_store_without_a_log_is_never_valid(shell: Shell) -> None:
    nothing = shell("audit", "verify", "--json")
    assert (nothing.code, json.loads(nothing.out)["valid"]) == (1, False)
    assert not shell.home.exists()


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["audit", "nobody"], 1),
        (["audit", "--format", "parquet"], 2),
        (["audit", "--format", "csv", "--json"], 2),
        (["audit", "verify", "--format", "csv"], 2),
        (["audit", "-o", "/no/such/folder/x"], 1),
    ],
)
def test_a_wrong_call_ends_in_one_line(shell: Shell, submit: Submit, args: list[str], code: int) -> None:
    submit("quick", "--wait")
    ended = shell(*args)
    assert (ended.code, ended.out, ended.err.count("\n")) == (code, "", 1)


@pytest.mark.rule("U5")
@pytest.mark.parametrize("form", ["story", "json", "csv"])
def test_a_reader_that_closes_early_is_no_error(shell: Shell, submit: Submit, form: str) -> None:
    submit("quick", "--wait")
    reader, writer = os.pipe()
    os.close(reader)
    ended = shell.finish(shell.start("audit", "--format", form, stdout=writer))
    os.close(writer)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("args", [["audit", "--format", "json"], ["audit", "-o", "/dev/full"], ["ls", "--all", "--json"]])
def test_a_full_disk_is_an_error(shell: Shell, submit: Submit, args: list[str]) -> None:
    submit("quick", "--wait")
    with open("/dev/full", "w") as full:
        ended = shell.finish(shell.start(*args, stdout=full.fileno()))
    assert (ended.code, ended.err.count("\n")) == (1, 1)
    assert "No space left on device" in ended.err


@pytest.mark.rule("L2")
@pytest.mark.parametrize("whose", [(), ("quick",)], ids=["of the store", "of an operation"])
def test_parquet_is_the_typed_frame_and_goes_to_a_file_only(
    shell: Shell, submit: Submit, tmp_path: Path, whose: tuple[str, ...]
) -> None:
    submit("quick", "--wait")
    target = tmp_path / "audit.parquet"
    assert shell("audit", *whose, "--format", "parquet", "-o", str(target)).code == 0
    frame = jobconsole.read_audit(target)
    assert list(frame.columns) == list(COLUMNS)
    assert set(frame["operation_id"].dropna()) == {"quick"}
    assert frame["operation_id"].isna().any() == (not whose)
    refused = shell("audit", "--format", "parquet")
    assert (refused.code, refused.out) == (2, "")
    assert "--output" in refused.err
