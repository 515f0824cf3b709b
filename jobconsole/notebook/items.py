"""The inbox as cards, with the options of each (SPEC H2, H7, U8).

Only this file decides how many items the browser holds, and when it is told that they changed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from jobconsole.core.telling.inbox import inbox_items
from jobconsole.notebook.feed import Picture
from jobconsole.notebook.rows import Row, item

MOST: Final = 50  # cards; the rest is counted


class Items:
    """The inbox of a picture."""

    def __init__(self) -> None:
        self._told: list[Row] | None = None

    def full(self, picture: Picture, now: datetime) -> dict[str, Any]:
        """The cards, decisions first, the oldest of each first."""
        self._told, others = self._cards(picture, now)
        return {"items": self._told, "others": others}

    def patch(self, picture: Picture, now: datetime) -> dict[str, Any]:
        """The same where a card came, went or changed, else nothing."""
        before = self._told
        whole = self.full(picture, now)
        return {} if whole["items"] == before else whole

    @staticmethod
    def _cards(picture: Picture, now: datetime) -> tuple[list[Row], int]:
        asking = [op for op in picture.operations.values() if op.escalation is not None or op.look is not None]
        found = inbox_items(asking, now, picture.contracts, picture.new_digests)
        return [item(each, now) for each in found[:MOST]], max(0, len(found) - MOST)
