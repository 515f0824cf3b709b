"""How an operation is told in one line or one row, out of the projection that all front ends share (`core/telling/views.py`).

Only this file decides that for the command line: `ls`, `submit`, `wait`, `run` and the live listing use it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from jobconsole.cli.output import Column, Piece, Tone, Toned
from jobconsole.core.durations import duration_text, left_text
from jobconsole.core.telling.views import View
from jobconsole.core.telling.wording import clock_text, reason_text, source_text, words
from jobconsole.core.vocabulary import DelaySource, Phase, Reason

TONES: dict[str, Tone] = {
    Phase.ESCALATED: Tone.ATTENTION,
    Phase.SUCCEEDED: Tone.GOOD,
    Phase.COMPLETED_WITH_ERRORS: Tone.ATTENTION,
    Phase.FAILED: Tone.BAD,
    Phase.CANCELLED: Tone.QUIET,
    Phase.EXPIRED: Tone.BAD,
    Phase.NO_OUTCOME: Tone.QUIET,
    Phase.ABANDONED: Tone.QUIET,
}

COLUMNS = (
    Column("OPERATION", is_whole=True),
    Column("PHASE", is_whole=True),
    Column("PROVIDER"),
    Column("NAME"),
    Column("STATE"),
    Column("CHECKS", is_right=True, is_whole=True),
    Column("ELAPSED", is_right=True, is_whole=True),
    Column("LEFT", is_right=True, is_whole=True),
    Column("NEXT", is_whole=True),
    Column("HTTP", is_right=True, is_whole=True),
)


def row(view: View, now: datetime) -> list[Piece]:
    """The cells of `COLUMNS` for one operation, of its `row_view` or its whole view; a dash stands where nothing is known."""
    return [
        view["operation_id"],
        phase_piece(view["phase"]),
        view["provider"],
        view["name"] or "-",
        state_text(view, now),
        checks_text(view),
        duration_text(timedelta(seconds=view["elapsed_seconds"])),
        _left(view, now),
        _next(view, now),
        str(view["last_http_status"] or "-"),
    ]


def phase_piece(phase: str) -> Toned | str:
    """The phase in words, toned."""
    return Toned(words(phase), TONES[phase]) if phase in TONES else words(phase)


def state_text(view: View, now: datetime) -> str:
    """What the provider said last, how far it is, and whether it looks stalled (H12), or nobody looked for as long."""
    state = view["last_known_state"] or "-"
    progress = view["progress"]
    shown = state if progress is None or view["done"] else f"{state} {progress:.0%}"
    if view["unchecked_since"]:
        return f"{shown}, not checked since {clock_text(time_of(view['unchecked_since']), now)}"
    return f"{shown}, stalled" if view["stalled"] else shown


def checks_text(view: View) -> str:
    """Requests used of allowed: `3/12`."""
    return f"{view['status_requests_used']}/{view['max_status_requests']}"


def time_of(stamp: str) -> datetime:
    """The time that a view holds as text."""
    return datetime.fromisoformat(stamp)


def line(view: View, now: datetime) -> list[Piece]:
    """One line about one operation as it stands at `now`: time, id, phase, and what matters in that phase."""
    name = f" {view['name']}" if view["name"] else ""
    return [f"{clock_text(now)} {view['operation_id']}{name} ", phase_piece(view["phase"]), _what_matters(view, now)]


def _what_matters(view: View, now: datetime) -> str:
    phase = view["phase"]
    if phase == Phase.ESCALATED:
        reason = Reason(view["escalation"]["reason"])
        return f": {words(reason)}, {reason_text(reason)}; answer with: jobconsole inbox"
    used = f"{view['status_requests_used']} of {view['max_status_requests']} checks"
    if phase in (Phase.SUBMITTING, Phase.WAITING):
        return f": {_standing(view, now)}, {used}"
    said = view["error"]["text"] if view["error"] else view["message"]
    told = f": {said}" if said and phase != Phase.SUCCEEDED else ""
    return f" after {duration_text(timedelta(seconds=view['elapsed_seconds']))} and {used}{told}"


def _standing(view: View, now: datetime) -> str:
    if view["phase"] == Phase.SUBMITTING:
        return "not accepted by the provider yet"
    state = f"state {state_text(view, now)}" if view["last_known_state"] else "not seen yet"
    if view["hold"]:
        return f"{state}, held: {words(view['hold']['reason'])}"
    if view["next_poll_at"] is None:
        return state
    source = f" {source_text(DelaySource(view['delay_source']))}" if view["delay_source"] else ""
    return f"{state}, next check {clock_text(time_of(view['next_poll_at']), now)}{source}"


def _left(view: View, now: datetime) -> str:
    """Time until the deadline that rules; nothing where the wait is over."""
    if view["phase"] not in (Phase.SUBMITTING, Phase.WAITING, Phase.ESCALATED):
        return "-"
    left = time_of(view["stops_at"]) - now
    return left_text(left) if left > timedelta(0) else "over"


def _next(view: View, now: datetime) -> str:
    if view["phase"] == Phase.ESCALATED:
        return "needs you"
    if view["next_poll_at"] is None:
        return "-"
    return clock_text(time_of(view["next_poll_at"]), now)
