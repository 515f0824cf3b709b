"""The word that one answer stands for: steps 1 and 3 to 7 of the order of evaluation (CONTRACT.md).

Only this file decides which class or call error an answer has by its code, its job id, its state, its rules. `observation.py`
and `submit_answer.py` call it; what counts and times say afterwards is in `job_facts.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from jobconsole.core.contracts import expressions
from jobconsole.core.contracts.contract import Contract, Expression, Rule
from jobconsole.core.contracts.states import classify, state_text
from jobconsole.core.judging.answer import CallError, Known
from jobconsole.core.judging.envelope import Reading
from jobconsole.core.judging.provider_text import error_of, text_of
from jobconsole.core.judging.status_codes import REDIRECTS, call_error_of, is_said_by_code
from jobconsole.core.vocabulary import StateClass

Step: TypeAlias = Literal["status", "submit", "confirm"]

SHOWN = 300  # characters of a provider's text inside one sentence of ours
_STATE_CLASSES = frozenset(StateClass)


@dataclass(slots=True)
class Verdict:
    """What is known so far while one answer goes through the steps; thrown away when the observation is made."""

    envelope: dict[str, Any]
    word: StateClass | CallError | None = None
    why: str = ""
    state: str | None = None
    is_foreign: bool = False  # the answer is about another job: nothing else in it is ours
    notes: list[str] = field(default_factory=list)

    def stop(self, word: StateClass | CallError, why: str) -> None:
        """Replace the word by another one, with its reason."""
        self.word, self.why = word, why


def judge_state(contract: Contract, reading: Reading, known: Known, step: Step) -> Verdict:
    """The verdict on an answer, its word always set. [confirm] has codes, rules and a state of its own."""
    confirm = contract.confirm if step == "confirm" else None
    codes = contract.http.codes if confirm is None else confirm.codes
    verdict = Verdict(reading.envelope.as_dict(), notes=list(reading.notes))
    if is_answer(reading, codes, verdict) and (step != "status" or _is_ours(contract, known, verdict)):
        judge_class(contract, codes, verdict, step=step)
    return verdict


def judge_class(contract: Contract, codes: Mapping[int, str], verdict: Verdict, *, step: Step) -> None:
    """Steps 5 to 7 on an answer that speaks of our job."""
    confirm = contract.confirm if step == "confirm" else None
    state = contract.status.state if confirm is None else confirm.state
    if not _read_state(contract, state, codes, verdict):
        return
    _apply_rules(contract.rules if confirm is None else confirm.rules, verdict)
    if verdict.word is None:
        _judge_stateless(verdict)


def is_answer(reading: Reading, codes: Collection[int], verdict: Verdict) -> bool:
    """Steps 1 and 3: whether this is an answer of the API that speaks of a job; else the verdict is the call error."""
    status = reading.envelope.http_status
    error = call_error_of(status)
    if status in codes or error is None:
        if 300 <= status <= 399:
            verdict.envelope["body"] = None
            return True
        if reading.fault is None:
            return True
        verdict.stop(reading.fault, f"HTTP {status}: {reading.why}")
    elif reading.is_page and not is_said_by_code(status):
        verdict.stop(CallError.DELIVERY_FAILURE, f"HTTP {status}: {reading.why}")
    else:
        verdict.stop(error, _sentence(reading))
    return False


def _sentence(reading: Reading) -> str:
    """`HTTP 400`, and what the body says about it."""
    status = reading.envelope.http_status
    if status in REDIRECTS:
        return f"HTTP {status}: a redirect that was not followed"
    said = error_of(reading.envelope.body)
    text = (said.text or said.code or "")[:SHOWN] if said else ""
    return f"HTTP {status}: {text}" if text else f"HTTP {status}"


def _is_ours(contract: Contract, known: Known, verdict: Verdict) -> bool:
    """Step 4: an answer about another job is refused, whatever it says."""
    if contract.status.job_id is None or known.job_id is None:
        return True
    named = contract.status.job_id.search(verdict.envelope)
    if named is None or id_text(named) == known.job_id:
        return True
    verdict.is_foreign = True
    verdict.stop(StateClass.CONTRADICTION, f"the answer is about another job: {(text_of(named) or '')[:100]!r}")
    return False


def id_text(value: Any) -> str:
    """An id as it is compared and kept: texts as they are, all else as JSON writes it."""
    return value if isinstance(value, str) else text_of(value) or ""


def _read_state(contract: Contract, state: Expression | None, codes: Mapping[int, str], verdict: Verdict) -> bool:
    """Step 5: the class of the state value, or of the code where the body names no state. False where judging ends here."""
    value = None if state is None else state.search(verdict.envelope)
    if isinstance(value, list | dict):
        verdict.stop(CallError.INTEGRATION_ERROR, "the state is a list or an object, not a word")
        return False
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = "" if value is None else state_text(value).strip()
    if not text:
        word = codes.get(verdict.envelope["http_status"], "body")
        verdict.word = None if word == "body" else StateClass(word)
        return True
    verdict.state = text_of(text)
    verdict.word, is_listed = classify(contract.states, text)
    if verdict.word is StateClass.UNKNOWN:
        verdict.why = f"the state {text[:100]!r} is {'documented without meaning' if is_listed else 'not in the contract'}"
    elif not is_listed:
        verdict.notes.append(f"drift: {text[:100]!r} is not in the table and is taken for {verdict.word}")
    return True


def _apply_rules(rules: tuple[Rule, ...], verdict: Verdict) -> None:
    """Step 6: the first true rule replaces the class. A condition that is a number cannot be trusted either way."""
    if not rules:
        return
    seen = {**verdict.envelope, "class": None if verdict.word is None else str(verdict.word)}
    for rule in rules:
        try:
            holds = expressions.holds(rule.when, seen)
        except expressions.NumberAsTruth:
            verdict.stop(CallError.INTEGRATION_ERROR, f"the rule {rule.when.source[:SHOWN]} came out as a number; compare it")
            return
        if holds:
            word = StateClass(rule.verdict) if rule.verdict in _STATE_CLASSES else CallError(rule.verdict)
            if word is not verdict.word:
                verdict.stop(word, f"rule: {rule.when.source[:SHOWN]}")
            return


def _judge_stateless(verdict: Verdict) -> None:
    """Step 7: no state, no code, no rule."""
    status: int = verdict.envelope["http_status"]
    error = call_error_of(status)
    if error is not None:
        verdict.stop(error, f"HTTP {status}, and the body names no state")
    elif verdict.envelope["body"] is not None:
        verdict.stop(CallError.INTEGRATION_ERROR, "the answer has no state")
    elif status == 202:
        verdict.stop(StateClass.WAITING, "HTTP 202 without a body: accepted and not ended")
    else:
        verdict.stop(CallError.DELIVERY_FAILURE, f"HTTP {status} without a body says nothing")
