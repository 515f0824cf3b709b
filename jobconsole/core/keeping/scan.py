"""Reading a stretch of journal: whole transactions, and what an unfinished end means (STORE 3.1, 3.2).

Only this file decides whether a line counts and whether a tail is torn or damaged. Readers and the holder of the lock call
`scan` on the bytes behind their position; only the holder may ask `judge` about the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jobconsole.core.keeping.line import Line, Position, parse


@dataclass(frozen=True, slots=True)
class Scan:
    """The whole transactions at the beginning of some bytes; `end` is where the last of them ends."""

    transactions: tuple[tuple[Line, ...], ...]
    head: Position
    end: int


class Tail(StrEnum):
    """What lies behind the last whole transaction."""

    CLEAN = "clean"
    TORN = "torn"  # never acknowledged
    DAMAGED = "damaged"  # something acknowledged is missing or changed


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict; `proof` is the later line that shows that `missing` had been synced."""

    tail: Tail
    missing: int
    proof: Line | None = None


def scan(data: bytes, head: Position) -> Scan:
    """Read transactions from the beginning of `data`, which follows `head`; stop at the first line that does not count.

    A line counts when it ends properly, its hash fits, its `seq` follows and `prev_hash` is the one before; a transaction
    when all its lines do.
    """
    whole: list[tuple[Line, ...]] = []
    pending: list[Line] = []
    last, end, start = head, 0, 0
    while (newline := data.find(b"\n", start)) >= 0:
        line = parse(data[start : newline + 1])
        if line is None or line.seq != last.seq + 1 or line.prev_hash != last.hash:
            break
        pending.append(line)
        last, start = Position(line.seq, line.hash), newline + 1
        if line.seq == line.tx:
            whole.append(tuple(pending))
            pending, head, end = [], last, start
    return Scan(tuple(whole), head, end)


def judge(rest: bytes, missing: int) -> Judgement:
    """Judge the bytes behind the last whole transaction; `missing` is the first `seq` that is not there.

    Each line says where its batch began, and everything before that was synced first: a self-consistent line of a later batch
    proves that `missing` had been durable. The rule also covers a file system that loses a middle page and keeps a later one.
    """
    if not rest:
        return Judgement(Tail.CLEAN, missing)
    last: Line | None = None
    for piece in reversed(rest.split(b"\n")[:-1]):
        last = parse(piece + b"\n")
        if last is not None:
            break
    if last is not None and missing < last.batch:
        return Judgement(Tail.DAMAGED, missing, last)
    return Judgement(Tail.TORN, missing, last)
