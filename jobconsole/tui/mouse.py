"""Whether the terminal reports the mouse to us, or keeps it for selecting text (UX 1a, native mouse select).

Only this file decides that. Textual has a switch for the start of a program only; the control sequences are those of the
terminals (DEC private modes 1000, 1003, 1006 and urxvt's 1015), and are the same on every platform that Textual draws on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textual.app import App

_MODES = (1000, 1003, 1015, 1006)


class MouseReports:
    """The mouse of one dashboard. `is_on` is what was asked for; where the terminal is lent to somebody, it comes back so."""

    def __init__(self, app: App[None], *, is_on: bool) -> None:
        self._app = app
        self._begins_on = self.is_on = is_on

    def toggle(self) -> bool:
        """Report it, or leave it to the terminal; returns whether it is reported now."""
        self.is_on = not self.is_on
        self._tell(self.is_on)
        return self.is_on

    @contextmanager
    def released(self) -> Iterator[None]:
        """Leave it to the terminal while inside: there is something to select."""
        self._tell(False)
        try:
            yield
        finally:
            self._tell(self.is_on)

    def resumed(self) -> None:
        """Textual has the terminal again, and switched the mouse as at the start."""
        if self.is_on != self._begins_on:
            self._tell(self.is_on)

    def left(self) -> None:
        """The program ends: Textual takes back only what it has switched on itself."""
        if self.is_on and not self._begins_on:
            self._tell(False)

    def _tell(self, is_on: bool) -> None:
        driver = self._app._driver  # Textual writes the clipboard's sequence to the same one, and has no other door
        if driver is not None:
            driver.write("".join(f"\x1b[?{mode}{'h' if is_on else 'l'}" for mode in _MODES))
