"""What texts on the command line mean: durations, times, `k=v`, JSON, and who is sitting there (SPEC 11).

Only this file decides that. The commands use its parameter types, so that a wrong value ends in one line and exit code 2.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from jobconsole.core import actors
from jobconsole.core.durations import parse_duration
from jobconsole.core.moments import moment, past_clock
from jobconsole.errors import InvalidValue

LARGEST_BODY = 1_000_000  # bytes that are read before the core's own limit speaks
_TIME_MEND = "write RFC 3339 such as 2026-11-29T10:20:31Z"


class DurationType(click.ParamType[timedelta]):
    """`45s`, `1h30m` → `timedelta`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read one value; what is none is a wrong call."""
        if isinstance(value, timedelta):
            return value
        try:
            return parse_duration(str(value))
        except InvalidValue as error:
            self.fail(str(error), param, ctx)


class TimeType(click.ParamType[datetime]):
    """RFC 3339, naive = UTC, or a duration from now → an aware datetime in UTC. `sign` -1 takes a duration as "ago",
    and a clock of the day as the stories print it."""

    name = "time"

    def __init__(self, sign: int = 1) -> None:
        self._sign = sign

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read one value; what is none is a wrong call."""
        if isinstance(value, datetime):
            return value
        text = str(value).strip()
        at = moment(text) if "-" in text else past_clock(text, datetime.now(UTC)) if self._sign < 0 else None
        if at is not None:
            return at
        try:
            return datetime.now(UTC) + self._sign * parse_duration(text)
        except InvalidValue:
            counted = "or a duration from now such as 30m" if self._sign > 0 else "10:20:31 (UTC), or how long ago, such as 30m"
            self.fail(f"{text[:40]!r} is no time; {_TIME_MEND}, {counted}", param, ctx)


class PairType(click.ParamType[tuple[str, str]]):
    """`k=v` → `(k, v)`; the value may be empty and may contain `=`."""

    name = "k=v"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Read one pair; what is none is a wrong call."""
        if isinstance(value, tuple):
            return value[0], value[1]
        key, found, text = str(value).partition("=")
        if not found or not key.strip():
            self.fail(f"{str(value)[:40]!r} is no pair; write NAME=VALUE", param, ctx)
        return key.strip(), text


DURATION = DurationType()
TIME = TimeType()
TIME_AGO = TimeType(-1)
PAIR = PairType()
TARGET: click.Path = click.Path(path_type=Path, dir_okay=False)


def milliseconds_text(duration: timedelta) -> str:
    """`duration` as `Budget` reads it, to the millisecond."""
    return f"{duration // timedelta(milliseconds=1)}ms"


def json_body(source: str) -> Any:
    """The JSON that `source` names: `@FILE`, `@-` for stdin, or the text itself. Raises `InvalidValue`."""
    text, place = _body_text(source)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        problem = str(error) if isinstance(error, ValueError) else "nested too deeply"
        raise InvalidValue(f"{place} is no JSON: {problem[:200]}") from error


def _body_text(source: str) -> tuple[str, str]:
    if not source.startswith("@"):
        return source, "--json-body"
    name = source[1:]
    try:
        data = sys.stdin.buffer.read(LARGEST_BODY + 1) if name == "-" else _head(Path(name))
    except OSError as error:
        raise InvalidValue(f"--json-body {source}: {error.strerror or error}") from error
    if len(data) > LARGEST_BODY:
        raise InvalidValue(f"--json-body {source}: larger than {LARGEST_BODY:,} bytes; pass a reference to the data instead")
    try:
        return data.decode("utf-8-sig"), f"--json-body {source}"
    except UnicodeDecodeError as error:
        raise InvalidValue(f"--json-body {source} is not UTF-8") from error


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_BODY + 1)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def person(name: str | None = None) -> str:
    """The actor of a call: `person:NAME`, the login name where none is given. The command line is never an agent (H6, X20).

    Raises `InvalidValue` for what is no person's name (`core/actors.py`).
    """
    if name is None:
        from jobconsole.console import login_person

        return login_person()
    try:
        return actors.person(name)
    except InvalidValue as error:
        raise InvalidValue(f"{error}: --by NAME") from None
