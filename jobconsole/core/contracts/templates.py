"""Templates of a contract: `{x}` percent-encoded, `{+x}` with its slashes kept (RFC 6570), and what no value may bring in.

Only this file decides which text may enter a URL, a header or a body (CONTRACT.md, "Templates"). `contract_file.py` asks which
names a template uses, `requests.py` fills it. A value comes from a provider, a person or an agent: encoding makes it one path
segment, and what encoding cannot make harmless is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from jobconsole.errors import InvalidValue

_PLACEHOLDER = re.compile(r"\{(\+?)([A-Za-z_][A-Za-z0-9_]*)\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DOTS = frozenset({".", ".."})
_KEPT_WITH_PLUS = "/:@!$&'()*+,;=~"


def names(template: str) -> tuple[str, ...]:
    """The names of the placeholders in `template`, in their order."""
    return tuple(match[2] for match in _PLACEHOLDER.finditer(template))


def names_within(body: Any) -> tuple[str, ...]:
    """The names of the placeholders in the texts of a body."""
    if isinstance(body, str):
        return names(body)
    inner = body.values() if isinstance(body, Mapping) else body if isinstance(body, list) else ()
    return tuple(name for value in inner for name in names_within(value))


def stray_brace(template: str) -> bool:
    """Whether a brace is left that belongs to no placeholder: in a URL it is a mistake, in a body it is text."""
    return bool(re.search(r"[{}]", _PLACEHOLDER.sub("", template)))


def fill_url(template: str, values: Mapping[str, str | None]) -> str:
    """The part of a URL that `template` describes, each value as one segment, or with its slashes for `{+x}`.

    Raises `InvalidValue` where a placeholder has no value, or a value that is empty, `.` or `..`, or holds a dot segment,
    `?`, `#`, a backslash, a control character or half a character (SE: encoding cannot save these).
    """

    def one(match: re.Match[str]) -> str:
        name, value = match[2], _value(match[2], values)
        _check_segments(name, value)
        try:
            return quote(value, safe=_KEPT_WITH_PLUS if match[1] else "")
        except UnicodeEncodeError:
            raise InvalidValue(f"{name} is not a valid text; nothing was sent") from None

    return _PLACEHOLDER.sub(one, template)


def fill_text(template: str, values: Mapping[str, str | None]) -> str:
    """`template` with its placeholders replaced by the values as they are.

    Raises `InvalidValue` where a placeholder has no value.
    """
    return _PLACEHOLDER.sub(lambda match: _value(match[2], values), template)


def fill_header(name: str, template: str, values: Mapping[str, str | None]) -> str:
    """The value of header `name`. Raises `InvalidValue` as `fill_text`, and where the result is no header value."""
    filled = fill_text(template, values)
    if _CONTROL.search(filled) or not filled.isascii():
        raise InvalidValue(f"header {name} would hold a control or non-ASCII character; nothing was sent")
    return filled


def fill_body(body: Any, values: Mapping[str, str | None]) -> Any:
    """`body` with the placeholders in its texts replaced: inside a JSON text there is nothing to escape.

    Raises `InvalidValue` where a placeholder has no value.
    """
    if isinstance(body, str):
        return fill_text(body, values)
    if isinstance(body, Mapping):
        return {key: fill_body(value, values) for key, value in body.items()}
    if isinstance(body, list):
        return [fill_body(value, values) for value in body]
    return body


def _value(name: str, values: Mapping[str, str | None]) -> str:
    value = values.get(name)
    if value is None:
        raise InvalidValue(f"{name} has no value yet, and the request needs it; nothing was sent")
    return value


def _check_segments(name: str, value: str) -> None:
    if not value or any(segment in _DOTS for segment in value.split("/")):
        raise InvalidValue(f"{name} is empty or holds a dot segment and may not stand in a URL; nothing was sent")
    if _CONTROL.search(value) or any(sign in value for sign in "?#\\"):
        raise InvalidValue(
            f"{name} holds a control character, ?, # or a backslash and may not stand in a URL; nothing was sent"
        )
