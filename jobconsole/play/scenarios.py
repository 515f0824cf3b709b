"""The scenarios: how a job of the play provider behaves, as one table of pure functions.

Only this file decides what each scenario answers and what a bounded wait should make of it. A scenario is a function of
(job, its age in provider seconds, the number of this status request from 1, a random generator seeded by server, job and
number) to a reply: the same seed gives the same answers. `book.py` calls them; the demo reads `ends_in` and `reason`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeAlias

from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.play.job import Fault, FaultKind, Job, Reply

Behaviour: TypeAlias = Callable[[Job, float, int, Random], Reply]

TOTAL_ITEMS = 10
FAILED_ITEMS = 3
FAR_S = 86_400.0
QUEUED_SHARE = 0.1  # of a job's duration
TOO_MANY = Reply(429, {"error": {"code": "slow_down", "message": "Too many requests."}})
HTML = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><b>Please sign in</b></body></html>"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the table. `ends_in` and `reason` say where a wait by the contract `play` should end, and why a person is
    asked on the way (None: nobody is). `on_cancel`: `stops` at once, `slow` through a state of its own, `too_late` (409),
    `never` (accepted, and nothing follows). `on_submit`: `accepts`, `drops` the answer once, `refuses` (422)."""

    name: str
    summary: str
    behaviour: Behaviour
    ends_in: Phase = Phase.SUCCEEDED
    reason: Reason | None = None
    duration_s: float = 6.0
    on_cancel: Literal["stops", "slow", "too_late", "never"] = "stops"
    on_submit: Literal["accepts", "drops", "refuses"] = "accepts"


# ---- the words that answers are made of -----------------------------------------------------------------------------------
def view(job: Job, elapsed: float, state: str, **more: Any) -> dict[str, Any]:
    """The job as the provider shows it."""
    shown: dict[str, Any] = {
        "id": job.job_id,
        "state": state,
        "progress": min(100, max(0, int(100 * elapsed / job.duration_s))),
        "created_at": job.at(0),
        "updated_at": job.at(elapsed),
    }
    if elapsed >= QUEUED_SHARE * job.duration_s:
        shown["started_at"] = job.at(QUEUED_SHARE * job.duration_s)
    return {**shown, **more}


def ended(job: Job, state: str, **more: Any) -> Reply:
    """The job at its end, which is `duration_s` after its start."""
    finished = {"progress": 100, "updated_at": job.at(job.duration_s), "finished_at": job.at(job.duration_s)}
    return Reply(body=view(job, job.duration_s, state, **{**finished, **more}))


def result_of(job: Job) -> dict[str, Any]:
    """What a job that succeeds has made: the same for the same seed."""
    return {"rows": Random(f"result/{job.scenario}/{job.seed}").randint(1, 1000), "scenario": job.scenario}


def running(job: Job, elapsed: float, **more: Any) -> Reply:
    """Queued for a tenth of the duration, then running."""
    state = "queued" if elapsed < QUEUED_SHARE * job.duration_s else "running"
    return Reply(body=view(job, elapsed, state, **more))


def success(job: Job, **more: Any) -> Reply:
    """Succeeded, with its result."""
    return ended(job, "succeeded", result=result_of(job), **more)


