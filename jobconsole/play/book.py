"""What the play provider remembers, and which reply a call gets: jobs, idempotency keys, counters, the log.

Only this file decides what the paths of the API mean. `server.py` calls `answer` for each complete request and does the
I/O; scenarios and scripts say what a job answers. No clock and no I/O in here: the time is an argument.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from jobconsole.play.job import Fault, FaultKind, Job, Reply, whole_real_seconds
from jobconsole.play.scenarios import FAILED_ITEMS, SCENARIOS, cancelled, missing, number_of, result_of
from jobconsole.play.script import Script

LOG_LENGTH = 100_000
ERRORS_A_PAGE = 50
DROPPED = Fault(FaultKind.RESET_BEFORE_RESPONSE)
SHORTEST_S, LONGEST_S = 0.01, 86_400.0
_JOB_PATH = re.compile(r"/v1/jobs/([^/]+)(?:/(cancel|result|errors))?")
_ENDED = frozenset({"succeeded", "completed_with_errors", "failed", "cancelled", "expired", "skipped"})


@dataclass(frozen=True, slots=True)
class Call:
    """One complete request. `at_s` is the provider's clock, `at` the wall clock; `is_reused`: not the connection's first."""

    method: str
    target: str
    headers: Mapping[str, str]  # lower-case names
    body: bytes
    at_s: float
    at: datetime
    is_reused: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """One line of the log: what was asked, as the how manieth of its kind for its job, and what it got.

    `is_early`: it came before the time that a Retry-After had named for this job.
    """

    on: str  # submit, poll, cancel, result, errors, list, other
    job_id: str
    number: int
    call: Call
    status: int
    fault: str = ""
    is_early: bool = False


class Book:
    """All that one play provider knows. `seed` makes job ids and answers reproducible."""

    def __init__(self, *, seed: int = 0, factor: float = 1.0, script: Script | None = None) -> None:
        self.seed, self.factor, self.script = seed, factor, script
        self.log: deque[Seen] = deque(maxlen=LOG_LENGTH)
        self._jobs: dict[str, Job] = {}
        self._keys: dict[str, tuple[str, bytes]] = {}  # idempotency key: job id, body
        self._counts: dict[tuple[str, str], int] = {}  # (kind of call, job id): how many
        self._not_before_s: dict[str, float] = {}

    def requests(self, job_id: str, on: str = "poll") -> int:
        """How many requests of a kind came for this job; `poll` are status requests."""
        return self._counts.get((on, job_id), 0)

    def answer(self, call: Call) -> Reply:
        """The reply to one request, which is counted and logged before anything is sent."""
        path = urlsplit(call.target).path
        on, job_id = kind_of(call.method, path)
        number = self._counts[on, job_id] = self._counts.get((on, job_id), 0) + 1
        is_early = on == "poll" and call.at_s < self._not_before_s.get(job_id, -math.inf)
        scripted = self.script.reply(on, job_id, is_reused=call.is_reused) if self.script is not None else None
        reply = scripted or self._reply(on, job_id, number, call)
        if reply.fault is not None and reply.fault.kind is FaultKind.CLOSED_ON_REUSE and not call.is_reused:
            reply = dataclasses.replace(reply, fault=None)
        if reply.retry_after_s is not None:
            wait = whole_real_seconds(reply.retry_after_s, self.factor)
            self._not_before_s[job_id] = call.at_s + wait * self.factor
            reply = dataclasses.replace(reply, headers=(*reply.headers, ("Retry-After", str(wait))))
        fault = reply.fault.kind.value if reply.fault else ""
        self.log.append(Seen(on, job_id, number, call, reply.status, fault, is_early))
        return reply

    def _reply(self, on: str, job_id: str, number: int, call: Call) -> Reply:
        if on == "submit":
            return self._submit(call)
        if on == "list":
            return self._list(call)
        job = self._jobs.get(job_id)
        if job is None:
            return _index(call) if on == "other" else missing(job_id)
        if on == "poll":
            return self._look(job, call.at_s, number)
        if on == "cancel":
            return self._cancel(job, call.at_s)
        return self._result(job, call.at_s) if on == "result" else _errors(job, call)

    def _look(self, job: Job, at_s: float, number: int) -> Reply:
        elapsed = at_s - job.submitted_s
        if job.cancelled_after_s is not None:
            return cancelled(job, elapsed)
        rng = Random(f"{self.seed}/{job.seed}/{job.scenario}/{number}")
        return SCENARIOS[job.scenario].behaviour(job, elapsed, number, rng)

    def _submit(self, call: Call) -> Reply:
        settings = _json_object(call.body)
        if settings is None:
            return _problem(400, "bad_json", "the body must be a JSON object such as {'scenario': 'slow'}")
        name = settings.get("scenario", "slow")
        scenario = SCENARIOS.get(name) if isinstance(name, str) else None
        if scenario is None:
            return _problem(422, "unknown_scenario", f"known scenarios: {', '.join(SCENARIOS)}")
        if scenario.on_submit == "refuses":
            return _problem(422, "refused", "this job is refused, as its scenario says")
        key = call.headers.get("idempotency-key", "")
        if key and key in self._keys:
            return self._replay(key, call)
        job = self._new_job(settings, scenario.name, scenario.duration_s, call)
        if key:
            self._keys[key] = (job.job_id, call.body)
        accepted = self._accepted(job)
        return dataclasses.replace(accepted, fault=DROPPED) if scenario.on_submit == "drops" else accepted

    def _new_job(self, settings: Mapping[str, Any], scenario: str, duration_s: float, call: Call) -> Job:
        ordinal = len(self._jobs) + 1
        job = Job(
            job_id="job_" + hashlib.sha256(f"{self.seed}/{ordinal}".encode()).hexdigest()[:12],
            scenario=scenario,
            seed=int(number_of(settings, "seed", 0)),
            submitted_s=call.at_s,
            submitted_at=call.at,
            factor=self.factor,
            duration_s=min(LONGEST_S, max(SHORTEST_S, number_of(settings, "duration_s", duration_s))),
            settings=settings,
        )
        self._jobs[job.job_id] = job
        return job

    def _replay(self, key: str, call: Call) -> Reply:
        job_id, body = self._keys[key]
        if body != call.body:
            return _problem(422, "idempotency_key_reused", f"this key started {job_id} with another body")
        reply = self._accepted(self._jobs[job_id])
        return dataclasses.replace(reply, headers=(*reply.headers, ("Idempotency-Replayed", "true")))

    def _accepted(self, job: Job) -> Reply:
        body = {"id": job.job_id, "state": "queued", "progress": 0, "created_at": job.at(0)}
        return Reply(202, body, headers=(("Location", f"/v1/jobs/{job.job_id}"),))

    def _cancel(self, job: Job, at_s: float) -> Reply:
        elapsed, how = at_s - job.submitted_s, SCENARIOS[job.scenario].on_cancel
        if how == "too_late":
            self._jobs[job.job_id] = dataclasses.replace(job, duration_s=max(SHORTEST_S, min(job.duration_s, elapsed)))
            return _problem(409, "already_finished", "the job has finished")
        if job.cancelled_after_s is None and self._state(job, at_s) in _ENDED:
            return _problem(409, "already_finished", "the job has finished")
        if how != "never" and job.cancelled_after_s is None:
            self._jobs[job.job_id] = dataclasses.replace(job, cancelled_after_s=elapsed)
        return Reply(202, {"id": job.job_id, "cancel": "accepted"})

    def _result(self, job: Job, at_s: float) -> Reply:
        if self._state(job, at_s) in ("succeeded", "completed_with_errors"):
            return Reply(200, result_of(job))
        return _problem(409, "no_result", f"job {job.job_id} has no result")

    def _state(self, job: Job, at_s: float) -> str:
        """The job's own state, whatever its answers say on their way; an odd answer number hides no completion."""
        body = self._look(job, at_s, 1).body
        return str(body.get("state", "")) if isinstance(body, dict) else ""

    def _list(self, call: Call) -> Reply:
        jobs = list(self._jobs.values())[-_whole(call, "limit", 100) :]
        return Reply(200, {"items": [self._item(job, call.at_s) for job in jobs]})

    def _item(self, job: Job, at_s: float) -> dict[str, Any]:
        body = self._look(job, at_s, 1).body
        shown = body if isinstance(body, dict) and "state" in body else {"id": job.job_id, "state": None}
        return {**shown, "scenario": job.scenario}


