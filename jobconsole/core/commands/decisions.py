"""Taking or refusing what a person chose: bound to a revision, one-shot, inside stated bounds, written down (H3-H5, X6-X8).

Only this file decides whether a choice is taken. `escalation.py` says which options are open, `effects.py` what each does;
front ends send the revision that was on the screen. Nothing here is reached by an agent or by the passing of time (H6, H10,
X20).
"""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta

from msgspec.structs import replace

from jobconsole.core.actors import is_person
from jobconsole.core.command import Command, Plan, Refusal, View
from jobconsole.core.commands.effects import Applied, Choice, apply_option
from jobconsole.core.commands.transitions import load
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.escalation import (
    CONTRACT_MEND,
    NEEDS_REASON_TEXT,
    OPTIONS,
    WITHOUT_CONTRACT,
    covers_wait,
    is_job_unnamed,
    leaves_spent,
    look_options,
    needs_extension,
    options_for,
    waiting_options,
)
from jobconsole.core.events import Draft, Kind
from jobconsole.core.moments import aware
from jobconsole.core.operation import Operation, Option, deadline
from jobconsole.core.vocabulary import ActionState, Phase, Reason
from jobconsole.errors import InvalidValue

_NUMBERS = ("minutes", "checks", "failures", "rate_limits")
_TEXTS = ("option", "decision_id", "reason")
_TEXTS_OR_NONE = ("job_id", "credential")


def choose(choice: Choice) -> Command[Applied]:
    """Apply one option once, or refuse and say what happened instead (H4).

    Raises `InvalidValue` where a value of the choice is of another kind: it would be stored, and nothing could read it again.
    """
    choice = _of_their_kinds(choice)

    def command(view: View) -> Plan[Applied] | Refusal:
        op = load(view, choice.operation_id)
        if op is None:
            return Refusal("unknown_operation", f"no operation {choice.operation_id}")
        for done in op.decided:
            if done.decision_id == choice.decision_id:
                return Plan((), Applied(op, done.effect, is_repeat=True))
        draft = Draft(choice.actor, op)
        refusal = _refused(choice, op, view)
        if refusal is not None:
            draft.add(Kind.DECISION_REFUSED, option=choice.option, why=refusal.why, shown_revision=choice.revision)
            return Refusal(refusal.why, refusal.text, tuple(draft.events))
        option = _option(choice, op, view)
        assert option is not None  # `_refused` has looked
        events = apply_option(choice, _asked(choice, option), draft, view)
        return Plan((*draft.events, *events), Applied(draft.op, draft.op.decided[-1].effect))

    return command


def _of_their_kinds(choice: Choice) -> Choice:
    for name in ("revision", *_NUMBERS):
        if type(number := getattr(choice, name)) not in (int, type(None)):
            raise InvalidValue(f"{name} is a whole number, not {type(number).__name__}")
    for name in (*_TEXTS, *_TEXTS_OR_NONE):
        text = getattr(choice, name)
        if not isinstance(text, str) and (name in _TEXTS or text is not None):
            raise InvalidValue(f"{name} is a text, not {type(text).__name__}")
    return choice if choice.until_at is None else dataclasses.replace(choice, until_at=aware(choice.until_at, "until_at"))


def open_options(op: Operation, contract: Contract | None, now: datetime, new_digest: str | None = None) -> tuple[Option, ...]:
    """What a person may choose right now, by phase.

    `contract` judges the operation; None where it is lost. `new_digest`: of the contract file as it is now.
    """
    if op.phase.is_terminal:
        return look_options(op)
    if op.phase is not Phase.ESCALATED:
        return waiting_options(op, contract, now)
    assert op.escalation is not None
    is_newer = new_digest is not None and new_digest != op.contract
    options = options_for(op, op.escalation.reason, contract, now, contract_is_newer=is_newer)
    return tuple(o for o in options if o.name in ("inspect", "close")) if _is_under_way(op) else options


def _is_under_way(op: Operation) -> bool:
    """Whether a choice that was made before is being carried out: the next one waits for what comes of it.

    Nothing comes of an action that waits for access: it does not keep a person from mending it (B11).
    """
    assert op.escalation is not None
    waits_for_access = op.escalation.reason is Reason.AUTHORIZATION_DENIED
    actions = [a for a in op.open_actions.values() if a.state is ActionState.CLAIMED or not waits_for_access]
    return op.permit is not None or bool(actions)


def _options(choice: Choice, op: Operation, view: View) -> tuple[Option, ...]:
    digest = choice.new_contract.digest if choice.new_contract else None
    return open_options(op, choice.contract, view.now.wall, digest)


def _option(choice: Choice, op: Operation, view: View) -> Option | None:
    return next((o for o in _options(choice, op, view) if o.name == choice.option), None)


def _open_now(choice: Choice, op: Operation, view: View) -> str:
    names = [option.name for option in _options(choice, op, view)]
    return f"; open now: {', '.join(names)}" if names else ""


