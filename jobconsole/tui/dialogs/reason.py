"""The field for a person's reason: needed for some options, welcome for all (SPEC H5).

Only this file decides how it is asked for. It goes to the audit as it was typed; without one the audit says "no reason given".
"""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Input

from jobconsole.core.commands.effects import REASON_LIMIT
from jobconsole.core.deciding.escalation import NEEDS_REASON_TEXT


class ReasonField(Input):
    """One line for why `option` is chosen. A dialog has one at most; its id is `reason`."""

    def __init__(self, option: str, *, example: str = "the release window is over") -> None:
        self.is_needed = option in NEEDS_REASON_TEXT
        # Not selected on focus: the next letter would replace what is typed already.
        super().__init__(placeholder=f"for example: {example}", id="reason", max_length=REASON_LIMIT, select_on_focus=False)

    @property
    def label(self) -> Content:
        """The line above it."""
        return Content.styled(f"Why?{'' if self.is_needed else ' (optional)'} It is kept in the audit.", "$quiet")

    @property
    def fault(self) -> str:
        """What is wrong with the entry; empty where nothing is."""
        return "Say why in a few words first." if self.is_needed and not self.value.strip() else ""

    @property
    def asked(self) -> dict[str, str]:
        """The keyword for `Desk.decide`; none where nothing was typed."""
        reason = self.value.strip()
        return {"reason": reason} if reason else {}
