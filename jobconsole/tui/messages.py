"""What happens in the dashboard, as messages: past tense, with ids and never with rows (SPEC U8).

Only this file decides what the feed tells widgets. A widget that wants to hear it subscribes: `self.app.feed.subscribe(self)`.
Messages of one widget (`OperationsTable.Opened`, ...) are nested in its class.
"""

from __future__ import annotations

from datetime import datetime

from textual.message import Message

from jobconsole.protocols import StoreHealth


class Changed(Message, bubble=False):
    """Operations or accounts changed, in any process; `feed.operations` already holds the new ones.

    `is_reload`: everything was read anew, ids that are not in the feed any more included.
    """

    def __init__(self, operation_ids: frozenset[str], account_keys: frozenset[str], *, is_reload: bool) -> None:
        self.operation_ids, self.account_keys, self.is_reload = operation_ids, account_keys, is_reload
        super().__init__()


class Decided(Message, bubble=False):
    """What a person here chose for these operations was taken: marks on them have served."""

    def __init__(self, operation_ids: frozenset[str]) -> None:
        self.operation_ids = operation_ids
        super().__init__()


class Ticked(Message, bubble=False):
    """A second passed: elapsed times and countdowns move, nothing else does."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        super().__init__()


class HealthChanged(Message, bubble=False):
    """Workers came or went, or the store became writable or read-only."""

    def __init__(self, health: StoreHealth) -> None:
        self.health = health
        super().__init__()


class PauseChanged(Message, bubble=False):
    """Repainting was paused or goes on, or one more change waits for it."""

    def __init__(self, *, is_paused: bool, waiting: int) -> None:
        self.is_paused, self.waiting = is_paused, waiting
        super().__init__()
