"""The checkpoint: all documents as one plain TinyDB file, with a header that proves it (STORE 1.3).

Only this file decides the layout of `operations.json`. It is derived from the journal and can be thrown away; a stranger's
plain TinyDB can open and search it. A file that is not ours any more is never read and never lost: it is moved aside.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from jobconsole.adapters.journal import End
from jobconsole.adapters.sync import Sync, create, write_all
from jobconsole.core.keeping.line import Position

FORMAT: Final = 1
HEADER_BYTES: Final = 1024
_PART = 256  # documents encoded at once: one long encode would hold the interpreter
_CHUNK = 1024 * 1024

Tables = Mapping[str, Mapping[str, Mapping[str, Any]]]


class Header(msgspec.Struct, frozen=True):
    """What the checkpoint contains: everything up to `seq`; `size` and `sha256` are of the bytes behind the header."""

    format: int
    store_id: str
    seq: int
    hash: str
    segment: int
    offset: int
    size: int
    sha256: str
    at: str

    @property
    def end(self) -> End:
        """Where the tail begins."""
        return End(self.segment, self.offset, Position(self.seq, self.hash))


class _Record(msgspec.Struct, frozen=True):
    checkpoint: dict[str, Header] = msgspec.field(name="_checkpoint")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that was read and found whole."""

    header: Header
    tables: dict[str, dict[str, dict[str, Any]]]


class CheckpointFault(Exception):
    """The file is no whole checkpoint of this store; the text says why."""


def read_header(path: Path, store_id: str) -> Header:
    """The header alone: one read of 1 KiB. Raises `FileNotFoundError` and `CheckpointFault`."""
    with path.open("rb") as file:
        return _header(file.read(HEADER_BYTES), store_id)


def read(path: Path, store_id: str) -> Checkpoint:
    """The whole checkpoint, proved by its digest. Raises `FileNotFoundError` and `CheckpointFault`."""
    data = path.read_bytes()
    header = _header(data[:HEADER_BYTES], store_id)
    body = memoryview(data)[HEADER_BYTES:]
    if len(body) != header.size or hashlib.sha256(body).hexdigest() != header.sha256:
        raise CheckpointFault("its content does not fit its digest")
    tables = msgspec.json.decode(data, type=dict[str, dict[str, dict[str, Any]]])
    return Checkpoint(header, tables)


def _header(data: bytes, store_id: str) -> Header:
    if not data.strip(b"\0 \r\n\t"):
        raise CheckpointFault("it is empty")
    try:
        header = msgspec.json.decode(data + b"}", type=_Record).checkpoint["1"]
    except (msgspec.MsgspecError, KeyError):
        raise CheckpointFault("it was not written by jobconsole, or cut") from None
    if len(data) != HEADER_BYTES:
        raise CheckpointFault("it was cut")
    if header.format != FORMAT:
        raise CheckpointFault(f"it has format {header.format}, this version knows {FORMAT}")
    if header.store_id != store_id:
        raise CheckpointFault("it belongs to another store")
    return header


def write(path: Path, sync: Sync, store_id: str, end: End, tables: Tables, at: str) -> Header | None:
    """Write a checkpoint of `tables`, which is the state at `end`, durable up to there; returns its header.

    None where another process is writing one, or a newer one is there. Takes long: meant for a thread. The checkpoint before
    stays as `operations.prev.json`.
    """
    lock = create(path.with_name("checkpoint.lock"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    else:
        return _write(path, sync, store_id, end, tables, at)
    finally:
        os.close(lock)


def _write(path: Path, sync: Sync, store_id: str, end: End, tables: Tables, at: str) -> Header | None:
    part = path.with_name("operations.part.json")
    fd = create(part)
    try:
        sync.truncate(fd, 0)
        digest, size = hashlib.sha256(), 0
        for data in _encoded(tables):
            write_all(sync, fd, data, HEADER_BYTES + size)
            digest.update(data)
            size += len(data)
        place = (end.head.seq, end.head.hash, end.segment, end.offset)
        header = Header(FORMAT, store_id, *place, size, digest.hexdigest(), at)
        encoded = msgspec.json.encode(_Record({"1": header}))[:-1]
        write_all(sync, fd, encoded.ljust(HEADER_BYTES), 0)
        sync.sync(fd)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)
    try:
        is_older = read_header(path, store_id).seq > end.head.seq
    except (FileNotFoundError, CheckpointFault):
        is_older = False
    else:
        if not is_older:
            sync.link(path, path.with_name("operations.prev.json"))
    if is_older:
        part.unlink()
        return None
    sync.replace(part, path)
    sync.sync_folder(path.parent)
    return header


def _encoded(tables: Tables) -> Iterator[bytes]:
    """`,"_default":{...},"accounts":{...}}`, in pieces."""
    for name, table in tables.items():
        piece = b',"' + name.encode() + b'":{'
        items = iter(table.items())
        is_first = True
        while part := dict(islice(items, _PART)):
            piece += (b"" if is_first else b",") + msgspec.json.encode(part)[1:-1]
            is_first = False
            if len(piece) > _CHUNK:
                yield piece
                piece = b""
        yield piece + b"}"
    yield b"}"
