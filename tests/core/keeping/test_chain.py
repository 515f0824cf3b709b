"""Verification finds every kind of tampering, and says what it cannot prove (L3, L7)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.command import Moment, Plan, Scope
from jobconsole.core.events import EventDraft, Kind
from jobconsole.core.keeping.chain import Anchor, Breach, Broken, verify
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import Place, beginning, encode, parse
from jobconsole.core.keeping.transaction import Batch
from jobconsole.core.vocabulary import Phase
from tests.store.made import START, count_one, create, made

STORE = "store-1"


def chain(*, reservations: int = 4, is_closed: bool = True) -> list[bytes]:
    """Lines of a store with one operation: created, some requests counted, succeeded."""
    documents, head, lines = Documents(), beginning(STORE), list[bytes]()

    def batch() -> Batch:
        return Batch(documents, head, Moment(START, 1_000, "boot-1"), lambda owner: False)

    scope = Scope(operations=("op-1",), creating=True)
    end = EventDraft(
        kind=Kind.CHECK_ANSWERED,
        actor="worker:w1",
        operation_id="op-1",
        op_seq=reservations + 2,
        set={("operations", "op-1"): {"phase": Phase.SUCCEEDED}},
    )
    last = EventDraft(kind=Kind.CLOSED, actor="worker:w1", operation_id="op-1", op_seq=reservations + 3)
    steps = [create(made())] + [count_one("op-1")] * reservations
    for number, step in enumerate([None, *steps, None]):
        work = batch()
        if number == 0:
            work.note(Kind.STORE_CREATED, "store:test")
        elif step is not None:
            work.run(scope, step)
        else:
            work.run(scope, lambda view: Plan((end, last) if is_closed else (end,), None))
        for transaction in work.transactions:
            lines.extend(transaction.lines)
            documents.merge_all(transaction.sets, ())
        head = work.head
    return lines


LINES = chain()
COUNT = len(LINES)  # store_created, submitted, 4 reservations, check_answered, closed


def anchor(seq: int) -> Anchor:
    """An anchor at an event of the good chain."""
    line = parse(LINES[seq - 1])
    assert line is not None
    return Anchor(seq, line.hash)


def forged(at: int, prev_hash: str | None = None) -> bytes:
    """A self-consistent line that was never written: same place, other content."""
    old = parse(LINES[at])
    assert old is not None
    place = Place(old.seq, old.seq, old.seq, START, 1, "boot-1")
    return encode(place, prev_hash or old.prev_hash, kind="check_planned", actor="worker:evil")[0]


@pytest.mark.rule("L3", "L7")
def test_a_whole_chain_is_valid_and_says_what_could_be_cut() -> None:
    """Eight events, anchored at the fifth: 6 to 8 could go without trace."""
    found = verify(LINES, [anchor(3), anchor(5)], store_id=STORE, requests_used={"op-1": 4})
    assert found.is_valid
    assert (found.whole_to, found.anchored_to) == (8, 5)
    assert (
        found.story[-1]
        == "events 6 to 8 are newer than the last anchor: until the next one, cutting them off would leave no trace"
    )


@pytest.mark.rule("L3")
@pytest.mark.parametrize(
    ("what", "lines", "seq", "line"),
    [
        (Breach.CHANGED, [*LINES[:3], LINES[3].replace(b"worker:w1", b"worker:w2"), *LINES[4:]], 4, 4),
        (Breach.CHANGED, [*LINES[:3], forged(3), *LINES[4:]], 5, 5),
        (Breach.REMOVED, [*LINES[:3], *LINES[4:]], 4, 4),
        (Breach.REMOVED, LINES[1:], 1, 1),
        (Breach.INSERTED, [*LINES[:4], LINES[1], *LINES[4:]], 5, 5),
        (Breach.INSERTED, [*LINES[:3], forged(3), *LINES[3:]], 5, 5),
        (Breach.SWAPPED, [*LINES[:2], LINES[3], LINES[2], *LINES[4:]], 3, 3),
        (Breach.SWAPPED, [*LINES[:1], LINES[6], *LINES[2:6], LINES[1], *LINES[7:]], 2, 2),
        (Breach.CUT, [*LINES[:6], LINES[6][:-20]], 7, 7),
        (Breach.CUT, LINES[:7], 8, 8),  # the transaction of events 7 and 8 is not whole
        (Breach.EMPTY, [], 1, 1),
    ],
    ids=["content", "rehashed", "removed", "first removed", "copied in", "forged in", "neighbours", "far apart", "half a line",
         "half a transaction", "empty"],
)  # fmt: skip
def test_the_first_broken_place_is_named(what: Breach, lines: Sequence[bytes], seq: int, line: int) -> None:
    """By kind, `seq`, segment and line, without any anchor."""
    found = verify(lines, store_id=STORE)
    assert not found.is_valid
    assert found.broken is not None
    assert (found.broken.what, found.broken.seq, found.broken.segment, found.broken.line) == (what, seq, 1, line)


@pytest.mark.rule("L7")
@pytest.mark.parametrize("left", range(1, 8))
def test_a_cut_behind_an_anchor_shows(left: int) -> None:
    """Whole transactions cut off the end: the anchor at the last event names what is missing."""
    found = verify(LINES[:left], [anchor(8)], store_id=STORE)
    assert found.broken is not None
    assert found.broken.what is Breach.CUT
    assert not found.is_valid


@pytest.mark.rule("L7")
def test_an_empty_log_is_never_valid() -> None:
    """Not even where no anchor was ever written."""
    assert not verify([]).is_valid
    assert "there is no line at all" in verify([]).story[0]


@pytest.mark.rule("L3")
def test_a_chain_written_anew_does_not_fit_its_anchor_nor_another_store() -> None:
    """Whoever rewrites everything keeps the hashes consistent, but not the anchor's."""
    other = chain(reservations=5)
    broken = verify(other, [anchor(7)], store_id=STORE).broken
    assert broken is not None
    assert (broken.what, broken.seq) == (Breach.CHANGED, 7)
    assert verify(LINES, store_id="store-2").broken == Broken(
        Breach.CHANGED, 1, 1, 1, "it does not follow from the line before"
    )


