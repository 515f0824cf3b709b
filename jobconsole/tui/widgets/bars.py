"""Bars of a few columns: a budget and a progress never look alike (UX 1a).

Only this file decides how a share is drawn: `▰▰▰▱▱▱` for a budget that is used up, `━━━╸` for progress.
"""

from __future__ import annotations


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
