"""Logs for tests: events of a few operations with the times and fields that a test says, as stored lines and as a frame."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from jobconsole.adapters.frames import audit_frame
from jobconsole.core.keeping.line import Place, encode, timestamp

BEGAN = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
FIRST = "0" * 64


def at(seconds: float) -> str:
    """The moment so many seconds after the log's beginning, as it is stored."""
    return timestamp(BEGAN + timedelta(seconds=seconds))


class Log:
    """A log that grows event by event. The boot clock runs with the wall clock, unless a test says otherwise."""

    def __init__(self, boot: str = "boot-1") -> None:
        self.lines: list[bytes] = []
        self.boot = boot
        self._hash = FIRST
        self._op_seqs: dict[str, int] = {}

    def add(
        self, kind: str, operation_id: str | None, seconds: float, *, tx: int | None = None, up: float = 0, **fields: Any
    ) -> int:
        """Append an event; returns its `seq`. `up` is what the boot clock is ahead of `seconds` by; None leaves a field out."""
        seq = len(self.lines) + 1
        own = None
        if operation_id is not None:
            own = self._op_seqs[operation_id] = self._op_seqs.get(operation_id, 0) + 1
        place = Place(
            seq=seq,
            tx=seq if tx is None else tx,
            batch=seq,
            at=BEGAN + timedelta(seconds=seconds),
            up=round(1_000 * (seconds + up)),
            boot=self.boot,
        )
        line, self._hash = encode(
            place, self._hash, kind=kind, actor="worker:1", operation_id=operation_id, op_seq=own, fields=fields
        )
        self.lines.append(line)
        return seq

    def submitted(self, operation_id: str, seconds: float, provider: str = "acme", **fields: Any) -> None:
        """An operation begins: ten minutes, twelve requests."""
        self.add("submitted", operation_id, seconds, provider=provider, phase="submitting", **{**BOUNDS, **fields})

    def waiting(self, kind: str, operation_id: str, seconds: float, **fields: Any) -> int:
        """An event of an operation that waits."""
        return self.add(kind, operation_id, seconds, **{"phase": "waiting", **BOUNDS, **fields})

    def frame(self) -> Any:
        """The frame of the log so far."""
        return audit_frame(self.lines)


BOUNDS: dict[str, Any] = {"status_requests_used": 0, "max_status_requests": 12, "deadline_at": at(600)}


def rows(frame: Any, *columns: str) -> list[tuple[Any, ...]]:
    """The cells of a frame, missing ones as None, timedeltas in seconds."""
    return [tuple(map(_cell, row)) for row in frame[list(columns)].itertuples(index=False, name=None)]


def cells(values: Iterable[Any]) -> list[Any]:
    """The cells of a column, missing ones as None, timedeltas in seconds."""
    return [_cell(value) for value in values]


def _cell(value: Any) -> Any:
    import pandas as pd

    if pd.isna(value):
        return None
    return value.total_seconds() if isinstance(value, timedelta) else value
