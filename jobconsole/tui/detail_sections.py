"""The parts of an operation's detail as text: who it is, its budgets, its attempts, its requests, its result, its error.

Only this file decides how a view and its attempts read in a pane of any width. Foreign text is inert and cut; the words are the
core's. Budgets and progress are bars of different make, and each has its figures beside it (SPEC U2, U4, H9).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from textual.content import Content

from jobconsole.core.durations import passed_text
from jobconsole.core.telling.attempts import Attempt, Outcome, latencies, mark
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.theme import HUES, Hue
from jobconsole.core.telling.views import View
from jobconsole.core.telling.wording import actor_text, clock_text, counted, glyph, says_more, source_text, words
from jobconsole.core.vocabulary import Phase
from jobconsole.tui.clock_face import TimeStyle, age_text, full_text, until_text
from jobconsole.tui.hanging import hanging
from jobconsole.tui.widgets.bars import budget_bar, progress_bar, sparkline

_LABEL = 10  # columns of a label
_ROOMY = 64  # columns from which on a time stands both ways
_ROOMY_ROW = 48  # columns from which on a request is named
_WORD, _SENTENCE, _RESULT = 80, 400, 4_000  # characters of foreign text
_MARK_STYLES = {
    Outcome.UNDER_WAY: "$quiet",
    Outcome.SEEN: "$state-running",
    Outcome.NOT_SEEN: "$state-needs-you",
    Outcome.GOOD_END: "$state-done bold",
    Outcome.BAD_END: "$state-failed bold",
    Outcome.NOT_SENT: "$quiet",
}


@dataclass(frozen=True, slots=True)
class Pen:
    """How things are drawn just now: columns, signs, and the way times are shown."""

    width: int
    now: datetime
    is_ascii: bool = False
    style: TimeStyle = TimeStyle.AGE


def hue_style(phase: Phase) -> str:
    """The style of a phase's sign and word; what needs a person is bold."""
    return f"$state-{HUES[phase].replace('_', '-')}{' bold' if HUES[phase] is Hue.NEEDS_YOU else ''}"


def time_of(stamp: str | None) -> datetime | None:
    """The time that a view holds as text."""
    return None if stamp is None else datetime.fromisoformat(stamp)


# ---- who it is ---------------------------------------------------------------------------------------------------------------
def title(view: View, pen: Pen) -> Content:
    """Sign, phase and name; below, the id, the provider, the job and since when."""
    phase = Phase(view["phase"])
    name = inert(view["name"] or "unnamed", _WORD)
    sign = glyph(phase, is_ascii=pen.is_ascii)
    head = Content.assemble((f"{sign} {words(phase)}", hue_style(phase)), "  ", (name, "bold" if view["name"] else "$quiet"))
    job = inert(str(view["provider_job_id"] or "no job id yet"), _WORD)
    started = time_of(view["started_at"])
    assert started is not None
    facts = [
        head,
        *_beside(view["operation_id"], f"{view['provider']}{_dot(pen)}job {job}", pen),
        *_beside(f"started {full_text(started, pen.now, pen.style)}", f"owner {inert(actor_text(view['owner']), _WORD)}", pen),
    ]
    if view["task"]:
        facts.append(Content.styled(f"task {inert(view['task'], _WORD)}", "$quiet"))
    return Content("\n").join(facts)


def _beside(left: str, right: str, pen: Pen) -> Iterator[Content]:
    """Two facts in one line, or each in its own where the pane is narrow."""
    both = f"{left}{_dot(pen)}{right}"
    for line in (both,) if len(both) <= pen.width else (left, right):
        yield Content.styled(line, "$quiet")


def _dot(pen: Pen) -> str:
    return " - " if pen.is_ascii else " · "


def question(view: View, pen: Pen) -> Content | None:
    """What a person is asked, or what somebody should see; None where nothing is."""
    asked = view["escalation"] or view["look"]
    if asked is None or (view["look"] and view["look"]["answer"] in ("acknowledge", "accept", "reject")):
        return None
    detail = asked.get("detail") or ""
    said = f": {inert(detail, _SENTENCE)}" if says_more(detail) else ""
    sign = glyph(Phase.ESCALATED, is_ascii=pen.is_ascii)
    return Content.assemble((f"{sign} ", "$state-needs-you bold"), (f"{_sentence(asked['text'])}{said}", "bold"))


