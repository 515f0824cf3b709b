"""The inbox: what needs a person's answer, and what somebody should see, apart from each other (SPEC 6, H2, H7, H13).

Only this file decides which operations are items, in which order they stand, and which lines tell a person what to know before
deciding. Every front end lists these; the answer goes back through `commands/decisions.py`, bound to the item's revision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.escalation import look_options
from jobconsole.core.durations import duration_text
from jobconsole.core.operation import Decided, Operation
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.views import View, operation_view, stamp
from jobconsole.core.telling.wording import reason_text, says_more, utc_text, words
from jobconsole.core.vocabulary import NoticeResult, Reason

LATE, VERY_LATE = timedelta(minutes=15), timedelta(hours=1)
"""How long a person may let an item wait before that is told, and told more loudly (H7)."""

MESSAGES = {
    None: "is on its way",
    NoticeResult.REACHED.value: "went out",
    NoticeResult.NOT_REACHED.value: "reached nobody",
    NoticeResult.UNKNOWN.value: "may not have gone out",
}
"""What became of the one message about an item (H10)."""

_LONGEST = 300  # characters of foreign text in a line


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One thing that a person should answer (`decision`) or see (`look`); `view` is its operation's, with all of H2."""

    kind: Literal["decision", "look"]
    reason: Reason
    since: datetime
    age_seconds: int
    detail: str
    taken_by: str | None  # who reviews a look, or what was decided and is under way
    is_snoozed: bool  # rests until a time that has not come (H7)
    view: View

    def __repr__(self) -> str:
        """What a person wants to see first; the view stays out."""
        rests = ", snoozed" if self.is_snoozed else ""
        options = ", ".join(option["name"] for option in self.options)
        return f"<InboxItem {self.kind} {self.operation_id}: {reason_text(self.reason)}{rests}; options {options}>"

    @property
    def operation_id(self) -> str:
        """Whom it is about."""
        return str(self.view["operation_id"])

    @property
    def options(self) -> list[View]:
        """What may be chosen now."""
        options: list[View] = self.view["options"]
        return options

    @property
    def attention(self) -> View:
        """Who looks after it, until when it rests, what was noted (H7)."""
        attention: View = self.view["attention"]
        return attention


def inbox_items(
    operations: Iterable[Operation],
    now: datetime,
    contracts: Mapping[str, Contract | None] | None = None,
    new_digests: Mapping[str, str] | None = None,
) -> list[InboxItem]:
    """Decisions first, then looks; of each those awake before those snoozed, the oldest first (H7, H13).

    `contracts` are those that judge, by digest, None where one is lost; `new_digests` are those of the contract files as they
    are now, by provider.
    """
    items, judging, digests = [], contracts or {}, new_digests or {}
    for op in operations:
        contract = judging.get(op.contract)
        is_lost = contract is None and op.contract in judging
        view = operation_view(op, now, None, contract, digests.get(op.provider), is_contract_lost=is_lost)
        if op.escalation is not None:
            asked = op.escalation
            items.append(_item("decision", asked.reason, asked.since, now, asked.detail, _under_way(op), op, view))
        elif op.look is not None and look_options(op):
            detail = op.error.text if op.error else ""
            items.append(_item("look", op.look.reason, op.look.since, now, detail, op.look.answered_by, op, view))
    return sorted(items, key=lambda item: (item.kind, item.is_snoozed, item.since, item.operation_id))


def is_snoozed(op: Operation, now: datetime) -> bool:
    """Whether the operation's item rests until a time that has not come."""
    return op.attention.snoozed_until is not None and op.attention.snoozed_until > now


def age_mark(age: timedelta) -> str:
    """In words that an item has waited for too long: `over 15 min`, `over 1 h`; empty before. A colour alone says nothing."""
    return "over 1 h" if age > VERY_LATE else "over 15 min" if age > LATE else ""


def answer_to(op: Operation, since: datetime) -> Decided | None:
    """What a person decided about the item that began at `since`; None where nobody has."""
    return next((done for done in reversed(op.decided) if done.at >= since), None)


def closing_words(op: Operation, since: datetime) -> str:
    """What became of the item that began at `since`: who answered what, or that it needs nobody any more and why."""
    done = answer_to(op, since)
    if done is not None:
        return f"answered by {inert(done.by, 60)}: {words(done.option)}"
    return f"needs nobody any more: {words(op.phase)}"


def note_lines(note: View, now: datetime) -> list[str]:
    """A note as lines: when and by whom in front of the first one. Its text is inert, and keeps its own lines."""
    first, *rest = (inert(line, _LONGEST) for line in note["text"].splitlines())
    return [f"{_clock(note['at'], now)} {inert(note['by'], 80)}: {first}", *rest]


