"""Finds stored lines in the segments by `seq` and by operation, without decoding the others (STORE 1.1).

Only this file searches the journal. `FolderStore.events` asks it whenever somebody looks at an operation, so it must stay cheap
beside gigabytes: within a segment a `seq` is found by halving, and of a block only lines that name the operation are looked at.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from jobconsole.adapters.journal import BLOCK_BYTES, End, segments
from jobconsole.core.keeping.line import UNREADABLE
from jobconsole.errors import AuditBroken

_NEAR: Final = 64 * 1024
"""Bytes within which lines are read one by one: halving further would read the same pages again."""


class _Numbered(msgspec.Struct):
    seq: int
    operation_id: str | None = None


_decoder = msgspec.json.Decoder(_Numbered)


def stored_events(folder: Path, begins: int, until: End, operation_id: str | None = None) -> Iterator[list[bytes]]:
    """The lines from `seq` `begins` up to `until`, verbatim, about a MiB at a time; with `operation_id` those of it alone.

    A turn with an empty list has read a block in vain. Raises `OSError`, and `AuditBroken` where a line that names the
    operation is damaged.
    """
    marker = None if operation_id is None else b'"operation_id":' + msgspec.json.encode(operation_id)
    first = max((int(path.stem) for path in segments(folder) if int(path.stem) <= begins), default=1)
    for path in segments(folder):
        segment = int(path.stem)
        if not first <= segment <= until.segment:
            continue
        size = until.offset if segment == until.segment else path.stat().st_size
        start = _offset(path, begins, size) if segment < begins else 0
        for block in _blocks(path, start, size):
            yield list(io.BytesIO(block)) if marker is None else [*_of_operation(block, marker, operation_id)]


def _of_operation(block: bytes, marker: bytes, operation_id: str | None) -> Iterator[bytes]:
    """Lines whose own operation it is: a document inside another operation's line may name it as well."""
    at = block.find(marker)
    while at >= 0:
        start, stop = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at) + 1 or len(block)
        line = block[start:stop]
        try:
            is_its_own = _decoder.decode(line).operation_id == operation_id
        except UNREADABLE:
            raise AuditBroken(f"a line of {operation_id} is no event; see: jobconsole audit verify") from None
        if is_its_own:
            yield line
        at = block.find(marker, stop)


def _blocks(path: Path, start: int, size: int) -> Iterator[bytes]:
    """Whole lines between two offsets."""
    with path.open("rb") as file:
        file.seek(start)
        while (left := size - file.tell()) > 0 and (block := file.read(min(left, BLOCK_BYTES))):
            yield block if block.endswith(b"\n") else block + file.readline()


def _offset(path: Path, seq: int, size: int) -> int:
    """Where the lines before this `seq` end. A damaged line decides nothing: what is asked for is never left out."""
    low, high = 0, size  # every line before `low` is an earlier one; a later or a damaged one is known at `high`
    with path.open("rb") as file:
        while high - low > _NEAR:
            middle = (low + high) // 2
            file.seek(middle)
            file.readline()
            place = file.tell()
            number = _number(file.readline()) if place < high else None
            if number is not None and number < seq:
                low = place
            else:
                high = middle
        file.seek(low)
        place = low
        for line in file:
            place += len(line)
            number = _number(line)
            if place > size or (number is not None and number >= seq):
                break
            if number is not None:
                low = place
    return low


def _number(line: bytes) -> int | None:
    try:
        return _decoder.decode(line).seq
    except UNREADABLE:
        return None
