"""A filter by words, for lists that know nothing better: the log, and providers with their accounts (UX 1a).

Only this file decides it. Words stand beside each other and must all occur, whatever their case; `!word` must not. Operations
have a language of their own (`filter.py`), the audit too (`audit_search.py`).
"""

from __future__ import annotations

from dataclasses import dataclass


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
        return all(_fits(word, told) for word in self.text.casefold().split())


def _fits(word: str, told: str) -> bool:
    wanted = word.removeprefix("!")
    return not wanted or (wanted in told) is (wanted == word)