def slow(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Running until `duration_s`, then success. Most other scenarios differ from this one in a few answers."""
    return running(job, elapsed) if elapsed < job.duration_s else success(job)


def cancelled(job: Job, elapsed: float) -> Reply:
    """What a job answers after its cancel was accepted: `cancelling` for `cancel_s`, then `cancelled`; it gets no further."""
    since = job.cancelled_after_s or 0.0
    progress = _progress_shown(job, since)
    lasts = number_of(job.settings, "cancel_s", 3.0 if SCENARIOS[job.scenario].on_cancel == "slow" else 0.0)
    if elapsed < since + lasts:
        return Reply(body=view(job, elapsed, "cancelling", progress=progress))
    over = job.at(since + lasts)
    return Reply(body=view(job, since, "cancelled", progress=progress, updated_at=over, finished_at=over))


def _progress_shown(job: Job, elapsed: float) -> int:
    """What its scenario shows at that age, where that is an answer at all."""
    body = SCENARIOS[job.scenario].behaviour(job, elapsed, 1, Random(job.seed)).body
    shown: int = {**view(job, elapsed, "running"), **(body if isinstance(body, dict) else {})}["progress"]
    return shown


def number_of(settings: Mapping[str, Any], name: str, default: float) -> float:
    """A number that a job was submitted with; anything else counts as not given."""
    value = settings.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


# ---- ends -----------------------------------------------------------------------------------------------------------------
def late_failure(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Runs to its last moment, then fails."""
    if elapsed < job.duration_s:
        return running(job, elapsed)
    error = {"code": "RENDER_FAILED", "message": "The renderer ran out of memory in the last step."}
    return ended(job, "failed", error=error, progress=99)


def partial(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Ends with errors: most items are good, some are not."""
    if elapsed < job.duration_s:
        done = int(TOTAL_ITEMS * elapsed / job.duration_s)
        return running(job, elapsed, counts={"total": TOTAL_ITEMS, "processed": done})
    counts = {"total": TOTAL_ITEMS, "processed": TOTAL_ITEMS, "succeeded": TOTAL_ITEMS - FAILED_ITEMS, "failed": FAILED_ITEMS}
    return ended(job, "completed_with_errors", counts=counts, errors_url=f"/v1/jobs/{job.job_id}/errors", result=result_of(job))


def never_ends(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Running for ever; its progress stops at 80 %."""
    return running(job, elapsed, progress=min(80, int(100 * elapsed / job.duration_s)))


def duplicate_completion(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Completes more than once: after its end, every other answer is a stale "running"."""
    if elapsed < job.duration_s:
        return running(job, elapsed)
    return success(job) if number % 2 else running(job, 0.9 * job.duration_s)


def ends_as(state: str) -> Behaviour:
    """Runs, then ends with this word and nothing else; it never gets to 100 %."""

    def behaviour(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
        return running(job, elapsed) if elapsed < job.duration_s else ended(job, state, progress=99)

    return behaviour


# ---- what a caller must not misread ---------------------------------------------------------------------------------------
def unknown_state(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """After half of its time it says a word that no documentation has."""
    return running(job, elapsed) if elapsed < job.duration_s / 2 else Reply(body=view(job, elapsed, "defrosting"))


def contradiction(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Finished before it was started; with `"kind": "id"` another job's id, with `"no_result"` a success without one."""
    if elapsed < job.duration_s:
        return running(job, elapsed)
    kind = job.settings.get("kind", "times")
    if kind == "id":
        return success(job, id="job_of_somebody_else")
    if kind == "no_result":
        return ended(job, "succeeded", result=None)
    return success(job, finished_at=job.at(-60))


def late_result(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Says succeeded before its result is there."""
    lag = number_of(job.settings, "lag_s", 1.5)
    return ended(job, "succeeded", result=None) if 0 <= elapsed - job.duration_s < lag else slow(job, elapsed, number, rng)


def not_found_then_found(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Unknown for a while after it was accepted (eventual consistency)."""
    return missing(job.job_id) if elapsed < job.duration_s / 3 else slow(job, elapsed, number, rng)


def vanishes(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Is seen alive, and then no more."""
    return running(job, elapsed) if elapsed < job.duration_s / 2 else missing(job.job_id)


def missing(job_id: str) -> Reply:
    """404, as for an id that was never given out."""
    return Reply(404, {"error": {"code": "not_found", "message": f"no job {job_id}"}})


def html_error(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """The second and third answers are a login page of something in between, with status 200."""
    if number in (2, 3):
        return Reply(200, HTML, headers=(("Content-Type", "text/html; charset=utf-8"),))
    return slow(job, elapsed, number, rng)


def garbled(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """The second answer is complete, declared as JSON, and none."""
    return Reply(200, b'{"state": running}') if number == 2 else slow(job, elapsed, number, rng)


def needs_human(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Waits for a person at the provider, who comes after `review_s`; then it goes on."""
    at, lasts = job.duration_s / 2, number_of(job.settings, "review_s", 15.0)
    if at <= elapsed < at + lasts:
        return Reply(body=view(job, at, "awaiting_review", message="A reviewer must release this job."))
    return slow(job, elapsed if elapsed < at else elapsed - lasts, number, rng)


def auth_expires(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Refuses the credential for `refused_s`, from half of the duration on; then somebody has mended it."""
    at, lasts = job.duration_s / 2, number_of(job.settings, "refused_s", 8.0)
    if at <= elapsed < at + lasts:
        refused = {"error": {"code": "token_expired", "message": "The token has expired."}}
        return Reply(401, refused, headers=(("WWW-Authenticate", 'Bearer error="invalid_token"'),))
    return slow(job, elapsed, number, rng)


def redirect_offsite(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """The second and third answers lead to a login page on another host."""
    if number in (2, 3):
        return Reply(302, headers=(("Location", f"https://login.example.invalid/?next=/v1/jobs/{job.job_id}"),))
    return slow(job, elapsed, number, rng)


# ---- pace -----------------------------------------------------------------------------------------------------------------
def rate_limited(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Answers the second and third request 429 and says when to come back."""
    if number in (2, 3):
        return dataclasses.replace(TOO_MANY, retry_after_s=number_of(job.settings, "retry_after_s", 2.0))
    return slow(job, elapsed, number, rng)


def rate_limited_silently(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Answers the second request 429 and does not say when to come back: the caller must slow down sharply by itself."""
    return TOO_MANY if number == 2 else slow(job, elapsed, number, rng)


def waits_past_deadline(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Says from the second answer on that nobody need ask before tomorrow."""
    reply = running(job, elapsed)
    return reply if number == 1 else dataclasses.replace(reply, retry_after_s=FAR_S)


def hints(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Says when to ask again, each time in another form; the third hint is not usable."""
    if elapsed >= job.duration_s:
        return success(job)
    wait = min(1.0, job.duration_s / 4)
    if number % 4 == 3:
        return running(job, elapsed, poll_after_seconds=-1)
    if number % 4 == 2:
        return running(job, elapsed, next_check_at=job.at(elapsed + wait))
    if number % 4 == 0:
        return dataclasses.replace(running(job, elapsed), retry_after_s=wait)
    return running(job, elapsed, poll_after_seconds=job.real(wait))


# ---- faults of the way ----------------------------------------------------------------------------------------------------
_FLAWS: tuple[Reply, ...] = (
    Reply(503, {"error": {"code": "unavailable", "message": "Try again."}}),
    Reply(500, b"oops", headers=(("Content-Type", "text/plain"),)),
    Reply(502, HTML, headers=(("Content-Type", "text/html"),)),
    Reply(fault=Fault(FaultKind.RESET_BEFORE_RESPONSE)),
)


def flaky(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """The second and fourth request fail, later even ones half of the time; never two in a row."""
    if number in (2, 4) or (number % 2 == 0 and rng.random() < 0.5):
        return rng.choice(_FLAWS)
    return slow(job, elapsed, number, rng)


def with_fault(fault: Fault, *numbers: int) -> Behaviour:
    """As `slow`, but the answers with these numbers suffer a fault on their way."""

    def behaviour(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
        reply = slow(job, elapsed, number, rng)
        return dataclasses.replace(reply, fault=fault) if number in numbers else reply

    return behaviour


def refused(job: Job, elapsed: float, number: int, rng: Random) -> Reply:
    """Was never accepted, so it is never found."""
    return missing(job.job_id)


def _table(*rows: Scenario) -> Mapping[str, Scenario]:
    return {row.name: row for row in rows}


SCENARIOS: Mapping[str, Scenario] = _table(
    Scenario("quick", "done at the first or second look", slow, duration_s=0.5),
    Scenario("slow", "queued, running, succeeded", slow, duration_s=8.0),
    Scenario("late-failure", "fails in its last step", late_failure, Phase.FAILED),
    Scenario("never-ends", "runs for ever", never_ends, Phase.ESCALATED, Reason.DEADLINE_EXCEEDED),
    Scenario("duplicate-completion", "completes twice, with stale answers between", duplicate_completion),
    Scenario("partial", "7 of 10 items are good", partial, Phase.COMPLETED_WITH_ERRORS),
    Scenario("flaky", "every other answer may be an error", flaky),
    Scenario("rate-limited", "429 twice, with Retry-After", rate_limited),
    Scenario("rate-limited-silently", "429 without Retry-After", rate_limited_silently),
    Scenario("unknown-state", "says an undocumented word", unknown_state, Phase.ESCALATED, Reason.UNKNOWN_STATE),
    Scenario("contradiction", "ended before it began", contradiction, Phase.ESCALATED, Reason.CONTRADICTORY_RESPONSE),
    Scenario("late-result", "succeeded, but the result comes later", late_result),
    Scenario("not-found-then-found", "404 at first", not_found_then_found),
    Scenario("vanishes", "404 after it was seen", vanishes, Phase.ESCALATED, Reason.JOB_NOT_FOUND),
    Scenario("auth-expires", "401 for a while", auth_expires, Phase.ESCALATED, Reason.AUTHORIZATION_DENIED),
    Scenario("html-error", "a login page with status 200, twice", html_error),
    Scenario("garbled", "JSON that is none", garbled, Phase.ESCALATED, Reason.INTEGRATION_ERROR),
    Scenario("hints", "says when to ask again", hints),
    Scenario("needs-human", "waits for a reviewer", needs_human, Phase.ESCALATED, Reason.NEEDS_HUMAN_AT_PROVIDER),
    Scenario("slow-cancel", "takes a while to stop", never_ends, Phase.ESCALATED, Reason.DEADLINE_EXCEEDED, on_cancel="slow"),
    Scenario("cancel-too-late", "refuses a cancel and succeeds", slow, on_cancel="too_late"),
    Scenario("cancel-ignored", "accepts a cancel and goes on", slow, on_cancel="never"),
    Scenario("cancelled-elsewhere", "somebody else cancels it", ends_as("cancelled"), Phase.CANCELLED),
    Scenario("no-outcome", "is skipped", ends_as("skipped"), Phase.NO_OUTCOME),
    Scenario("expired", "expires at the provider", ends_as("expired"), Phase.EXPIRED),
    Scenario(
        "waits-past-deadline",
        "Retry-After: tomorrow",
        waits_past_deadline,
        Phase.ESCALATED,
        Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE,
    ),
    Scenario("redirect-offsite", "redirects to a login host, twice", redirect_offsite),
    Scenario("truncated", "an answer shorter than announced, twice", with_fault(Fault(FaultKind.TRUNCATE), 2, 4)),
    Scenario("drip", "one answer comes a byte a second", with_fault(Fault(FaultKind.DRIP, 1, 1.0), 2)),
    Scenario("hangs", "one request is never answered", with_fault(Fault(FaultKind.READ_TIMEOUT), 2)),
    Scenario("closed-on-reuse", "closes kept-alive connections", with_fault(Fault(FaultKind.CLOSED_ON_REUSE), 2, 4)),
    Scenario("lost-submit-answer", "accepts the job, drops the answer", slow, on_submit="drops"),
    Scenario("refused", "refuses the submission", refused, Phase.FAILED, on_submit="refuses"),
)
