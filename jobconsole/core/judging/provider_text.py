"""Texts of a provider, cut to what is kept: words about a failure, messages, ids (U3, ST-13).

Only this file decides how much of a provider's text is kept and how an error of any shape becomes readable. The text stays
data: control characters are kept here and made inert where it is shown. `observation.py` and its parts call it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from jobconsole.core.judging.answer import TEXT_LIMIT
from jobconsole.core.operation import ProviderError

_CODES = ("code", "errorCode", "error_code", "type", "status", "name")
_TEXTS = (
    *("message", "text", "detail", "details", "description", "errorMessage", "error_message", "msg", "title", "reason"),
    *("error", "errors"),
)
_MOST_ERRORS = 20
_DEEPEST = 4


def text_of(value: Any, limit: int = TEXT_LIMIT) -> str | None:
    """`value` as a text of at most `limit` characters; what is no text is shown as JSON. Null and blank are None."""
    if value is None:
        return None
    text = value if isinstance(value, str) else _json(value)
    return text[:limit] if text.strip() else None


def error_of(value: Any) -> ProviderError | None:
    """The provider's error in its own words: from a text, an object or a list of either. Null and what is empty are None."""
    if value is None or value is False or value in ("", [], {}):
        return None
    code, text = _read(value, 0)
    return ProviderError(code=code[:TEXT_LIMIT] if code else None, text=text[:TEXT_LIMIT])


def _read(value: Any, depth: int) -> tuple[str | None, str]:
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return _read_object(value, depth)
    if isinstance(value, list) and depth < _DEEPEST:
        read = [_read(item, depth + 1) for item in value[:_MOST_ERRORS]]
        return next((code for code, _ in read if code), None), "; ".join(text for _, text in read if text)
    if value is True or value is None:
        return None, ""
    if isinstance(value, int | float):
        return str(value), ""
    return None, text_of(value) or ""


def _read_object(value: Mapping[str, Any], depth: int) -> tuple[str | None, str]:
    code = _first(value, _CODES)
    own = str(code) if isinstance(code, str | int | float) and not isinstance(code, bool) else None
    inner = _first(value, _TEXTS)
    if inner is None:
        return own, "" if own else text_of(value) or ""
    inner_code, text = _read(inner, depth + 1)
    return own or inner_code, text or inner_code or ""


def _first(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) not in (None, "", [], {}, False)), None)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