def _item(
    kind: Literal["decision", "look"],
    reason: Reason,
    since: datetime,
    now: datetime,
    detail: str,
    taken_by: str | None,
    op: Operation,
    view: View,
) -> InboxItem:
    age = max(0, int((now - since).total_seconds()))
    return InboxItem(kind, reason, since, age, detail, taken_by, is_snoozed(op, now), view)


def _under_way(op: Operation) -> str | None:
    """What a person has already decided and a worker has still to do."""
    doing = [op.permit.purpose] if op.permit else list(op.open_actions)
    return f"{words(doing[0])} is under way" if doing else None


def inbox_view(item: InboxItem) -> View:
    """The JSON of an inbox item: what it asks, and the operation's fields that H2 names."""
    shown = (
        *("operation_id", "name", "task", "owner", "provider", "account", "provider_job_id", "phase", "revision"),
        *("last_known_state", "state_class", "observed_at", "elapsed_seconds", "deadline_at", "business_deadline_at"),
        *("status_requests_used", "max_status_requests", "last_http_status", "last_http_at", "delivery"),
        *("message", "error", "counts", "errors_url", "attention", "options"),
    )
    return {
        "kind": item.kind,
        "reason": item.reason.value,
        "text": reason_text(item.reason),
        "detail": item.detail,
        "since": stamp(item.since),
        "age_seconds": item.age_seconds,
        "taken_by": item.taken_by,
        "snoozed": item.is_snoozed,
        **{name: item.view[name] for name in shown},
    }


def item_lines(item: InboxItem, now: datetime) -> list[str]:
    """What a person reads before deciding, in plain lines; foreign text is inert. No secret, no raw dump (H2)."""
    view = item.view
    age = duration_text(timedelta(seconds=item.age_seconds))
    name = f" {inert(view['name'], 80)}" if view["name"] else ""
    job = inert(str(view["provider_job_id"] or "no job id"), 80)
    lines = [
        f"{item.kind}: {view['operation_id']}{name}, {view['provider']} job {job}, open for {age}",
        f"why: {_why(item)}",
        f"state: {_state(view, now)}",
        f"used: {view['status_requests_used']:,} of {view['max_status_requests']:,} requests, {_elapsed(view)} elapsed",
        f"last HTTP: {_last_http(view, now)}",
    ]
    if view["counts"] is not None:
        known = (f"{number:,} {name}" for name, number in view["counts"].items() if number is not None)
        lines.append(f"items: {', '.join(known)}")
    if item.taken_by is not None:
        lines.append(f"now: {inert(item.taken_by, 80)}")
    lines += attention_lines(item, now)
    return [*lines, *(f"option {option['name']}: {_option(option)}" for option in item.options)]


def attention_lines(item: InboxItem, now: datetime) -> list[str]:
    """Who was told of the item and looks after it, until when it rests, and the notes, the newest last; else nothing."""
    attention, lines = item.attention, []
    if attention["notified_at"] is not None:
        lines.append(f"message: {_clock(attention['notified_at'], now)}, {MESSAGES[attention['notice_result']]}")
    if attention["assigned_to"] is not None:
        lines.append(f"with: {inert(attention['assigned_to'], 80)}, since {_clock(attention['assigned_at'], now)}")
    if item.is_snoozed:
        lines.append(f"snoozed: until {_clock(attention['snoozed_until'], now)}")
    for note in attention["notes"]:
        first, *rest = note_lines(note, now)
        lines += [f"note: {first}", *(f"      {line}" for line in rest)]
    return lines


def _option(option: View) -> str:
    said = inert(option["text"], _LONGEST)
    if option["no_purpose"]:
        said = f"{said} (serves no purpose any more: {option['no_purpose']})"
    return f"{said}: {inert(option['url'], _LONGEST)}" if option["url"] else said


def _why(item: InboxItem) -> str:
    said = reason_text(item.reason)
    return f"{said}: {inert(item.detail, _LONGEST)}" if says_more(item.detail) else said


def _state(view: View, now: datetime) -> str:
    if view["last_known_state"] is None and view["state_class"] is None:
        return "never seen"
    state = inert(str(view["last_known_state"] or words(view["state_class"])), 80)
    return f"{state}, seen {_clock(view['observed_at'], now)}"


def _elapsed(view: View) -> str:
    return duration_text(timedelta(seconds=view["elapsed_seconds"]))


def _last_http(view: View, now: datetime) -> str:
    if view["last_http_at"] is None:
        return "nothing was sent yet"
    answer = view["last_http_status"] if view["last_http_status"] is not None else "no answer"
    return f"{answer} at {_clock(view['last_http_at'], now)}"


def _clock(stamped: str, now: datetime) -> str:
    return utc_text(datetime.fromisoformat(stamped), now)
