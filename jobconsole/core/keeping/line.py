"""One stored line: an event's canonical bytes, their hash, and the way back (STORE 1.1).

Only this file decides how an event looks on disk. A batch (`transaction.py`) encodes lines, stores write them verbatim, and
everything that reads them again (recovery, readers, verification) uses `parse`; what is told of them is read by `events`. The
stored bytes are the canonical bytes: nobody re-encodes a line to check it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import Any, Final

import msgspec

from jobconsole.errors import AuditBroken

VERSION: Final = 1
CHAIN: Final = "store"
MOST_BYTES: Final = 256 * 1024
"""Larger payloads are files with a digest."""

ENDING: Final = 76
"""Bytes of `,"hash":"` + 64 hex digits + `"}` + newline: the end of every line, outside its own hash."""

HASH_FROM_END: Final = 67
"""The 64 hex digits of the last line begin so many bytes before the end of a file."""

_DEEPEST = 64
_LARGEST = 2**53
_RESERVED = frozenset(
    (
        "v",
        "chain",
        "seq",
        "tx",
        "batch",
        "at",
        "up",
        "boot",
        "operation_id",
        "op_seq",
        "kind",
        "actor",
        "set",
        "prev_hash",
        "hash",
    )
)


class Line(msgspec.Struct, frozen=True):
    """The part of a line that replay, recovery and verification need; audit fields stay in the bytes."""

    seq: int
    tx: int  # seq of the last event of its transaction
    batch: int  # seq of the first event of the write that it came in
    at: str
    up: int
    boot: str
    kind: str
    prev_hash: str
    hash: str
    chain: str = CHAIN
    actor: str = ""
    operation_id: str | None = None
    op_seq: int | None = None
    set: dict[str, dict[str, Any] | None] = {}


class LineTooLong(ValueError):
    """An event is larger than a line may be."""

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__(f"an event of {size} bytes is too large; at most {MOST_BYTES} are stored in one line")


@dataclass(frozen=True, slots=True)
class Position:
    """The end of a chain: the `seq` and hash of its last line."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands: the three numbers that recovery lives on, and the moment of its batch."""

    seq: int
    tx: int
    batch: int
    at: datetime
    up: int
    boot: str


def beginning(store_id: str, chain: str = CHAIN) -> Position:
    """The position before the first line: chains of two stores never fit together."""
    return Position(0, hashlib.sha256((chain + store_id).encode()).hexdigest())


def encode(
    place: Place,
    prev_hash: str,
    *,
    kind: str,
    actor: str,
    operation_id: str | None = None,
    op_seq: int | None = None,
    fields: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> tuple[bytes, str]:
    """The line's bytes with its newline, and its hash. `fields` and `changes` hold JSON values (see `storable`).

    Raises `ValueError` where an audit field has a reserved name, `LineTooLong` where the line would exceed `MOST_BYTES`.
    """
    shown: dict[str, Any] = {
        "v": VERSION,
        "chain": CHAIN,
        "seq": place.seq,
        "tx": place.tx,
        "batch": place.batch,
        "at": timestamp(place.at),
        "up": place.up,
        "boot": place.boot,
    }
    if operation_id is not None:
        shown["operation_id"] = operation_id
    if op_seq is not None:
        shown["op_seq"] = op_seq
    shown["kind"], shown["actor"] = str(kind), actor
    for key, value in (fields or {}).items():
        if key in _RESERVED:
            raise ValueError(f"an event's field may not be named {key!r}")
        if value is not None:
            shown[key] = value
    if changes:
        shown["set"] = changes
    shown["prev_hash"] = prev_hash
    body = msgspec.json.encode(shown)[:-1]
    if len(body) + ENDING > MOST_BYTES:
        raise LineTooLong(len(body) + ENDING)
    digest = hashlib.sha256(body).hexdigest()
    return b'%b,"hash":"%b"}\n' % (body, digest.encode()), digest


_decoder = msgspec.json.Decoder(Line)

UNREADABLE: Final = (msgspec.MsgspecError, RecursionError)
"""What decoding a line raises that is no JSON of the type asked for, or is nested deeper than Python can follow."""


def parse(data: bytes) -> Line | None:
    """The line that these bytes are, newline included; None where it does not end properly or its hash does not fit."""
    if len(data) <= ENDING or data[-3:] != b'"}\n' or data[-ENDING:-HASH_FROM_END] != b',"hash":"':
        return None
    if hashlib.sha256(data[:-ENDING]).hexdigest().encode() != data[-HASH_FROM_END:-3]:
        return None
    try:
        return _decoder.decode(data)
    except UNREADABLE:
        return None


def events(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The fields of each stored line. Raises `AuditBroken` at one that is no event, with its number among these lines."""
    for number, line in enumerate(lines, start=1):
        fields = event(line)
        if fields is None:
            raise no_event(number)
        yield fields


def event(line: bytes) -> dict[str, Any] | None:
    """The fields of a stored line; None where it is no event, or its hash does not fit: then nothing in it is true."""
    if parse(line) is None:
        return None
    fields: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    return fields


def no_event(number: int, source: str = "the audit") -> AuditBroken:
    """The error that names a line which is no event; lines count from 1."""
    return AuditBroken(f"line {number} of {source} is no event; see: jobconsole audit verify")


@lru_cache(maxsize=64)  # all events of a batch have one time
def timestamp(at: datetime) -> str:
    """RFC 3339 UTC with `Z`, whole milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def storable(value: Any, depth: int = 0) -> Any:
    """`value` as JSON can hold it, so that a payload never costs the state change that it came with.

    Known types are converted on purpose (time → UTC text, bytes → base64, set → sorted list, decimal → text). What JSON cannot
    hold loses only itself: NaN and infinities become null, a lone surrogate becomes U+FFFD, an integer beyond 2^53 becomes
    text, whatever lies deeper than 64 levels or is of no known type becomes a note.
    """
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return value if value.isascii() else _text(value)
    if kind is int:
        return value if -_LARGEST <= value <= _LARGEST else _large(value)
    if kind is float:
        return value if isfinite(value) else None
    if depth >= _DEEPEST:
        return "(not stored: nested too deep)"
    if kind is dict or isinstance(value, Mapping):
        return {
            key if type(key) is str and key.isascii() else _text(str(key)): v
            if v is None or (type(v) is str and v.isascii())  # most values, without a call
            else storable(v, depth + 1)
            for key, v in value.items()
        }
    if isinstance(value, list | tuple):
        return [storable(v, depth + 1) for v in value]
    return _converted(value, depth)


def _converted(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _text(str(value))
    if isinstance(value, datetime):
        return timestamp(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, AbstractSet):
        return sorted((storable(v, depth + 1) for v in value), key=repr)
    if isinstance(value, Sequence):
        return [storable(v, depth + 1) for v in value]
    return f"(not stored: a value of type {type(value).__name__})"


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def _large(value: int) -> str:
    return str(value) if value.bit_length() <= 4_096 else f"(not stored: an integer of {value.bit_length()} bits)"
