"""Counts of items in an answer, and what they make of a success (C2, C4, C12; step 9).

Only this file decides that. `observation.py` reads counts from every answer and lets them judge a success only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobconsole.core.contracts.contract import CountPaths
from jobconsole.core.numbers import whole
from jobconsole.core.operation import Counts
from jobconsole.core.vocabulary import StateClass


def read_counts(paths: CountPaths, envelope: Mapping[str, Any]) -> tuple[Counts | None, tuple[str, ...]]:
    """The counts of an answer, and notes about values that are none. A missing `succeeded` is processed - failed."""
    found: dict[str, int] = {}
    notes: list[str] = []
    for name, path in (
        ("total", paths.total),
        ("processed", paths.processed),
        ("succeeded", paths.succeeded),
        ("failed", paths.failed),
    ):
        value = None if path is None else path.search(envelope)
        count = whole(value)
        if count is not None:
            found[name] = count
        elif value is not None:
            notes.append(f"the count {name} is no whole number and became unknown")
    all_ended = found.get("processed", found.get("total"))
    if "succeeded" not in found and "failed" in found and all_ended is not None:
        found["succeeded"] = all_ended - found["failed"]
    return (Counts(**found) if found else None), tuple(notes)


def judge(counts: Counts) -> tuple[StateClass, str]:
    """What a success is with these counts: still one, partial, failed, or a contradiction; and why."""
    known = [count for count in (counts.total, counts.processed, counts.succeeded, counts.failed) if count is not None]
    if any(count < 0 for count in known):
        return StateClass.CONTRADICTION, "a count is negative"
    succeeded, failed = counts.succeeded, counts.failed
    if succeeded is None:
        if counts.total == 0:
            return StateClass.CONTRADICTION, "it succeeded with 0 items"
        return (StateClass.PARTIAL, f"{failed} items failed") if failed else (StateClass.SUCCEEDED, "")
    ended = succeeded + (failed or 0)
    if counts.total is not None and ended != counts.total:
        return StateClass.CONTRADICTION, f"{succeeded} succeeded and {failed or 0} failed are not {counts.total}"
    if ended == 0:
        return StateClass.CONTRADICTION, "it succeeded with 0 of 0 items"
    if failed:
        shown = f"{failed} of {ended} items failed"
        return (StateClass.PARTIAL if succeeded else StateClass.FAILED), shown
    return StateClass.SUCCEEDED, ""
