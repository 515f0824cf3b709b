"""The order of rows by ids alone: random changes, and the table is what sorting everything anew would give."""

from __future__ import annotations

from datetime import timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.operation import Operation
from jobconsole.core.telling.filter import parse_filter
from jobconsole.core.vocabulary import Phase
from jobconsole.tui.columns import COLUMNS
from jobconsole.tui.table_order import TableOrder
from tests.core.telling.test_filter import NOW, made

IDS = [f"op-{number}" for number in range(8)]
CHANGES = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from([*Phase, None]), st.integers(0, 12)),
    max_size=40,
)


def op(operation_id: str, phase: Phase, used: int) -> Operation:
    """An operation as it is after a change; the number tells when it began, too."""
    started_at = NOW - timedelta(minutes=used)
    return msgspec.structs.replace(
        made(), operation_id=operation_id, name=operation_id, phase=phase, status_requests_used=used, started_at=started_at
    )


@given(CHANGES, st.sampled_from(COLUMNS), st.booleans(), st.sampled_from(["", "state:waiting", "checks>6"]))
def test_rows_are_what_matches_in_order_whatever_happened_before(
    changes: list[tuple[str, Phase | None, int]], column: object, is_reversed: bool, text: str
) -> None:
    """One change at a time against a table that is made at the end; None removes the operation."""
    operations: dict[str, Operation] = {}
    order = TableOrder(COLUMNS[0])
    order.filter_by(parse_filter(text), operations, NOW)
    order.sort_by(next(each for each in COLUMNS if each is column), is_reversed=is_reversed)
    for operation_id, phase, used in changes:
        if phase is None:
            operations.pop(operation_id, None)
        else:
            operations[operation_id] = op(operation_id, phase, used)
        order.take(operations, [operation_id], NOW, keep=None)
    anew = TableOrder(order.column)
    anew.sort_by(order.column, is_reversed=is_reversed)
    anew.filter_by(parse_filter(text), operations, NOW)
    assert order.rows == anew.rows
    assert set(order.rows) == {each.operation_id for each in operations.values() if order.filter.matches(each, NOW)}


def test_what_vanishes_under_the_cursor_lingers_until_the_cursor_leaves() -> None:
    """The operation is gone from the store; its row shows what was seen last, and goes when it is left."""
    operations = {name: op(name, Phase.WAITING, number) for number, name in enumerate(IDS)}
    order = TableOrder(COLUMNS[0])
    order.filter_by(parse_filter(""), operations, NOW)
    for name in ("op-3", "op-4"):
        del operations[name]
    assert order.take(operations, ["op-3", "op-4"], NOW, keep="op-3")
    assert "op-3" in order.rows
    assert "op-4" not in order.rows
    assert order.operation("op-3").name == "op-3"
    assert order.leave("op-3")
    assert "op-3" not in order.rows
    assert not order.leave("op-5")
    assert "op-5" in order.rows


def test_what_comes_back_while_it_lingers_stays() -> None:
    """It matched no more, then matched again: leaving it does not take it away."""
    operations = {"op-1": op("op-1", Phase.WAITING, 1)}
    order = TableOrder(COLUMNS[0])
    order.filter_by(parse_filter("state:waiting"), operations, NOW)
    operations["op-1"] = op("op-1", Phase.FAILED, 1)
    order.take(operations, ["op-1"], NOW, keep="op-1")
    operations["op-1"] = op("op-1", Phase.WAITING, 2)
    order.take(operations, ["op-1"], NOW, keep="op-1")
    assert not order.leave("op-1")
    assert order.rows == ["op-1"]