def _refused(choice: Choice, op: Operation, view: View) -> Refusal | None:
    if not is_person(choice.actor):
        return Refusal("not_a_person", "only a person decides; an agent may ask")
    if choice.revision != op.revision:
        return Refusal("stale", what_happened(op, choice.revision))
    option = _option(choice, op, view)
    if option is None:
        return Refusal("not_open", f"{why_not_open(choice.option, op, choice.contract)}{_open_now(choice, op, view)}")
    if choice.option in NEEDS_REASON_TEXT and not choice.reason.strip():
        return Refusal("reason_needed", f"{choice.option} needs a reason in words: --reason TEXT")
    return _over_bounds(choice, option, op, view)


def what_happened(op: Operation, shown: int) -> str:
    """Why a choice for the revision `shown` comes too late: who was faster, when, and with what effect (H4)."""
    later = [d for d in op.decided if d.revision >= shown]
    if later:
        done = later[-1]
        return f"already answered by {done.by} at {done.at:%Y-%m-%d %H:%M:%S} UTC: {done.effect}; nothing was changed"
    return f"{op.operation_id} has changed since it was shown (revision {shown}, now {op.revision}, {op.phase}); look again"


def why_not_open(option: str, op: Operation, contract: Contract | None) -> str:
    """Why `option` is not among the open ones, in the words of the refusal; front ends show it beside what is dim.

    `contract` is None where it is lost.
    """
    if contract is not None:
        ext = contract.budget.extension
        if option == "extend" and not op.phase.is_terminal and op.granted.times >= ext.times:
            return f"the cap of {ext.times} extension(s) in this operation's life is reached; close or cancel remain"
        if option == "cancel" and contract.cancel is None:
            return f"{contract.name} documents no cancel"
    if op.escalation is not None and is_job_unnamed(op):
        return f"the answer to the submission named no job, so {option} has none; adopt the id that the provider shows"
    if op.escalation is not None and option not in OPTIONS[op.escalation.reason] and option != "cancel":
        return f"{option} is no answer to {op.escalation.reason.replace('_', ' ')}"
    if option in ("replay_submit", "submit_again") and op.request_body is None:
        return f"the request of {op.operation_id} is not kept here; submit it anew"
    if contract is None and not op.phase.is_terminal:
        return _why_not_without_contract(option, op)
    return f"{option} is not open for {op.operation_id} ({op.phase})"


def _why_not_without_contract(option: str, op: Operation) -> str:
    """An option that needs the lost contract, or a contract file to take in its place where there is none."""
    if option in WITHOUT_CONTRACT and op.escalation is not None:
        return f"{option} needs a contract of {op.provider} that can be read, and there is none: jobconsole providers shows all"
    return f"its contract is lost, and {option} needs it; {CONTRACT_MEND}"


def _asked(choice: Choice, option: Option) -> Option:
    """The option with the numbers that were asked for."""
    return replace(
        option,
        minutes=option.minutes if choice.minutes is None else choice.minutes,
        checks=option.checks if choice.checks is None else choice.checks,
        failures=option.failures if choice.failures is None else choice.failures,
        rate_limits=option.rate_limits if choice.rate_limits is None else choice.rate_limits,
        until_at=choice.until_at or option.until_at,
    )


def _over_bounds(choice: Choice, option: Option, op: Operation, view: View) -> Refusal | None:
    """An extension is at most the contract's, less is allowed; what would leave a limit spent is refused (X6)."""
    wanted, now = _asked(choice, option), view.now.wall
    for name in _NUMBERS:
        if not 0 <= getattr(wanted, name) <= getattr(option, name):
            return Refusal("over_bound", f"{choice.option} grants 0 to {getattr(option, name)} {name} here")
    if choice.option == "extend":
        if leaves_spent(op, wanted, now):
            return Refusal("leaves_spent", "this extension would leave a spent limit spent; grant more of it")
        escalated_wait = op.escalation is not None and op.escalation.reason is Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE
        if escalated_wait and not covers_wait(op, choice.judge, wanted.minutes, now):
            return Refusal("leaves_spent", "this extension would not cover the wait that the provider asks for")
    if choice.option == "pause":
        return _pause_over_bounds(choice, wanted, op, now)
    if choice.option == "adopt" and not (choice.job_id or "").strip():
        return Refusal("job_id_needed", "adopt needs the provider's job id: --job-id ID")
    only = option.credentials[0] if len(option.credentials) == 1 else None
    if choice.option == "use_credential" and (choice.credential or only) not in option.credentials:
        return Refusal("credential_needed", f"name one of {', '.join(option.credentials)}")
    if choice.option == "submit_again" and choice.again is None:
        return Refusal("no_contract", _why_not_without_contract(choice.option, op))
    return None


def _pause_over_bounds(choice: Choice, wanted: Option, op: Operation, now: datetime) -> Refusal | None:
    assert wanted.until_at is not None
    if wanted.until_at <= now:
        return Refusal("over_bound", "pause needs a time in the future")
    extension = choice.judge.budget.extension
    most = max(now, deadline(op)) + timedelta(minutes=extension.minutes)
    if needs_extension(choice.judge, wanted.until_at, op) and (wanted.until_at > most or op.granted.times >= extension.times):
        return Refusal("over_bound", f"pause ends at {deadline(op):%Y-%m-%d %H:%M:%S} UTC at the latest: the deadline")
    return None
