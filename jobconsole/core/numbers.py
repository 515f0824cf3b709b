"""Numbers from outside: finite, in range, of their type, or unknown (B18).

Only this file decides what counts as a number in an answer. Digits in texts are numbers; true and false never are. What reads
answers (`observation.py` and its parts) calls it.
"""

from __future__ import annotations

import math
import re
from typing import Any

LARGEST = 1e15  # beyond this no delay, progress, size or count means anything, and floats lose whole numbers soon after
_DECIMAL = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?", re.ASCII)


def number(value: Any) -> float | None:
    """`value` as a finite number of at most 10**15 either way, or None. A text of ASCII digits, with decimals, is one."""
    if isinstance(value, str):
        text = value.strip()
        value = float(text) if _DECIMAL.fullmatch(text) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -LARGEST <= value <= LARGEST else None  # nan compares with nothing


def whole(value: Any) -> int | None:
    """`value` as a whole number, or None: 3, 3.0 and "3" are 3, 3.5 is none."""
    found = number(value)
    return int(found) if found is not None and found.is_integer() else None


def why_no_number(value: Any) -> str:
    """Why `value` cannot be a delay, in a few words, for the record of a rejected hint (C5)."""
    if isinstance(value, bool):
        return "true or false is no number"
    if isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value):
            return "not finite"
        return "negative" if value < 0 else "out of range"
    if isinstance(value, str):
        text = value.strip().lower()
        if text.lstrip("+-") in ("nan", "inf", "infinity"):
            return "not finite"
        return "negative" if _DECIMAL.fullmatch(text) and text.startswith("-") else "not a number"
    return "of the wrong type"
