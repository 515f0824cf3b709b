"""What every list of the dashboard has in common: a cursor that keys move by entries, by pages and to the ends.

Only this file decides which keys those are, and that they are the same in all lists, vim's beside the arrows (UX 1a); `keys.py`
lets people choose others by the ids below. `OperationsTable` has rows of one line that come from the feed, `LineList` entries
of any height that its screen gives it; each says how many entries there are and puts the cursor on one.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.scroll_view import ScrollView

from jobconsole.tui.abstract import Abstract


class CursorList(ScrollView, metaclass=Abstract, can_focus=True, inherit_bindings=False):
    """A list with a cursor. Numbers of entries live for one key press: what is kept, and told, are keys and ids (SPEC U8)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="list.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="list.down"),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False, id="list.page-up"),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False, id="list.page-down"),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False, id="list.half-up"),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False, id="list.half-down"),
        Binding("home,g", "first", "First", show=False, id="list.first"),
        Binding("end,G", "last", "Last", show=False, id="list.last"),
    ]

    # ---- what a list says of itself -------------------------------------------------------------------------------------
    @property
    @abstractmethod
    def count(self) -> int:
        """How many entries the cursor may stand on."""

    @property
    @abstractmethod
    def place(self) -> int | None:
        """The number of the entry under the cursor, from 0; None where it stands on none."""

    @abstractmethod
    def place_after(self, pages: float) -> int:
        """The number of the entry that lies so many pages below the cursor, or above it where negative; any number will do."""

    @abstractmethod
    def stand_on(self, place: int) -> None:
        """Put the cursor on an entry and bring it into sight."""

    def pass_end(self, direction: int) -> None:
        """The cursor was to go beyond the first (-1) or the last (1) entry."""

    # ---- keys -----------------------------------------------------------------------------------------------------------
    def action_move(self, by: int) -> None:
        """Up or down by entries."""
        place = self.place
        wanted = 0 if place is None else place + by
        if 0 <= wanted < self.count:
            self.stand_on(wanted)
        else:
            self.pass_end(by)

    def action_page(self, pages: float) -> None:
        """Up or down by pages, at least by one entry; never beyond an end, unless it stands there."""
        place, step = self.place, 1 if pages > 0 else -1
        wanted = min(max(0, self.place_after(pages)), self.count - 1)
        if place is None or wanted == place:
            self.action_move(step)
        else:
            self.stand_on(wanted)

    def action_first(self) -> None:
        """To the first entry."""
        if self.count:
            self.stand_on(0)

    def action_last(self) -> None:
        """To the last entry."""
        if self.count:
            self.stand_on(self.count - 1)
