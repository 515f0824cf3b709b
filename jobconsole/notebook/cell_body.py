"""The body of a `%%submit` cell as a JSON value, and the id under which the same cell finds its operation again.

Only this file decides how a body is read. JSON comes first; YAML where a library for it is installed, because nobody should
need one for JSON. What YAML can say and JSON cannot (dates, sets, tags) is refused.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from typing import Any

from jobconsole.errors import InvalidValue


def parse_body(text: str) -> Any:
    """The value that the cell's body describes; None for an empty one. Raises `InvalidValue`, which names line and mend."""
    if not text.strip():
        return None
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as not_json:
        return _yaml(text, f"line {not_json.lineno}, column {not_json.colno}: {not_json.msg}")


def _refuse_constant(name: str) -> Any:
    raise InvalidValue(f"the body holds {name}, which is no JSON; write a number, a text or null")


def _yaml(text: str, why_no_json: str) -> Any:
    try:
        yaml = importlib.import_module("yaml")
    except ModuleNotFoundError:
        mend = "for YAML install a library: pip install pyyaml"
        raise InvalidValue(f"the body is no JSON ({why_no_json}); mend it, or {mend}") from None
    try:
        value = yaml.safe_load(text)
        json.dumps(value, allow_nan=False)
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())[:200]
        raise InvalidValue(f"the body is neither JSON ({why_no_json}) nor YAML ({problem})") from None
    except (TypeError, ValueError):
        raise InvalidValue("the body's YAML holds what JSON cannot (a date, a set, a NaN); quote it as a text") from None
    if isinstance(value, str):
        raise InvalidValue(f"the body is no JSON ({why_no_json}), and as YAML it is only a text; write fields as name: value")
    return value


def cell_id(provider: str, body: Any, params: Mapping[str, str]) -> str:
    """The operation id of a cell: the same content has the same one, so that running it again submits nothing again."""
    said = json.dumps([provider, body, dict(params)], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"cell_{hashlib.sha256(said.encode()).hexdigest()[:20]}"
