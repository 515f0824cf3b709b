"""A contract as JSON values, for `provider show` and whoever wants to see what a provider is taken to mean.

Only this file decides how a contract is shown: its keys as values, expressions as their source, durations as people write them.
Credentials are references in a contract (C13), so that nothing here can be a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from jobconsole.core.contracts.contract import Contract, RequestTemplate, StateTable
from jobconsole.core.durations import duration_text
from jobconsole.core.vocabulary import StateClass

_LEFT_OUT = frozenset({"text"})  # the file itself: `source` and `digest` name it


def contract_view(contract: Contract) -> dict[str, Any]:
    """The JSON of a contract. `states` is class → its documented values; a request is `METHOD target` beside its parts."""
    return {each.name: _shown(getattr(contract, each.name)) for each in fields(contract) if each.name not in _LEFT_OUT}


def _shown(value: Any) -> Any:
    """JSON values only; what has a source text and no parts of its own is an expression."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, timedelta):
        return duration_text(value)
    if isinstance(value, StateTable):
        return _states(value)
    if isinstance(value, RequestTemplate):
        return {"request": f"{value.method} {value.target}", **_parts(value, ("method", "target"))}
    if hasattr(value, "search"):
        return value.source
    if is_dataclass(value):
        return _parts(value, ())
    if isinstance(value, Mapping):
        return {str(key): _shown(part) for key, part in value.items()}
    return [_shown(part) for part in (sorted(value) if isinstance(value, frozenset) else value)]


def _parts(value: Any, without: tuple[str, ...]) -> dict[str, Any]:
    return {each.name: _shown(getattr(value, each.name)) for each in fields(value) if each.name not in without}


def _states(table: StateTable) -> dict[str, Any]:
    """Class → values, in the order of the classes; patterns stand beside the exact values (C1)."""
    known = [*table.exact.items(), *table.patterns]
    shown: dict[str, Any] = {}
    for each in StateClass:
        if values := [word for word, found in known if found is each]:
            shown[each.value] = values
    return {**shown, "unlisted": table.unlisted.value, "unlisted_source": table.unlisted_source}
