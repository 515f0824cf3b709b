"""One operation as the cells of a row: what is said in each column, in which style.

Only this file decides that. `columns.py` decides which columns there are and how wide; the table draws them. Text of a provider
is made inert and short here (SPEC U3); a cell is a list of pieces, never markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from rich.style import Style

from jobconsole.core.deciding.account import Account
from jobconsole.core.deciding.stall import stalled_since
from jobconsole.core.operation import Operation, deadline
from jobconsole.core.telling.inbox import is_snoozed
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import counted, words
from jobconsole.core.vocabulary import DelaySource, Phase
from jobconsole.tui.clock_face import TimeStyle, age_text, short_age_text, since_text, until_text
from jobconsole.tui.themes import Look
from jobconsole.tui.widgets.bars import budget_bar, progress_bar

Piece: TypeAlias = tuple[str, Style]

_LONGEST = 200  # characters of a foreign text that can reach a cell
_NEARLY_SPENT = 0.9
_STALE_INTERVALS = 2
_LEAST_STALE = timedelta(seconds=30)
_NOTHING = "–"
_MANY = 10_000  # requests that are told in thousands
_CHECKS_ROOM = 10  # columns of the cell that tells of requests
_MINUTE, _HOUR = 60, 3_600  # seconds
_UNITS = ((86_400, "d"), (_HOUR, "h"), (_MINUTE, "m"), (1, "s"))
_SHORT_PHASES = {Phase.COMPLETED_WITH_ERRORS: "with errors"}
_SHORT_SOURCES = {
    DelaySource.PROVIDER_RETRY_AFTER: "retry-after",
    DelaySource.PROVIDER_POLL_HINT: "hint",
    DelaySource.LOCAL_BACKOFF: "backoff",
    DelaySource.ADAPTIVE: "adaptive",
    DelaySource.FINAL_CHECK: "final check",
    DelaySource.MANUAL_EXTENSION: "extension",
    DelaySource.NOT_FOUND_GRACE: "grace",
    DelaySource.ACCOUNT_HOLD: "held",
    DelaySource.ACCOUNT_LIMIT: "limit",
    DelaySource.MIN_INTERVAL: "interval",
    DelaySource.PAUSE: "pause",
}


@dataclass(frozen=True, slots=True)
class RowContext:
    """What rows are drawn with: the time, how times are shown, the theme, the accounts."""

    now: datetime
    style: TimeStyle
    look: Look
    accounts: dict[str, Account]

    @property
    def is_ascii(self) -> bool:
        """Whether only ASCII may be drawn."""
        return self.look.theme.is_ascii

    @property
    def nothing(self) -> list[Piece]:
        """A cell without a value."""
        return [("-" if self.is_ascii else _NOTHING, self.look.quiet)]


def is_ended(op: Operation) -> bool:
    """Whether nothing moves in this row any more."""
    return op.phase.is_terminal


def stale_since(op: Operation, now: datetime) -> datetime | None:
    """When it was last seen, where that is longer ago than twice the interval between its checks; None otherwise."""
    if op.phase is not Phase.WAITING or op.next_poll_at is None or op.last_http_at is None or op.lease is not None:
        return None
    interval = max(op.next_poll_at - op.last_http_at, _LEAST_STALE / _STALE_INTERVALS)
    return op.last_http_at if now - op.last_http_at > _STALE_INTERVALS * interval else None


# ---- the cells ---------------------------------------------------------------------------------------------------------------
def state_cell(op: Operation, context: RowContext) -> list[Piece]:
    """Sign and word of the phase."""
    word = _SHORT_PHASES.get(op.phase) or words(op.phase)
    return [(f"{context.look.theme.glyph(op.phase)} {word}", context.look.phase(op.phase))]


def id_cell(op: Operation, context: RowContext) -> list[Piece]:
    """The last six characters; a shorter id whole."""
    if len(op.operation_id) <= 7:
        return [(op.operation_id, context.look.text)]
    return [("~" if context.is_ascii else "…", context.look.quiet), (op.operation_id[-6:], context.look.text)]


def name_cell(op: Operation, context: RowContext) -> list[Piece]:
    """What people called it."""
    return [(inert(op.name, _LONGEST), context.look.text)] if op.name else context.nothing


def provider_cell(op: Operation, context: RowContext) -> list[Piece]:
    """The provider's name."""
    return [(inert(op.provider, _LONGEST), context.look.text)]


