"""Which ended operations may leave the live documents, what ended first first (STORE 1.3).

Only this file decides who has to stay: whoever has a look that nobody answered, or an action that is not over. `documents.py`
tells the queue what operations have become; `archive.py` asks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from heapq import heapify, heappop, heappush
from typing import Any

from jobconsole.core.keeping.due import TERMINAL, instant
from jobconsole.core.operation import FINAL_ANSWERS


class EndedQueue:
    """Operations that may leave, by the time at which they ended."""

    def __init__(self) -> None:
        self._current: dict[str, datetime] = {}
        self._heap: list[tuple[datetime, str]] = []

    def note(self, operation_id: str, doc: Mapping[str, Any] | None) -> None:
        """The operation has become `doc`, or is gone."""
        ended_at = leaves_since(doc) if doc is not None else None
        if ended_at is None:
            self._current.pop(operation_id, None)
        elif self._current.get(operation_id) != ended_at:
            self._current[operation_id] = ended_at
            heappush(self._heap, (ended_at, operation_id))
            if len(self._heap) > 2 * len(self._current) + 64:
                self._heap = [(at, own_id) for own_id, at in self._current.items()]
                heapify(self._heap)

    def first(self, limit: int) -> list[tuple[datetime, str]]:
        """Up to `limit` of them, what ended first first."""
        found: list[tuple[datetime, str]] = []
        while self._heap and len(found) < limit:
            place = heappop(self._heap)
            if self._current.get(place[1]) == place[0] and place not in found[-1:]:
                found.append(place)
        for place in found:
            heappush(self._heap, place)
        return found


def leaves_since(doc: Mapping[str, Any]) -> datetime | None:
    """Since when the operation is over for everybody; None where it is not."""
    ended_at, look = doc.get("ended_at"), doc.get("look")
    if doc["phase"] not in TERMINAL or not ended_at or doc.get("open_actions"):
        return None
    return None if look and look.get("answer") not in FINAL_ANSWERS else instant(ended_at)
