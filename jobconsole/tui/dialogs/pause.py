"""Pause until a chosen time: exactly one check then (X12).

Only this file decides how that time is typed: a duration from now, or a clock of the day in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.durations import parse_duration
from jobconsole.core.operation import Operation, Option, milliseconds
from jobconsole.errors import InvalidValue
from jobconsole.tui.dialogs.dialog import Asked
from jobconsole.tui.dialogs.grant import GrantDialog

_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")


class PauseDialog(GrantDialog):
    """Asks when the one check should be."""

    heading = "Pause until"

    def __init__(self, op: Operation, option: Option, contract: Contract | None) -> None:
        super().__init__(op, option, contract, act_label="Pause")

    def fields(self) -> ComposeResult:
        """A line for the time."""
        yield Static(Content.styled("In how long (15m, 1h30m), or at what time (14:30, UTC)?", "$quiet"), markup=False)
        yield Input(f"{self._option.minutes}m", id="until", max_length=20)

    def first_focus(self) -> str:
        """The time."""
        return "#until"

    def granted(self) -> Asked | str:
        """The time, which must lie ahead."""
        until_at = time_ahead(self.query_one("#until", Input).value.strip(), self.feed.now())
        return {"until_at": until_at} if until_at else "Write a duration such as 15m, or a time of day such as 14:30."


def time_ahead(text: str, now: datetime) -> datetime | None:
    """The time that a duration from `now`, or a clock of the day in UTC, names; a clock that is over means tomorrow."""
    if (match := _CLOCK.fullmatch(text)) is not None:
        hour, minute, second = (int(part or 0) for part in match.groups())
        at = now.astimezone(UTC).replace(hour=hour, minute=minute, second=second, microsecond=0)
        return at if at > now else at + timedelta(days=1)
    try:
        return milliseconds(now + parse_duration(text))
    except (InvalidValue, OverflowError):
        return None
