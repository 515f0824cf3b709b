"""A contract tried on sample answers: what each one is taken for (`provider check --samples`).

Only this file decides what a sample file looks like and when a sample is judged right. The samples go through the same judge
as real answers; what the record would add (age, whether the job was seen, lag) stands in the sample or is taken as over.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.endpoints import base_url, params_of
from jobconsole.core.durations import parse_duration
from jobconsole.core.judging.answer import CallError, Known, Observation
from jobconsole.core.judging.envelope import Reading, read_parts
from jobconsole.core.judging.observation import judge
from jobconsole.core.judging.verdict import Step
from jobconsole.core.vocabulary import Reason, StateClass
from jobconsole.errors import HostRefused, InvalidValue

_STEPS = ("status", "submit", "confirm")
_KEYS = frozenset({"situation", "http_status", "headers", "body", "is", "step", "age", "seen", "job_id"})
_REASONS: Mapping[str, str] = {
    Reason.UNKNOWN_STATE: StateClass.UNKNOWN,
    Reason.CONTRADICTORY_RESPONSE: StateClass.CONTRADICTION,
    Reason.NEEDS_HUMAN_AT_PROVIDER: StateClass.NEEDS_HUMAN,
    Reason.PROVIDER_FAILURE: StateClass.FAILED,
    Reason.COMPLETED_WITH_ERRORS: StateClass.PARTIAL,
    Reason.JOB_EXPIRED: StateClass.EXPIRED,
    Reason.CANCELLED_ELSEWHERE: StateClass.CANCELLED,
    Reason.JOB_NOT_FOUND: CallError.NOT_FOUND,
    Reason.TRANSPORT_FAILURES_EXHAUSTED: CallError.DELIVERY_FAILURE,
    Reason.SUBMISSION_REFUSED: CallError.INTEGRATION_ERROR,
    Reason.SUBMISSION_AMBIGUOUS: CallError.DELIVERY_FAILURE,
}
_WORDS = frozenset({*StateClass, *CallError, *_REASONS})


@dataclass(frozen=True, slots=True)
class SampleResult:
    """One sample judged. `is_` is what the file says, `got` the class or call error that the contract makes of it."""

    situation: str
    is_: str
    got: str
    ok: bool


def judge_samples(contract: Contract, samples: Sequence[Mapping[str, Any]]) -> list[SampleResult]:
    """What the contract makes of each sample. A body that is a text is taken as the bytes of the answer, all else as JSON.

    Raises `InvalidValue` for a sample that is none, with its place and its situation.
    """
    if not isinstance(samples, list):
        raise InvalidValue('samples are a JSON list of {"situation", "http_status", "headers", "body", "is"}')
    return [_judge_sample(contract, sample, place) for place, sample in enumerate(samples, start=1)]


def _judge_sample(contract: Contract, sample: Mapping[str, Any], place: int) -> SampleResult:
    situation = _situation(sample, place)
    step = sample.get("step", "status")
    expected = sample.get("is")
    if step not in _STEPS or (step == "confirm" and contract.confirm is None) or (step == "submit" and contract.submit is None):
        raise InvalidValue(f"{situation}: step {step!r} is none of this contract; write one of {', '.join(_STEPS)}")
    if expected not in _WORDS:
        raise InvalidValue(f"{situation}: 'is' must be a class, a call error or a reason; it is {expected!r}")
    job_id = sample.get("job_id")
    known = Known(
        job_id=None if job_id is None else str(job_id), was_seen=_was_seen(sample, situation), params=params_of(contract)
    )
    seen = judge(contract, _reading(contract, sample, situation), known, cast(Step, step))
    got = _settled(contract, seen, _age(sample, situation), was_seen=known.was_seen)
    return SampleResult(situation, str(expected), got, got == _REASONS.get(str(expected), expected))


def _situation(sample: Mapping[str, Any], place: int) -> str:
    if not isinstance(sample, Mapping):
        raise InvalidValue(f"sample {place} is no JSON object")
    situation = str(sample.get("situation") or f"sample {place}")
    for key in sorted(set(sample) - _KEYS):  # a remark of the writer's own is no error, a typo is
        if near := difflib.get_close_matches(key, _KEYS, n=1, cutoff=0.75):
            raise InvalidValue(f"{situation}: unknown key {key!r}; did you mean {near[0]}?")
    return situation


def _was_seen(sample: Mapping[str, Any], situation: str) -> bool:
    seen = sample.get("seen", False)
    if not isinstance(seen, bool):
        raise InvalidValue(f"{situation}: 'seen' must be true or false")
    return seen


def _age(sample: Mapping[str, Any], situation: str) -> timedelta | None:
    """Time since the submission: a duration, or seconds; None for a job that is only tracked."""
    age = sample.get("age")
    if age is None:
        return None
    if isinstance(age, int | float) and not isinstance(age, bool) and 0 <= age <= 1e9:
        return timedelta(seconds=age)
    if isinstance(age, str):
        return parse_duration(age) if age != "0s" else timedelta(0)
    raise InvalidValue(f"{situation}: 'age' must be a duration such as \"90s\", or seconds")


def _reading(contract: Contract, sample: Mapping[str, Any], situation: str) -> Reading:
    status, headers, body = sample.get("http_status", 200), sample.get("headers") or {}, sample.get("body")
    if not isinstance(status, int) or isinstance(status, bool) or not 100 <= status <= 599:
        raise InvalidValue(f"{situation}: http_status must be a number from 100 to 599")
    if not isinstance(headers, Mapping):
        raise InvalidValue(f"{situation}: headers must be a JSON object")
    sent = [(str(name), str(value)) for name, value in headers.items()]
    if isinstance(body, str):
        content = body.encode("utf-8", "surrogatepass")
    else:
        content = b"" if body is None else json.dumps(body).encode()
        if "content-type" not in {name.lower() for name, _ in sent}:
            sent.append(("content-type", "application/json"))
    return read_parts(status, sent, content, _request_url(contract), None)


def _request_url(contract: Contract) -> str:
    """A URL on the contract's host, for relative ones in a sample."""
    try:
        return base_url(contract, params_of(contract))
    except (InvalidValue, HostRefused):
        return "https://params-without-a-default.invalid"


def _settled(contract: Contract, seen: Observation, age: timedelta | None, *, was_seen: bool) -> str:
    """Steps 8 and 11 as they end: a lost job by the contract's word, a success that lacks something once the lag is over."""
    if seen.call_error is CallError.NOT_FOUND:
        rule = contract.http.not_found
        if age is not None and age < rule.grace:
            return StateClass.WAITING
        if was_seen and rule.expired_after is not None and (age or timedelta(0)) >= rule.expired_after:
            return StateClass.EXPIRED
    if seen.state_class is StateClass.SUCCEEDED and seen.result is not None and seen.result.missing:
        return StateClass.CONTRADICTION
    return seen.verdict
