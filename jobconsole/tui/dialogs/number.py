"""A field for a whole number.

Only this file decides what becomes of a letter that is typed into one: it is not the number's, so the dialog gets it.
"""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.validation import Integer
from textual.widgets import Input


class NumberField(Input):
    """From 0 to `most`, and filled with that; `spill` gets the keys that no number has."""

    def __init__(self, most: int, *, id: str, spill: Callable[[events.Key], None]) -> None:
        super().__init__(str(most), id=id, type="integer", validators=[Integer(0, most)], max_length=7)
        self._spill = spill

    def on_key(self, event: events.Key) -> None:
        """Digits are the number's."""
        if event.character is not None and event.character.isalpha():
            event.stop()
            event.prevent_default()
            self._spill(event)
