"""Frames as plain tables and back: what a cell of CSV, Excel or JSON lines holds, and what it is when it is read (SPEC L2, U3).

Only this file decides that. The formats that know no types get RFC 3339 UTC times, plain numbers and durations in seconds (the
boot clock in milliseconds, as it is stored); what is read goes through the same arrays as a stored line, so the dtypes are the
same whatever the file was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from jobconsole.adapters.frames.arrays import array, is_of_kind
from jobconsole.core.telling.columns import AUDIT, Column, Holds
from jobconsole.core.telling.spreadsheet import BEGINS_FORMULA, GUARD, unguarded

if TYPE_CHECKING:
    import pandas

_IN_MILLISECONDS: Final = frozenset(column.name for column in AUDIT if column.holds is Holds.MILLISECONDS)


# ---- out ---------------------------------------------------------------------------------------------------------------------
def plain(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A copy whose times are RFC 3339 UTC text and whose durations are numbers; the frame itself is not changed."""
    return _converted(frame, text_of_times)


def naive(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A copy for Excel, which knows no zones: naive UTC times and numbers, with zone and unit in the heading."""
    made = _converted(frame, lambda times: times.dt.tz_convert("UTC").dt.tz_localize(None))
    return made.rename(columns={name: f"{name} ({unit})" for name in frame if (unit := _unit(frame[name], name))})


def guarded_cells(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A copy in which no text is a formula (`core/telling/spreadsheet.py`)."""
    made = frame.copy(deep=False)
    for name in made:
        if is_text(made[name]):
            texts = made[name].astype("str")
            made[name] = texts.mask(texts.str.startswith(BEGINS_FORMULA, na=False), GUARD + texts)
    return made


def text_of_times(times: pandas.Series) -> pandas.Series:
    """Aware times as RFC 3339 UTC text with microseconds and `Z`."""
    import numpy
    import pandas

    instants = times.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
    texts: pandas.Series = pandas.Series(numpy.datetime_as_string(instants, unit="us"), index=times.index, dtype="str") + "Z"
    texts[times.isna()] = None
    return texts


def is_text(values: pandas.Series) -> bool:
    """Whether the cells are words or texts."""
    import pandas

    return isinstance(values.dtype, pandas.CategoricalDtype) or bool(pandas.api.types.is_string_dtype(values.dtype))


def _converted(frame: pandas.DataFrame, times: Any) -> pandas.DataFrame:
    import pandas

    made = frame.copy(deep=False)
    for name in made:
        values = made[name]
        if isinstance(values.dtype, pandas.DatetimeTZDtype):
            made[name] = times(values)
        elif pandas.api.types.is_timedelta64_dtype(values.dtype):
            made[name] = _numbers(values, 1_000 if name in _IN_MILLISECONDS else 1)
    return made


def _numbers(durations: pandas.Series, per_second: int) -> pandas.Series:
    """Whole numbers where all are whole."""
    numbers: pandas.Series = (durations.dt.total_seconds() * per_second).round(6).astype("Float64")
    return numbers.astype("Int64") if (numbers.dropna() % 1 == 0).all() else numbers


def _unit(values: pandas.Series, name: Any) -> str:
    import pandas

    if isinstance(values.dtype, pandas.DatetimeTZDtype):
        return "UTC"
    if pandas.api.types.is_timedelta64_dtype(values.dtype):
        return "ms" if name in _IN_MILLISECONDS else "s"
    return ""


# ---- in ----------------------------------------------------------------------------------------------------------------------
def typed(cells: Callable[[str], Sequence[Any]], columns: Sequence[Column]) -> pandas.DataFrame:
    """The frame of `columns`, where `cells` hands out a file's texts and plain values by the name of the column.

    A value of another kind is missing.
    """
    import pandas

    return pandas.DataFrame(
        {column.name: array(column, [_value(column, cell) for cell in cells(column.name)]) for column in columns}
    )


def _value(column: Column, cell: Any) -> Any:
    value = _read(column, cell) if isinstance(cell, str) else cell
    return value if is_of_kind(column, value) else None


def _read(column: Column, cell: str) -> Any:
    try:
        match column.holds:
            case Holds.COUNT | Holds.MILLISECONDS:
                return int(cell)
            case Holds.SECONDS | Holds.SHARE:
                return float(cell)
            case Holds.FLAG:
                return {"True": True, "False": False}.get(cell)
            case Holds.TEXT | Holds.WORD | Holds.TIME:
                return unguarded(cell)
    except ValueError:
        return None


def conformed(frame: pandas.DataFrame, columns: Sequence[Column]) -> pandas.DataFrame:
    """A typed frame from a file that keeps types, with exactly `columns`: an older file may lack some."""
    import pandas

    lacking = {column.name: array(column, [None] * len(frame)) for column in columns if column.name not in frame}
    made = frame.assign(**lacking)[[column.name for column in columns]]
    for column in columns:
        if column.holds is Holds.WORD:
            found = [word for word in made[column.name].astype("str").dropna().unique() if word not in column.words]
            made[column.name] = made[column.name].astype(pandas.CategoricalDtype([*column.words, *found]))
        else:
            made[column.name] = made[column.name].astype(array(column, []).dtype)
    return made
