"""Tells whoever sits at the dashboard that something new needs a person: a toast, the bell, the desktop (UX 1a, notifications).

Only this file decides that. Each item is told of once, what comes within a second is one sound, and quiet hours leave the toast
only. What was there when the dashboard opened is on the screen already. `app.py` lets it hear the feed, and ticks it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from jobconsole.console import BrokerNews
from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.operation import Operation
from jobconsole.core.telling.notice import short_notice
from jobconsole.core.telling.notify_settings import NotifySettings
from jobconsole.core.telling.terminal_text import inert
from jobconsole.tui.stage import Stage

GATHERING = timedelta(seconds=1)
_LONGEST = 120  # characters on the desktop
_ST = "\x1b\\"


class Notifying:
    """What was told of, and what is to be told at the next tick."""

    def __init__(self, app: Stage) -> None:
        self.settings = NotifySettings()
        self._app = app
        self._known: dict[str, datetime] = {}  # operation id → since when it is the item that was heard of
        self._fresh: dict[str, Operation] = {}
        self._tell_at = app.feed.now()
        self._has_begun = False

    def hear(self, news: BrokerNews, operations: Mapping[str, Operation]) -> None:
        """Take in what changed in the store, whether or not the picture is held still."""
        changed: Iterable[str] = news.operation_ids
        if news.is_reload:
            changed = operations.keys() | self._known.keys()
        for operation_id in changed:
            op = operations.get(operation_id)
            since = self._since(op) if op is not None else None
            if op is None or since is None:
                self._known.pop(operation_id, None)
                self._fresh.pop(operation_id, None)
            elif self._known.get(operation_id) != since:
                self._known[operation_id] = since
                if self._has_begun:
                    self._gather(operation_id, op)
        self._has_begun = True

    def tick(self) -> None:
        """Tell what came and still needs somebody, a second after the first of it."""
        if not self._fresh or self._app.feed.now() < self._tell_at:
            return
        fresh, self._fresh = list(self._fresh.values()), {}
        said = short_notice(fresh[0]) if len(fresh) == 1 else f"{len(fresh):,} operations need you"
        self._app.say(said)
        hours = self.settings.quiet_hours
        if hours is not None and hours.end_of(self._app.feed.now()) is not None:
            return
        if self.settings.bell:
            self._app.bell()
        if self.settings.desktop:
            self._send(desktop_sequence(said, os.environ))

    def _gather(self, operation_id: str, op: Operation) -> None:
        if not self._fresh:
            self._tell_at = self._app.feed.now() + GATHERING
        self._fresh[operation_id] = op

    def _since(self, op: Operation) -> datetime | None:
        """Since when it needs a person; looks count where they are asked for."""
        if op.escalation is None and not self.settings.looks:
            return None
        return item_since(op)

    def _send(self, sequence: str) -> None:
        """Past the picture, straight to the terminal: there is no public way, and Textual copies texts so too."""
        driver = self._app._driver
        if driver is not None and sequence and not self._app.is_headless:
            driver.write(sequence)


def desktop_sequence(text: str, environment: Mapping[str, str]) -> str:
    r"""What asks this terminal to show a text on the desktop: OSC 777 where that is its word for it, else OSC 9.

    Terminals that know neither show nothing; where that is not certain, the sequence is empty. Inside tmux it is handed through
    to the terminal around it (tmux: `allow-passthrough on`). The text is inert: it cannot end the sequence.
    """
    terminal = environment.get("TERM", "")
    if terminal in ("", "dumb", "linux") or "STY" in environment:
        return ""
    shown = inert(text, _LONGEST)
    if "VTE_VERSION" in environment or terminal.startswith(("rxvt", "foot")):
        sequence = f"\x1b]777;notify;jobconsole;{shown.replace(';', ',')}{_ST}"
    else:
        sequence = f"\x1b]9;jobconsole: {shown}{_ST}"  # text in front: a number there is another command to some
    if "TMUX" in environment:
        return f"\x1bPtmux;{sequence.replace(chr(27), chr(27) * 2)}{_ST}"
    return sequence
