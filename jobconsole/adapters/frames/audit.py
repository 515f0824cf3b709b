"""Stored lines become a DataFrame, one row an event, in the order of the chain (SPEC L2).

Only this file decides how lines are read in bulk. The decoder takes a block of many lines at once and skips what is no column;
a block becomes typed arrays before the next one is read, so that memory holds one block of Python values at a time. A block
that somebody else's version wrote, with a value of another type, is read again value by value: such a value is missing, never
guessed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec.structs import astuple

from jobconsole.adapters import collector
from jobconsole.adapters.frames.arrays import LARGEST, NO_COUNT, Words, is_of_kind, joined, piece
from jobconsole.core.events import Kind
from jobconsole.core.keeping.line import UNREADABLE, no_event
from jobconsole.core.telling.columns import AUDIT, Column, Holds
from jobconsole.errors import AuditBroken

if TYPE_CHECKING:
    import pandas

LINES_AT_ONCE: Final = 1_000
PIECE_BYTES: Final = 256 * 1024

_Integer = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]
_TYPES: Final[dict[Holds, tuple[Any, Any]]] = {
    Holds.TEXT: (str | None, None),
    Holds.WORD: (str | None, None),
    Holds.TIME: (str | None, None),
    Holds.COUNT: (_Integer, NO_COUNT),
    Holds.MILLISECONDS: (_Integer, NO_COUNT),
    Holds.SECONDS: (float, float("nan")),
    Holds.SHARE: (float, float("nan")),
}
"""What a field must be, and what stands for a missing one, so that whole columns need no look at single values."""


def _struct(name: str, columns: Iterable[Column], *more: tuple[str, Any, Any]) -> type[msgspec.Struct]:
    fields = [(column.stored_as, _type(column), _TYPES[column.holds][1]) for column in columns]
    return msgspec.defstruct(name, [*fields, *more], frozen=True, gc=False, module=__name__)


def _type(column: Column) -> Any:
    """A word of the vocabulary is made once; another one makes the block be read value by value."""
    return Literal[column.words] | None if column.words else _TYPES[column.holds][0]


_FIRST: Final = (
    *("chain", "seq", "tx", "batch", "at", "up", "boot", "operation_id", "op_seq", "kind", "actor", "revision", "phase"),
    *("job_state", "planned_at", "delay_source", "status_requests_used", "max_status_requests", "deadline_at", "lease_token"),
)
"""The order in which lines hold them: the decoder looks for each field behind the one before."""

_OUTER: Final = tuple(
    sorted(
        (column for column in AUDIT if not column.inside),
        key=lambda column: _FIRST.index(column.name) if column.name in _FIRST else len(_FIRST),
    )
)
_INNER: Final = tuple(column for column in AUDIT if column.inside)
_PLACES: Final = [[*_OUTER, *_INNER].index(column) for column in AUDIT]
[_INSIDE] = {column.inside for column in _INNER}
_Answer = _struct("_Answer", _INNER)
_Row = _struct("_Row", _OUTER, (_INSIDE, _Answer, _Answer()))
_decoder: Final = msgspec.json.Decoder(_Row)
_any_decoder: Final = msgspec.json.Decoder(dict[str, Any])


def audit_frame(lines: Iterable[bytes]) -> pandas.DataFrame:
    """The frame of single stored lines, as `Store.events` hands them out. Raises `AuditBroken` where one is no JSON object."""
    return audit_frame_of_blocks(_joined(lines))


def audit_frame_of_blocks(blocks: Iterable[bytes]) -> pandas.DataFrame:
    """The frame of blocks of whole lines, each ending in a newline. Raises `AuditBroken` where a line is no JSON object."""
    import pandas

    words = {column.name: Words(column.words) for column in AUDIT}
    pieces: dict[str, list[Any]] = {name: [] for name in words}
    with collector.paused():
        for values in _columns(blocks):
            for column, found in zip(AUDIT, values, strict=True):
                pieces[column.name].append(_piece(column, found, words[column.name]))
    whole = {}
    for column in AUDIT:
        found = pieces.pop(column.name) or [piece(column, (), words[column.name])]
        whole[column.name] = joined(column, found, words[column.name])  # the pieces are let go of: each column is there once
    return with_providers(pandas.DataFrame(whole, copy=False))


def _piece(column: Column, values: Sequence[Any], words: Words) -> Any:
    """The array of some lines' values; of many columns no line in a piece has any."""
    missing = _TYPES[column.holds][1]
    if values[0] is missing and values[-1] is missing and values.count(missing) == len(values):
        return _without(column.holds, len(values))
    return piece(column, values, words)


