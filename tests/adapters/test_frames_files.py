"""Frames as files: what is read back, what a spreadsheet runs, and what is said where something is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import jobconsole
from jobconsole.adapters.frames import audit_frame, operations_frame
from jobconsole.core.keeping.line import Place, encode
from jobconsole.core.telling.columns import AUDIT
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import AuditBroken, InvalidValue
from tests.analysis.log import BEGAN, Log, at, cells
from tests.store.made import made

ROOT = Path(__file__).parents[2]
FORMULAS = ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "＝1", "a=b", "running", "\t=1"]  # noqa: RUF001
every_format = pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])


def audit() -> Any:
    """An audit with a text of every kind, missing values, and durations that are whole and that are not."""
    log = Log()
    log.add("store_created", None, 0)
    log.submitted("op-1", 1)
    for number, text in enumerate([*FORMULAS, 'quoted "text"\nin two lines, and more', "läuft 進行中 \u202e"]):
        seen = {"verdict": "waiting", "progress": 0.1 * number, "retry_after_s": 1.25 * number, "ended_at": at(number)}
        log.waiting("check_answered", "op-1", 2 + number, job_state=text, http_status=200 + number, observation=seen)
    log.add("closed", "op-1", 20, phase="succeeded")
    return log.frame()


def operations() -> Any:
    """Operations with and without an end, a name and a progress."""
    by = "person:ana"
    ended = made("op-1", submitted_by=by, name="=1+1", phase=Phase.SUCCEEDED, ended_at=BEGAN, is_late=True, progress_share=1.0)
    waited = made("op-3", submitted_by=by, provider_job_id="007", waited_for_person_ms=1_234)
    return operations_frame([ended, made("op-2", submitted_by=by), waited])


# ---- round trips -------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("L2")
@every_format
def test_an_audit_that_was_written_reads_back_equal(form: str, tmp_path: Path) -> None:
    frame, path = audit(), tmp_path / f"audit.{form}"
    before = frame.copy(deep=True)
    jobconsole.write_frame(frame, path)
    assert_frame_equal(jobconsole.read_audit(path), before)
    assert_frame_equal(frame, before)


@pytest.mark.rule("L2")
@every_format
def test_operations_that_were_written_read_back_equal(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"operations.{form}"
    jobconsole.write_frame(operations(), path)
    assert_frame_equal(jobconsole.read_operations(path), operations())


@pytest.mark.rule("L2")
@every_format
def test_nothing_reads_back_with_the_same_types(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"audit.{form}"
    jobconsole.write_frame(audit_frame([]), path)
    assert_frame_equal(jobconsole.read_audit(path), audit_frame([]), check_index_type=False)


@pytest.mark.rule("L2")
def test_parquet_keeps_every_type_for_any_reader(tmp_path: Path) -> None:
    jobconsole.write_frame(audit(), tmp_path / "audit.parquet")
    assert_frame_equal(pd.read_parquet(tmp_path / "audit.parquet"), audit())


def test_an_index_that_was_made_on_purpose_becomes_columns(tmp_path: Path) -> None:
    counted = audit().groupby("kind", observed=True).size().rename("events").to_frame()
    jobconsole.write_frame(counted, tmp_path / "kinds.csv")
    assert (tmp_path / "kinds.csv").read_text().splitlines()[0] == "kind,events"


def test_an_older_export_lacks_columns_and_a_newer_one_has_more(tmp_path: Path) -> None:
    for form in ("parquet", "csv", "jsonl"):
        path = tmp_path / f"audit.{form}"
        jobconsole.write_frame(audit().drop(columns=["verdict", "progress"]).assign(mood="good"), path)
        found = jobconsole.read_audit(path)
        assert list(found.dtypes) == list(audit().dtypes)
        assert found["verdict"].isna().all()
        assert_frame_equal(found.drop(columns=["verdict", "progress"]), audit().drop(columns=["verdict", "progress"]))


# ---- text as data ------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("U3")
def test_no_cell_of_a_spreadsheet_is_a_formula(tmp_path: Path) -> None:
    jobconsole.write_frame(audit(), tmp_path / "audit.xlsx")
    jobconsole.write_frame(audit(), tmp_path / "audit.csv")
    sheet: Any = openpyxl.load_workbook(tmp_path / "audit.xlsx").active
    found = [cell for row in sheet.iter_rows() for cell in row]
    assert all(cell.data_type != "f" for cell in found)
    texts = {cell.value for cell in found if isinstance(cell.value, str)}
    texts |= set(pd.read_csv(tmp_path / "audit.csv", dtype="str", keep_default_na=False).to_numpy().ravel())
    assert {"'=HYPERLINK(1)", "'+1", "'-1", "'@SUM(A1)", "'＝1", "a=b"} <= texts  # noqa: RUF001
    assert not [text for text in texts if text.startswith(("=", "+", "-", "@", "＝"))]  # noqa: RUF001


@pytest.mark.rule("U3")
def test_a_control_character_makes_no_workbook_unreadable(tmp_path: Path) -> None:
    frame = audit()
    frame.loc[0, "detail"] = "bell \x07 and \x1b[31m red"
    jobconsole.write_frame(frame, tmp_path / "audit.xlsx")
    read = pd.read_excel(tmp_path / "audit.xlsx")
    assert read["detail"][0] == "bell \\x07 and \\x1b[31m red"


def test_excel_says_zone_and_unit_in_the_heading(tmp_path: Path) -> None:
    jobconsole.write_frame(audit(), tmp_path / "audit.xlsx")
    read = pd.read_excel(tmp_path / "audit.xlsx")
    assert {"at (UTC)", "retry_after (s)", "up (ms)"} <= set(read.columns)
    assert cells(read["retry_after (s)"])[2:5] == [0.0, 1.25, 2.5]
    assert read["at (UTC)"][1] == pd.Timestamp("2026-11-29 10:00:01")


# ---- a store's folder, and copies of its lines -------------------------------------------------------------------------------
def stored(folder: Path, seqs: range, tx_of: dict[int, int] | None = None) -> bytes:
    """A segment with these lines, as a store writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = b""
    for seq in seqs:
        place = Place(seq=seq, tx=(tx_of or {}).get(seq, seq), batch=seq, at=BEGAN, up=seq, boot="boot-1")
        lines += encode(place, "0" * 64, kind="check_planned", actor="worker:1", operation_id="op-1", op_seq=seq)[0]
    (folder / f"{seqs[0]:012d}.jsonl").write_bytes(lines)
    return lines