def age_cell(op: Operation, context: RowContext) -> list[Piece]:
    """Since when there is a record."""
    return [(since_text(op.started_at, context.now, context.style), context.look.text)]


def time_cell(op: Operation, context: RowContext) -> list[Piece]:
    """The time that is used up of the time allowed, as a bar and in words."""
    look = context.look
    stops_at = deadline(op)
    allowed = max(stops_at - op.started_at, timedelta(seconds=1))
    if is_ended(op):
        return [(f"took {age_text((op.ended_at or context.now) - op.started_at)}", look.quiet)]
    used = min(max(context.now - op.started_at, timedelta(0)), allowed)  # the clock may have been set back
    return _budget(used / allowed, 14, 6, _share(used, allowed), context)


def checks_cell(op: Operation, context: RowContext) -> list[Piece]:
    """Status requests used of those allowed."""
    used, allowed = op.status_requests_used, op.max_status_requests
    if is_ended(op):
        return [(counted(used, "check"), context.look.quiet)]
    return _budget(used / max(1, allowed), 10, 4, _amount(used, allowed), context)


def next_cell(op: Operation, context: RowContext) -> list[Piece]:
    """When it is looked at next, or what it waits for instead."""
    look = context.look
    if op.lease is not None and not is_ended(op):
        return [("asking" + ("..." if context.is_ascii else "…"), look.accent)]
    if op.open_actions and not is_ended(op):
        kind = next(iter(op.open_actions))
        return [(f"{_DOING.get(kind, kind)}" + ("..." if context.is_ascii else "…"), look.accent)]
    if op.phase is Phase.ESCALATED and op.permit is None:
        return [("snoozed", look.quiet)] if is_snoozed(op, context.now) else [("needs you", look.needs_you)]
    if op.next_poll_at is None:
        return context.nothing
    return [(until_text(op.next_poll_at, context.now, context.style), look.text)]


def source_cell(op: Operation, context: RowContext) -> list[Piece]:
    """Why the next check is when it is; a held account comes first, because it stops all."""
    account = context.accounts.get(op.account_key)
    if op.phase is Phase.WAITING and account is not None and account.denied is not None:
        return [("held: access", context.look.warning)]
    if op.next_poll_at is None or op.delay_source is None or op.lease is not None:
        return [("", context.look.quiet)]
    return [(_SHORT_SOURCES[op.delay_source], context.look.quiet)]


def http_cell(op: Operation, context: RowContext) -> list[Piece]:
    """The last answer's status code; a word where no answer came."""
    if op.last_http_at is None:
        return context.nothing
    if op.last_http_status is None:
        return [("none", context.look.warning)]
    is_good = op.last_http_status < 400
    return [(str(op.last_http_status), context.look.text if is_good else context.look.warning)]


def progress_cell(op: Operation, context: RowContext) -> list[Piece]:
    """Only what the provider reports, and only while it runs."""
    if op.progress_share is None or is_ended(op):
        return [("", context.look.quiet)]
    bar = progress_bar(op.progress_share, 6, is_ascii=context.is_ascii)
    return [(f"{bar:<6}", context.look.accent), (f" {op.progress_share:>4.0%}", context.look.text)]


