"""One answer judged: what it says about the call and about the job, by the contract (CONTRACT.md, "Order of evaluation").

Only this file makes observations. The engine calls `observe` with what came back and `unseen` with what did not; `decide.py`
concludes. Steps 1 to 7 are in `verdict.py`, 9, 12 and 13 in `job_facts.py`; steps 8, 10 and 11 need the record and are decided
there.
"""

from __future__ import annotations

from typing import Any

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.judging.answer import Answer, CallError, Envelope, Known, Observation
from jobconsole.core.judging.envelope import Reading, read, reading_of
from jobconsole.core.judging.job_facts import job_facts
from jobconsole.core.judging.provider_text import text_of
from jobconsole.core.judging.status_codes import is_ambiguous
from jobconsole.core.judging.submit_answer import judge_submit
from jobconsole.core.judging.verdict import SHOWN, Step, Verdict, judge_state
from jobconsole.core.vocabulary import Delivery
from jobconsole.errors import CertificateFault, ProviderFault, TransportFault

_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "x-ms-request-id", "x-correlation-id")


def observe(contract: Contract, answer: Answer | Envelope, known: Known, *, step: Step = "status") -> Observation:
    """What `answer` says, by `contract`. An `Envelope` is an item of a list or the object of a webhook.

    `step` says which request was answered: a status request, the submission, or the second look of [confirm]. Never raises:
    whatever an answer holds, it is a state of the job or a call error.
    """
    reading = read(answer) if isinstance(answer, Answer) else reading_of(answer, known.request_url or contract.base_url)
    return judge(contract, reading, known, step)


def judge(contract: Contract, reading: Reading, known: Known, step: Step) -> Observation:
    """`observe` for an answer that was read already."""
    if step == "submit":
        verdict, facts = judge_submit(contract, reading, known)
        return _observation(contract, reading, verdict, facts, step)
    verdict = judge_state(contract, reading, known, step)
    has_facts = step == "status" and not verdict.is_foreign and not isinstance(verdict.word, CallError)
    return _observation(contract, reading, verdict, job_facts(contract, reading, known, verdict) if has_facts else {}, step)


def unseen(fault: ProviderFault) -> Observation:
    """The observation where no answer came back: delivery none, or ambiguous where the request may have arrived (B10)."""
    is_certificate_fault = isinstance(fault, CertificateFault)
    may_have_arrived = isinstance(fault, TransportFault) and fault.is_ambiguous
    return Observation(
        verdict=CallError.INTEGRATION_ERROR if is_certificate_fault else CallError.DELIVERY_FAILURE,
        delivery=Delivery.AMBIGUOUS if may_have_arrived else Delivery.NONE,
        http_status=fault.http_status if isinstance(fault, TransportFault) else None,
        detail=str(fault)[:SHOWN],
        is_certificate_fault=is_certificate_fault,
    )


def _observation(contract: Contract, reading: Reading, verdict: Verdict, facts: dict[str, Any], step: Step) -> Observation:
    """The observation of a verdict, with everything else that the answer tells."""
    assert verdict.word is not None
    status, headers = reading.envelope.http_status, reading.facts
    return Observation(
        **{
            "verdict": str(verdict.word),
            "delivery": _delivery(verdict, status, step),
            "http_status": status,
            "state": verdict.state,
            "detail": verdict.why,
            "request_id": _request_id(contract, verdict),
            "retry_after_s": headers.retry_after_s,
            "rejected": headers.rejected,
            "rate": headers.rate,
            "age_s": headers.age_s,
            "clock_skew_ms": headers.clock_skew_ms,
            "notes": tuple(dict.fromkeys(verdict.notes)),
            **facts,
        }
    )


def _delivery(verdict: Verdict, status: int, step: Step) -> Delivery:
    """Whether the provider answered. A submission that was lost on the way may have arrived; a lost look is just lost."""
    if verdict.word is not CallError.DELIVERY_FAILURE:
        return Delivery.ANSWERED
    return Delivery.AMBIGUOUS if step == "submit" or is_ambiguous(status) else Delivery.NONE


def _request_id(contract: Contract, verdict: Verdict) -> str | None:
    """The provider's id of the request: from the contract's place, else from the headers that usually carry it (B10)."""
    expression = contract.status.request_id
    if expression is not None and (found := text_of(expression.search(verdict.envelope))):
        return found
    headers = verdict.envelope["headers"]
    return next((text_of(headers[name]) for name in _REQUEST_IDS if name in headers), None)
