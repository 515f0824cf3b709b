"""One stored line: its bytes, its hash, and values that JSON cannot hold (STORE 1.1, case DB-03)."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.keeping.line import ENDING, HASH_FROM_END, MOST_BYTES, Place, beginning, encode, events, parse, storable
from jobconsole.errors import AuditBroken

PLACE = Place(seq=7, tx=8, batch=6, at=datetime(2026, 11, 29, 23, 5, 7, 123456, tzinfo=UTC), up=3124872, boot="7974cc38")


def encoded(**more: Any) -> tuple[bytes, str]:
    """A line with the given parts."""
    return encode(PLACE, "0" * 64, kind="check_reserved", actor="worker:w1", **more)


@pytest.mark.rule("L3")
def test_a_line_ends_in_exactly_76_bytes_that_its_hash_does_not_cover() -> None:
    """`,"hash":"` + 64 hex digits + `"}` + newline; the hash is of everything before."""
    line, digest = encoded(operation_id="op-1", op_seq=3, fields={"phase": "waiting", "left_out": None})
    assert line[-ENDING:] == f',"hash":"{digest}"}}\n'.encode()
    assert hashlib.sha256(line[:-ENDING]).hexdigest() == digest
    assert line[-HASH_FROM_END:-3].decode() == digest
    chained = ["v", "chain", "seq", "tx", "batch", "at", "up", "boot"]
    told = ["operation_id", "op_seq", "kind", "actor", "phase"]
    assert list(json.loads(line)) == [*chained, *told, "prev_hash", "hash"]


def test_times_are_utc_text_with_whole_milliseconds() -> None:
    """`at` is for people and for replay; order is `seq`."""
    assert json.loads(encoded()[0])["at"] == "2026-11-29T23:05:07.123Z"


def test_a_line_is_read_back_as_it_was_written() -> None:
    """`set` and all numbers survive."""
    changes = {"_default/7": {"name": "ü", "nested": {"a": [1, 2.5, None]}}, "actions/3": None}
    line, digest = encoded(operation_id="op-1", op_seq=3, changes=changes)
    read = parse(line)
    assert read is not None
    assert (read.seq, read.tx, read.batch, read.op_seq, read.operation_id) == (7, 8, 6, 3, "op-1")
    assert read.set == changes
    assert read.hash == digest


NESTED = b'{"v":1,"kind":"noted","x":' + b"[" * 5_000 + b"]" * 5_000 + b"}\n"


@pytest.mark.rule("L3")
def test_a_line_that_is_nested_deeper_than_python_follows_is_no_line() -> None:
    """Whatever its hash: whoever can write the file can write that, too."""
    body = NESTED[:-2]
    forged = body + f',"hash":"{hashlib.sha256(body).hexdigest()}"}}\n'.encode()
    assert parse(forged) is None


@pytest.mark.rule("L2", "S4")
@pytest.mark.parametrize(
    "line",
    [
        *(NESTED, b'{"v":1,\n', b"[]\n", b'{"kind":"\xff"}\n', b"\n", b"{}\n"),
        *(b'{"seq":1,"kind":"noted"}\n', b'{"seq":1,"kind":"noted","at":7}\n', b'{"seq":1,"kind":"noted","at":"noon"}\n'),
        b'{"seq":1,"kind":"noted","at":"2026-07-30T10:00:00"}\n',  # of no zone
        b'{"kind":"noted","at":"2026-07-30T10:00:00.000Z"}\n',
    ],
)
def test_a_line_that_is_no_event_is_named_where_events_are_told(line: bytes) -> None:
    whole = encoded()[0]
    told = events([whole, line, whole])
    assert next(told)["kind"] == "check_reserved"
    with pytest.raises(AuditBroken, match="line 2 of the audit is no event; see: jobconsole audit verify"):
        next(told)


@pytest.mark.rule("L3")
@given(st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_one_changed_byte_anywhere_is_noticed(place: int, by: int) -> None:
    """No byte of a line is outside its protection."""
    line = bytearray(encoded(operation_id="op-1", changes={"_default/7": {"name": "x"}})[0])
    line[place % len(line)] ^= by
    assert parse(bytes(line)) is None


@pytest.mark.parametrize("cut", [0, 1, 2, 3, 66, 67, 75, 76, 77, 200])
def test_a_cut_line_is_no_line(cut: int) -> None:
    """Whether bytes lack at the end or at the beginning."""
    line = encoded()[0]
    assert (parse(line[:-cut] if cut else line) is None) == (cut > 0)
    assert cut == 0 or parse(line[cut:]) is None


def test_two_stores_never_fit_together() -> None:
    """The first line follows from the store's id."""
    assert beginning("store-1").hash != beginning("store-2").hash


def test_a_field_may_not_pose_as_the_chain() -> None:
    """Reserved names are the store's own."""
    for name in ("seq", "hash", "prev_hash", "set", "tx"):
        with pytest.raises(ValueError, match=name):
            encoded(fields={name: 1})


def test_a_line_beyond_256_kib_is_refused() -> None:
    """Larger payloads are files with a digest."""
    assert len(encoded(fields={"text": "x" * (MOST_BYTES - 1000)})[0]) <= MOST_BYTES
    with pytest.raises(ValueError, match="too large"):
        encoded(fields={"text": "x" * MOST_BYTES})


def _deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.rule("S4")
@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ({1}, [1]),
        (datetime(2026, 11, 29, 10, 0, tzinfo=UTC), "2026-11-29T10:00:00.000Z"),
        (datetime(2026, 11, 29, 10, 0), "2026-11-29T10:00:00.000Z"),  # noqa: DTZ001
        (Decimal("1.10"), "1.10"),
        (b"\x00\xff", "AP8="),
        (float("nan"), None),
        (float("inf"), None),
        (2**53, 2**53),
        (2**53 + 1, "9007199254740993"),
        (10**400, str(10**400)),
        (10**4000, "(not stored: an integer of 13288 bits)"),
        ({1: "a"}, {"1": "a"}),
        ("a\ud800b", "a\ufffdb"),
        ({"a\udfff": 1}, {"a\ufffd": 1}),
        (("a", 1), ["a", 1]),
        (True, True),
        (object, "(not stored: a value of type type)"),
    ],
)  # fmt: skip
def test_what_json_cannot_hold_loses_only_itself(value: Any, becomes: Any) -> None:
    """Case DB-03: known types are converted on purpose, the rest becomes null or a note; the line is still written."""
    assert storable({"field": value}) == {"field": becomes}
    read = parse(encoded(changes={"_default/7": storable({"field": value})})[0])
    assert read is not None
    assert read.set["_default/7"] == {"field": becomes}


def test_a_value_nested_100000_deep_becomes_a_note() -> None:
    """Case DB-03: neither recursion nor the line breaks."""
    kept = storable({"payload": _deep(100_000), "state": "done"})
    assert kept["state"] == "done"
    assert "nested too deep" in json.dumps(kept["payload"])


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.text(st.characters(categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@pytest.mark.rule("S4")
@given(st.dictionaries(st.text(), VALUES))
def test_whatever_comes_is_stored_as_strict_json_and_read_back_equal(payload: dict[str, Any]) -> None:
    """What memory merges is exactly what the bytes say."""
    kept = storable(payload)
    read = parse(encoded(changes={"_default/7": kept})[0])
    assert read is not None
    assert read.set["_default/7"] == kept
