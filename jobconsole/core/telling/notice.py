"""The message that tells people of inbox items while nobody looks at a screen: about which items, when, in which words (A6).

Only this file decides that. It says what the inbox says, in short: operation, provider, reason, choices, how to answer. What a
provider said stays out of it, and so does every secret: a message leaves this machine. `engine/notices.py` sends it once (H7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobconsole.core.deciding.escalation import look_options
from jobconsole.core.durations import duration_text
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import InboxItem
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import counted, reason_text, utc_text

SHOWN = 10
"""Items that one message names; the others are counted."""

_LONGEST_NAME = 60  # characters
_CHAT = str.maketrans({"@": "\uff20", "<": "\u2039", ">": "\u203a", "[": "(", "]": ")", "`": "'"})
"""What chats make calls, tags and links of, and a harmless look-alike."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One message, in plain lines."""

    title: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The message without its title."""
        return "\n".join(self.lines)


def notice_at(op: Operation, *, with_looks: bool) -> datetime | None:
    """From when on a message about this operation's item is due: when it began, or its snooze ends; None where none is.

    None is due where somebody took it on already (once per item), a person's decision is under way, or somebody looks into it.
    """
    if op.attention.notified_at is not None:
        return None
    if op.escalation is not None:
        is_answered = op.permit is not None or bool(op.open_actions)
        since = None if is_answered else op.escalation.since
    else:
        is_open = with_looks and op.look is not None and op.look.answered_by is None and bool(look_options(op))
        since = op.look.since if op.look is not None and is_open else None
    return max(since, op.attention.snoozed_until or since) if since is not None else None


def notice_of(items: Sequence[InboxItem], now: datetime) -> Notice:
    """The message about these items, at least one: all that a person needs for one item, a list of several."""
    if len(items) == 1:
        (item,) = items
        need = "a decision" if item.kind == "decision" else "a look"
        return Notice(f"jobconsole: {_name(item)} needs {need}", (*_item_lines(item, now), *_one_answer(item)))
    lines = [line for item in items[:SHOWN] for line in _item_lines(item, now)[:1]]
    if len(items) > SHOWN:
        lines.append(f"and {len(items) - SHOWN:,} more")
    return Notice(f"jobconsole: {_needs(items)}", (*lines, "answer: jobconsole inbox, or in the dashboard: jobconsole tui"))


def trial_notice(now: datetime) -> Notice:
    """A message that only shows that messages arrive."""
    said = "Operations that need a person are told of like this. Nothing needs you now because of this message."
    return Notice("jobconsole: a test message", (said, f"sent at {utc_text(now)}"))


def short_notice(op: Operation) -> str:
    """One line about an operation that needs a person: `Q3 report needs you: the deadline passed ...`."""
    asked = op.escalation or op.look
    why = f": {reason_text(asked.reason)}" if asked is not None else ""
    return f"{plain(op.name or op.operation_id)} needs you{why}"


def plain(text: str) -> str:
    """A name as it may stand in a message: inert, short, and nothing that a chat takes for a call, a tag or a link."""
    return inert(text, _LONGEST_NAME).translate(_CHAT).replace("://", ": //")


def _needs(items: Sequence[InboxItem]) -> str:
    decisions = sum(item.kind == "decision" for item in items)
    parts = [f"{counted(decisions, 'operation')} {'needs' if decisions == 1 else 'need'} a decision"] if decisions else []
    looks = len(items) - decisions
    if looks:
        parts.append(f"{looks:,} to look at" if decisions else f"{looks:,} operations to look at")
    return ", ".join(parts)


def _name(item: InboxItem) -> str:
    return plain(str(item.view["name"] or item.operation_id))


def _item_lines(item: InboxItem, now: datetime) -> tuple[str, ...]:
    """What happened, in one line for a list, and what stands around it."""
    view = item.view
    named = f"{_name(item)} ({item.operation_id})" if view["name"] else item.operation_id
    age = duration_text(timedelta(seconds=item.age_seconds))
    deadline = utc_text(datetime.fromisoformat(view["deadline_at"]), now)
    used = f"{view['status_requests_used']:,} of {view['max_status_requests']:,} requests used"
    return f"{named} at {view['provider']}: {reason_text(item.reason)}", f"open for {age}, deadline {deadline}, {used}"


def _one_answer(item: InboxItem) -> tuple[str, ...]:
    choices = ", ".join(option["name"] for option in item.options)
    answer = f"jobconsole decide {item.operation_id} OPTION --revision {item.view['revision']}"
    return f"options: {choices or 'none'}", f"answer: {answer}", "or in the dashboard: jobconsole tui"
