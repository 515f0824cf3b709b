"""Bars of a few columns: a budget and a progress never look alike, and a line of latencies is neither (UX 1a).

Only this file decides how a share is drawn: `▰▰▰▱▱▱` for a budget that is used up, `━━━╸` for progress, `▂▂▃▂█` for figures
beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence

_BLOCKS, _ASCII_BLOCKS = "▁▂▃▄▅▆▇█", "_.-=+*#@"


def budget_bar(share: float, columns: int, *, is_ascii: bool) -> tuple[str, str]:
    """What is used and what is left, together `columns` wide. Something used shows; the last cell fills at the end only."""
    share = min(1.0, max(0.0, share))
    used = int(share * columns)
    if used == 0 and share > 0:
        used = 1
    return ("#" if is_ascii else "▰") * used, ("." if is_ascii else "▱") * (columns - used)


def progress_bar(share: float, columns: int, *, is_ascii: bool) -> str:
    """How far the job is, in half columns, at most `columns` wide."""
    share = min(1.0, max(0.0, share))
    if is_ascii:
        return "=" * int(share * columns)
    whole, half = divmod(int(share * columns * 2), 2)
    return "━" * whole + "╸" * half


def sparkline(values: Sequence[float], columns: int, *, is_ascii: bool) -> str:
    """One column a value, the highest of them full; the last ones where not all fit. Values are not negative."""
    shown = values[-columns:] if columns > 0 else ()
    blocks, most = _ASCII_BLOCKS if is_ascii else _BLOCKS, max(shown, default=0.0)
    top = len(blocks) - 1
    return "".join(blocks[round(value / most * top) if most > 0 else 0] for value in shown)
