"""Anchors: the chain's head written down outside the log (L7, STORE 7).

Only this file reads and writes `anchors.jsonl`. An anchor names a head that was synced; it is appended without a sync of its
own, because a cut behind it is what it cannot prove anyway.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final

import msgspec

from jobconsole.adapters.journal import End
from jobconsole.adapters.sync import create
from jobconsole.core.keeping.chain import Anchor

EVERY_MS: Final = 60_000
"""While events come, an anchor is written at least so often."""

_TAIL = 4096


def write_anchor(path: Path, end: End, at: str, checkpoint_sha256: str | None = None) -> None:
    """Append an anchor for a durable end of the journal. A line that a crash left unfinished is closed first."""
    line = {"at": at, "seq": end.head.seq, "hash": end.head.hash, "segment": end.segment, "offset": end.offset}
    if checkpoint_sha256 is not None:
        line["checkpoint_sha256"] = checkpoint_sha256
    fd = create(path)
    try:
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)  # several processes anchor without the lock: none overwrites another's
        size = os.fstat(fd).st_size
        is_whole = size == 0 or os.pread(fd, 1, size - 1) == b"\n"
        os.write(fd, (b"" if is_whole else b"\n") + msgspec.json.encode(line) + b"\n")
    finally:
        os.close(fd)


def read_anchors(path: Path) -> list[Anchor]:
    """All legible anchors, in file order; none where there is no file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return [anchor for line in data.splitlines() if (anchor := _anchor(line)) is not None]


def newest_anchor(path: Path) -> Anchor | None:
    """The anchor with the highest `seq` among the last ones, read from the end of the file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return None
    return max((a for line in lines if (a := _anchor(line)) is not None), key=lambda a: a.seq, default=None)


def _anchor(line: bytes) -> Anchor | None:
    try:
        return msgspec.json.decode(line, type=Anchor)
    except msgspec.MsgspecError:
        return None
