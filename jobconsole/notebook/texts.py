"""What the widgets say where there is nothing to show, or something is wrong: each says what to do next (SPEC U6).

Only this file decides these sentences. The scripts get them as data; `{...}` is filled in by them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

NO_OPERATIONS: Final = 'No operations yet. Try: console.submit("play", json={"scenario": "slow"}), or %%submit PROVIDER'
NO_MATCH: Final = 'No operation matches "{filter}" ({hidden} hidden).'
NOTHING_ASKS: Final = "Nothing needs you."
INSTALL: Final = "the widgets need the extra: pip install 'jobconsole[notebook]'"
BLOCKING: Final = (
    "Waiting. Buttons of widgets work when this cell has ended; `await op.progress()` waits without keeping them.\n"
    "Interrupting this cell stops the wait, not the job: it goes on at the provider and stays watched while a worker runs."
)

FOR_BROWSER: Final = MappingProxyType(
    {
        "empty": NO_OPERATIONS,
        "no_match": 'No operation matches "{filter}". Esc clears the filter ({hidden} hidden).',
        "inbox_empty": NOTHING_ASKS + " {watched} watched.",
        "no_progress": "{provider} reports no progress; only the budget is shown.",
        "no_attempts": "Nothing was sent yet.",
        "no_audit": "The audit is empty: nothing has happened yet.",
        "gone": "This operation is not in the store any more; it was archived.",
        "queued": "queued: kernel is busy",
        "queued_for": "queued: kernel is busy ({seconds} s)",
        "deciding": "being written down …",
        "unanswered": "Not known whether this was done: the connection ended first. Run this cell again to see.",
        "lost": "Not connected. Run this cell again. Shown: state as of {at} UTC.",
        "closed": "The console was closed. Open it and run this cell again. Shown: state as of {at} UTC.",
        "connecting": "Connecting … Shown: state as of {at} UTC.",
        "no_worker": "No worker is running: nothing is checked until one is. Run console.start().",
        "read_only": "READ-ONLY: {why}",
    }
)
