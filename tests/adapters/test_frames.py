"""Stored lines and records as typed frames: one schema, whatever is in them."""

from __future__ import annotations

import gc
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from jobconsole.adapters.frames import audit as bulk
from jobconsole.adapters.frames import audit_frame, audit_frame_of_blocks, operations_frame
from jobconsole.core.events import Kind
from jobconsole.core.operation import Counts, Escalation, ProviderError
from jobconsole.core.telling.columns import AUDIT, Holds
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.errors import AuditBroken
from tests.analysis.log import BEGAN, Log, at, cells, rows
from tests.store.made import made

DTYPES = {
    Holds.TEXT: "str",
    Holds.WORD: "category",
    Holds.COUNT: "Int64",
    Holds.TIME: "datetime64[us, UTC]",
    Holds.MILLISECONDS: "timedelta64[us]",
    Holds.SECONDS: "timedelta64[us]",
    Holds.SHARE: "Float64",
    Holds.FLAG: "boolean",
}


def some() -> Log:
    """Two operations and an event of the store's own."""
    log = Log()
    log.add("store_created", None, 0)
    log.submitted("op-1", 1)
    log.submitted("op-2", 2, provider="other")
    log.waiting("check_answered", "op-1", 9.5, http_status=200, observation={"verdict": "waiting", "retry_after_s": 1.5})
    return log


# ---- the schema --------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("L2")
@pytest.mark.parametrize("lines", [some().lines, []], ids=["some", "none"])
def test_the_dtypes_depend_on_the_columns_alone(lines: list[bytes]) -> None:
    frame = audit_frame(lines)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {c.name: DTYPES[c.holds] for c in AUDIT}
    for column in AUDIT:
        if column.holds is Holds.WORD:
            assert tuple(frame[column.name].cat.categories) == column.words


@pytest.mark.rule("L2")
def test_frames_of_two_audits_can_be_put_together_without_losing_a_type() -> None:
    """Categories of differing lists would fall back to text."""
    whole = pd.concat([audit_frame(some().lines), audit_frame([])])
    assert list(whole.dtypes) == list(audit_frame([]).dtypes)


def test_values_stand_where_the_event_has_them_and_what_it_lacks_is_missing() -> None:
    frame = some().frame()
    assert rows(frame, "seq", "operation_id", "provider", "kind", "http_status", "verdict", "retry_after", "up") == [
        (1, None, None, "store_created", None, None, None, 0.0),
        (2, "op-1", "acme", "submitted", None, None, None, 1.0),
        (3, "op-2", "other", "submitted", None, None, None, 2.0),
        (4, "op-1", "acme", "check_answered", 200, "waiting", 1.5, 9.5),
    ]
    assert frame["at"][3] == pd.Timestamp(BEGAN + timedelta(seconds=9.5))


# ---- what somebody else wrote ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "column"),
    [
        ({"http_status": "200"}, "http_status"),
        ({"http_status": 200.5}, "http_status"),
        ({"http_status": True}, "http_status"),
        ({"http_status": 2**60}, "http_status"),
        ({"job_state": 7}, "job_state"),
        ({"job_state": {"a": 1}}, "job_state"),
        ({"planned_at": 1_764_410_400}, "planned_at"),
        ({"planned_at": "tomorrow"}, "planned_at"),
        ({"decision": 1}, "decision"),
        ({"observation": {"progress": "half"}}, "progress"),
        ({"observation": "none"}, "verdict"),
    ],
    ids=str,
)
def test_a_value_of_another_type_is_missing_and_costs_no_other_value(fields: dict[str, Any], column: str) -> None:
    log = some()
    log.waiting("check_planned", "op-2", 20, **fields)
    frame = log.frame()
    assert cells(frame[column])[-1] is None
    assert cells(frame["http_status"])[3] == 200
    assert str(frame[column].dtype) == str(audit_frame([])[column].dtype)


@pytest.mark.parametrize("stamped", ["2026-11-29T11:00:09+01:00", "2026-11-29T10:00:09Z", "2026-11-29T10:00:09.000000Z"])
def test_a_time_in_any_form_of_rfc_3339_is_the_moment_that_it_names(stamped: str) -> None:
    log = Log()
    log.waiting("check_planned", "op-1", 0, planned_at=stamped)
    assert log.frame()["planned_at"][0] == pd.Timestamp(BEGAN + timedelta(seconds=9))


def test_a_word_of_a_newer_version_is_kept_behind_the_known_ones() -> None:
    log = some()
    log.add("transmogrified", "op-1", 30, phase="waiting")
    frame = log.frame()
    assert frame["kind"].iloc[-1] == "transmogrified"
    assert list(frame["kind"].cat.categories) == [*map(str, Kind), "transmogrified"]
    assert list(frame["phase"].cat.categories) == list(map(str, Phase))


NESTED = b"[" * 5_000 + b"]" * 5_000


