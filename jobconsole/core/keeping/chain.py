"""Verification of the chain: what is proved, what is broken, and what could be cut without trace (L3, L7, STORE 7).

Only this file decides what "valid" means. It takes stored lines and anchors and needs no store, no key and no clock; the
command `audit verify`, the stores' `verify` and tests call it. It goes on behind a broken place, so that counts stay as
complete as they can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from jobconsole.core.events import Kind, Table
from jobconsole.core.keeping.documents import WIRE_NAMES
from jobconsole.core.keeping.due import TERMINAL
from jobconsole.core.keeping.line import CHAIN, Line, Position, beginning, parse

_OPERATIONS: Final = f"{WIRE_NAMES[Table.OPERATIONS]}/"
_COMPARED: Final = frozenset(("operation_id", "status_requests_used", "phase"))


@dataclass(frozen=True, slots=True)
class Anchor:
    """The chain's head as it was written down outside the log. `segment` and `offset` say where its line ends."""

    seq: int
    hash: str
    at: str = ""
    segment: int = 1
    offset: int = 0
    checkpoint_sha256: str | None = None


class Breach(StrEnum):
    """What happened to a line, as far as the lines around it tell."""

    CHANGED = "changed"
    REMOVED = "removed"
    INSERTED = "inserted"
    SWAPPED = "swapped"
    CUT = "cut"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Broken:
    """The first broken place: the `seq` that should stand there, its segment (named by its first `seq`) and line in it."""

    what: Breach
    seq: int
    segment: int
    line: int
    detail: str

    def __str__(self) -> str:
        if self.what is Breach.EMPTY:
            return f"empty: {self.detail}, so nothing is proved"
        return f"{self.what} at seq {self.seq} (segment {self.segment:012d}, line {self.line}): {self.detail}"


@dataclass(frozen=True, slots=True)
class Miscount:
    """An operation whose counter is not the number of its logged reservations."""

    operation_id: str
    logged: int
    recorded: int