def last_word_cell(op: Operation, context: RowContext) -> list[Piece]:
    """Why a person is asked, what the provider said, or how long it has not been seen."""
    look = context.look
    if op.escalation is not None:
        return [(words(op.escalation.reason), look.text)]
    if (seen_at := stale_since(op, context.now)) is not None:
        return [(f"seen {since_text(seen_at, context.now, TimeStyle.AGE)} ago", look.warning)]
    said = op.error.text if op.error is not None and op.error.text else op.message
    state = op.last_known_state
    if is_ended(op):
        return _said(said or _counts(op) or state or "", context)
    pieces = [(inert(state, _LONGEST), look.text)] if state else []
    if said:
        pieces.append((f" {inert(said, _LONGEST)}", look.quiet))
    if stalled_since(op, context.now) is not None:
        pieces.insert(0, ("stalled ", look.warning))
    return pieces or context.nothing


_DOING = {"submit": "sending", "cancel": "stopping", "fetch": "fetching"}


def _counts(op: Operation) -> str:
    """`7 of 10 good`, where the provider counted."""
    counts = op.counts
    if counts is None or counts.total is None or counts.succeeded is None:
        return ""
    return f"{counts.succeeded:,} of {counts.total:,} good"


def _said(text: str, context: RowContext) -> list[Piece]:
    return [(inert(text, _LONGEST), context.look.quiet)] if text else context.nothing


def _budget(share: float, columns: int, most: int, text: str, context: RowContext) -> list[Piece]:
    """A bar of at most `most` columns and its figures: these are never cut for the sake of the bar, which rather goes."""
    look = context.look
    room = min(most, columns - 1 - len(text))
    style = look.warning if share >= _NEARLY_SPENT else look.accent
    if room < 1:
        return [(text, look.warning if share >= _NEARLY_SPENT else look.text)]
    used, left = budget_bar(share, room, is_ascii=context.is_ascii)
    return [(used, style), (left, look.quiet), (f" {text}", look.text)]


def _amount(used: int, allowed: int) -> str:
    """`3/12`; an allowance from 10,000 on in thousands or millions: `5/1M`, `10k/10.5k`.

    What is used is told exactly where that has room. Nothing looks spent before it is: `56 left` where both would look alike.
    """
    limit = str(allowed) if allowed < _MANY else _rounded(allowed, 1)
    if len(f"{used}/{limit}") <= _CHECKS_ROOM:
        return f"{used}/{limit}"
    limit = limit if len(limit) <= 5 else _rounded(allowed, 0)
    exact_first = (str(used), _rounded(used, 1), _rounded(used, 0))
    spent = next((each for each in exact_first if len(f"{each}/{limit}") <= _CHECKS_ROOM), "")
    return f"{spent}/{limit}" if spent and (spent != limit or used == allowed) else f"{allowed - used} left"


def _rounded(number: int, decimals: int) -> str:
    """In millions or thousands, never more than there are: `10.4k`, `1M`."""
    size, unit = (1_000_000, "M") if number >= 1_000_000 else (1_000, "k")
    return f"{number * 10**decimals // size / 10**decimals:g}{unit}"


def _share(used: timedelta, allowed: timedelta) -> str:
    """`12/20m`, in the largest unit in which the limit is whole to the minute; below an hour odd seconds are told too.

    So a budget never looks spent before it is: `70/112m`, `2:51/3:52`. What is less than one unit has its own: `37s/20m`.
    """
    seconds, whole = int(used.total_seconds()), round(allowed.total_seconds())
    if _MINUTE <= whole < _HOUR and whole % _MINUTE:
        return f"{_clocked(seconds)}/{_clocked(whole)}"
    size, unit = next(((size, unit) for size, unit in _UNITS if whole >= size and whole % size < _MINUTE), (_MINUTE, "m"))
    return f"{seconds // size if seconds >= size else short_age_text(used)}/{whole // size}{unit}"


def _clocked(seconds: int) -> str:
    return f"{seconds // _MINUTE}:{seconds % _MINUTE:02}"
