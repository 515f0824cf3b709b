"""A filter by words, for lists that know nothing better: the log, and providers with their accounts (UX 1a).

Only this file decides it. Words stand beside each other and must all occur, whatever their case; `!word` must not; quoted ones
are looked for as they stand. Operations have a language of their own (`core/telling/filter.py`), the audit too
(`audit_search.py`), which takes its terms apart by `terms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TERM = re.compile(r'(?:[^\s"]|"[^"]*"?)+')  # the second quote may still have to be typed


def terms(text: str) -> Iterator[str]:
    """The terms of what was typed: what stands between blanks, and what stands between quotes, without them."""
    return (match[0].replace('"', "") for match in _TERM.finditer(text))


@dataclass(frozen=True, slots=True)
class WordFilter:
    """What was typed; empty, it lets everything through."""

    text: str = ""

    def __bool__(self) -> bool:
        """Whether it asks for anything."""
        return bool(self.text.strip())

    def matches(self, *texts: str) -> bool:
        """Whether each word occurs in one of these texts, and each `!word` in none."""
        told = "\n".join(texts).casefold()
        return all(_fits(word, told) for word in terms(self.text.casefold()))


def _fits(word: str, told: str) -> bool:
    wanted = word.removeprefix("!")
    return not wanted or (wanted in told) is (wanted == word)
