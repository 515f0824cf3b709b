"""`show`: one record, readably (SPEC 11, H2, H9, U6).

Only this file decides how a record is laid out on the command line; the fields are those of `core/telling/views.py`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import click

from jobconsole.cli import telling
from jobconsole.cli.completion import complete_operation
from jobconsole.cli.invocation import Invocation, pass_invocation
from jobconsole.cli.opening import reading
from jobconsole.cli.output import Output
from jobconsole.core.durations import duration_text, passed_text
from jobconsole.core.telling.views import View
from jobconsole.core.telling.wording import source_text, utc_text, words
from jobconsole.core.vocabulary import Phase

WIDTH = 16  # columns of a label
LONGEST = 500  # characters of a provider's text that are shown here


@click.command()
@click.argument("operation", metavar="OP", shell_complete=complete_operation)
@pass_invocation
def show(invocation: Invocation, operation: str) -> None:
    """Show one operation's record."""
    asyncio.run(_show(invocation, operation))


async def _show(invocation: Invocation, operation: str) -> None:
    async with reading(invocation, "show") as console:
        (view,) = await console.views([await console.meant(operation)])
        if invocation.as_json:
            invocation.output.json(view)
            return
        print_record(invocation.output, view, console.clock.wall())


def print_record(output: Output, view: View, now: datetime) -> None:
    """Print a record: what it is, how it stands, what it has used, what was decided, what may be chosen."""
    output.line(view["operation_id"], f"  {view['name'] or ''}  " if view["name"] else "  ", telling.phase_piece(view["phase"]))
    for part in (_identity, _standing, _bounds, _decisions, _question):
        for label, text in part(view, now):
            output.line(f"  {label:<{WIDTH}}", text)


def _identity(view: View, now: datetime) -> Iterator[tuple[str, str]]:
    yield "provider", f"{view['provider']}, account {view['account']}"
    yield "job", view["provider_job_id"] or "not known yet"
    for label, key in (("task", "task"), ("submitted again", "resubmit_of"), ("credential", "credential")):
        if view[key]:
            yield label, view[key]
    if view["params"]:
        yield "params", ", ".join(f"{name}={value}" for name, value in view["params"].items())
    yield "owner", f"{view['owner']}, {'adopted' if view['tracked'] else 'submitted'} by {view['submitted_by']}"
    yield "fingerprint", view["request_fingerprint"]


def _standing(view: View, now: datetime) -> Iterator[tuple[str, str]]:
    seen = f", seen {_clock(view['observed_at'], now)}" if view["observed_at"] else ""
    yield "state", f"{telling.state_text(view, now)}{seen}" if view["last_known_state"] else "not seen yet"
    if view["last_http_at"]:
        answer = view["last_http_status"] or "no answer"
        request = f", request {view['last_request_id']}" if view["last_request_id"] else ""
        yield "last HTTP", f"{answer} at {_clock(view['last_http_at'], now)}, delivery {view['delivery']}{request}"
    if view["message"]:
        yield "message", str(view["message"])[:LONGEST]
    if view["error"]:
        code = f"{view['error']['code']}: " if view["error"]["code"] else ""
        yield "error", f"{code}{view['error']['text']}"[:LONGEST]
    if view["counts"]:
        yield "counts", ", ".join(f"{number} {name}" for name, number in view["counts"].items() if number is not None)
    if view["errors_url"]:
        yield "errors", view["errors_url"]
    if view["result"]:
        yield "result", _result(view["result"])
    if view["late"]:
        yield "late", "its success was learned after the deadline"
    if view["stalled"]:
        yield "stalled", f"no change of state or progress since {_clock(view['state_since'], now)}"
    if view["unchecked_since"]:
        yield "not checked", f"since {_clock(view['unchecked_since'], now)}"


def _result(result: dict[str, Any]) -> str:
    if result["is_inline"]:
        text = json.dumps(result["inline"])
        return text if len(text) <= LONGEST else f"{len(text):,} characters inline: jobconsole fetch"
    return f"at the provider: {result['url'] or result['result_id'] or 'no place was told'}"


def _bounds(view: View, now: datetime) -> Iterator[tuple[str, str]]:
    ended = f", ended {_clock(view['ended_at'], now)}" if view["ended_at"] else ""
    elapsed = duration_text(timedelta(seconds=view["elapsed_seconds"]))
    yield "started", f"{_clock(view['started_at'], now)}{ended}, {elapsed} elapsed"
    granted, original = view["budget"]["granted"], view["budget"]["original"]
    times = f" ({granted['times']} extension{'' if granted['times'] == 1 else 's'})" if granted["times"] else ""
    more = f", first {_clock(original['deadline_at'], now)} + {granted['minutes']} minutes{times}" if granted["times"] else ""
    yield "deadline", f"{_clock(view['deadline_at'], now)}{more}"
    if view["business_deadline_at"]:
        yield "business", _clock(view["business_deadline_at"], now)
    for label, key in (
        ("checks", "status_requests"),
        ("failed looks", "transport_failures"),
        ("rate limits", "rate_limits"),
    ):
        added = f" ({original[key]} + {granted[key]} granted)" if granted[key] else ""
        yield label, f"{view[f'{key}_used']} used of {view[f'max_{key}']}{added}"
    if view["waited_for_person_seconds"]:
        yield "for a person", passed_text(timedelta(seconds=view["waited_for_person_seconds"]))
    if view["next_poll_at"]:
        source = f" {source_text(view['delay_source'])}" if view["delay_source"] else ""
        yield "next check", f"{_clock(view['next_poll_at'], now)}{source}"
    if view["hold"]:
        until = f" until {_clock(view['hold']['until_at'], now)}" if view["hold"]["until_at"] else ""
        yield "account held", f"{words(view['hold']['reason'])} since {_clock(view['hold']['since'], now)}{until}"
    if view["lease"]:
        yield "in flight", f"{view['lease']['purpose']} by {view['lease']['owner']}"


def _decisions(view: View, now: datetime) -> Iterator[tuple[str, str]]:
    for action in view["actions"]:
        yield "action", f"{words(action['kind'])} {action['state']}"
    for done in view["decisions"]:
        yield "decided", f"{_clock(done['at'], now)} {done['by']}: {done['option']}: {done['effect']}"
    look = view["look"]
    if look:
        answered = f", {look['answer']} by {look['answered_by']}" if look["answer"] else ", not answered yet"
        yield "to see", f"{words(look['reason'])}: {look['text']}{answered}"


def _question(view: View, now: datetime) -> Iterator[tuple[str, str]]:
    asked = view["escalation"]
    if asked:
        detail = f": {asked['detail']}" if asked["detail"] else ""
        yield "asks", f"{words(asked['reason'])}: {asked['text']}{detail}"
    elif view["phase"] not in (Phase.WAITING, Phase.SUBMITTING) and not view["options"]:
        return
    for option in view["options"]:
        yield "option", f"{option['name']:<18}{option['text']}"
    yield "revision", f"{view['revision']}: jobconsole decide {view['operation_id']} OPTION --revision {view['revision']}"


def _clock(stamp: str, now: datetime) -> str:
    return utc_text(telling.time_of(stamp), now)
