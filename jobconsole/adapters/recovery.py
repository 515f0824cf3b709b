"""What the holder of the lock does before it writes: catch up, judge the end of the journal, repair or refuse (STORE 3.2).

Only this file decides whether an unfinished end may be cut. It may where the batch was never acknowledged: the last holder
died inside (dirty mark) and, within one boot, the end lies behind the place where it had begun. Anything else is damage: it
is named, and nothing is written any more.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobconsole.adapters.journal import End, Journal
from jobconsole.core.keeping.scan import Tail, judge, scan
from jobconsole.errors import StoreDamaged, StoreNewer

if TYPE_CHECKING:
    from jobconsole.adapters.replica import Replica
    from jobconsole.adapters.store_lock import Mark


@dataclass(frozen=True, slots=True)
class Repair:
    """What was cut, so that the audit says so."""

    cut_bytes: int
    cut_sha256: str
    after_seq: int


def catch_up(replica: Replica, mark: Mark | None, boot: str, *, is_opening: bool) -> Repair | None:
    """Bring the replica to the journal's end, under the lock; returns what had to be cut.

    `mark` is what the last holder left; none is a first opening. Raises `StoreDamaged`, which names the place.
    """
    is_dirty = mark is None or mark.state != "clean" or mark.boot != boot
    replica.look(is_strict=True)
    if replica.mismatch:
        raise StoreDamaged(_advice(replica.mismatch))
    if replica.is_migrated:
        raise StoreNewer("the store was migrated by a newer jobconsole; nothing was changed. Use the newer version")
    if damage := damage_behind(replica.journal):
        raise StoreDamaged(_advice(damage))
    end, rest = replica.end, replica.journal.rest()
    place = _place(end)
    if mark is not None and mark.boot == boot and _is_before(end, mark):
        raise StoreDamaged(_advice(f"{place} is missing or changed; segment {mark.segment:012d} was whole to {mark.offset}"))
    if is_opening or is_dirty:
        _compare_with_anchor(replica)
    if is_dirty:
        replica.journal.sync_left()
    if not rest:
        return None
    if not is_dirty:
        raise StoreDamaged(_advice(f"{place} is missing or changed, although the last process ended cleanly"))
    replica.journal.cut()
    return Repair(len(rest), hashlib.sha256(rest).hexdigest(), end.head.seq)


def damage_behind(journal: Journal) -> str:
    """What a later line proves to be missing or changed behind the journal's whole part; empty where nothing is proved.

    A reader without the lock may ask too: what somebody has just written counts as whole, and an unfinished write never looks
    like damage. Both are read at once, or a batch that came between would seem to prove that its first lines are missing.
    """
    end, rest = journal.end, journal.rest()
    written = scan(rest, end.head)
    judgement = judge(rest[written.end :], written.head.seq + 1)
    if judgement.tail is not Tail.DAMAGED or judgement.proof is None:
        return ""
    place = _place(End(end.segment, end.offset + written.end, written.head))
    return f"{place} is missing or changed; event {judgement.proof.seq} proves that it was there"


def _place(end: End) -> str:
    return f"event {end.head.seq + 1} (segment {end.segment:012d}, byte {end.offset})"


def _is_before(end: End, mark: Mark) -> bool:
    """Whether the journal's whole part ends before a place that was whole in this boot."""
    return (end.segment, end.offset) < (mark.segment, mark.offset)


def _compare_with_anchor(replica: Replica) -> None:
    from jobconsole.adapters.anchors import newest_anchor  # readers ask `damage_behind`, and need no anchors

    anchor = newest_anchor(replica.folder.anchors)
    if anchor is None:
        return
    head = replica.end.head
    if anchor.seq > head.seq:
        raise StoreDamaged(_advice(f"the journal ends at event {head.seq}, the newest anchor names {anchor.seq}"))
    if anchor.offset and replica.journal.hash_at(anchor.segment, anchor.offset) not in (anchor.hash, None):
        raise StoreDamaged(_advice(f"event {anchor.seq} is not the one that the newest anchor names"))


def _advice(what: str) -> str:
    return f"the store is damaged: {what}. Nothing was changed and nothing is written; see `jobconsole audit verify`"
