"""The same frame with other dtypes: times in nanoseconds, or columns of Arrow (UX 5).

Only this file decides what `unit` and `dtype_backend` mean, and how such a frame becomes the usual one again. Which dtype a
column gets depends on its usual dtype alone, never on its values: an empty frame has the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from jobconsole.errors import InvalidValue

if TYPE_CHECKING:
    import pandas

Unit: TypeAlias = Literal["us", "ns"]
Backend: TypeAlias = Literal["numpy_nullable", "pyarrow"]
UNITS: Final = ("us", "ns")
BACKENDS: Final = ("numpy_nullable", "pyarrow")


def with_dtypes(frame: pandas.DataFrame, unit: Unit, dtype_backend: Backend) -> pandas.DataFrame:
    """A usual frame with its times and durations in `unit`, and its columns as those of `dtype_backend`.

    The words of closed vocabularies stay categories, in pandas's own form. Raises `InvalidValue` for an unknown word, where a
    time lies beyond what nanoseconds hold (1677 to 2262), and where pyarrow is not installed.
    """
    for name, said, known in (("unit", unit, UNITS), ("dtype_backend", dtype_backend, BACKENDS)):
        if said not in known:
            raise InvalidValue(f"{name} {str(said)[:40]!r} is unknown; use {' or '.join(known)}")
    if unit == "ns":
        frame = _in_nanoseconds(frame)
    return _of_arrow(frame) if dtype_backend == "pyarrow" else frame


def usual(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The frame with the columns of Arrow in their usual dtypes; the unit of times stays."""
    import pandas

    of_arrow = {name: _usual_dtype(dtype) for name, dtype in frame.dtypes.items() if isinstance(dtype, pandas.ArrowDtype)}
    return frame.astype(of_arrow) if of_arrow else frame


def _in_nanoseconds(frame: pandas.DataFrame) -> pandas.DataFrame:
    import pandas

    made = {}
    for name, dtype in frame.dtypes.items():
        if isinstance(dtype, pandas.DatetimeTZDtype):
            made[name] = "datetime64[ns, UTC]"
        elif pandas.api.types.is_timedelta64_dtype(dtype):
            made[name] = "timedelta64[ns]"
    try:
        return frame.astype(made)
    except (pandas.errors.OutOfBoundsDatetime, pandas.errors.OutOfBoundsTimedelta):
        raise InvalidValue("a time lies beyond what nanoseconds hold (1677 to 2262); use unit='us'") from None


def _of_arrow(frame: pandas.DataFrame) -> pandas.DataFrame:
    try:
        return frame.astype({name: found for name, dtype in frame.dtypes.items() if (found := _arrow_dtype(dtype)) is not None})
    except ImportError:
        raise InvalidValue("dtype_backend='pyarrow' needs pyarrow, which is not installed: pip install pyarrow") from None


def _arrow_dtype(dtype: Any) -> Any:
    """The dtype of Arrow beside a usual one; None for categories, which stay."""
    import pandas
    import pyarrow

    if isinstance(dtype, pandas.CategoricalDtype):
        return None
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return pandas.ArrowDtype(pyarrow.timestamp(dtype.unit, "UTC"))
    if pandas.api.types.is_timedelta64_dtype(dtype):
        return pandas.ArrowDtype(pyarrow.duration(str(dtype)[len("timedelta64[") : -1]))
    known = {"Int64": pyarrow.int64(), "Float64": pyarrow.float64(), "boolean": pyarrow.bool_(), "str": pyarrow.large_string()}
    return pandas.ArrowDtype(known[str(dtype)])


def _usual_dtype(dtype: pandas.ArrowDtype) -> str:
    import pyarrow

    kind = dtype.pyarrow_dtype
    if pyarrow.types.is_timestamp(kind):
        return f"datetime64[{kind.unit}, UTC]"
    if pyarrow.types.is_duration(kind):
        return f"timedelta64[{kind.unit}]"
    if pyarrow.types.is_boolean(kind):
        return "boolean"
    if pyarrow.types.is_integer(kind):
        return "Int64"
    return "Float64" if pyarrow.types.is_floating(kind) else "str"
