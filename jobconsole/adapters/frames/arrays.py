"""How a column of plain values becomes a typed array of pandas (SPEC L2).

Only this file decides the dtypes. They depend on the column alone, never on its values, so an empty frame has the same: UTC
times as `datetime64[us, UTC]`, closed vocabularies as categories with all their words, counts as `Int64`, durations as
`timedelta64[us]`, shares as `Float64`, flags as `boolean`, ids and other texts as `str`. Every step is one call for a whole
column: a million lines are no loop of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from jobconsole.core.telling.columns import Column, Holds

LARGEST: Final = 2**53
NO_COUNT: Final = -(2**63)
"""Stands for a missing integer in `values`; None does too, but costs more."""

_MICROSECONDS: Final = {Holds.MILLISECONDS: 1_000, Holds.SECONDS: 1_000_000}


class Words(dict[str | None, int]):
    """The codes of a closed vocabulary. A word of a newer version gets the next one: it is appended, never lost."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__()
        self[None] = -1
        self.update((word, code) for code, word in enumerate(words))

    def __missing__(self, word: str) -> int:
        self[word] = code = len(self) - 1
        return code

    def categories(self) -> list[str]:
        """All words, in the order of their codes."""
        return [word for word in self if word is not None]


def array(column: Column, values: Sequence[Any]) -> Any:
    """The values as an array of the column's dtype.

    Values are what the store holds: text, integers, floats, booleans; None where there is none. Times are RFC 3339 text.
    """
    words = Words(column.words)
    return joined(column, [piece(column, values, words)], words)


def piece(column: Column, values: Sequence[Any], words: Words) -> Any:
    """Some of a column's values as an array of their own, to be `joined` with others; a word as its code in `words`."""
    import numpy

    match column.holds:
        case Holds.WORD:
            return numpy.fromiter(map(words.__getitem__, values), numpy.int32, len(values))
        case Holds.TEXT:
            arrow = _pyarrow()
            return numpy.array(values, dtype="object") if arrow is None else arrow.array(values, arrow.large_string())
        case Holds.TIME:
            return _moments(values)
        case Holds.COUNT | Holds.MILLISECONDS:
            return _numbers(values, numpy.int64, NO_COUNT)
        case Holds.SECONDS | Holds.SHARE:
            return _numbers(values, numpy.float64, numpy.nan)
        case Holds.FLAG:
            return numpy.array(values, dtype="object")


def joined(column: Column, pieces: Sequence[Any], words: Words) -> Any:
    """The array of the column's dtype that the pieces, of which there is at least one, make together."""
    import numpy
    import pandas

    arrow = _pyarrow()
    if column.holds is Holds.TEXT and arrow is not None:
        return pandas.array(arrow.concat_arrays(pieces), dtype="str")
    whole = numpy.concatenate(pieces)
    match column.holds:
        case Holds.WORD:
            return pandas.Categorical.from_codes(whole, categories=pandas.Index(words.categories(), dtype="str"))
        case Holds.TEXT:
            return pandas.array(whole, dtype="str")
        case Holds.TIME:
            return pandas.array(whole, dtype="datetime64[us]").tz_localize("UTC")
        case Holds.COUNT:
            return pandas.arrays.IntegerArray(whole, whole == NO_COUNT)
        case Holds.MILLISECONDS:
            return _durations(numpy.where(whole == NO_COUNT, numpy.nan, whole), Holds.MILLISECONDS)
        case Holds.SECONDS:
            return _durations(whole, Holds.SECONDS)
        case Holds.SHARE:
            return pandas.array(whole, dtype="Float64")
        case Holds.FLAG:
            return pandas.array(whole, dtype="boolean")


def _moments(values: Sequence[Any]) -> Any:
    """The moments in UTC; what is none is missing. pyarrow, where it is there, takes a quarter of the time for our own."""
    import pandas

    arrow = _pyarrow()
    if arrow is not None:
        try:
            found = arrow.array(values, arrow.string()).cast(arrow.timestamp("us", "UTC"))
        except arrow.ArrowInvalid:  # some are none, or have a form of their own
            pass
        else:
            return found.to_numpy(zero_copy_only=False).astype("datetime64[us]", copy=False)
    moments = pandas.to_datetime(pandas.Series(values, dtype="object"), utc=True, errors="coerce", format="ISO8601")
    return moments.dt.tz_localize(None).to_numpy(dtype="datetime64[us]")


@cache
def _pyarrow() -> Any:
    """The package, or None where it is not installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


def _numbers(values: Sequence[Any], dtype: Any, missing: float) -> Any:
    import numpy

    try:
        return numpy.fromiter(values, dtype, len(values))
    except TypeError:  # some are None
        return numpy.array([missing if value is None else value for value in values], dtype=dtype)


def _durations(numbers: Any, unit: Holds) -> Any:
    """Whole microseconds; a duration that does not fit is missing."""
    import numpy
    import pandas

    micros = numbers * _MICROSECONDS[unit]
    missing = ~(numpy.abs(micros) <= LARGEST)
    whole = numpy.where(missing, 0, micros).round().astype("int64").astype("timedelta64[us]")
    whole[missing] = numpy.timedelta64("NaT")
    return pandas.array(whole, dtype="timedelta64[us]")


def is_of_kind(column: Column, value: Any) -> bool:
    """Whether a value that somebody else wrote is one that the column can hold."""
    match column.holds:
        case Holds.TEXT | Holds.WORD | Holds.TIME:
            return isinstance(value, str)
        case Holds.COUNT | Holds.MILLISECONDS:
            return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
        case Holds.SECONDS | Holds.SHARE:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case Holds.FLAG:
            return isinstance(value, bool)
