"""How a column of plain values becomes a typed array of pandas (SPEC L2).

Only this file decides the dtypes. They depend on the column alone, never on its values, so an empty frame has the same: UTC
times as `datetime64[us, UTC]`, closed vocabularies as categories with all their words, counts as `Int64`, durations as
`timedelta64[us]`, shares as `Float64`, flags as `boolean`, ids and other texts as `str`. Every step is one call for a whole
column: a million lines are no loop of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from jobconsole.core.columns import Column, Holds

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


def array(column: Column, values: Sequence[Any], words: Words | None = None) -> Any:
    """The values as an array of the column's dtype; a word becomes its code in `words`, to be named when all are there.

    Values are what the store holds: text, integers, floats, booleans; None where there is none. Times are RFC 3339 text.
    """
    import numpy
    import pandas

    match column.holds:
        case Holds.WORD:
            assert words is not None
            return numpy.fromiter(map(words.__getitem__, values), numpy.int32, len(values))
        case Holds.TEXT:
            return _texts(values)
        case Holds.TIME:
            return _times(values)
        case Holds.COUNT:
            return _counts(values)
        case Holds.MILLISECONDS:
            return _durations(_counts(values), Holds.MILLISECONDS)
        case Holds.SECONDS | Holds.SHARE:
            numbers = pandas.array(numpy.array(values, dtype="float64"), dtype="Float64")
            return numbers if column.holds is Holds.SHARE else _durations(numbers, Holds.SECONDS)
        case Holds.FLAG:
            return pandas.array(list(values), dtype="boolean")


def named(codes: Any, words: Words) -> Any:
    """The categorical array that the codes stand for."""
    import pandas

    return pandas.Categorical.from_codes(codes, categories=pandas.Index(words.categories(), dtype="str"))


def _texts(values: Sequence[Any]) -> Any:
    """The texts; pyarrow, where it is there, takes a quarter of the time."""
    import pandas

    arrow = _pyarrow()
    found = list(values) if arrow is None else arrow.array(values, arrow.large_string())
    return pandas.array(found, dtype="str")


def _times(values: Sequence[Any]) -> Any:
    """The moments; what is none is missing. pyarrow, where it is there, takes a quarter of the time for those that we wrote."""
    import pandas

    arrow = _pyarrow()
    if arrow is not None:
        try:
            found = arrow.array(values, arrow.string()).cast(arrow.timestamp("us", "UTC"))
        except arrow.ArrowInvalid:  # some are none, or have a form of their own
            pass
        else:
            return pandas.array(found.to_numpy(zero_copy_only=False), dtype="datetime64[us]").tz_localize("UTC")
    moments = pandas.to_datetime(pandas.Series(values, dtype="object"), utc=True, errors="coerce", format="ISO8601")
    return moments.astype("datetime64[us, UTC]").array


def _pyarrow() -> Any:
    """The package, or None where it is not installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


def _counts(values: Sequence[Any]) -> Any:
    import numpy
    import pandas

    try:
        numbers = numpy.array(values, dtype="int64")
    except TypeError:  # some are None
        numbers = numpy.array([NO_COUNT if value is None else value for value in values], dtype="int64")
    return pandas.arrays.IntegerArray(numbers, numbers == NO_COUNT)


def _durations(numbers: Any, unit: Holds) -> Any:
    """Whole microseconds; a duration that does not fit is missing."""
    import numpy
    import pandas

    micros = numbers.to_numpy(dtype="float64", na_value=numpy.nan) * _MICROSECONDS[unit]
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
