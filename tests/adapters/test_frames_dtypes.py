"""The same frames in nanoseconds and with columns of Arrow: dtypes by column alone, the same values, the same figures."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import jobconsole
from jobconsole import analysis
from jobconsole.adapters.frames import audit_frame, operations_frame, with_dtypes
from jobconsole.adapters.frames.dtypes import usual
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import InvalidValue
from tests.adapters.test_frames import some
from tests.store.made import made

FRAMES = {
    "audit": (audit_frame(some().lines), audit_frame([])),
    "operations": (operations_frame([made("op-1", ended_at=datetime(2026, 11, 29, tzinfo=UTC))]), operations_frame([])),
}
OTHERS = [("ns", "numpy_nullable"), ("us", "pyarrow"), ("ns", "pyarrow")]
DTYPES = {
    ("datetime64[us, UTC]", "ns", "numpy_nullable"): "datetime64[ns, UTC]",
    ("timedelta64[us]", "ns", "numpy_nullable"): "timedelta64[ns]",
    ("datetime64[us, UTC]", "us", "pyarrow"): "timestamp[us, tz=UTC][pyarrow]",
    ("datetime64[us, UTC]", "ns", "pyarrow"): "timestamp[ns, tz=UTC][pyarrow]",
    ("timedelta64[us]", "us", "pyarrow"): "duration[us][pyarrow]",
    ("timedelta64[us]", "ns", "pyarrow"): "duration[ns][pyarrow]",
    **{(usual, unit, "pyarrow"): f"{arrow}[pyarrow]" for unit in ("us", "ns") for usual, arrow in
       (("Int64", "int64"), ("Float64", "double"), ("boolean", "bool"), ("str", "large_string"))},
}  # fmt: skip


@pytest.mark.rule("L2")
@pytest.mark.parametrize("what", FRAMES)
@pytest.mark.parametrize(("unit", "backend"), OTHERS)
def test_dtypes_depend_on_the_column_alone_and_values_stay(what: str, unit: Any, backend: Any) -> None:
    full, empty = (with_dtypes(frame, unit, backend) for frame in FRAMES[what])
    assert list(full.dtypes) == list(empty.dtypes)
    for name, dtype in FRAMES[what][0].dtypes.items():
        assert str(full[name].dtype) == DTYPES.get((str(dtype), unit, backend), str(dtype))
    assert_frame_equal(usual(full), with_dtypes(FRAMES[what][0], unit, "numpy_nullable"))
    assert_frame_equal(usual(full).astype(FRAMES[what][0].dtypes.to_dict()), FRAMES[what][0])


@pytest.mark.rule("L2")
def test_words_stay_categories_with_the_full_list() -> None:
    frame = with_dtypes(FRAMES["audit"][0], "ns", "pyarrow")
    assert list(frame["phase"].cat.categories) == [str(phase) for phase in Phase]


@pytest.mark.rule("L2")
@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize(("unit", "backend"), OTHERS)
def test_such_a_frame_is_written_and_read_back_as_the_usual_one(tmp_path: Path, form: str, unit: Any, backend: Any) -> None:
    path = tmp_path / f"audit.{form}"
    jobconsole.write_frame(with_dtypes(FRAMES["audit"][0], unit, backend), path)
    assert_frame_equal(jobconsole.read_audit(path), FRAMES["audit"][0])


@pytest.mark.rule("L6")
@pytest.mark.parametrize(("unit", "backend"), OTHERS)
def test_the_figures_are_the_same(unit: Any, backend: Any) -> None:
    figures = analysis.figures(with_dtypes(FRAMES["audit"][0], unit, backend))
    assert_frame_equal(figures, analysis.figures(FRAMES["audit"][0]))


@pytest.mark.parametrize(
    ("unit", "backend", "said"), [("ms", "pyarrow", "unit 'ms' is unknown; use us or ns"), ("us", "polars", "dtype_backend")]
)
def test_an_unknown_word_is_refused(unit: Any, backend: Any, said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        with_dtypes(FRAMES["audit"][0], unit, backend)


def test_a_time_beyond_nanoseconds_is_refused_with_the_mend() -> None:
    frame = operations_frame([made("op-1", ended_at=datetime(2300, 1, 1, tzinfo=UTC))])
    assert frame["ended_at"][0] == pd.Timestamp("2300-01-01", tz="UTC")
    with pytest.raises(InvalidValue, match="use unit='us'"):
        with_dtypes(frame, "ns", "numpy_nullable")
