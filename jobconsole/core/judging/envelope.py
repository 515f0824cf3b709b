"""Steps 1 and 2 of the order of evaluation: from the bytes of an answer to the envelope that expressions see.

Only this file decides whether bytes are an answer of the API (B10, X1) and which JSON is usable. `observation.py` calls `read`.
Bytes that do not come from the API are "could not see"; an answer that says it is JSON and is none cannot be understood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobconsole.core.judging.answer import Answer, CallError, Envelope
from jobconsole.core.judging.retry_after import HeaderFacts, read_headers

_TEXT_CODECS = frozenset(
    {"utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "iso-8859-1", "latin-1", "windows-1252", "us-ascii"}
)
_JSON_TYPE = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?json", re.IGNORECASE)
_PAGE_TYPE = re.compile(r"text/html|application/xhtml\+xml", re.IGNORECASE)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.-]+)", re.IGNORECASE)
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_WHOLE_NUMBER = 400  # digits; Python refuses to read more than 4,300
_DEEPEST = 200  # levels of nesting: what this process can just read and keep, one with a deeper stack could not open again


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer that was read: the envelope, what the headers say, and what is wrong with the bytes, if anything.

    `raw` is the body before values that are no JSON (NaN, Infinity, 1e999) became null: a hint there is a rejected one.
    `fault` and `why` are set where the body is no JSON; the status code may still say more than the body.
    """

    envelope: Envelope
    facts: HeaderFacts
    url: str
    raw: Any = None
    fault: CallError | None = None
    is_page: bool = False
    why: str = ""
    notes: tuple[str, ...] = ()


class _Unreadable(Exception):
    """The body is no JSON; the text says in what way. `is_page`: no API writes this."""

    def __init__(self, why: str, *, is_page: bool = False) -> None:
        self.is_page = is_page
        super().__init__(why)


def read(answer: Answer) -> Reading:
    """What `answer` holds. Never raises: a body that cannot be read is a `fault` of the reading."""
    return read_parts(answer.http_status, answer.headers, answer.body, answer.url, answer.received_at)


def read_parts(status: int, sent: Sequence[tuple[str, str]], content: bytes, url: str, received_at: datetime | None) -> Reading:
    """`read` for the parts of an answer; a sample has no time at which it was received."""
    facts = read_headers(sent, received_at)
    headers = joined(sent)
    declared = headers.get("content-type", "")
    try:
        text = _decode(content, declared)
        if text.lstrip()[:1] == "<":
            raise _Unreadable("the answer is a web page or XML, not the API's JSON", is_page=True)
        body, raw, notes = _parse(text)
    except _Unreadable as error:
        is_page = error.is_page or bool(_PAGE_TYPE.match(declared.strip()))
        is_broken_json = bool(_JSON_TYPE.match(declared.strip())) and not is_page
        return Reading(
            envelope=Envelope(status, headers, None),
            facts=facts,
            url=url,
            fault=CallError.INTEGRATION_ERROR if is_broken_json else CallError.DELIVERY_FAILURE,
            is_page=is_page,
            why=str(error),
        )
    return Reading(Envelope(status, headers, body), facts, url, raw, notes=notes)


def reading_of(envelope: Envelope, url: str) -> Reading:
    """An envelope that was made elsewhere (an item of a list, the object of a webhook), to be judged like an answer."""
    facts = read_headers(tuple(envelope.headers.items()), None)
    return Reading(envelope, facts, url, envelope.body)


def joined(headers: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Headers by lower-case name; several values of one are joined by `, `. Half characters are replaced."""
    found: dict[str, str] = {}
    for name, value in headers:
        name, value = _whole(name.lower()), _whole(value)
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _decode(body: bytes, declared: str) -> str:
    """The text of a body: UTF-8, with or without its mark, or what Content-Type names; never guessed."""
    if not body.strip():
        return ""
    named = _CHARSET.search(declared)
    codec = named[1].lower() if named else "utf-8"
    if codec not in _TEXT_CODECS:
        raise _Unreadable("the body is in an unknown character set")
    try:
        return body.decode("utf-8-sig" if codec in ("utf-8", "utf8") else codec)
    except UnicodeDecodeError:
        raise _Unreadable("the body is not in the character set that it should be in") from None


def _parse(text: str) -> tuple[Any, Any, tuple[str, ...]]:
    """The body with everything that is no JSON made null, the body as it came, and what became null."""
    if not text.strip():
        return None, None, ()
    notes: dict[str, None] = {}

    def number_beyond(digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            notes["a number beyond all range became unknown"] = None
        return value

    def whole_number(digits: str) -> int | float:
        return int(digits) if len(digits) <= _LONGEST_WHOLE_NUMBER else number_beyond(digits)

    def constant(name: str) -> float:
        notes[f"{name}, which is no JSON, became unknown"] = None
        return float(name.replace("Infinity", "inf"))

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            for key, value in pairs:
                if found[key] != value:
                    found[key] = None
                    notes["a key that is there twice with two values became unknown"] = None
        return found

    try:
        raw = json.loads(
            text, parse_float=number_beyond, parse_int=whole_number, parse_constant=constant, object_pairs_hook=members
        )
        if text.count("[") + text.count("{") > _DEEPEST and _depth(raw) > _DEEPEST:
            raise _Unreadable("the JSON is nested too deeply")
        body = _clean(raw) if notes or _HALF_CHARACTER.search(text) else raw
    except RecursionError:
        raise _Unreadable("the JSON is nested too deeply") from None
    except ValueError:
        raise _Unreadable("the body is no JSON") from None
    return body, raw, tuple(notes)


def _depth(value: Any) -> int:
    """Levels of lists and objects in `value`; without recursion, which is what too many of them would break."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, list | dict)]:
        depth += 1
        level = [inner for item in level for inner in (item if isinstance(item, list) else item.values())]
    return depth


def _clean(value: Any) -> Any:
    """`value` with null for numbers that are not finite, and with a replacement sign for half a character."""
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, float):
        return value if float("-inf") < value < float("inf") else None
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _clean(item) for key, item in value.items()}
    return value


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
