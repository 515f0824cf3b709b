"""Operations become a DataFrame, one row each, in the order in which they are given (SPEC L2).

Only this file decides which fields of a record are columns. The console and the notebook's table call it. Nothing in a row
depends on the moment of asking: what is still under way has no `duration`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from jobconsole.adapters.frames.arrays import array
from jobconsole.core.operation import Operation
from jobconsole.core.telling.columns import Column, Holds, word
from jobconsole.core.vocabulary import DelaySource, Delivery, Phase, Reason, StateClass

if TYPE_CHECKING:
    import pandas

_COUNTED: Final = ("status_requests", "transport_failures", "rate_limits")


def _columns(holds: Holds, *paths: str, **renamed: str) -> dict[Column, str]:
    """Columns that are read at a path of the record; `name="path"` where the two differ."""
    return {Column(name, holds): path for name, path in {**{path: path for path in paths}, **renamed}.items()}


_PATHS: Final[dict[Column, str]] = {
    **_columns(Holds.TEXT, "operation_id", "name", "provider", "account", "provider_job_id", "task", "owner", "submitted_by"),
    **_columns(Holds.FLAG, tracked="is_tracked"),
    **_columns(Holds.TEXT, "resubmit_of", "group"),
    word("phase", Phase): "phase",
    **_columns(Holds.TEXT, "last_known_state"),
    word("state_class", StateClass): "state_class",
    **_columns(Holds.TIME, "state_since", "stalls_at", "observed_at"),
    **_columns(Holds.SHARE, progress="progress_share"),
    **_columns(Holds.TEXT, "message", error_code="error.code", error="error.text"),
    **_columns(Holds.COUNT, items="counts.total", items_succeeded="counts.succeeded", items_failed="counts.failed"),
    **_columns(Holds.TEXT, "errors_url"),
    **_columns(Holds.FLAG, late="is_late"),
    word("delivery", Delivery): "delivery",
    **_columns(Holds.COUNT, "last_http_status"),
    **_columns(Holds.TIME, "last_http_at"),
    **_columns(Holds.TEXT, "last_request_id"),
    **_columns(Holds.TIME, "provider_started_at", "provider_ended_at", "provider_expires_at"),
    **_columns(Holds.SECONDS, estimated_duration="estimated_seconds"),
    **_columns(Holds.TIME, "started_at", "submitted_at", "deadline_at", "business_deadline_at", "ended_at"),
    **_columns(Holds.COUNT, *(f"{name}_used" for name in _COUNTED)),
    **_columns(Holds.COUNT, *(f"max_{name}" for name in _COUNTED), "attempts", extensions="granted.times"),
    **_columns(Holds.TIME, "next_poll_at"),
    word("delay_source", DelaySource): "delay_source",
    word("escalation", Reason): "escalation.reason",
    **_columns(Holds.TIME, escalated_at="escalation.since"),
    word("look", Reason): "look.reason",
    **_columns(Holds.TEXT, look_answer="look.answer"),
    **_columns(Holds.TEXT, "contract", "request_fingerprint"),
    **_columns(Holds.COUNT, "revision", "op_seq"),
}

_SPANS: Final[dict[Column, Callable[[Operation], float | None]]] = {
    Column("duration", Holds.SECONDS): lambda op: (op.ended_at - op.started_at).total_seconds() if op.ended_at else None,
    Column("waited_for_person", Holds.SECONDS): lambda op: op.waited_for_person_ms / 1_000,
}

OPERATIONS: Final = (*_PATHS, *_SPANS)
"""The columns. `duration` is from `started_at` to `ended_at`, `waited_for_person` how long nothing was sent because a person
had to decide, as far as that was answered; `items` and its parts count a batch's items."""


def operations_frame(operations: Sequence[Operation]) -> pandas.DataFrame:
    """One row an operation; the same columns and dtypes when there is none."""
    import pandas

    whole: dict[str, Any] = {}
    for column, path in _PATHS.items():
        values = [*map(_reader(path), operations)]
        whole[column.name] = array(column, [_stored(value) for value in values] if column.holds is Holds.TIME else values)
    for column, length in _SPANS.items():
        whole[column.name] = array(column, [*map(length, operations)])
    return pandas.DataFrame(whole)


def _reader(path: str) -> Callable[[Operation], Any]:
    """What a path means; a part that a record lacks has no fields."""
    first, _, rest = path.partition(".")
    outer = attrgetter(first)
    if not rest:
        return outer
    inner = attrgetter(rest)
    return lambda op: None if (part := outer(op)) is None else inner(part)


def _stored(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
