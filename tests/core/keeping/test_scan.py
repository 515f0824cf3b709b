"""The end of a journal: whole transactions count, an unfinished one is torn or damage (STORE 3.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.command import Moment, Plan, Scope
from jobconsole.core.events import EventDraft, Kind
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import Position, beginning
from jobconsole.core.keeping.scan import Tail, judge, scan
from jobconsole.core.keeping.transaction import Batch
from tests.store.made import START

BEGINNING = beginning("store-1")


def batch(head: Position, events: list[int]) -> tuple[bytes, list[int], Position]:
    """One write with transactions of so many events each: its bytes, where each transaction ends, and the new head."""
    work = Batch(Documents(), head, Moment(START, 1, "boot-1"), lambda owner: False)
    for count in events:
        drafts = tuple(EventDraft(kind=Kind.HINT_REJECTED, actor="worker:w1", fields={"n": n}) for n in range(count))
        work.run(Scope(), lambda view, drafts=drafts: Plan(drafts, None))  # type: ignore[misc]
    sizes = [transaction.size for transaction in work.transactions]
    data = b"".join(line for transaction in work.transactions for line in transaction.lines)
    return data, [sum(sizes[: n + 1]) for n in range(len(sizes))], work.head


BEFORE, _, HEAD = batch(BEGINNING, [1, 2])
LAST, ENDS, NEW_HEAD = batch(HEAD, [2, 1, 3])  # the last batch: three transactions, six lines


def whole_before(size: int) -> int:
    """Where the last whole transaction of the last batch ends, if only `size` bytes of it are there."""
    return max((end for end in ENDS if end <= size), default=0)


@pytest.mark.rule("S4")
def test_a_batch_cut_at_any_length_leaves_its_whole_transactions() -> None:
    """Every one of its lengths: the state of the last whole transaction, and the rest is torn, never damage."""
    for size in range(len(LAST) + 1):
        found = scan(LAST[:size], HEAD)
        assert found.end == whole_before(size)
        rest = LAST[found.end : size]
        assert judge(rest, found.head.seq + 1).tail is (Tail.TORN if rest else Tail.CLEAN)


@pytest.mark.rule("S4")
def test_zeros_from_any_place_on_leave_the_whole_transactions() -> None:
    """A file system may give the length and not the data."""
    for size in range(0, len(LAST), 7):
        data = LAST[:size] + bytes(len(LAST) - size)
        found = scan(data, HEAD)
        assert found.end == whole_before(size)
        assert judge(data[found.end :], found.head.seq + 1).tail is Tail.TORN


@pytest.mark.rule("S4")
def test_a_hole_in_the_last_batch_is_torn_although_later_lines_are_there() -> None:
    """A lost middle page of a batch that was never acknowledged: its later lines say that they came in the same write."""
    for place in range(0, len(LAST) - 64, 13):
        data = LAST[:place] + bytes(64) + LAST[place + 64 :]
        found = scan(data, HEAD)
        assert found.end == whole_before(place)
        assert judge(data[found.end :], found.head.seq + 1).tail is Tail.TORN


@pytest.mark.rule("S4", "L3")
def test_a_hole_in_an_earlier_batch_is_damage_and_the_proof_is_named() -> None:
    """The last batch says where it began: everything before had been synced."""
    for place in range(0, len(BEFORE) - 64, 13):
        data = BEFORE[:place] + bytes(64) + BEFORE[place + 64 :] + LAST
        found = scan(data, BEGINNING)
        judgement = judge(data[found.end :], found.head.seq + 1)
        assert judgement.tail is Tail.DAMAGED
        assert judgement.proof is not None
        assert judgement.missing < judgement.proof.batch == HEAD.seq + 1


@pytest.mark.rule("S4")
@given(st.data())
def test_whatever_of_an_unsynced_batch_is_lost_the_result_is_a_prefix_of_whole_transactions(data: st.DataObject) -> None:
    """Any sectors of 512 bytes lost, perhaps cut as well."""
    size = data.draw(st.integers(0, len(LAST)))
    raw = bytearray(LAST[:size])
    for sector in data.draw(st.sets(st.integers(0, len(LAST) // 512))):
        raw[sector * 512 : (sector + 1) * 512] = bytes(len(raw[sector * 512 : (sector + 1) * 512]))
    found = scan(bytes(raw), HEAD)
    assert found.end in (0, *ENDS)
    assert bytes(raw[: found.end]) == LAST[: found.end]
    assert judge(bytes(raw[found.end :]), found.head.seq + 1).tail is not Tail.DAMAGED
