"""The state table of a contract: every documented value in exactly one class (C1, X25).

Only this file decides how a state value is compared: blanks outside and ASCII case do not count, exact comes before pattern, a
longer pattern before a shorter one. `contract_file.py` reads the table by it, `observation.py` looks values up.
"""

from __future__ import annotations

import string
from typing import Any

from jobconsole.core.contracts.contract import StateTable
from jobconsole.core.contracts.table import Table
from jobconsole.core.vocabulary import StateClass

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold(text: str) -> str:
    """`text` as it is compared: trimmed, ASCII lower case. No locale, no other letters: a Kelvin sign is no k."""
    return text.strip().translate(_LOWER)


def classify(table: StateTable, state: str) -> tuple[StateClass, bool]:
    """The class of a state value, and whether the table lists it (an unlisted one is drift, X25)."""
    folded = fold(state)
    if (exact := table.exact.get(folded)) is not None:
        return exact, True
    for pattern, word in table.patterns:
        if _matches(pattern, folded):
            return word, True
    return table.unlisted, False


def _matches(pattern: str, text: str) -> bool:
    """Whether `text` is `pattern` with its `*` filled; linear in both, whatever an answer holds."""
    first, *middle, last = pattern.split("*")
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def read_states(top: Table) -> StateTable:
    """The table [states]; left out, no value is known. Raises `ContractInvalid`."""
    states = top.table("states")
    if states is None:
        return StateTable({})
    found: dict[str, StateClass] = {}
    for word in StateClass:
        for place, value in enumerate(_values(states, word)):
            folded = fold(value)
            if not folded:
                states.refuse(f"{word}[{place}]", "is empty", "write the value as the provider documents it")
            if folded in found:
                mend = f"it is also among {found[folded]}; keep one of them (case and outer blanks do not count)"
                states.refuse(f"{word}[{place}]", f"{value!r} is there twice", mend)
            if not folded.strip("*"):
                mend = "list the documented values; for an open vocabulary use unlisted with unlisted_source"
                states.refuse(f"{word}[{place}]", "a bare * would guess", mend)
            found[folded] = word
    patterns = sorted((value for value in found if "*" in value), key=len, reverse=True)
    return StateTable(
        exact={value: word for value, word in found.items() if "*" not in value},
        patterns=tuple((value, found[value]) for value in patterns),
        unlisted=_unlisted(states),
        unlisted_source=states.text("unlisted_source", "") if "unlisted_source" in states else "",
    )


def _values(states: Table, word: StateClass) -> list[str]:
    values: Any = states.values.get(word, [])
    if not isinstance(values, list):
        states.refuse(word, "is no list", f'write {word} = ["..."]')
    for place, value in enumerate(values):
        if not isinstance(value, str | int):
            states.refuse(f"{word}[{place}]", "is no state value", "write a text, a whole number, true or false")
    return [state_text(value) for value in values]


def state_text(value: str | int | bool) -> str:
    """A state value as text: as JSON writes it, texts without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unlisted(states: Table) -> StateClass:
    word = StateClass(states.choice("unlisted", (StateClass.UNKNOWN, StateClass.WAITING), StateClass.UNKNOWN))
    if word is StateClass.WAITING and "unlisted_source" not in states:
        states.refuse(
            "unlisted", "needs unlisted_source beside it", 'write unlisted_source = "where the documentation says so"'
        )
    return word
