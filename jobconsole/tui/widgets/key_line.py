"""The bottom line: the keys that work here and now, as many as have room (UX 1a).

Only this file decides which of them go where the line is short: the last ones first, and help never, because it shows them all.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.app import ComposeResult
from textual.widgets import Footer

# Textual's module of this name is private, the class is not: the public names give the footer without its keys.
from textual.widgets._footer import FooterKey

from jobconsole.core.telling.terminal_text import width

_HELP = "app.act('app.help')"


class KeyLine(Footer):
    """Textual's footer, never wider than the screen."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)

    def compose(self) -> ComposeResult:
        """The keys that fit."""
        yield from self._fitting([each for each in super().compose() if isinstance(each, FooterKey)])

    def on_resize(self, event: events.Resize) -> None:
        """Others have room."""
        self.call_after_refresh(self.recompose)

    def _fitting(self, keys: list[FooterKey]) -> Iterator[FooterKey]:
        room = self.size.width - sum(_columns(key) for key in keys if key.action == _HELP)
        for key in keys:
            room -= 0 if key.action == _HELP else _columns(key)
            if key.action == _HELP or room >= 0:
                yield key


def _columns(key: FooterKey) -> int:
    """Key, blank, word, blank."""
    return width(key.key_display) + width(key.description) + 2
