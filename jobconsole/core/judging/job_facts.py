"""What an answer tells about the job beside its state: steps 9, 12 and 13 of the order of evaluation, and the facts for 11.

Only this file decides how counts and times change a verdict, and which other values of an answer are kept. `observation.py` and
`submit_answer.py` call `job_facts` once the state is known. A value that is no value of its kind is unknown, with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from jobconsole.core.contracts import hosts
from jobconsole.core.contracts.contract import Contract, Expression
from jobconsole.core.contracts.endpoints import allowed_hosts, own_host, params_of
from jobconsole.core.judging import counts
from jobconsole.core.judging.answer import Known
from jobconsole.core.judging.envelope import Reading
from jobconsole.core.judging.hints import read_hints
from jobconsole.core.judging.provider_text import error_of, text_of
from jobconsole.core.judging.result_facts import read_result, usable_url
from jobconsole.core.judging.verdict import SHOWN, Verdict
from jobconsole.core.moments import moment
from jobconsole.core.numbers import number
from jobconsole.core.vocabulary import StateClass
from jobconsole.errors import HostRefused, InvalidValue

EXPIRY_TOLERANCE = timedelta(seconds=60)

_WITH_RESULT = frozenset({StateClass.SUCCEEDED, StateClass.PARTIAL, StateClass.EXPIRED})
_UNDECIDED = frozenset({StateClass.UNKNOWN, StateClass.CONTRADICTION})


def job_facts(contract: Contract, reading: Reading, known: Known, verdict: Verdict) -> dict[str, Any]:
    """The fields of an observation that tell about the job. May change `verdict` (steps 9 and 12)."""
    facts = {**_texts(contract, verdict), **_counts(contract, reading, verdict), **_times(contract, reading, verdict)}
    facts["progress"] = _progress(contract, verdict)
    facts["result"] = _result(contract, reading, verdict)
    _judge_times(facts, reading, verdict)
    if verdict.word is StateClass.WAITING:
        facts |= next_check(contract, reading, known, verdict)
    if verdict.word is StateClass.UNKNOWN:
        facts["is_state_end"] = _looks_ended(contract, facts, verdict)
    return facts


def _search(expression: Expression | None, verdict: Verdict) -> Any:
    return None if expression is None else expression.search(verdict.envelope)


def _texts(contract: Contract, verdict: Verdict) -> dict[str, Any]:
    status = contract.status
    error = error_of(_search(status.error, verdict))
    if verdict.word in (StateClass.FAILED, StateClass.NEEDS_HUMAN) and not verdict.why and error is not None:
        verdict.why = (error.text or error.code or "")[:SHOWN]
    return {"message": text_of(_search(status.message, verdict)), "error": error}


def _progress(contract: Contract, verdict: Verdict) -> float | None:
    """Progress from 0 to 1; over-full is full, and no number is unknown."""
    value = _search(contract.status.progress, verdict)
    found = number(value)
    if found is None or found < 0:
        if value is not None:
            verdict.notes.append(f"the progress {(text_of(value) or '')[:50]!r} became unknown")
        return None
    return min(found / contract.status.progress_max, 1.0)


def _counts(contract: Contract, reading: Reading, verdict: Verdict) -> dict[str, Any]:
    """Step 9: counts judge a success, nothing else."""
    spec = contract.result
    errors_url = usable_url(_search(spec.errors_url, verdict), reading.url)
    if spec.counts is None:
        return {"errors_url": errors_url}
    found, notes = counts.read_counts(spec.counts, verdict.envelope)
    verdict.notes.extend(notes)
    if found is not None and verdict.word is StateClass.SUCCEEDED:
        word, why = counts.judge(found)
        if word is not StateClass.SUCCEEDED:
            verdict.stop(word, why)
    return {"errors_url": errors_url, "counts": found}


def _result(contract: Contract, reading: Reading, verdict: Verdict) -> Any:
    """The facts for step 11, which `decide.py` applies with its lag."""
    if verdict.word not in _WITH_RESULT:
        return None
    is_success = verdict.word is StateClass.SUCCEEDED
    facts, notes = read_result(contract.result, verdict.envelope, reading.url, is_success=is_success)
    verdict.notes.extend(notes)
    return facts


def _times(contract: Contract, reading: Reading, verdict: Verdict) -> dict[str, Any]:
    status = contract.status
    found: dict[str, datetime | None] = {}
    for name, expression in (
        ("updated_at", status.updated_at),
        ("started_at", status.started_at),
        ("ended_at", status.ended_at),
        ("expires_at", status.expires_at),
    ):
        value = _search(expression, verdict)
        if value is None or value == "":
            continue
        found[name] = moment(value, status.timezone, about=reading.facts.at)
        if found[name] is None:
            verdict.notes.append(f"{name} {(text_of(value) or '')[:50]!r} is no time and became unknown")
    return found


def _judge_times(facts: dict[str, Any], reading: Reading, verdict: Verdict) -> None:
    """Step 12: what ended before it was started, and what runs after its own expiry, contradicts itself (C4)."""
    started, ended, expires = facts.get("started_at"), facts.get("ended_at"), facts.get("expires_at")
    at = reading.facts.at
    if verdict.word in _UNDECIDED:
        return
    if started is not None and ended is not None and ended < started:
        verdict.stop(StateClass.CONTRADICTION, f"it ended at {ended.isoformat()}, before it started at {started.isoformat()}")
    elif verdict.word is StateClass.WAITING and expires is not None and at is not None and at > expires + EXPIRY_TOLERANCE:
        verdict.stop(StateClass.CONTRADICTION, f"it still runs after its own expiry at {expires.isoformat()}")


def next_check(contract: Contract, reading: Reading, known: Known, verdict: Verdict) -> dict[str, Any]:
    """Step 13: hints, and the status URL that replaces the old one."""
    raw = verdict.envelope if reading.raw is None else {**verdict.envelope, "body": reading.raw}
    hints = read_hints(contract.hints, raw, contract.status.timezone, reading.facts.at)
    return {
        "hint_s": hints.seconds,
        "hint_source": hints.source,
        "rejected": reading.facts.rejected + hints.rejected,
        "status_url": status_url(contract, _search(contract.status.next_url, verdict), reading, known, verdict),
    }


def status_url(contract: Contract, value: Any, reading: Reading, known: Known, verdict: Verdict) -> str | None:
    """A status URL from an answer: resolved against the request's, its host checked (C6). A refused one is noted, not used."""
    if value is None or value is False or value == "":
        return None
    try:
        if not isinstance(value, str):
            raise HostRefused("the status URL is no text")
        asked = known.request_url or reading.url
        params = params_of(contract, known.params)
        return hosts.check(hosts.resolve(value, asked), _own_host(contract, params, asked), allowed_hosts(contract, params))
    except (HostRefused, InvalidValue) as error:
        verdict.notes.append(f"the status URL was refused: {str(error)[:SHOWN]}")
        return None


def _own_host(contract: Contract, params: Mapping[str, str], asked: str) -> str:
    """base_url's host, or where the request went: it was checked before it left, whatever params it needed."""
    try:
        return own_host(contract, params)
    except InvalidValue:
        return hosts.host_port(asked)


def _looks_ended(contract: Contract, facts: dict[str, Any], verdict: Verdict) -> bool:
    """Whether an answer with an unknown state carries what only an ended job has (ST-02)."""
    result = contract.result
    has_result = any(_search(expression, verdict) not in (None, "", [], {}) for expression in (result.url, result.inline))
    return facts.get("ended_at") is not None or facts["error"] is not None or has_result or facts["progress"] == 1.0