@pytest.mark.rule("L7", "B4")
@pytest.mark.parametrize(("used", "is_valid"), [(4, True), (3, False), (5, False), (0, False)])
def test_a_record_whose_counter_is_not_the_number_of_logged_requests_is_named(used: int, is_valid: bool) -> None:
    """Four reservations are in the log."""
    found = verify(LINES, store_id=STORE, requests_used={"op-1": used})
    assert found.is_valid == is_valid
    assert is_valid or f"op-1 counts {used} status requests, the log shows 4" in found.story[0]


@pytest.mark.rule("L7")
def test_an_ended_operation_needs_a_closing_event() -> None:
    """Each operation's story has an end."""
    found = verify(chain(is_closed=False), store_id=STORE)
    assert found.unclosed == ("op-1",)
    assert not found.is_valid


def test_lines_are_counted_anew_in_each_segment() -> None:
    """A segment is named by its first `seq`; `segment_closed` ends one."""
    documents, head, lines = Documents(), beginning(STORE), list[bytes]()
    for number in range(6):
        batch = Batch(documents, head, Moment(START, 1, "b"), lambda owner: False)
        lines.extend(batch.note(Kind.SEGMENT_CLOSED if number == 2 else Kind.PROCESS_OPENED, "store:test").lines)
        head = batch.head
    broken = verify([*lines[:4], *lines[5:]], store_id=STORE).broken
    assert broken is not None
    assert (broken.seq, broken.segment, broken.line) == (5, 4, 2)


@pytest.mark.rule("L3", "L7")
@given(data=st.data())
def test_any_tampering_before_the_anchor_is_found(data: st.DataObject) -> None:
    """Change, remove, insert, swap, cut, empty: whatever differs from the good chain is not valid."""
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 3))):
        act = data.draw(st.sampled_from(["change", "remove", "insert", "swap", "cut", "empty"]))
        if not lines:
            break
        at = data.draw(st.integers(0, len(lines) - 1))
        if act == "change":
            raw = bytearray(lines[at])
            raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
            lines[at] = bytes(raw)
        elif act == "remove":
            del lines[at]
        elif act == "insert":
            lines.insert(at, data.draw(st.sampled_from([*LINES, forged(2), b"\n", b"{}\n"])))
        elif act == "swap":
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        elif act == "cut":
            lines = [*lines[:at], lines[at][: data.draw(st.integers(0, len(lines[at])))]]
        else:
            lines = []
        lines = b"".join(lines).splitlines(keepends=True)
    found = verify(lines, [anchor(8)], store_id=STORE)
    assert found.is_valid == (b"".join(lines) == b"".join(LINES))
