"""Poll hints in the body of an answer: when the provider wants to be asked again (C5, X2).

Only this file decides whether a hint is valid. `observation.py` calls it for a waiting job. Zero means "now allowed". Whether a
hint lies past the deadline is `decide.py`'s to say: it knows the deadline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobconsole.core.contracts.contract import Hints
from jobconsole.core.judging.answer import RejectedHint
from jobconsole.core.judging.provider_text import text_of
from jobconsole.core.judging.retry_after import LONGEST_WAIT_S, SHOWN
from jobconsole.core.moments import moment
from jobconsole.core.numbers import number, why_no_number


@dataclass(frozen=True, slots=True)
class HintFacts:
    """The longest valid hint, which key of [hints] it came from, and the ones that were rejected."""

    seconds: float | None = None
    source: str | None = None
    rejected: tuple[RejectedHint, ...] = ()


def read_hints(hints: Hints, raw: Mapping[str, Any], zone: str, at: datetime | None) -> HintFacts:
    """The hints in an answer. `raw` is the envelope with the body as it came; `at` is the answer's own time."""
    found: list[tuple[float, str]] = []
    rejected: list[RejectedHint] = []
    for key, expression in (
        ("poll_after_seconds", hints.poll_after_seconds),
        ("poll_after_ms", hints.poll_after_ms),
        ("next_check_at", hints.next_check_at),
    ):
        value = None if expression is None else expression.search(raw)
        if value is None:
            continue
        delay, why = _from_now(value, zone, at) if key == "next_check_at" else _delay(value, key)
        if delay is None:
            rejected.append(RejectedHint(what=key, value=_shown(value), why=why))
        else:
            found.append((min(delay, LONGEST_WAIT_S), key))
    seconds, source = max(found, default=(None, None))
    return HintFacts(seconds, source, tuple(rejected))


def _delay(value: Any, key: str) -> tuple[float | None, str]:
    delay = number(value)
    if delay is None or delay < 0:
        return None, why_no_number(value)
    return (delay / 1_000 if key == "poll_after_ms" else delay), ""


def _from_now(value: Any, zone: str, at: datetime | None) -> tuple[float | None, str]:
    until = moment(value, zone, about=at)
    if until is None:
        return None, "not a time"
    if at is None:
        return None, "the answer has no time to measure it against"
    return max(0.0, (until - at).total_seconds()), ""


def _shown(value: Any) -> str:
    return (text_of(value, SHOWN) or "").encode("utf-8", "replace").decode()
