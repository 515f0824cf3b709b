"""What a click does about an inbox item beside answering it: take it, give it back, let it rest, wake it, note (SPEC H7).

Only this file decides what a message from a widget may ask for. A browser is a stranger: what has the wrong shape is refused
before the desk hears of it. Who had the item on the screen is part of the message: of two who claim it the second is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from jobconsole.console import Desk
from jobconsole.core.operation import milliseconds
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import utc_text
from jobconsole.errors import InvalidValue, JobconsoleError
from jobconsole.notebook.deciding import DECISION_ID

ACTS = frozenset(("claim", "release", "snooze", "wake", "note"))
_LONGEST = {"id": 128, "act": 10, "shown": 80, "text": 2_000}


@dataclass(frozen=True, slots=True)
class Care:
    """One act about one item; `shown` is who had it on the screen, `seconds` how long it is to rest."""

    operation_id: str
    act: str
    click_id: str
    shown: str | None
    seconds: int
    text: str

    @classmethod
    def of(cls, said: dict[str, Any]) -> Care:
        """The act that a message describes. Raises `InvalidValue`."""
        texts = {key: said.get(key) or "" for key in _LONGEST}
        click_id, seconds = said.get("decision_id"), said.get("seconds", 0)
        are_texts = all(isinstance(text, str) and len(text) <= _LONGEST[key] for key, text in texts.items())
        is_click = isinstance(click_id, str) and DECISION_ID.fullmatch(click_id) is not None
        if not are_texts or not is_click or type(seconds) is not int or not 0 <= seconds < 10**8 or texts["act"] not in ACTS:
            raise InvalidValue("the widget sent a click of no known shape; run the cell again")
        return cls(texts["id"], texts["act"], str(click_id), texts["shown"] or None, seconds, texts["text"])


async def attend(care: Care, desk: Desk, by: str) -> dict[str, Any]:
    """Do it; what happened, in words for the place where it was clicked. Never raises for a refusal."""
    answer: dict[str, Any] = {"type": "answer", "id": care.operation_id, "decision_id": care.click_id}
    try:
        return {**answer, "ok": True, "text": await _done(care, desk, by)}
    except JobconsoleError as error:
        return {**answer, "ok": False, "text": inert(str(error), 400)}


async def _done(care: Care, desk: Desk, by: str) -> str:
    op, me, now = care.operation_id, by.removeprefix("person:"), desk.clock.wall()
    match care.act:
        case "claim":
            await desk.assign(op, me, by=by, shown=care.shown)
            return f"with {inert(me, 60)} now"
        case "release":
            await desk.assign(op, None, by=by, shown=care.shown)
            return "with nobody now"
        case "snooze":
            until = milliseconds(now + timedelta(seconds=care.seconds))
            await desk.snooze(op, until, by=by)
            return f"snoozed until {utc_text(until, now)}"
        case "wake":
            await desk.snooze(op, None, by=by)
            return "awake again"
        case _:
            await desk.note(op, care.text, by=by)
            return "noted"
