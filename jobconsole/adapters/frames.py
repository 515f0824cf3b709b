"""The audit as a typed DataFrame: the only importer of pandas, and only when a frame is asked for (SPEC L2).

Only this file decides the columns' dtypes. They are the same for any audit, also for an empty one: UTC times as
`datetime64[us, UTC]`, closed vocabularies as categories with all their values, counts as `Int64`, the boot clock as a
timedelta, ids and other texts as `str`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from jobconsole.core.events import Kind
from jobconsole.core.operation import DelaySource, Phase

if TYPE_CHECKING:
    import pandas

DECISIONS: Final = ("wait_until", "confirm", "succeed", "stop", "escalate")
_TIME, _COUNT, _TEXT, _CLOCK = "time", "count", "text", "clock"

SCHEMA: Final[Mapping[str, str | tuple[str, ...]]] = {
    "seq": _COUNT,
    "at": _TIME,
    "operation_id": _TEXT,
    "kind": tuple(Kind),
    "phase": tuple(Phase),
    "job_state": _TEXT,
    "planned_at": _TIME,
    "delay_source": tuple(DelaySource),
    "status_requests_used": _COUNT,
    "max_status_requests": _COUNT,
    "deadline_at": _TIME,
    "http_status": _COUNT,
    "provider_request_id": _TEXT,
    "decision": DECISIONS,
    "reason": _TEXT,
    "detail": _TEXT,
    "option": _TEXT,
    "effect": _TEXT,
    "reason_text": _TEXT,
    "actor": _TEXT,
    "lease_token": _COUNT,
    "revision": _COUNT,
    "chain": _TEXT,
    "op_seq": _COUNT,
    "tx": _COUNT,
    "batch": _COUNT,
    "up": _CLOCK,
    "boot": _TEXT,
    "prev_hash": _TEXT,
    "hash": _TEXT,
}
"""Column -> kind; a tuple is a closed vocabulary."""

_Row = msgspec.defstruct("_Row", [(name, int | str | None, None) for name in SCHEMA], frozen=True, gc=False, module=__name__)
_decode: Callable[[bytes], Any] = msgspec.json.Decoder(_Row).decode


def audit_frame(lines: Sequence[bytes]) -> pandas.DataFrame:
    """One row an event, in the order of the chain. A value that is not of its column's type is missing, never guessed."""
    import pandas

    rows = [_decode(line) for line in lines]
    columns = {name: _column([getattr(row, name) for row in rows], kind) for name, kind in SCHEMA.items()}
    return pandas.DataFrame(columns)


def _column(values: list[Any], kind: str | tuple[str, ...]) -> Any:
    import pandas

    if isinstance(kind, tuple):
        vocabulary = [str(value) for value in kind]
        return pandas.Categorical(values, categories=vocabulary)
    if kind == _TIME:
        texts = pandas.Series(values, dtype="object")
        return pandas.to_datetime(texts, utc=True, errors="coerce", format="ISO8601").astype("datetime64[us, UTC]")
    if kind == _COUNT:
        return pandas.array([value if isinstance(value, int) else None for value in values], dtype="Int64")
    if kind == _CLOCK:
        clock = pandas.to_timedelta(pandas.array(values, dtype="Int64"), unit="ms")
        return pandas.Series(clock).astype("timedelta64[us]")
    return pandas.Series([value if isinstance(value, str) else None for value in values], dtype="str")
