"""The journal's files: segments, reading on, appending, cutting (STORE 1, 3).

Only this file opens segments and knows their names. A `Journal` is one handle's position in them: everything before it was read
and merged. Reading needs no lock; `append`, `cut` and `next_segment` need it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jobconsole.adapters.sync import Sync, create, write_all
from jobconsole.core.events import Kind
from jobconsole.core.keeping.line import HASH_FROM_END, Line, Position, parse
from jobconsole.core.keeping.scan import scan

SEGMENT_BYTES: Final = 32 * 1024 * 1024
BLOCK_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class End:
    """A place between two transactions: a segment (named by its first `seq`), an offset in it, and the chain so far."""

    segment: int
    offset: int
    head: Position


class JournalMoved(Exception):
    """The journal does not contain what this handle has read: it must read everything again."""


class Journal:
    """One handle's position in the segments. `folder` is `journal/`."""

    def __init__(self, folder: Path, end: End, sync: Sync, *, is_read_only: bool) -> None:
        """Open the segment of `end`.

        Raises `FileNotFoundError` where it is missing and `JournalMoved` where it does not fit.
        """
        self._folder, self._sync, self._is_read_only = folder, sync, is_read_only
        self.end = end
        self.is_segment_closed = False
        self.path = self._path(end.segment)  # of the segment in which the position is
        self._fd = self._open(end.segment)
        try:
            self._check(os.fstat(self._fd).st_size)
            self.is_segment_closed = _closes_segment(self._fd, end.offset)
        except JournalMoved:
            self.close()
            raise

    @property
    def number(self) -> int | None:
        """The open descriptor of that file, to be looked at; None where it was given up."""
        return self._fd if self._fd >= 0 else None

    # ---- reading ----------------------------------------------------------------------------------------------------
    def read_on(self, *, is_strict: bool = False) -> Iterator[tuple[Line, ...]]:
        """Whole transactions behind the position, which moves along; a segment that was closed leads to the next.

        An incomplete line is "not yet". Raises `JournalMoved`. `is_strict` checks the last hash although nothing has grown.
        """
        while True:
            size = os.fstat(self._fd).st_size
            if is_strict or size != self.end.offset:
                self._check(size)
            if size > self.end.offset:
                read = scan(os.pread(self._fd, size - self.end.offset, self.end.offset), self.end.head)
                self.end = End(self.end.segment, self.end.offset + read.end, read.head)
                if read.transactions:
                    self.is_segment_closed = read.transactions[-1][-1].kind == Kind.SEGMENT_CLOSED
                yield from read.transactions
            if not (self.is_segment_closed and self._path(self.end.head.seq + 1).exists()):
                return
            self._enter(self.end.head.seq + 1)

    def rest(self) -> bytes:
        """What lies behind the position in this segment: an unfinished end, if anything."""
        size = os.fstat(self._fd).st_size
        return os.pread(self._fd, size - self.end.offset, self.end.offset) if size > self.end.offset else b""

    def hash_at(self, segment: int, offset: int) -> str | None:
        """The hash of the line that ends at a place: empty where none ends there, None where the segment is not here."""
        try:
            fd = os.open(self._path(segment), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return _hash_before(fd, offset) or ""
        finally:
            os.close(fd)

    # ---- writing (under the lock) -----------------------------------------------------------------------------------
    def append(self, data: bytes) -> None:
        """Write lines at the end. Not durable before `sync`. The position does not move: see `accept`."""
        write_all(self._sync, self._fd, data, self.end.offset)

    def accept(self, size: int, head: Position, *, is_segment_closed: bool = False) -> None:
        """Move the position behind lines that were written and synced."""
        self.end = End(self.end.segment, self.end.offset + size, head)
        self.is_segment_closed = is_segment_closed

    def sync(self) -> None:
        """Make everything in this segment durable, whoever wrote it."""
        self._sync.sync(self._fd)

    def sync_left(self) -> None:
        """Make durable what a dead holder may have left: lines not synced, a segment that its folder may not know."""
        self.sync()
        self._sync.sync_folder(self._folder)

    def cut(self, size: int = 0) -> None:
        """Cut the segment `size` bytes behind the position, durably."""
        self._sync.truncate(self._fd, self.end.offset + size)
        self._sync.sync(self._fd)

    def next_segment(self) -> None:
        """Where the segment is closed, create the next one: its name follows from the head."""
        if self.is_segment_closed:
            os.close(create(self._path(self.end.head.seq + 1)))
            self._sync.sync_folder(self._folder)
            self._enter(self.end.head.seq + 1)

    def descriptor(self) -> int:
        """A descriptor of the current segment for a thread that syncs it. The caller closes it."""
        return os.dup(self._fd)

    def close(self) -> None:
        """Give up the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    # ---- inside -----------------------------------------------------------------------------------------------------
    def _path(self, segment: int) -> Path:
        return segment_path(self._folder, segment)

    def _open(self, segment: int) -> int:
        return os.open(self._path(segment), (os.O_RDONLY if self._is_read_only else os.O_RDWR) | os.O_CLOEXEC)

    def _enter(self, segment: int) -> None:
        fd = self._open(segment)
        os.close(self._fd)
        self._fd, self.path = fd, self._path(segment)
        self.end = End(segment, 0, self.end.head)
        self.is_segment_closed = False

    def _check(self, size: int) -> None:
        if size < self.end.offset:
            raise JournalMoved(f"segment {self.end.segment:012d} has {size} bytes, {self.end.offset} were read")
        if self.end.offset and _hash_before(self._fd, self.end.offset) != self.end.head.hash:
            raise JournalMoved(f"segment {self.end.segment:012d} is another one at {self.end.offset}")


def segment_path(folder: Path, segment: int) -> Path:
    """The file of the segment whose first line has this `seq`."""
    return folder / f"{segment:012d}.jsonl"


def segments(folder: Path) -> list[Path]:
    """All segments, oldest first; none where there is no folder."""
    return sorted(path for path in folder.glob("*.jsonl") if path.stem.isdigit())


def stored_lines(folder: Path, first: int = 1, until: End | None = None) -> Iterator[bytes]:
    """Every line of every segment from `first` on, verbatim, damaged ones and an unfinished last one included.

    With `until`, what lies behind that place is left out: another process may be writing there.
    """
    for path in segments(folder):
        segment = int(path.stem)
        if segment < first or (until is not None and segment > until.segment):
            continue
        with path.open("rb") as file:
            for line in file:
                if until is not None and segment == until.segment and file.tell() > until.offset:
                    return
                yield line


@dataclass(frozen=True, slots=True)
class StoredBlocks:
    """The lines from segment `first` to `until`, verbatim, in blocks; each iteration reads the files anew."""

    folder: Path
    first: int
    until: End

    def __iter__(self) -> Iterator[bytes]:
        for path in segments(self.folder):
            segment = int(path.stem)
            if self.first <= segment < self.until.segment:
                yield from blocks_of([path])
            elif segment == self.until.segment:
                yield from blocks_of([path], self.until.offset)


def blocks_of(files: Iterable[Path], size: int | None = None, *, is_whole: bool = False) -> Iterator[bytes]:
    """The lines of the files, verbatim, about `BLOCK_BYTES` at a time; of each file at most `size` bytes.

    A line without its newline is not written yet, and left out; where the files are `is_whole`, it is one like the others.
    """
    for path in files:
        left = size if size is not None else path.stat().st_size
        with path.open("rb") as file:
            while left > 0 and (block := file.read(min(left, BLOCK_BYTES))):
                if not block.endswith(b"\n"):
                    block += file.readline()
                left -= len(block)
                yield block if is_whole else block[: block.rfind(b"\n") + 1]


def _closes_segment(fd: int, offset: int) -> bool:
    """Whether the line that ends at `offset` is the segment's last one; such a line is short."""
    data = os.pread(fd, min(offset, 4096), max(0, offset - 4096))
    line = parse(data[:-1].rpartition(b"\n")[2] + b"\n")
    return line is not None and line.kind == Kind.SEGMENT_CLOSED


def _hash_before(fd: int, offset: int) -> str | None:
    if offset < HASH_FROM_END:
        return None
    data = os.pread(fd, HASH_FROM_END, offset - HASH_FROM_END)
    return data[:64].decode("ascii", "replace") if data[64:] == b'"}\n' else None
