"""All that is known of one operation, read a piece at a time: its events, and what follows from them.

Only this file decides how the detail view reads the store: old lines are parsed once, new ones as they come, and drawing
reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobconsole.console import Desk
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.keeping.line import events
from jobconsole.core.operation import Operation, action
from jobconsole.core.telling.attempts import Attempt, attempts
from jobconsole.core.telling.story import StoryLine, story_lines
from jobconsole.core.telling.views import View, action_view
from jobconsole.core.telling.why import why


@dataclass(slots=True)
class Dossier:
    """One operation as a detail view needs it; `read` brings it up to date."""

    operation_id: str
    op: Operation | None = None
    view: View | None = None
    contract: Contract | None = None
    events: list[Mapping[str, Any]] = field(default_factory=list)
    attempts: Sequence[Attempt] = ()
    story: Sequence[StoryLine] = ()
    actions: Sequence[View] = ()

    async def read_record(self, desk: Desk) -> None:
        """Read the record only. Raises `UnknownOperation`, `StoreError`."""
        self.op = await desk.get(self.operation_id)
        (self.view,) = await desk.views([self.op])
        self.contract = await desk.contract_of(self.op)

    async def read(self, desk: Desk) -> None:
        """Read the record and the events since the last time. Raises `UnknownOperation`, `StoreError`, `AuditBroken`."""
        await self.read_record(desk)
        after = int(self.events[-1]["seq"]) if self.events else None
        new = [*events([line async for line in desk.events(self.operation_id, after)])]
        if new or not self.story:
            self.events += new
            self.attempts = attempts(self.events)
            self.story = list(story_lines(self.events))
        self.actions = [action_view(action(doc)) for doc in await desk.actions(self.operation_id)]

    async def why(self, desk: Desk, at: datetime | None, now: datetime) -> str:
        """The answer for the second `at`, or for now (SPEC U7)."""
        assert self.op is not None
        account = (await desk.accounts()).get(self.op.account_key)
        return why(self.op, self.events, at, now, account, self.contract, desk.new_digest(self.op.provider))
