"""The export cases: what went wrong elsewhere with times and missing numbers in exported tables."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import jobconsole
from jobconsole.adapters.frames import operations_frame
from tests.analysis.log import cells
from tests.cases.case_file import areas, case
from tests.store.made import made


def test_every_export_case_is_played_here() -> None:
    played = Path(__file__).read_text(encoding="utf-8")
    wanted = [case_id for case_id, area in areas().items() if area == "export/pandas"]
    assert wanted
    assert [case_id for case_id in wanted if f'case("{case_id}")' not in played] == []


def moments() -> Any:
    """The case's times, in the one time of a record that may be missing."""
    given = [row["started_at"] for row in case("PD-01").input["rows"]]
    times = [datetime.fromisoformat(text) if text else None for text in given]
    return operations_frame([made(f"op-{number}", ended_at=time) for number, time in enumerate(times)])


WANTED = [
    pd.Timestamp("2026-11-01T05:30Z"),
    pd.Timestamp("2026-11-01T06:30Z"),  # the same hour of the clock in New York, an hour later
    None,
    pd.Timestamp("2026-11-29T12:00Z"),
]


@pytest.mark.rule("L2")
@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_times_are_one_column_in_utc_in_every_format(form: str, tmp_path: Path) -> None:
    frame, path = moments(), tmp_path / f"export.{form}"
    assert cells(frame["ended_at"]) == WANTED
    jobconsole.write_frame(frame, path)
    assert cells(jobconsole.read_operations(path)["ended_at"]) == WANTED
    assert_frame_equal(frame, moments())


@pytest.mark.rule("L2")
def test_excel_gets_the_same_moments_without_a_zone_and_the_frame_keeps_its_own(tmp_path: Path) -> None:
    frame = moments()
    jobconsole.write_frame(frame, tmp_path / "export.xlsx")
    read = pd.read_excel(tmp_path / "export.xlsx")["ended_at (UTC)"]
    assert cells(read) == [time.tz_localize(None) if time else None for time in WANTED]
    assert_frame_equal(frame, moments())


def counted() -> Any:
    """The case's rows: an attempt count that may be missing, an id that looks like a number, any word as state."""
    made_of = []
    for number, row in enumerate(case("PD-03").input["rows"]):
        job_id = None if row["provider_job"] is None else str(row["provider_job"])
        status = None if row["attempts"] is None else row["attempts"]
        made_of.append(made(f"op-{number}", provider_job_id=job_id, last_http_status=status, last_known_state=row["state"]))
    return operations_frame(made_of)


@pytest.mark.rule("L2")
@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_missing_counts_stay_whole_numbers_ids_keep_their_digits_and_any_word_is_a_state(form: str, tmp_path: Path) -> None:
    jobconsole.write_frame(counted(), tmp_path / f"export.{form}")
    for frame in (counted(), jobconsole.read_operations(tmp_path / f"export.{form}")):
        assert cells(frame["last_http_status"]) == [3, None]
        assert str(frame["last_http_status"].dtype) == "Int64"
        assert cells(frame["provider_job_id"]) == ["9007199254740993", None]
        assert cells(frame["last_known_state"]) == ["succeeded", "unrecognised: aborted"]


@pytest.mark.rule("L2")
def test_excel_shows_whole_numbers_and_all_digits(tmp_path: Path) -> None:
    jobconsole.write_frame(counted(), tmp_path / "export.xlsx")
    read = pd.read_excel(tmp_path / "export.xlsx", dtype={"provider_job_id": "str"})
    assert cells(read["last_http_status"]) == [3, None]
    assert cells(read["provider_job_id"]) == ["9007199254740993", None]
    assert cells(read["last_known_state"]) == ["succeeded", "unrecognised: aborted"]


def test_grouping_shows_only_what_occurs_unless_asked() -> None:
    frame = counted()
    assert frame.groupby("last_known_state").size().to_dict() == {"succeeded": 1, "unrecognised: aborted": 1}
    assert frame.groupby("phase").size().to_dict() == {"waiting": 2}
    assert len(frame.groupby("phase", observed=False).size()) == len(frame["phase"].cat.categories)