def kind_of(method: str, path: str) -> tuple[str, str]:
    """What a request asks for, and of which job."""
    if path == "/v1/jobs":
        return {"POST": "submit", "GET": "list"}.get(method, "other"), ""
    match = _JOB_PATH.fullmatch(path)
    if match is None:
        return "other", ""
    job_id, tail = unquote(match[1]), match[2]
    asked = {("GET", None): "poll", ("POST", "cancel"): "cancel", ("GET", "result"): "result", ("GET", "errors"): "errors"}
    return asked.get((method, tail), "other"), job_id


def _index(call: Call) -> Reply:
    if call.method == "GET" and urlsplit(call.target).path == "/":
        shown = {name: scenario.summary for name, scenario in SCENARIOS.items()}
        return Reply(200, {"submit": 'POST /v1/jobs {"scenario": "slow", "seed": 1}', "scenarios": shown})
    return _problem(404, "not_found", f"no {call.method} {urlsplit(call.target).path} here")


def _errors(job: Job, call: Call) -> Reply:
    failed = range(1, 1 + FAILED_ITEMS) if job.scenario == "partial" else range(0)
    page = max(1, _whole(call, "page", 1))
    items = [{"item": item, "message": "The item could not be read."} for item in failed]
    return Reply(200, {"items": items[(page - 1) * ERRORS_A_PAGE : page * ERRORS_A_PAGE], "total": len(items), "page": page})


def _whole(call: Call, name: str, default: int) -> int:
    text = parse_qs(urlsplit(call.target).query).get(name, [""])[0]
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def _json_object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _problem(status: int, code: str, message: str) -> Reply:
    return Reply(status, {"error": {"code": code, "message": message}})
