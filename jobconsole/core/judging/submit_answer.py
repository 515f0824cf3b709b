"""The answer to a submission: whether the job was accepted, and how it is called from now on (C6, B17, X10).

Only this file decides where job id and status URL come from. `observation.py` calls it for the step `submit`. Nothing is built
from the submit endpoint by guess: a 2xx that names neither is an integration error, and is never sent again.
"""

from __future__ import annotations

from typing import Any

from jobconsole.core.contracts.contract import Contract, Submit
from jobconsole.core.judging.answer import CallError, Known
from jobconsole.core.judging.envelope import Reading
from jobconsole.core.judging.job_facts import job_facts, next_check, status_url
from jobconsole.core.judging.provider_text import error_of
from jobconsole.core.judging.result_facts import usable_url
from jobconsole.core.judging.status_codes import call_error_of
from jobconsole.core.judging.verdict import Verdict, is_answer, judge_class
from jobconsole.core.numbers import number
from jobconsole.core.vocabulary import StateClass

_LONGEST_ID = 2_000


def judge_submit(contract: Contract, reading: Reading, known: Known) -> tuple[Verdict, dict[str, Any]]:
    """The verdict on a submission's answer, and the fields of the observation that tell about the job.

    The word is a class where the job was accepted (`waiting`, unless the contract says that the answer may be final already),
    else a call error. An id is read from refusals too: a 409 may name the job that exists (X10).
    """
    verdict = Verdict(reading.envelope.as_dict(), notes=list(reading.notes))
    submit = contract.submit
    if submit is None:
        verdict.stop(CallError.INTEGRATION_ERROR, "the contract has no [submit]")
        return verdict, {}
    facts = _named(contract, submit, reading, known, verdict)
    status = reading.envelope.http_status
    is_named = bool(facts["job_id"] or facts["status_url"])
    if is_named and submit.request.accepts(status):  # a header may name the job whatever the body holds
        return _accepted(contract, submit, reading, known, verdict, facts)
    if not is_answer(reading, submit.request.accepted or (), verdict):
        return verdict, {**facts, "error": error_of(reading.envelope.body)}
    if not submit.request.accepts(status):
        why = f"HTTP {status} is not among the codes that say accepted"
        verdict.stop(call_error_of(status) or CallError.INTEGRATION_ERROR, why)
    else:
        verdict.stop(CallError.INTEGRATION_ERROR, _lacking(verdict))
    return verdict, facts


def _accepted(
    contract: Contract, submit: Submit, reading: Reading, known: Known, verdict: Verdict, facts: dict[str, Any]
) -> tuple[Verdict, dict[str, Any]]:
    """An accepted submission: it waits, unless the contract says that its answer may be final already."""
    if submit.already and reading.fault is None:
        judged = _judged(contract, reading, known, verdict)
        return verdict, {**judged, **{key: value for key, value in facts.items() if value}}
    verdict.stop(StateClass.WAITING, f"HTTP {reading.envelope.http_status}: accepted")
    hints = next_check(contract, reading, known, verdict)  # they pace the first check (RA-11)
    return verdict, {**facts, **{key: hints[key] for key in ("hint_s", "hint_source", "rejected")}}


def _named(contract: Contract, submit: Submit, reading: Reading, known: Known, verdict: Verdict) -> dict[str, Any]:
    """Job id, status URL and result URL from their documented places, and the provider's estimate."""
    search = verdict.envelope
    ids = _ids(None if submit.job_id is None else submit.job_id.search(search), verdict)
    estimate = number(None if submit.estimated_seconds is None else submit.estimated_seconds.search(search))
    url = None if submit.status_url is None else submit.status_url.search(search)
    return {
        "job_id": ids[0] if ids else None,
        "job_ids": ids if len(ids) > 1 else (),
        "status_url": status_url(contract, url, reading, known, verdict),
        "result_url": usable_url(None if submit.result_url is None else submit.result_url.search(search), reading.url),
        "estimated_s": estimate if estimate is not None and estimate >= 0 else None,
    }


def _ids(value: Any, verdict: Verdict) -> tuple[str, ...]:
    """The ids that an answer names: a text or a whole number, or a list of them."""
    found: list[str] = []
    for one in value if isinstance(value, list) else [value]:
        text = str(one) if isinstance(one, str | int) and not isinstance(one, bool) else ""
        if text.strip() and len(text) <= _LONGEST_ID:
            found.append(text)
        elif one is not None:
            verdict.notes.append("a job id that is empty, too long or no text was left out")
    return tuple(dict.fromkeys(found))


def _lacking(verdict: Verdict) -> str:
    refused = next((note for note in verdict.notes if note.startswith("the status URL was refused")), "")
    return f"accepted, but the answer names no job{f'; {refused}' if refused else ''}"


def _judged(contract: Contract, reading: Reading, known: Known, verdict: Verdict) -> dict[str, Any]:
    """An answer that may be final already, judged like a status answer. One that tells no state was accepted all the same."""
    judge_class(contract, contract.http.codes, verdict, step="submit")
    if isinstance(verdict.word, CallError):
        verdict.stop(StateClass.WAITING, "accepted; the answer tells no state yet")
    return job_facts(contract, reading, known, verdict)
