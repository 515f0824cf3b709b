"""One table of a contract file, read key by key: every value of its type and in range, every unknown key refused.

Only this file decides how a wrong value is reported. `contract_file.py` and its parts read by it; every error is a
`ContractInvalid` that names file, key and mend.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from typing import Any, NoReturn

from jobconsole.core.contracts import expressions
from jobconsole.core.contracts.contract import Rule
from jobconsole.core.contracts.expressions import CompiledExpression, ExpressionRefused
from jobconsole.core.contracts.keys import KEYS, mend_of
from jobconsole.core.durations import parse_duration
from jobconsole.core.vocabulary import StateClass
from jobconsole.errors import ContractInvalid, InvalidValue

RULE_VERDICTS = (
    *(str(word) for word in StateClass),
    *("not_found", "rate_limited", "authorization_denied", "delivery_failure"),
)
CODE_WORDS = (*(str(word) for word in StateClass), "body")


class Table:
    """The values of one table. `path` is its name in the file, `keys` names its entry in `contract_keys.KEYS`.

    Readers named after a type want the key where they are given no default, and raise `ContractInvalid` without it;
    the `maybe_` ones return None where it is left out.
    """

    def __init__(self, source: str, path: str, values: Mapping[str, Any], keys: str | None = None) -> None:
        self.source, self.path, self.values = source, path, values
        self._keys = path if keys is None else keys
        known = KEYS.get(self._keys)
        for key in values if known is not None else ():
            if known is not None and key not in known:
                self.refuse(key, "unknown key", mend_of(self._keys, key))

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def refuse(self, key: str, problem: str, mend: str) -> NoReturn:
        """Raise the `ContractInvalid` for `key` of this table."""
        raise ContractInvalid(self.source, _line(f"{self.path}.{key}".strip("."), 120), _line(problem, 240), _line(mend, 400))

    def need(self, key: str) -> Any:
        """The raw value, which must be there."""
        if key not in self.values:
            self.refuse(key, "is required", f"write {key} = ... in [{self.path}]" if self.path else f"write {key} = ...")
        return self.values[key]

    # ---- texts ----------------------------------------------------------------------------------------------------------
    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not blank."""
        if default is not None and key not in self.values:
            return default
        value = self.need(key)
        if not isinstance(value, str):
            self.refuse(key, f"is {_kind(value)}", "write a text in quotes")
        if not value.strip():
            self.refuse(key, "is empty", "write a text, or leave the key out")
        return value

    def maybe_text(self, key: str) -> str | None:
        """A text, or None."""
        return self.text(key) if key in self.values else None

    def choice(self, key: str, words: Collection[str], default: str | None = None) -> str:
        """One of `words`."""
        value = self.text(key, default)
        if value not in words:
            self.refuse(key, f"is {value[:40]!r}", f"write one of {', '.join(words)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; none where the key is left out."""
        return tuple(value for _, value in self._list_of_texts(key))

    def text_map(self, key: str) -> dict[str, str]:
        """A table of texts; empty where the key is left out."""
        inner = self.table(key, keys="*")
        return {name: inner.text(name) for name in inner.values} if inner else {}

    def _list_of_texts(self, key: str) -> Iterator[tuple[int, str]]:
        values = self.values.get(key, [])
        if not isinstance(values, list):
            self.refuse(key, f"is {_kind(values)}", "write a list in square brackets")
        for place, value in enumerate(values):
            if not isinstance(value, str) or not value.strip():
                self.refuse(f"{key}[{place}]", f"is {_kind(value)}", "write a text in quotes")
            yield place, value

    # ---- numbers and flags ----------------------------------------------------------------------------------------------
    def flag(self, key: str, default: bool | None = None) -> bool:
        """true or false."""
        value = self.need(key) if default is None else self.values.get(key, default)
        if not isinstance(value, bool):
            self.refuse(key, f"is {_kind(value)}", "write true or false, without quotes")
        return value

    def integer(self, key: str, default: int | None = None, *, least: int = 1, most: int = 1_000_000_000) -> int:
        """A whole number from `least` to `most`."""
        value = self.need(key) if default is None else self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            self.refuse(key, f"is {_kind(value)}", "write a whole number, without quotes")
        if not least <= value <= most:
            self.refuse(key, f"is {value}", f"write a number from {least} to {most}")
        return value

    def number(self, key: str, default: float | None = None, *, least: float, most: float = 1e9) -> float:
        """A finite number from `least` to `most`."""
        value = self.need(key) if default is None else self.values.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            self.refuse(key, f"is {_kind(value)}", "write a number, without quotes")
        if not math.isfinite(value) or not least <= value <= most:
            self.refuse(key, f"is {value}", f"write a number from {least:g} to {most:g}")
        return float(value)

    def duration(self, key: str, default: timedelta | None = None, *, is_zero_allowed: bool = False) -> timedelta:
        """A duration such as `45s`; `0s` where `is_zero_allowed`."""
        if default is not None and key not in self.values:
            return default
        text = self.text(key) if isinstance(self.need(key), str) else ""
        if is_zero_allowed and text == "0s":
            return timedelta(0)
        if not text:
            self.refuse(key, f"is {_kind(self.values[key])}", 'write a duration in quotes, such as "45s" or "1h30m"')
        try:
            return parse_duration(text)
        except InvalidValue as error:
            problem, _, mend = str(error).partition("; ")
            self.refuse(key, problem, mend)

    def maybe_duration(self, key: str, *, is_zero_allowed: bool = False) -> timedelta | None:
        """A duration, or None."""
        return self.duration(key, is_zero_allowed=is_zero_allowed) if key in self.values else None

    # ---- what refers to answers -----------------------------------------------------------------------------------------
    def expression(self, key: str) -> CompiledExpression | None:
        """A JMESPath expression over an answer, or None."""
        return self._compile(key, self.text(key)) if key in self.values else None

    def expressions(self, key: str) -> tuple[CompiledExpression, ...]:
        """A list of JMESPath expressions over an answer."""
        return tuple(self._compile(f"{key}[{place}]", text) for place, text in self._list_of_texts(key))

    def _compile(self, key: str, text: str) -> CompiledExpression:
        try:
            return expressions.compile(text, roots=expressions.ANSWER_ROOTS)
        except ExpressionRefused as error:
            self.refuse(key, error.problem, error.mend)

    def rules(self) -> tuple[Rule, ...]:
        """The `rules` of this table, in order."""
        return tuple(rule._rule() for rule in self.tables("rules"))

    def _rule(self) -> Rule:
        verdict = self.choice("is", RULE_VERDICTS)
        try:
            return Rule(expressions.compile_condition(self.text("when")), verdict)
        except ExpressionRefused as error:
            self.refuse("when", error.problem, error.mend)

    def codes(self) -> dict[int, str]:
        """The `codes` of this table: status code → class, or `body`."""
        inner = self.table("codes", keys="*")
        if inner is None:
            return {}
        for key in inner.values:
            if not (key.isascii() and key.isdigit() and 200 <= int(key[:4]) <= 599):
                inner.refuse(key, "is no status code of an answer", "write a number from 200 to 599")
        return {int(key): inner.choice(key, CODE_WORDS) for key in inner.values}

    # ---- tables ---------------------------------------------------------------------------------------------------------
    def table(self, key: str, keys: str | None = None) -> Table | None:
        """The table under `key`, or None. `keys` names its known keys; `*` knows none beforehand."""
        if key not in self.values:
            return None
        value = self.values[key]
        if not isinstance(value, dict):
            self.refuse(key, f"is {_kind(value)}", f"write a table: [{f'{self.path}.{key}'.strip('.')}]")
        return Table(self.source, f"{self.path}.{key}".strip("."), value, keys)

    def tables(self, key: str) -> tuple[Table, ...]:
        """The list of tables under `key`: [[key]]."""
        path = f"{self.path}.{key}".strip(".")
        values = self.values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            self.refuse(key, f"is {_kind(values)}", f"write each one as [[{path}]]")
        return tuple(Table(self.source, f"{path}[{place}]", value, path) for place, value in enumerate(values))


def _line(text: str, most: int) -> str:
    """One line of at most `most` characters: keys and values of a file may hold anything."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _kind(value: Any) -> str:
    """What a value is, in the words of TOML; never the value itself, which may be a secret (C13)."""
    match value:
        case bool():
            return "true or false"
        case int():
            return "a whole number"
        case float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "a table"
    return "a date or time"
