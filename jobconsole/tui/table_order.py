"""Which operations are rows of the table, and in which order (SPEC U2, U8).

Only this file decides that, by ids alone; the table draws `rows`. An operation that vanishes from the store or from the filter
while the cursor stands on it lingers until the cursor leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from jobconsole.core.operation import Operation
from jobconsole.core.telling.filter import EVERYTHING, Filter
from jobconsole.tui.columns import Column, SortKey


class TableOrder:
    """Rows in order, each with its operation as it was seen last."""

    def __init__(self, column: Column) -> None:
        self.column, self.is_reversed, self.filter = column, False, EVERYTHING
        self.rows: list[str] = []
        self._seen: dict[str, Operation] = {}
        self._keys: dict[str, SortKey] = {}
        self._lingering: set[str] = set()
        self._new: list[str] = []  # have a key, and are not among the rows yet
        self._is_less = False  # some of the rows have no key any more

    def __contains__(self, operation_id: object) -> bool:
        return operation_id in self._keys

    def operation(self, operation_id: str) -> Operation:
        """The operation of a row."""
        return self._seen[operation_id]

    def place(self, operation_id: str | None) -> int | None:
        """The number of an operation's row; None where it has none."""
        return self.rows.index(operation_id) if operation_id in self._keys else None

    def take(self, operations: Mapping[str, Operation], changed: Iterable[str], now: datetime, *, keep: str | None) -> bool:
        """`changed` differ now; whether a row came, went or moved. The row of `keep` stays in any case."""
        if not self._keys:
            self.filter_by(self.filter, operations, now)
            return bool(self.rows)
        is_moved = False
        for operation_id in changed:
            op = operations.get(operation_id)
            if op is not None and self.filter.matches(op, now):
                self._lingering.discard(operation_id)
            elif operation_id == keep and operation_id in self._keys:
                self._lingering.add(operation_id)
            else:
                is_moved |= self._drop(operation_id)
                continue
            is_moved |= self._put(op or self._seen[operation_id])
        if is_moved:
            self._arrange()
        return is_moved

    def filter_by(self, wanted: Filter, operations: Mapping[str, Operation], now: datetime) -> None:
        """Make the rows anew: all that match."""
        self.filter, self._lingering, self._new, self._is_less = wanted, set(), [], False
        self._seen = {operation_id: op for operation_id, op in operations.items() if wanted.matches(op, now)}
        self._keys = {operation_id: self._key(op) for operation_id, op in self._seen.items()}
        self.rows = list(self._seen)
        self._arrange()

    def sort_by(self, column: Column, *, is_reversed: bool) -> None:
        """Another order of the same rows."""
        self.column, self.is_reversed = column, is_reversed
        self._keys = {operation_id: self._key(op) for operation_id, op in self._seen.items()}
        self._arrange()

    def leave(self, operation_id: str) -> bool:
        """The cursor left this row; whether the row went because it was only lingering."""
        if operation_id not in self._lingering:
            return False
        self._drop(operation_id)
        self._arrange()
        return True

    def _put(self, op: Operation) -> bool:
        key, before = self._key(op), self._keys.get(op.operation_id)
        is_moved = before != key
        if before is None:
            self._new.append(op.operation_id)
        self._seen[op.operation_id], self._keys[op.operation_id] = op, key
        return is_moved

    def _drop(self, operation_id: str) -> bool:
        self._lingering.discard(operation_id)
        self._seen.pop(operation_id, None)
        was_row = self._keys.pop(operation_id, None) is not None
        self._is_less |= was_row
        return was_row

    def _key(self, op: Operation) -> SortKey:
        return (*self.column.sort_key(op), op.operation_id)

    def _arrange(self) -> None:
        """What went goes, what came joins; nearly sorted already, as after most changes, sorting is one pass."""
        if self._is_less:
            self.rows = [operation_id for operation_id in self.rows if operation_id in self._keys]
        self.rows.extend(self._new)
        self._new, self._is_less = [], False
        self.rows.sort(key=self._keys.__getitem__, reverse=self.is_reversed)