def context(view: View, pen: Pen) -> Content:
    """What to know before deciding: operation, provider job, last state, last HTTP result and time, who waits (H2)."""
    job = inert(str(view["provider_job_id"] or "no job id yet"), _WORD)
    rows = [
        ("operation", str(view["operation_id"])),
        ("job", f"{view['provider']}, {job}"),
        ("state", _last_state(view, pen)),
        ("last HTTP", _last_http(view, pen)),
        ("owner", inert(view["owner"], _WORD) + (f", task {inert(view['task'], _WORD)}" if view["task"] else "")),
    ]
    if view["counts"]:
        rows.append(("items", ", ".join(f"{n:,} {name}" for name, n in view["counts"].items() if n is not None)))
    if view["message"]:
        rows.append(("message", inert(view["message"], _SENTENCE)))
    if view["error"]:
        rows.append(("error", inert(view["error"]["text"], _SENTENCE)))
    if person := waited(view):
        rows.append(("person", person))
    return Content("\n").join(Content.assemble((f"{label:<{_LABEL}}", "$quiet"), text) for label, text in rows)


def _last_state(view: View, pen: Pen) -> str:
    seen = time_of(view["observed_at"])
    if seen is None:
        return "never seen"
    state = inert(str(view["last_known_state"] or words(view["state_class"] or "unknown")), _WORD)
    return f"{state}, seen {full_text(seen, pen.now, pen.style)}"


def _last_http(view: View, pen: Pen) -> str:
    at = time_of(view["last_http_at"])
    if at is None:
        return "nothing was sent yet"
    answer = view["last_http_status"] if view["last_http_status"] is not None else "no answer"
    return f"{answer} at {full_text(at, pen.now, pen.style)}"


# ---- budgets and progress ----------------------------------------------------------------------------------------------------
def budgets(view: View, pen: Pen) -> Content:
    """Time and checks as budget bars, failures where some were used, and progress apart from them."""
    rows = [*_time_rows(view, pen), *_check_rows(view, pen)]
    for label, used, most in (
        ("failures", view["transport_failures_used"], view["max_transport_failures"]),
        ("limits hit", view["rate_limits_used"], view["max_rate_limits"]),
    ):
        if used:
            rows.append(_bar_row(label, used, most, f"{used:,} of {most:,}", pen))
    rows.append(_progress_row(view, pen))
    return Content("\n").join(rows)


def _bar_width(pen: Pen) -> int:
    return max(6, min(24, pen.width - _LABEL - 22))


def _bar_row(label: str, used: float, most: float, text: str, pen: Pen) -> Content:
    share = used / most if most > 0 else 1.0
    full, rest = budget_bar(share, _bar_width(pen), is_ascii=pen.is_ascii)
    style = "$state-needs-you" if share >= 0.8 else "$primary"
    return Content.assemble((f"{label:<{_LABEL}}", "$quiet"), (full, style), (rest, "$quiet"), f"  {text}")


def _time_rows(view: View, pen: Pen) -> Iterator[Content]:
    began, stops = time_of(view["started_at"]), time_of(view["stops_at"])
    ended = time_of(view["ended_at"])
    assert began is not None
    assert stops is not None
    used, most = (ended or pen.now) - began, stops - began
    text = f"{age_text(used)} of {age_text(most)}"
    yield _bar_row("time", used.total_seconds(), most.total_seconds(), text, pen)
    if ended is not None:
        yield _note(f"ended {full_text(ended, pen.now, pen.style)}", pen)
        return
    by = "business deadline" if view["stops_by"] == "business_deadline" else "deadline"
    yield _note(f"{by} {full_text(stops, pen.now, pen.style)}", pen)


