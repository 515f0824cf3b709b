"""A parsed contract back as TOML text: for the merged text of a contract that extends another (X13).

Only `contract_file.py` calls this. What is written reads back as the same values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def dump(document: Mapping[str, Any]) -> str:
    """`document` as TOML, one table after the other, everything below a table's keys inline."""
    lines = [f"{_key(key)} = {_value(value)}" for key, value in document.items() if not isinstance(value, dict)]
    for key, table in document.items():
        if isinstance(table, dict):
            lines += ["", f"[{_key(key)}]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if is_bare else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case list():
            return f"[{', '.join(_value(item) for item in value)}]"
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    return str(value)  # numbers; dates, which the reader of the merged text refuses as it would in the file
