"""A click in the browser as a decision: checked, bound to the revision that was on the screen, applied once (SPEC H4, U8).

Only this file decides what a message from a widget may ask for. A browser is a stranger: what has the wrong shape is refused
before the desk hears of it. The desk refuses what is stale, not open, or not a person's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from jobconsole.console import Desk
from jobconsole.core.telling.terminal_text import inert
from jobconsole.errors import InvalidValue, JobconsoleError

DECISION_ID = re.compile(r"dec_[0-9A-Za-z]{16,64}")
_LONGEST = {"id": 128, "option": 40, "reason": 2_000, "job_id": 200, "credential": 200}


@dataclass(frozen=True, slots=True)
class Click:
    """One option of one operation at one revision; a repeated message carries the same `decision_id`."""

    operation_id: str
    option: str
    revision: int
    decision_id: str
    asked: dict[str, str]

    @classmethod
    def of(cls, said: dict[str, Any]) -> Click:
        """The click that a message describes. Raises `InvalidValue`."""
        texts = {key: value for key, value in said.items() if key in _LONGEST and value not in (None, "")}
        for key, value in texts.items():
            if not isinstance(value, str) or len(value) > _LONGEST[key]:
                raise InvalidValue(f"the widget sent no usable {key}; run the cell again")
        revision, decision_id = said.get("revision"), said.get("decision_id")
        if type(revision) is not int or not isinstance(decision_id, str) or not DECISION_ID.fullmatch(decision_id):
            raise InvalidValue("the widget sent a click without its revision or id; run the cell again")
        if "id" not in texts or "option" not in texts:
            raise InvalidValue("the widget sent a click without operation or option; run the cell again")
        asked: dict[str, str] = {key: texts[key] for key in ("reason", "job_id", "credential") if key in texts}
        return cls(texts["id"], texts["option"], revision, decision_id, asked)


async def apply(click: Click, desk: Desk, by: str) -> dict[str, Any]:
    """Apply it; what happened, in words for the place where it was clicked. Never raises for a refusal."""
    answer: dict[str, Any] = {"type": "answer", "id": click.operation_id, "decision_id": click.decision_id}
    try:
        applied = await desk.decide(
            click.operation_id, click.option, by=by, revision=click.revision, decision_id=click.decision_id, **click.asked
        )
    except JobconsoleError as error:
        return {**answer, "ok": False, "text": inert(str(error), 400)}
    repeated = "already written down: " if applied.is_repeat else ""
    return {**answer, "ok": True, "text": inert(f"{repeated}{applied.effect}", 400).replace(" -> ", " → ")}