def _check_rows(view: View, pen: Pen) -> Iterator[Content]:
    used, most = view["status_requests_used"], view["max_status_requests"]
    yield _bar_row("checks", used, most, f"{used:,} of {most:,}", pen)
    planned = time_of(view["next_poll_at"])
    if planned is not None:
        source = f" {source_text(view['delay_source'])}" if view["delay_source"] else ""
        clock = f", {clock_text(planned, pen.now)} UTC" if pen.width >= _ROOMY else ""
        yield _note(f"next {until_text(planned, pen.now, pen.style)}{clock}{source}", pen)
    granted = view["budget"]["granted"]
    if granted["times"]:
        more = f"{granted['minutes']} min and {counted(granted['status_requests'], 'check')}, {granted['times']}×"
        yield _note(f"people granted {more}", pen)
        if person := waited(view):
            yield _note(f"and the deadline moved by what it {person}", pen)


def _progress_row(view: View, pen: Pen) -> Content:
    label = (f"{'progress':<{_LABEL}}", "$quiet")
    progress = view["progress"]
    counts = view["counts"]
    if progress is None and counts and counts["total"] and counts["processed"] is not None:
        progress = min(1.0, counts["processed"] / counts["total"])
    if progress is None:
        return Content.assemble(label, ("not reported; only the budget is shown", "$quiet"))
    width = _bar_width(pen)
    bar = progress_bar(progress, width, is_ascii=pen.is_ascii)
    seen = time_of(view["observed_at"])
    when = f", seen {age_text(pen.now - seen)} ago" if seen is not None and not view["ended_at"] else ""
    return Content.assemble(label, (f"{bar:<{width}}", "$state-running"), f"  {progress:.0%}{when}")


def account_row(view: View, pen: Pen) -> Content:
    """What the operation's account spent of what, in the core's words, and what holds it back (B9)."""
    style = "$state-failed bold" if view["denied"] else "$state-needs-you bold"
    held = (f"{view['standing']}, ", style) if view["standing"] else ""
    label = Content.styled(f"{'account':<{_LABEL}}", "$quiet")
    told = Content.assemble(inert(f"{view['account']}  ", _WORD), held, view["text"])
    return Content("\n").join(hanging(label, told, pen.width))


def _note(text: str, pen: Pen) -> Content:
    return Content("\n").join(hanging(Content(" " * _LABEL), Content.styled(text, "$quiet"), pen.width))


