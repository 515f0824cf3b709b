"""Operations, options and inbox items as the browser gets them: small JSON values with short names.

Only this file decides what of a view goes to the browser, how its foreign text is made inert and cut (U3), and which links are
allowed. The core's `views.py` and `wording.py` made the values and the words; the scripts in `static/` draw them. Times are
milliseconds since 1970, what is unknown is left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeAlias

from jobconsole.core.commands.decisions import why_not_open
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import InboxItem, item_lines
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.views import View
from jobconsole.core.telling.wording import reason_text, says_more, utc_text, words
from jobconsole.core.vocabulary import Phase

Row: TypeAlias = dict[str, Any]

WORD, SENTENCE = 120, 300  # characters of foreign text that are shown
_SHOWN_OTHERWISE = ("why: ", "used: ", "option ")  # as a headline, as bars that move, as buttons
_TOLD_WHERE_MISSING = ("extend", "cancel")


def row(view: View, now: datetime) -> Row:
    """One operation as a line of the table."""
    shown = {
        "id": view["operation_id"],
        "name": _text(view["name"]),
        "provider": _text(view["provider"]),
        "job": _text(view["provider_job_id"]),
        "owner": _text(view["owner"]),
        "task": _text(view["task"]),
        "phase": view["phase"],
        "state": _text(view["last_known_state"]),
        "say": sentence(view),
        "progress": view["progress"],
        "counts": counts_text(view["counts"]),
        "began": millis(view["started_at"]),
        "ended": millis(view["ended_at"]),
        "stops": millis(view["stops_at"]),
        "by": "business deadline" if view["stops_by"] == "business_deadline" else None,
        "used": view["status_requests_used"],
        "most": view["max_status_requests"],
        "failures": view["transport_failures_used"] or None,
        "limits": view["rate_limits_used"] or None,
        "next": millis(view["next_poll_at"]),
        "source": view["delay_source"],
        "status": view["last_http_status"],
        "tried": millis(view["last_http_at"]),
        "seen": millis(view["observed_at"]),
        "revision": view["revision"],
        "asks": asks(view),
        "with": _text(view["attention"]["assigned_to"]),
        "rests": millis(view["attention"]["snoozed_until"]),
        "flags": flags(view, now) or None,
    }
    return {key: value for key, value in shown.items() if value is not None}


def flags(view: View, now: datetime) -> str:
    """What is odd about the wait: nothing moves, nobody looked for as long (H12), it ends late. It comes with time alone."""
    unchecked = view["unchecked_since"]
    said = (
        "stalled" if view["stalled"] else "",
        f"not checked since {utc_text(datetime.fromisoformat(unchecked), now)}" if unchecked else "",
        "late" if view["late"] else "",
    )
    return ", ".join(word for word in said if word)


def asks(view: View) -> str | None:
    """`decision` where an answer is needed, `look` where somebody should see it, else None (H7)."""
    if view["escalation"] is not None:
        return "decision"
    return "look" if view["look"] is not None and any(option["name"] != "inspect" for option in view["options"]) else None


def sentence(view: View) -> str | None:
    """What a person should know about it, in half a sentence; None where the phase says it all."""
    asked = view["escalation"] or (view["look"] if asks(view) else None)
    if asked is not None:
        detail = asked.get("detail") or ""
        return f"{asked['text']}: {inert(detail, SENTENCE)}" if says_more(detail) else str(asked["text"])
    if view["hold"] is not None:
        return f"the account is held: {words(view['hold']['reason'])}"
    if view["error"] is not None:
        return _text(view["error"]["text"] or view["error"]["code"], SENTENCE)
    return _text(view["message"], SENTENCE)


def counts_text(counts: View | None) -> str | None:
    """`7 of 10 items, 3 failed`."""
    if counts is None or all(number is None for number in counts.values()):
        return None
    of = f" of {counts['total']:,}" if counts["total"] is not None else ""
    done = counts["processed"] if counts["processed"] is not None else counts["succeeded"]
    said = [f"{done:,}{of} items" if done is not None else f"{counts['total']:,} items"] if done is not None or of else []
    if counts["failed"]:
        said.append(f"{counts['failed']:,} failed")
    return ", ".join(said) or None


def options(view: View) -> list[Row]:
    """What may be chosen now, in the core's words (H2)."""
    return [_option(option) for option in view["options"]]


def _option(option: View) -> Row:
    shown = {
        "name": option["name"],
        "title": option["title"],
        "cost": option["cost"],
        "change": inert(option["change"], SENTENCE).replace(" -> ", " → "),
        "effect": inert(option["effect"], SENTENCE),
        "reason": option["needs_reason"],
        "vain": inert(option["no_purpose"] or "", SENTENCE),
        "url": link(option["url"]),
        "credentials": [inert(reference, WORD) for reference in option["credentials"]],
    }
    return {key: value for key, value in shown.items() if value}


def missing(op: Operation, view: View, contract: Contract | None) -> list[Row]:
    """What a person might look for and does not find, with the reason (C9, X6)."""
    if op.phase.is_terminal or op.phase is Phase.SUBMITTING or op.permit is not None or op.open_actions:
        return []
    offered = {option["name"] for option in view["options"]}
    return [
        {"title": words(name), "why": inert(why_not_open(name, op, contract), SENTENCE)}
        for name in _TOLD_WHERE_MISSING
        if name not in offered
    ]


def item(found: InboxItem, now: datetime) -> Row:
    """One inbox item as a card."""
    lines = [line for line in item_lines(found, now)[1:] if not line.startswith(_SHOWN_OTHERWISE)]
    shown = {
        **row(found.view, now),
        "kind": found.kind,
        "reason": reason_text(found.reason),
        "since": int(found.since.timestamp() * 1000),
        "taken": _text(found.taken_by),
        "lines": lines,
        "options": options(found.view),
    }
    return {key: value for key, value in shown.items() if value is not None}


def link(url: str | None) -> str | None:
    """`url` where a person may follow it: encrypted, and without anything that could be hidden in it."""
    is_plain = url is not None and url.startswith("https://") and url.isascii() and url.isprintable() and " " not in url
    return url if is_plain else None


def millis(stamped: str | None) -> int | None:
    """A view's time as milliseconds since 1970."""
    return None if stamped is None else int(datetime.fromisoformat(stamped).timestamp() * 1000)


def _text(text: str | None, longest: int = WORD) -> str | None:
    return None if text is None else inert(str(text), longest)
