"""What a Python caller handed over, looked at before anybody uses it: a wrong type is refused in words that say what is wanted.

Only this file decides which types a call takes where the engine would trust them; ranges and rules are the engine's. A keyword
that there is not is Python's own `TypeError`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping

from jobconsole.console import Budget
from jobconsole.core.durations import parse_duration
from jobconsole.core.operation import Operation
from jobconsole.errors import InvalidValue

_SHOWN = 40  # characters of a value that is shown back


def named(op: object) -> str:
    """The id by which an operation is named: a record's own, or a text as it is. Raises `InvalidValue`."""
    if isinstance(op, Operation):
        return op.operation_id
    if isinstance(op, str):
        return op
    raise InvalidValue(f"an operation is named by its record or by its whole id, a text, not {_kind(op)}")


def text(what: str, value: object) -> None:
    """Raises `InvalidValue` where `value` is neither a text nor left out."""
    if not isinstance(value, str | None):
        raise InvalidValue(f"{what} is a text, not {_kind(value)}; write {what}={str(value)[:_SHOWN]!r} if that is meant")


def provider_name(provider: object) -> str:
    """The name of a provider. Raises `InvalidValue`."""
    if not isinstance(provider, str):
        raise InvalidValue(f"a provider is named by a text, not {_kind(provider)}; console.providers() lists the names")
    return provider


def seconds(timeout: object) -> float | None:
    """How long a call waits at most: "10m", seconds, or None for as long as it takes. Raises `InvalidValue`."""
    if timeout is None:
        return None
    if isinstance(timeout, str):
        return parse_duration(timeout).total_seconds()
    if not isinstance(timeout, numbers.Real) or isinstance(timeout, bool) or timeout != timeout:  # nan alone is not itself
        raise InvalidValue(f'a timeout is a duration such as "10m", a number of seconds, or None, not {_kind(timeout)}')
    try:
        return float(timeout)
    except OverflowError:
        raise InvalidValue("a timeout of so many seconds is too long; None waits for as long as it takes") from None


def parameters(params: object) -> dict[str, str]:
    """The values of a contract's parameters by their names, all texts; empty for None. Raises `InvalidValue`."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise InvalidValue(f'params are texts by their names, such as {{"port": "8080"}}, not {_kind(params)}')
    for name, value in params.items():
        if not isinstance(name, str):
            raise InvalidValue(f"a parameter is named by a text, not {_kind(name)}")
        if not isinstance(value, str):
            shown = {name[:_SHOWN]: str(value)[:_SHOWN]}
            raise InvalidValue(f"a parameter is a text, not {_kind(value)}; write params={shown!r} if that is meant")
    return dict(params)


def budget(asked: object) -> Budget:
    """What the wait may use up; the contract's for None. Raises `InvalidValue`."""
    if asked is None:
        return Budget()
    if not isinstance(asked, Budget):
        raise InvalidValue(f'a budget is written jobconsole.Budget(deadline="40m", status_requests=12), not {_kind(asked)}')
    if not isinstance(asked.deadline, str | None):
        raise InvalidValue(f'a deadline is a duration such as "40m", not {_kind(asked.deadline)}')
    return asked


def revision(shown: object) -> int | None:
    """The revision that a decision is bound to; None for the one of now. Raises `InvalidValue`."""
    if shown is None or type(shown) is int:
        return shown
    raise InvalidValue(f"a revision is a whole number, not {_kind(shown)}; it is in the record: op.revision")


def _kind(value: object) -> str:
    """The type of a value as Python writes it; what is not a number at all is named so."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return "None" if value is None else type(value).__name__
