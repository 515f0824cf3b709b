"""Whether a key was pressed by a person who saw what it does: pasted text and queued keys come in bursts (SPEC U8).

Only this file decides how long a screen must have stood still before a key on it may act.
"""

from __future__ import annotations

from jobconsole.protocols import Clock

QUIET_MS = 250
BURST_MS = 50
"""No person presses Enter so soon after the last letter of a text; whoever has typed it has seen it."""


class KeyGuard:
    """Lets an act through where nothing was opened, changed or typed in the last quarter of a second, or in `quiet_ms`."""

    def __init__(self, clock: Clock, quiet_ms: int = QUIET_MS) -> None:
        self._clock, self._quiet_ms = clock, quiet_ms
        self._noted_up = clock.up_ms()

    def note(self) -> None:
        """A key came that does not act, or what is shown has changed: the quiet time begins anew."""
        self._noted_up = self._clock.up_ms()

    def allows(self) -> bool:
        """Whether this key may act; it counts as noted either way, so that a burst never gets through."""
        before, self._noted_up = self._noted_up, self._clock.up_ms()
        return self._noted_up - before >= self._quiet_ms