@pytest.mark.rule("S4")
@pytest.mark.parametrize(
    "line",
    [b'{"v":1,"chain":\n', b'{"v":1,"more":%b}\n' % NESTED, b'{"v":1,"kind":%b}\n' % NESTED, NESTED + b"\n"],
    ids=["cut", "nested in what is no column", "nested in a column", "nested and no object"],
)
@pytest.mark.parametrize("before", [b"", b'{"v":1,"seq":"no number"}\n'], ids=["in bulk", "value by value"])
def test_a_line_that_is_no_event_is_named_and_never_left_out(line: bytes, before: bytes) -> None:
    lines = [*some().lines[:-1], before or some().lines[-1], line, *some().lines]
    with pytest.raises(AuditBroken, match="line 5 of the audit is no event"):
        audit_frame(lines)


def test_text_of_any_script_is_text() -> None:
    log = Log()
    log.waiting("check_answered", "op-1", 0, job_state="läuft 進行中 \u202e \x1b[31m", detail="")
    frame = log.frame()
    assert (frame["job_state"][0], frame["detail"][0]) == ("läuft 進行中 \u202e \x1b[31m", "")


# ---- in bulk -----------------------------------------------------------------------------------------------------------------
def test_however_the_lines_are_cut_into_blocks_the_frame_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pieces stand for a large audit: a few lines in a piece, a few pieces in an array."""
    log = Log()
    for number in range(60):
        log.submitted(f"op-{number}", number, provider=f"provider-{number % 7}")
        log.waiting("check_planned", f"op-{number}", number, http_status="odd" if number == 40 else 200)
    whole = audit_frame(log.lines)
    monkeypatch.setattr(bulk, "PIECE_BYTES", 1_000)
    assert_frame_equal(audit_frame(log.lines), whole)
    assert_frame_equal(audit_frame_of_blocks([b"".join(log.lines)]), whole)
    assert_frame_equal(audit_frame_of_blocks([b"", *log.lines, b""]), whole)
    assert len(whole) == 120


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        audit_frame(some().lines)
        with pytest.raises(AuditBroken):
            audit_frame([b"no event\n"])
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_without_pyarrow_the_frame_has_the_same_names_types_and_values(tmp_path: Path) -> None:
    """In an interpreter that has none: it is imported only where it is there."""
    (tmp_path / "audit.jsonl").write_bytes(b"".join(some().lines))
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import jobconsole\n"
        f"frame = jobconsole.read_audit({str(tmp_path / 'audit.jsonl')!r})\n"
        "print(*frame.dtypes.astype(str))\n"
        "print(frame['operation_id'].tolist(), frame['at'].tolist())\n"
        "try:\n"
        f"    jobconsole.write_frame(frame, {str(tmp_path / 'audit.parquet')!r})\n"
        "except jobconsole.JobconsoleError as error:\n"
        "    print(error)\n"
    )
    root = Path(__file__).parents[2]
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    frame = some().frame()
    assert said[0].split(" ") == " ".join(map(str, frame.dtypes)).split(" ")
    assert said[1] == f"{frame['operation_id'].tolist()} {frame['at'].tolist()}"
    assert said[2] == "a .parquet file needs pyarrow, which is not installed: pip install pyarrow"


# ---- operations --------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("L2")
def test_operations_have_one_schema_too() -> None:
    full, empty = operations_frame([made("op-1")]), operations_frame([])
    assert list(full.dtypes) == list(empty.dtypes)
    assert str(empty.dtypes["started_at"]) == "datetime64[us, UTC]"
    assert str(empty.dtypes["duration"]) == "timedelta64[us]"
    assert str(empty.dtypes["tracked"]) == "boolean"
    assert list(empty["phase"].cat.categories) == list(map(str, Phase))


def test_a_record_becomes_a_row_and_its_parts_columns() -> None:
    began = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
    op = made(
        "op-1",
        name="=SUM(A1)",
        phase=Phase.COMPLETED_WITH_ERRORS,
        started_at=began,
        ended_at=datetime(2026, 11, 29, 11, 2, tzinfo=timezone(timedelta(hours=1))),
        counts=Counts(total=10, succeeded=7, failed=3),
        error=ProviderError(code="E1", text="three are bad"),
        waited_for_person_ms=1_500,
    )
    asking = made("op-2", phase=Phase.ESCALATED, escalation=Escalation(reason=Reason.RATE_LIMITED, since=began))
    frame = operations_frame([op, asking])
    columns = ("name", "phase", "items", "items_failed", "error_code", "error", "duration", "waited_for_person", "escalation")
    assert rows(frame, *columns) == [
        ("=SUM(A1)", "completed_with_errors", 10, 3, "E1", "three are bad", 120.0, 1.5, None),
        (None, "escalated", None, None, None, None, None, 0.0, "rate_limited"),
    ]
    assert frame["escalated_at"][1] == pd.Timestamp(at(0))