@dataclass(frozen=True, slots=True)
class Verification:
    """What the log proves by itself and together with its anchors.

    The chain is whole from its first line to `whole_to`; up to `anchored_to` a cut would show; what lies between could be cut
    without trace. `unclosed` are operations that ended without a closing event, `unarchived` those that the archive has lost.
    """

    whole_to: int
    anchored_to: int
    broken: Broken | None = None
    miscounts: tuple[Miscount, ...] = ()
    unclosed: tuple[str, ...] = ()
    unarchived: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Nothing is broken, counters fit, every end has its closing event. Never true of an empty log.

        What the archive has lost is no fault of the log, which has it all.
        """
        return self.broken is None and not self.miscounts and not self.unclosed

    @property
    def story(self) -> tuple[str, ...]:
        """The findings as plain sentences, the first broken place first."""
        said = [f"BROKEN: {self.broken}"] if self.broken else []
        said += [
            f"BROKEN: {m.operation_id} counts {m.recorded} status requests, the log shows {m.logged}" for m in self.miscounts
        ]
        said += [f"BROKEN: {operation_id} ended without a closing event" for operation_id in self.unclosed]
        said.append(f"whole up to {self.whole_to}, anchored up to {self.anchored_to}")
        if self.whole_to > self.anchored_to:
            newer = f"{self.anchored_to + 1} to {self.whole_to}"
            said.append(
                f"events {newer} are newer than the last anchor: until the next one, cutting them off would leave no trace"
            )
        if self.unarchived:
            missing = f"{len(self.unarchived)} archived operations are" if self.unarchived[1:] else f"{self.unarchived[0]} is"
            said.append(f"{missing} missing from the archive; make it anew with: jobconsole audit rebuild-archive")
        return tuple(said)


def verify(
    lines: Iterable[bytes],
    anchors: Iterable[Anchor] = (),
    *,
    store_id: str | None = None,
    start: Position | None = None,
    requests_used: Mapping[str, int] | None = None,
    archived: Mapping[str, int] | None = None,
) -> Verification:
    """Verify stored lines in the order in which they lie.

    `store_id` binds the first line to its store; `start` is the position before the first line where earlier segments were
    moved elsewhere. `requests_used` are the counters of the live records by operation id, `archived` those of the archive; they
    are compared with the log, as are the counters that the log itself sets.
    """
    start = start or (beginning(store_id) if store_id is not None else None)
    walk = _Walk(start, {anchor.seq: anchor.hash for anchor in anchors})
    for data in lines:
        walk.take(data)
    return walk.finish(requests_used or {}, archived)


@dataclass(slots=True)
class _Walk:
    """One pass over the lines."""

    head: Position | None
    anchors: dict[int, str]
    broken: Broken | None = None
    is_at_end_of_segment: bool = False
    segment: int = 1
    line: int = 0
    seen: int = 0
    whole_to: int = 0
    anchored_to: int = 0
    tx: int = 0
    cut_at: Broken | None = None
    missing: int | None = None  # the seq whose absence broke the chain
    records: dict[str, dict[str, Any]] = field(default_factory=dict)  # what replay makes of the compared fields
    reserved: Counter[str] = field(default_factory=Counter)
    closed: set[str] = field(default_factory=set)
    archived: set[str] = field(default_factory=set)

    def take(self, data: bytes) -> None:
        """Look at the next line."""
        self.seen += 1
        self.line += 1
        line = parse(data)
        if self.is_at_end_of_segment:
            self.segment, self.line, self.is_at_end_of_segment = self.expected, 1, False
        if self.broken is None:
            self._compare(line, data)
        elif line is not None and line.seq == self.missing and self.broken.what is Breach.REMOVED:
            self.broken = self._at(Breach.SWAPPED, f"it stands at line {self.line} of segment {self.segment:012d}", self.broken)
        if line is not None:
            self._count(line)
            self.is_at_end_of_segment = line.kind == Kind.SEGMENT_CLOSED

    @property
    def expected(self) -> int:
        """The `seq` that comes next."""
        return (self.head.seq if self.head else 0) + 1

    def _compare(self, line: Line | None, data: bytes) -> None:
        if line is None:
            is_last_piece = not data.endswith(b"\n")
            what, why = (Breach.CUT, "the line is not complete") if is_last_piece else (Breach.CHANGED, "its hash does not fit")
            self.broken = self._at(what, why)
        elif self.head is None and line.seq == 1 and line.chain == CHAIN:
            self._accept(line)
        elif line.seq > self.expected:
            self.missing = self.expected
            self.broken = self._at(Breach.REMOVED, f"line {line.seq} follows instead")
        elif line.seq < self.expected:
            self.broken = self._at(Breach.INSERTED, f"another line {line.seq}")
        elif self.head is None or line.prev_hash != self.head.hash:
            self.broken = self._at(Breach.CHANGED, "it does not follow from the line before")
        else:
            self._accept(line)

    def _accept(self, line: Line) -> None:
        self.head = Position(line.seq, line.hash)
        self.tx = line.tx
        anchored = self.anchors.get(line.seq)
        if anchored is not None and anchored != line.hash:
            self.broken = self._at(Breach.CHANGED, "the anchor names another hash", seq=line.seq)
            return
        if anchored is not None:
            self.anchored_to = line.seq
        if line.seq == line.tx:
            self.whole_to = line.seq

    def _at(self, what: Breach, detail: str, before: Broken | None = None, seq: int | None = None) -> Broken:
        if before is not None:
            return Broken(what, before.seq, before.segment, before.line, detail)
        return Broken(what, seq or self.expected, self.segment, self.line, detail)

    def _count(self, line: Line) -> None:
        for place, changes in line.set.items():
            if place.startswith(_OPERATIONS):
                record = self.records.setdefault(place, {})
                record.update({name: value for name, value in (changes or {}).items() if name in _COMPARED})
        if line.operation_id is None:
            return
        if line.kind == Kind.CHECK_RESERVED:
            self.reserved[line.operation_id] += 1
        elif line.kind == Kind.CLOSED:
            self.closed.add(line.operation_id)
        elif line.kind == Kind.ARCHIVED:
            self.archived.add(line.operation_id)

    def finish(self, requests_used: Mapping[str, int], archived: Mapping[str, int] | None) -> Verification:
        """What the whole pass says."""
        self.line += 1
        newest = max(self.anchors, default=0)
        if self.seen == 0:
            self.broken = self._at(Breach.EMPTY, "there is no line at all")
        elif self.broken is None and self.whole_to < self.tx:
            self.broken = self._at(Breach.CUT, f"its transaction ends at {self.tx}")
        elif self.broken is None and newest > self.whole_to:
            self.broken = self._at(Breach.CUT, f"the newest anchor names seq {newest}")
        records = [record for record in self.records.values() if "operation_id" in record]
        recorded = {str(r["operation_id"]): int(r.get("status_requests_used") or 0) for r in records} | dict(requests_used)
        recorded.update({own_id: used for own_id, used in (archived or {}).items() if own_id in self.archived})
        miscounts = [
            Miscount(operation_id, self.reserved[operation_id], used)
            for operation_id, used in {**dict.fromkeys(self.reserved, 0), **recorded}.items()
            if self.reserved[operation_id] != used
        ]
        ended = {str(record["operation_id"]) for record in records if record.get("phase") in TERMINAL}
        return Verification(
            self.whole_to,
            self.anchored_to,
            self.broken,
            tuple(miscounts),
            tuple(sorted(ended - self.closed)),
            tuple(sorted(self.archived - archived.keys())) if archived is not None else (),
        )
