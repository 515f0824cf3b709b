"""Which options of an item serve no purpose any more, and why (SPEC H8).

Only this file decides that. Such an option stays open, because a person may know better: it is marked, in every front end, by
the words that this file gives. `views.py` puts them beside the option.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from jobconsole.core.operation import Operation
from jobconsole.core.telling.wording import utc_text
from jobconsole.core.vocabulary import StateClass

WAITS_ON: Final = frozenset({"extend", "pause"})
"""Options that go on watching for some time."""

ASKS: Final = frozenset(
    {*WAITS_ON, "check_once", "adopt_contract", "credential_mended", "use_credential", "approve_once", "adopt"}
)
"""Options that are there to learn how the job ends."""

STARTS: Final = frozenset({"replay_submit", "submit_again"})
"""Options that make the provider work."""

_ENDED: Final = frozenset(
    {
        *(StateClass.SUCCEEDED, StateClass.PARTIAL, StateClass.FAILED),
        *(StateClass.CANCELLED, StateClass.EXPIRED, StateClass.NO_OUTCOME),
    }
)


def no_purpose(option: str, op: Operation, now: datetime) -> str | None:
    """Why choosing `option` would serve nothing any more; None where it would.

    After the business deadline an outcome comes too late for what it was wanted for, unless a person has waived that deadline;
    after the provider's own expiry there is nothing to watch; a job that the provider calls ended cannot be stopped.
    """
    window = op.business_deadline_at
    if option in ASKS | STARTS and window is not None and window <= now and not op.is_business_deadline_waived:
        return f"the business deadline {utc_text(window, now)} has passed, an outcome comes too late for it"
    if option in WAITS_ON and op.provider_expires_at is not None and op.provider_expires_at <= now:
        return f"the job expired at its provider at {utc_text(op.provider_expires_at, now)}, waiting brings nothing"
    if option == "cancel" and op.state_class in _ENDED:
        return f"the provider says that the job has ended ({op.state_class.replace('_', ' ')})"
    return None
