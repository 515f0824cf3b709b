"""Whether a key was pressed by a person who saw what it does: pasted text and queued keys come in bursts (SPEC U8).

Only this file decides how long a screen must have stood still before a key on it may act.
"""

from __future__ import annotations

from jobconsole.protocols import Clock

QUIET_MS = 250


class KeyGuard:
    """Lets an act through where nothing was opened, changed or typed in the last quarter of a second."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted_up = clock.up_ms()

    def note(self) -> None:
        """A key came that does not act, or what is shown has changed: the quiet time begins anew."""
        self._noted_up = self._clock.up_ms()

    def allows(self) -> bool:
        """Whether this key may act; it counts as noted either way, so that a burst never gets through."""
        before, self._noted_up = self._noted_up, self._clock.up_ms()
        return self._noted_up - before >= QUIET_MS
