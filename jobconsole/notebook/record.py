"""All that a widget shows of one operation: its row, options, attempts, story and why, read a piece at a time (SPEC U7, L1).

Only this file decides how much of an operation's past goes to the browser. Events are read once; what was read is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from jobconsole.console import Desk
from jobconsole.core.keeping.line import events
from jobconsole.core.operation import Operation
from jobconsole.core.telling.account_view import account_view
from jobconsole.core.telling.attempts import Attempt, attempts
from jobconsole.core.telling.story import StoryLine, story_lines
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.why import why
from jobconsole.core.telling.wording import clock_text
from jobconsole.notebook.feed import Picture
from jobconsole.notebook.rows import SENTENCE, WORD, Row, missing, options, row

MOST_ATTEMPTS: Final = 200
MOST_LINES: Final = 60


class Record:
    """One operation; `read` brings its events up to date, `full` is what the browser gets."""

    def __init__(self, operation_id: str) -> None:
        self.operation_id = operation_id
        self._events: list[Mapping[str, Any]] = []
        self._attempts: list[Row] = []
        self._lines: list[tuple[int, str]] = []

    async def read(self, desk: Desk) -> None:
        """Read what the audit has got since the last time. Raises `AuditBroken` where a line of it is no event."""
        after = int(self._events[-1]["seq"]) if self._events else None
        new = [*events([line async for line in desk.events(self.operation_id, after)])]
        if new:
            self._events += new
            self._attempts = [_attempt(each) for each in attempts(self._events)[-MOST_ATTEMPTS:]]
            self._lines = [_line(each) for each in list(story_lines(self._events))[-MOST_LINES:]]

    def full(self, picture: Picture, now: datetime) -> dict[str, Any]:
        """The operation as it stands; `gone` where the store has it no more."""
        op = picture.operations.get(self.operation_id)
        if op is None:
            return {"id": self.operation_id, "gone": True}
        view, contract = picture.view(op, now), picture.contracts.get(op.contract)
        granted = op.granted
        return {
            "id": op.operation_id,
            "row": row(view, now),
            "options": options(view),
            "missing": missing(op, view, contract),
            "account": _account(op, picture, now),
            "why": self.why(op, picture, None, now),
            "granted": f"{granted.minutes} min and {granted.checks} checks granted" if granted.times else "",
            "attempts": self._attempts,
            "story": self._lines,
        }

    def last_lines(self) -> list[str]:
        """The last five lines of the story, each with its time, for places without widgets."""
        return [f"{clock_text(datetime.fromtimestamp(at / 1000, UTC))} {text}" for at, text in self._lines[-5:]]

    def why(self, op: Operation, picture: Picture, at: datetime | None, now: datetime) -> str:
        """The answer for the second `at`, or for now."""
        account, contract = picture.accounts.get(op.account_key), picture.contracts.get(op.contract)
        return why(op, self._events, at, now, account, contract, picture.new_digests.get(op.provider))


def _account(op: Operation, picture: Picture, now: datetime) -> str:
    """What its account has spent of what, when that is empty, and what holds it back (B9)."""
    account = picture.accounts.get(op.account_key)
    if account is None:
        return ""
    view = account_view(account, now, (), picture.contracts.get(op.contract))
    return inert(f"account {account.account}: {view['text']}" + (f"; {view['standing']}" if view["standing"] else ""), SENTENCE)


def _attempt(attempt: Attempt) -> Row:
    shown = {
        "at": _millis(attempt.at),
        "end": _millis(attempt.answered_at),
        "what": attempt.purpose,
        "number": attempt.number,
        "outcome": attempt.outcome.value,
        "status": attempt.http_status,
        "said": inert(attempt.said, WORD),
        "retry": attempt.retry_after_seconds,
        "next": _millis(attempt.next_at),
        "source": attempt.next_source,
    }
    return {key: value for key, value in shown.items() if value is not None}


def _line(line: StoryLine) -> tuple[int, str]:
    return int(line.at.timestamp() * 1000), inert(line.text, SENTENCE)


def _millis(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp() * 1000)