@pytest.mark.rule("L2")
def test_a_stores_folder_its_journal_and_a_copy_of_its_lines_are_the_same_audit(tmp_path: Path) -> None:
    copied = stored(tmp_path / "journal", range(1, 4)) + stored(tmp_path / "journal", range(4, 6))
    (tmp_path / "copy.jsonl").write_bytes(copied)
    frames = [jobconsole.read_audit(path) for path in (tmp_path, tmp_path / "journal", tmp_path / "copy.jsonl")]
    assert cells(frames[0]["seq"]) == [1, 2, 3, 4, 5]
    for frame in frames[1:]:
        assert_frame_equal(frame, frames[0])


def test_a_transaction_that_is_being_written_is_not_there_yet(tmp_path: Path) -> None:
    """Lines 4 to 6 are one transaction, of which 6 is not there; of line 5 half is."""
    lines = stored(tmp_path, range(1, 6), tx_of={4: 6, 5: 6})
    assert cells(jobconsole.read_audit(tmp_path)["seq"]) == [1, 2, 3]
    (tmp_path / "000000000001.jsonl").write_bytes(lines[:-100])
    assert cells(jobconsole.read_audit(tmp_path)["seq"]) == [1, 2, 3]


@pytest.mark.rule("S4")
def test_a_copy_that_was_cut_is_told(tmp_path: Path) -> None:
    """A file is whole or it is not: nobody is writing it any more."""
    lines = stored(tmp_path / "journal", range(1, 4))
    (tmp_path / "copy.jsonl").write_bytes(lines[:-100])
    with pytest.raises(AuditBroken, match="line 3"):
        jobconsole.read_audit(tmp_path / "copy.jsonl")


@pytest.mark.rule("S4")
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("line", [b'{"seq":', b'{"more":' + b"[" * 5_000 + b"]" * 5_000 + b"}"], ids=["cut", "nested"])
def test_a_line_of_an_export_that_is_no_event_and_no_operation_is_named(number: int, line: bytes, tmp_path: Path) -> None:
    for name, frame in (("audit.jsonl", audit()), ("operations.jsonl", operations())):
        jobconsole.write_frame(frame, tmp_path / name)
        lines = (tmp_path / name).read_bytes().split(b"\n")
        lines[number - 1] = line
        (tmp_path / name).write_bytes(b"\n".join(lines))
    with pytest.raises(AuditBroken, match=f"line {number} of audit.jsonl is no event"):
        jobconsole.read_audit(tmp_path / "audit.jsonl")
    with pytest.raises(InvalidValue, match=f"line {number} of operations.jsonl is no operation"):
        jobconsole.read_operations(tmp_path / "operations.jsonl")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.csv", None, "does not exist"),
        ("audit.txt", b"", "the ending says no known format"),
        ("audit.xlsx", b"", "Excel rounds times"),
        ("folder", "folder", "holds no audit"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_mend(name: str, content: bytes | str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if isinstance(content, str):
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidValue, match=said):
        jobconsole.read_audit(path)


def test_an_unknown_ending_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="parquet"):
        jobconsole.write_frame(audit(), tmp_path / "audit.feather")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['openpyxl'] = None\n"
        "import jobconsole, pandas\n"
        "try:\n"
        f"    jobconsole.write_frame(pandas.DataFrame(), {str(tmp_path / 'audit.xlsx')!r})\n"
        "except jobconsole.JobconsoleError as error:\n"
        "    print(error.code, error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said == "bad_value a .xlsx file needs openpyxl, which is not installed: pip install openpyxl\n"


def test_the_command_lines_csv_reads_back_as_the_same_audit(tmp_path: Path) -> None:
    """It has the same columns; `provider` stands in the first event of an operation only, and is filled in."""
    import csv

    import msgspec

    from jobconsole.core.telling.spreadsheet import csv_rows

    log = Log()
    log.submitted("op-1", 1)
    log.waiting("check_answered", "op-1", 2, job_state="=1", observation={"verdict": "waiting", "retry_after_s": 1.5})
    with (tmp_path / "audit.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(csv_rows(map(msgspec.json.decode, log.lines)))
    assert_frame_equal(jobconsole.read_audit(tmp_path / "audit.csv"), log.frame())
    assert len(AUDIT) == len(log.frame().columns)