# ---- attempts ----------------------------------------------------------------------------------------------------------------
def timeline(found: Sequence[Attempt], pen: Pen) -> Content:
    """`●─○─●─✕`, the newest to the right; older ones that do not fit are counted."""
    if not found:
        return Content.styled("no request was sent yet", "$quiet")
    join = "-" if pen.is_ascii else "─"
    fits = max(3, (pen.width - 8) // 2)
    left_out, shown = max(0, len(found) - fits), found[-fits:]
    parts: list[tuple[str, str]] = [(f"{left_out:,} … ", "$quiet")] if left_out else []
    for number, attempt in enumerate(shown):
        if number:
            parts.append((join, "$quiet"))
        parts.append((mark(attempt.outcome, is_ascii=pen.is_ascii), _MARK_STYLES[attempt.outcome]))
    return Content.assemble(*parts)


def latency_line(found: Sequence[Attempt], pen: Pen) -> Content | None:
    """`answers in  ▂▂▃▂▇▂  p50 180 ms`, the newest to the right; None where fewer than two latencies are known."""
    known = latencies(found)
    if known is None:
        return None
    line = sparkline(known.seconds, max(3, pen.width - 26), is_ascii=pen.is_ascii)
    return Content.assemble(("answers in  ", "$quiet"), (line, "$state-running"), f"  p50 {_took(known.p50)}")


def request_row(attempt: Attempt, pen: Pen, *, has_next: bool = True) -> tuple[Content, ...]:
    """One request, its answer, and what came next; what is too long goes on below what was said."""
    now, is_ascii = pen.now, pen.is_ascii
    is_roomy = pen.width >= _ROOMY_ROW
    sign = (mark(attempt.outcome, is_ascii=is_ascii), _MARK_STYLES[attempt.outcome])
    what = f"{attempt.number}" if attempt.number is not None else attempt.purpose
    if is_roomy and attempt.number is not None:
        what = f"check {what}{' (confirm)' if attempt.purpose == 'confirm' else ''}"
    answer = str(attempt.http_status) if attempt.http_status is not None else _none(pen) if attempt.answered_at else ""
    took = "" if attempt.seconds is None else _took(attempt.seconds)
    said = inert(attempt.said, _WORD) or ("under way" if attempt.outcome is Outcome.UNDER_WAY else "")
    facts = Content.assemble(
        (f"{clock_text(attempt.at, now):>8} ", "$quiet"),
        sign,
        f" {what:<10} {answer:>3} " if is_roomy else f" {what:>6} {answer:>3} ",
        (f"{took:>7}  " if is_roomy else f"{took:>6} ", "$quiet"),
    )
    told = Content.assemble(said, (_next(attempt, now) if has_next else "", "$quiet"))
    return hanging(facts, told, pen.width)


def _none(pen: Pen) -> str:
    return "-" if pen.is_ascii else "–"


def _took(seconds: float) -> str:
    return f"{seconds * 1_000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _next(attempt: Attempt, now: datetime) -> str:
    waits = f", Retry-After {attempt.retry_after_seconds:g} s" if attempt.retry_after_seconds is not None else ""
    if attempt.next_at is None:
        return waits
    source = f" {source_text(attempt.next_source)}" if attempt.next_source else ""
    return f"{waits}, next {clock_text(attempt.next_at, now)}{source}"


# ---- how it ended ------------------------------------------------------------------------------------------------------------
def ending(view: View) -> Content | None:
    """The result, the error and the message of the provider; None where there is none of them."""
    parts: list[Content] = []
    if view["message"]:
        parts.append(Content.assemble(("message   ", "$quiet"), inert(view["message"], _SENTENCE)))
    if view["error"]:
        code = f"{inert(str(view['error']['code']), _WORD)}: " if view["error"]["code"] else ""
        said = code + inert(view["error"]["text"], _SENTENCE)
        parts.append(Content.assemble(("error     ", "$quiet"), (said, "$state-failed")))
    if view["counts"]:
        known = ", ".join(f"{number:,} {name}" for name, number in view["counts"].items() if number is not None)
        parts.append(Content.assemble(("items     ", "$quiet"), known))
    if view["errors_url"]:
        parts.append(Content.assemble(("errors at ", "$quiet"), inert(view["errors_url"], _SENTENCE)))
    if view["result"]:
        parts += _result(view["result"])
    return Content("\n").join(parts) if parts else None


def _result(result: View) -> Iterator[Content]:
    label = ("result    ", "$quiet")
    if result["is_inline"]:
        text = json.dumps(result["inline"], indent=2, ensure_ascii=False)
        lines = [inert(line, _SENTENCE) for line in text[:_RESULT].split("\n")]
        yield Content.assemble(label, ("inline", "$quiet"))
        yield from (Content(f"  {line}") for line in lines)
        if len(text) > _RESULT:
            yield Content.styled(f"  … {len(text) - _RESULT:,} more characters; jobconsole fetch shows all", "$quiet")
        return
    for name in ("url", "file", "result_id", "size", "sha256"):
        if result[name] is not None:
            yield Content.assemble(label, f"{words(name)} {inert(str(result[name]), _SENTENCE)}")


def action_row(view: View, pen: Pen) -> tuple[Content, ...]:
    """One action with its record: who asked, who approved, how it ended (A3)."""
    asked = time_of(view["requested_at"])
    assert asked is not None
    approved = f", approved by {inert(actor_text(view['approved_by']), _WORD)}" if view["approved_by"] else ""
    outcome = words(view["outcome"] or view["state"])
    status = f" ({view['http_status']})" if view["http_status"] is not None else ""
    tried = f", {view['attempts']} attempts" if view["attempts"] > 1 else ""
    detail = f": {inert(view['detail'], _SENTENCE)}" if view["detail"] else ""
    facts = Content.assemble((f"{clock_text(asked, pen.now)}  ", "$quiet"), (f"{view['kind']:<8} ", "bold"))
    told = Content.assemble(
        f"{inert(outcome, _WORD)}{status}{tried}",
        (f", asked for by {inert(actor_text(view['requested_by']), _WORD)}{approved}{detail}", "$quiet"),
    )
    return hanging(facts, told, pen.width)


def waited(view: View) -> str:
    """How long nothing was sent because a person had to decide (H9); empty where that never was."""
    seconds = view["waited_for_person_seconds"]
    return f"waited {passed_text(timedelta(seconds=seconds))} for a person" if seconds >= 1 else ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
