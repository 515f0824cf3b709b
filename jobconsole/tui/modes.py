"""The main screens, each behind a tab (UX 3).

Only this file decides which there are. The app makes a screen when it is first gone to, and keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab: its mode, what it is called, the action that leads there."""

    mode: str
    title: str

    @property
    def action_id(self) -> str:
        """The action behind a click on it."""
        return f"go.{self.mode}"


TABS = (
    Tab("operations", "Operations"),
    Tab("inbox", "Inbox"),
    Tab("audit", "Audit"),
    Tab("providers", "Providers"),
    Tab("log", "Log"),
)