@lru_cache(maxsize=1_000)  # pieces are of much the same length
def _without(holds: Holds, lines: int) -> Any:
    """The array of lines that have no such value; it is shared, and only read."""
    return piece(Column("", holds), [None] * lines, Words(()))


def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    rest = iter(lines)
    while block := b"".join(islice(rest, LINES_AT_ONCE)):
        yield block


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same lines in pieces of which the Python values stay in the processor's cache, or of a single line."""
    for block in blocks:
        begin = 0
        while begin < len(block):
            end = block.rfind(b"\n", begin, begin + PIECE_BYTES) + 1 or block.find(b"\n", begin) + 1 or len(block)
            yield block[begin:end]
            begin = end


def _columns(blocks: Iterable[bytes]) -> Iterator[list[Sequence[Any]]]:
    """The values of every column, in the order of `AUDIT`, for a piece at a time."""
    done = 0
    for lines in _pieces(blocks):
        values = [*_read(lines, done)]
        done += len(values[0])
        if len(values[0]):
            yield values


def _read(lines: bytes, done: int) -> Iterator[Sequence[Any]]:
    """The values of each column in turn."""
    try:
        rows: list[Any] = _decoder.decode_lines(lines)
    except msgspec.ValidationError:
        return _read_each(lines, done)
    except UNREADABLE:
        raise _broken(lines, done, _decoder) from None
    *outer, answers = _transposed(rows, len(_OUTER) + 1)
    found = [*outer, *_transposed(answers, len(_INNER))]
    return (found[place] for place in _PLACES)


def _transposed(rows: Any, width: int) -> Iterable[Sequence[Any]]:
    """The fields' values, for each field in turn."""
    return zip(*map(astuple, rows), strict=True) if rows else [()] * width


def _read_each(lines: bytes, done: int) -> Iterator[Sequence[Any]]:
    """The same, for lines of which some hold what we would not write."""
    try:
        events: list[dict[str, Any]] = _any_decoder.decode_lines(lines)
    except UNREADABLE:
        raise _broken(lines, done, _any_decoder) from None
    return ([_checked(column, event) for event in events] for column in AUDIT)


def _checked(column: Column, event: dict[str, Any]) -> Any:
    value = column.of(event)
    return value if is_of_kind(column, value) else _TYPES[column.holds][1]


def _broken(lines: bytes, done: int, decoder: msgspec.json.Decoder[Any]) -> AuditBroken:
    """The error that names the first line which is no JSON object; `decoder` is the one that refused the whole."""
    return no_event(done + first_unreadable(lines, decoder))


def first_unreadable(lines: bytes, decoder: msgspec.json.Decoder[Any]) -> int:
    """The number of the first of these lines that `decoder` refuses, from 1; as `decode_lines`, it passes over blank ones."""
    number = 1
    with contextlib.suppress(*UNREADABLE):
        for line in lines.split(b"\n"):
            decoder.decode_lines(line)
            number += 1
    return number


def with_providers(frame: pandas.DataFrame) -> pandas.DataFrame:
    """`provider` in each event of an operation: it is stored with the first one only."""
    import pandas

    told = frame.loc[(frame["kind"] == Kind.SUBMITTED) & frame["provider"].notna(), ["operation_id", "provider"]]
    known = dict(zip(told["operation_id"], told["provider"], strict=True))
    numbers, ids = pandas.factorize(frame["operation_id"])
    providers = pandas.array([*map(known.get, ids), None], dtype="str")  # the last one for events of no operation
    frame["provider"] = providers.take(numbers)
    return frame
