"""The language of a filter: which operations a list shows (UX 1a).

Only this file decides it: the dashboard's `/`, the notebook's field and `%jobs` filter by it. Terms stand beside each other and
must all match; `!` in front turns a term round:

    text "two words"     in id, name, provider, job id, task, owner, state, message, reason, notes; without regard to case
    state:failed         a phase, its word as shown, or what the provider says; state:fail finds failed too
    provider:x  name:x  owner:x  task:x  account:x
    needs:you            what waits for a person
    with:ana             who looks after it; with:nobody
    mine  snoozed        in the inbox alone: what I look after, what rests
    age>2h  age<90s      how long there has been a record
    checks>8  http:503   status requests used; the last status code
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from jobconsole.core.deciding.escalation import look_options
from jobconsole.core.durations import parse_duration
from jobconsole.core.operation import Operation
from jobconsole.core.telling.wording import reason_text, words
from jobconsole.errors import InvalidValue

Test: TypeAlias = Callable[[Operation, datetime], bool]

_TERM = re.compile(r'(!?)(?:([a-z]+)([:<>]))?(?:"([^"]*)"?|([^\s"]\S*))?')
_FIELDS: dict[str, Callable[[Operation], str]] = {
    "provider": lambda op: op.provider,
    "name": lambda op: op.name or "",
    "owner": lambda op: op.owner,
    "task": lambda op: op.task or "",
    "account": lambda op: op.account,
    "id": lambda op: op.operation_id,
    "job": lambda op: op.provider_job_id or "",
    "with": lambda op: op.attention.assigned_to or "nobody",
}
_NUMBERS: dict[str, Callable[[Operation], int]] = {"checks": lambda op: op.status_requests_used}
KEYS = ("state", "needs", "age", "http", *_FIELDS, *_NUMBERS)


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter; `text` is what was typed."""

    text: str
    tests: tuple[Test, ...]
    is_about_time: bool = False

    def matches(self, op: Operation, now: datetime) -> bool:
        """Whether every term matches."""
        return not self.tests or all(test(op, now) for test in self.tests)


EVERYTHING = Filter("", ())


def parse_filter(text: str, own_words: Mapping[str, Test] | None = None) -> Filter:
    """The filter that `text` says. `own_words` are terms that a screen adds; quoted they are text as any other.

    Raises `InvalidValue`, which names the term and the mend.
    """
    tests, is_about_time = [], False
    for match in _TERM.finditer(text):
        bang, key, sign, quoted, bare = match.groups()
        value = quoted or bare
        if not value:
            continue  # still being typed
        own = None if key or quoted else (own_words or {}).get(value.casefold())
        test = own or _test(key, sign, value)
        is_about_time |= key == "age"
        tests.append(_turned(test) if bang else test)
    return Filter(text.strip(), tuple(tests), is_about_time)


def _turned(test: Test) -> Test:
    return lambda op, now: not test(op, now)


def _test(key: str | None, sign: str | None, value: str) -> Test:
    wanted = value.casefold()
    if key is None:
        return lambda op, now: wanted in _all_text(op)
    if key == "age":
        return _age(sign, value)
    if key in _NUMBERS:
        return _number(key, sign, value)
    if key == "state":
        return lambda op, now: _is_in_state(op, wanted)
    if key == "needs":
        if wanted != "you":
            raise InvalidValue("needs: can only be needs:you")
        return lambda op, now: op.escalation is not None or bool(look_options(op))
    if key == "http":
        return lambda op, now: str(op.last_http_status or "none").startswith(wanted)
    if key in _FIELDS:
        field = _FIELDS[key]
        return lambda op, now: wanted in field(op).casefold()
    near = difflib.get_close_matches(key, KEYS, n=1)
    mend = f"did you mean {near[0]}{sign}?" if near else f"known are {', '.join(KEYS)}"
    raise InvalidValue(f"{key}{sign} is not known; {mend}")


def _age(sign: str | None, value: str) -> Test:
    if sign not in ("<", ">"):
        raise InvalidValue("age is compared: age>2h or age<90s")
    limit, is_over = parse_duration(value), sign == ">"
    return lambda op, now: (_age_of(op, now) > limit) == is_over


def _age_of(op: Operation, now: datetime) -> timedelta:
    return now - op.started_at


def _number(key: str, sign: str | None, value: str) -> Test:
    if not value.isascii() or not value.isdigit():
        raise InvalidValue(f"{key} is compared with a number: {key}>8")
    number, field = int(value[:18]), _NUMBERS[key]
    compare = {":": operator.eq, "<": operator.lt, ">": operator.gt}[sign or ":"]
    return lambda op, now: bool(compare(field(op), number))


def _is_in_state(op: Operation, wanted: str) -> bool:
    said = [op.phase, words(op.phase), op.last_known_state or ""]
    if op.state_class is not None:
        said.append(op.state_class)
    return any(each.casefold().startswith(wanted) for each in said)


def _all_text(op: Operation) -> str:
    asked = op.escalation or op.look
    reason = f"{words(asked.reason)}\n{reason_text(asked.reason)}" if asked else ""
    error = op.error.text if op.error else ""
    parts = (
        *(op.operation_id, op.name, op.provider, op.provider_job_id, op.task, op.owner, words(op.phase)),
        *(op.last_known_state, op.message, error, reason),
        *(note.text for note in op.attention.notes),
    )
    return "\n".join(part for part in parts if part).casefold()
