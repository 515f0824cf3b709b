"""The language of `/` in the audit: which events a page shows (UX 1a). `audit_pages.py` reads pages by it.

Only this file decides it. Terms stand beside each other and must all match, whatever their case; `!` in front turns one round:

    text "two words" in what the line says: kind, who, whose operation and its name, what happened, what a person wrote
    kind:decided     the kind of event; kind:esc finds escalated
    by:ana           who did or approved it: a person, or by:agent, by:worker
    job:8HRWE1       in the operation's id, its name, or the id that the provider gave it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from jobconsole.core.keeping.line import event
from jobconsole.core.operation import Operation
from jobconsole.core.telling.story_line import alone
from jobconsole.core.telling.wording import words
from jobconsole.tui.word_filter import terms

Matches: TypeAlias = Callable[[bytes], bool]
HINT = 'kind:decided  by:ana  job:8HRWE1  text  "two words"  !text'
DECISIONS = "kind:decided"

_TOLD = ("actor", "approved_by", "operation_id", "option", "reason_text", "text", "effect", "detail")
"""Fields of which the line says something, whole where it cuts them. In the others, hashes and counters, any number occurs."""
_OPERATION = re.compile(rb'"operation_id":"([^"\\]*)"')


class _Line:
    """One stored line, taken apart only as far as a term asks."""

    def __init__(self, stored: bytes) -> None:
        self.stored = stored

    @cached_property
    def operation_id(self) -> str:
        """Whose event it is; empty for the store's own."""
        found = _OPERATION.search(self.stored)
        return found[1].decode(errors="replace") if found is not None else ""

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The stored fields; none of a line that was changed or damaged: nobody knows what would stand in them."""
        return event(self.stored) or {}

    @cached_property
    def told(self) -> str:
        """What the line says, in lower case; a damaged one nothing."""
        if not self.fields:
            return ""
        kind = str(self.fields.get("kind", ""))
        to_the_second = str(self.fields.get("at", ""))[:19]
        written = (str(self.fields.get(name) or "") for name in _TOLD)
        parts = (to_the_second, kind, words(kind), alone(self.fields), *written)
        return "\n".join(parts).lower()


_Test: TypeAlias = Callable[[_Line], bool]


def parse_search(text: str, operations: Mapping[str, Operation]) -> Matches | None:
    """What `text` asks for, None where it asks for nothing; `operations` are those whose names are known."""
    tests = [test for term in terms(text.lower()) if (test := _turned(term, operations)) is not None]
    if not tests:
        return None

    def matches(stored: bytes) -> bool:
        line = _Line(stored)
        return all(test(line) for test in tests)

    return matches


def _turned(term: str, operations: Mapping[str, Operation]) -> _Test | None:
    wanted = term.removeprefix("!")
    test = _test(wanted, operations) if wanted else None
    if test is None or term == wanted:
        return test
    return lambda line: not test(line)


def _test(term: str, operations: Mapping[str, Operation]) -> _Test | None:
    key, colon, value = term.partition(":")
    if colon and key in ("kind", "by", "job") and not value:
        return None  # still being typed
    if key == "kind" and colon:
        return lambda line: str(line.fields.get("kind", "")).startswith(value.replace(" ", "_"))
    if key == "by" and colon:
        return lambda line: value.encode() in line.stored.lower() and _is_by(line.fields, value)
    ids = _named(value if key == "job" and colon else term, operations)
    if key == "job" and colon:
        return lambda line: value in line.operation_id.lower() or line.operation_id in ids
    return lambda line: (bool(ids) and line.operation_id in ids) or term in line.told


def _is_by(fields: Mapping[str, Any], value: str) -> bool:
    return any(value in str(fields.get(name) or "").lower() for name in ("actor", "approved_by"))


def _named(value: str, operations: Mapping[str, Operation]) -> frozenset[str]:
    """Ids of the operations whose name, or whose id at the provider, contains `value`."""
    return frozenset(
        op.operation_id
        for op in operations.values()
        if value in (op.name or "").lower() or value in (op.provider_job_id or "").lower()
    )
