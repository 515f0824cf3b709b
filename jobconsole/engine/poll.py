"""One look at one operation: reserve, send, observe, record (STORE 5).

Only this file decides in which order that happens and what each fault of the transport means for the record. The worker calls
`look`, one at a time for an operation; the command line calls it once for a submission that should not wait for a worker.
"""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from jobconsole.core.command import Command
from jobconsole.core.commands.action_answers import ActionAnswer, record_action
from jobconsole.core.commands.claims import Claim, Claimed, claim, may_probe
from jobconsole.core.commands.clock_set_back import plan_anew
from jobconsole.core.commands.contract_loss import Loss, stop_without_contract
from jobconsole.core.commands.group import sibling_ids
from jobconsole.core.commands.recording import Judged, Record, record
from jobconsole.core.commands.reservation import Deferred, Reserve, Reserved, give_back, reserve
from jobconsole.core.contracts import hosts
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.requests import RequestValues, cancel_request, confirm_request, status_request, submit_request
from jobconsole.core.denial import is_probe
from jobconsole.core.events import Kind
from jobconsole.core.judging.answer import Answer, CallError, Known, Observation
from jobconsole.core.judging.observation import observe, unseen
from jobconsole.core.judging.retry_after import read_headers
from jobconsole.core.judging.status_codes import call_error_of
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Delivery, StateClass
from jobconsole.engine.contracts import ContractBook
from jobconsole.engine.gate import RequestGate
from jobconsole.errors import CallerError, ContractInvalid, HostRefused, PeerClosedIdle, ProviderFault, SecretMissing, Withheld
from jobconsole.protocols import Clock, CommandKind, HttpRequest, R, Receipt, Scope, Store, Transport

LEASE_MARGIN = timedelta(seconds=5)  # a lease outlives its request by so much (STORE 4)
GATE_MARGIN = timedelta(seconds=1)
REDIRECTS = 3  # counted hops (CONTRACT, order of evaluation, 1)
REDIRECT_CODES = frozenset({301, 302, 303, 307, 308})
WITHHELD_PAUSE = timedelta(seconds=5)
MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look led to: the operation as it is now (None: unknown), and why nothing was sent, where nothing was."""

    op: Operation | None
    deferred: Deferred | None = None


@dataclass(slots=True)
class _Lease:
    """One reservation in use: its operation, token, and how long its requests may still leave."""

    op: Operation
    contract: Contract
    token: int
    until: datetime
    asked_up: int
    boot: str
    kind: str | None = None  # of the action that it is for
    action_id: str | None = None


class Looker:
    """Performs looks for one worker. `actor` is `worker:ID`; `rng` draws the jitter of delays."""

    def __init__(
        self, store: Store, transport: Transport, book: ContractBook, clock: Clock, actor: str, rng: random.Random
    ) -> None:
        self._store, self._transport, self._book = store, transport, book
        self._clock, self._actor, self._rng = clock, actor, rng

    async def look(self, operation_id: str) -> Looked:
        """Do what is due for this operation: its open action, or one status check. Nothing is sent without a reservation.

        Where its contract is lost, a person is asked instead.
        """
        op = await self._store.get(operation_id)
        if op is None or op.phase.is_terminal:
            return Looked(op)
        try:
            contract = await self._book.of(op)
        except ContractInvalid as lost:
            return await self._stop(op, str(lost))
        now = self._clock.wall()
        for kind, opened in op.open_actions.items():
            if opened.due_at is not None and opened.due_at <= now:
                acted = await self._act(op, kind, contract)
                if acted.deferred is None:
                    return acted
                checked = await self._check(op, contract)  # an action that waits stops neither checks nor the deadline
                return acted if checked.deferred is not None else checked
        return await self._check(op, contract)

    async def plan_anew(self, operation_id: str) -> None:
        """Move a plan that was made by a wall clock which has been set back since; sends nothing."""
        if (op := await self._store.get(operation_id)) is not None:
            await self._transact(op, plan_anew(operation_id, self._actor), "record")

    async def _stop(self, op: Operation, told: str) -> Looked:
        """Nothing can be asked without the contract: one escalation, and no error at every look."""
        ending = await self._transact(op, stop_without_contract(Loss(op.operation_id, self._actor, told)), "record")
        return Looked(op, ending) if isinstance(ending, Deferred) else Looked(ending.op if ending else None)

    # ---- a status check -------------------------------------------------------------------------------------------------
    async def _check(self, op: Operation, contract: Contract) -> Looked:
        asked_up = self._clock.up_ms()
        ask = Reserve(op.operation_id, contract, self._actor, contract.status.timeout + LEASE_MARGIN)
        got = await self._transact(op, reserve(ask), "reserve")
        if isinstance(got, Deferred):
            return Looked(op, got)
        if not isinstance(got, Reserved):
            return Looked(got.op if got else None)
        lease = _Lease(got.op, contract, got.token, got.until, asked_up, self._clock.boot_id)
        try:
            judged = await self._judged(lease)
        except Withheld as no:
            return Looked(await self._give_back(lease, Kind.CHECK_WITHHELD, no.reason, WITHHELD_PAUSE))
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(lease, Kind.LEASE_LOST, "the worker stopped"))
            raise
        return Looked(judged.op if judged else None)

    async def _judged(self, lease: _Lease) -> Judged | None:
        confirms = lease.op.lease is not None and lease.op.lease.purpose == "confirm"
        seen = await self._ask(lease, "confirm" if confirms else "status")
        judged = await self._record(lease, seen, is_confirm=confirms)
        if judged is None or not judged.wants_confirm:
            return judged
        lease.op = judged.op
        if not await self._again(lease, "confirm"):
            op = await self._give_back(lease, Kind.CHECK_WITHHELD, "no request left to confirm", WITHHELD_PAUSE)
            return Judged(op, None) if op else None
        return await self._record(lease, await self._ask(lease, "confirm"), is_confirm=True)

    async def _ask(self, lease: _Lease, step: Literal["status", "confirm"]) -> Observation:
        """One observation, with at most one repeat on a fresh connection, counted redirect hops, one re-read credential."""
        build = confirm_request if step == "confirm" else status_request
        try:
            request = build(lease.contract, values_of(lease.op))
        except (CallerError, HostRefused) as wrong:
            return _unjudged(f"the request cannot be built: {wrong}")
        is_fresh, has_rotated, hops = False, False, 0
        while True:
            try:
                answer = await self._transport.send(request, self._gate(lease), fresh=is_fresh)
            except PeerClosedIdle as closed:
                if is_fresh or not await self._again(lease, step):
                    return unseen(closed)
                is_fresh = True
                continue
            except (ProviderFault, CallerError) as fault:
                return _faulted(fault)
            if _is_redirect(answer, request, lease.contract):
                following = _followed(request, answer) if hops < REDIRECTS else _too_many_hops(answer)
                if isinstance(following, Observation):
                    return following
                if not await self._again(lease, step):
                    return _unjudged(
                        "redirected, and no request is left to follow", CallError.DELIVERY_FAILURE, answer.http_status
                    )
                request, hops = following, hops + 1
                continue
            if self._may_rotate(answer, request, lease.contract, has_rotated) and await self._again(lease, step):
                has_rotated = True
                continue
            return self._observed(lease, answer, step)

    def _may_rotate(self, answer: Answer, request: HttpRequest, contract: Contract, has_rotated: bool) -> bool:
        """On a 401 the reference is read again, once, and repeated only if its value has changed (B11)."""
        if answer.http_status != 401 or not contract.auth.rotates or has_rotated:
            return False
        return self._transport.credential_changed(request)

    def _observed(self, lease: _Lease, answer: Answer, step: Literal["status", "confirm", "submit"]) -> Observation:
        """The judge's word; a fault in judging one answer is a question about this operation and touches no other."""
        op = lease.op
        known = Known(op.provider_job_id, op.submitted_at, op.was_seen, answer.url, params=op.params)
        try:
            return observe(lease.contract, answer, known, step=step)
        except Exception as error:
            return _unjudged(f"the answer could not be judged: {type(error).__name__}", status=answer.http_status)

    async def _again(self, lease: _Lease, purpose: str) -> bool:
        """One more reservation under the same token: every further request is counted by itself (B3)."""
        asked_up = self._clock.up_ms()
        timeout = lease.contract.status.timeout + LEASE_MARGIN
        ask = Reserve(lease.op.operation_id, lease.contract, self._actor, timeout, purpose, lease.token)
        got = await self._transact(lease.op, reserve(ask), "reserve")
        if not isinstance(got, Reserved):
            return False
        lease.op, lease.asked_up, lease.until = got.op, asked_up, got.until
        return True

    async def _record(self, lease: _Lease, seen: Observation, *, is_confirm: bool) -> Judged | None:
        entry = Record(lease.op.operation_id, lease.contract, self._actor, lease.token, seen, self._rng.random(), is_confirm)
        return await asyncio.shield(self._transact(lease.op, record(entry), "record"))

    async def _give_back(self, lease: _Lease, kind: Kind, reason: str, pause: timedelta | None = None) -> Operation | None:
        retry_at = self._clock.wall() + pause if pause is not None else None
        back = give_back(lease.op.operation_id, self._actor, lease.token, kind=kind, reason=reason, retry_at=retry_at)
        return await self._transact(lease.op, back, "record")

    # ---- an action ------------------------------------------------------------------------------------------------------
    async def _act(self, op: Operation, kind: str, contract: Contract) -> Looked:
        """Perform an open action once: never repeated, never redirected, always on a connection of its own (B17)."""
        asked_up = self._clock.up_ms()
        ask = Claim(op.operation_id, kind, contract, self._actor, contract.status.timeout + LEASE_MARGIN)
        got = await self._transact(op, claim(ask), "reserve")
        if isinstance(got, Deferred):
            return Looked(op, got)
        if not isinstance(got, Claimed):
            return Looked(got.op if got else None)
        lease = _Lease(got.op, contract, got.token, got.until, asked_up, self._clock.boot_id, kind, got.action.action_id)
        seen = await self._perform(lease, kind)
        entry = ActionAnswer(op.operation_id, kind, contract, self._actor, got.token, seen, self._rng.random())
        return Looked(
            await asyncio.shield(
                self._transact(got.op, record_action(entry), "record", also=sibling_ids(op.operation_id, seen.job_ids))
            )
        )

    async def _perform(self, lease: _Lease, kind: str) -> Observation:
        op, values = lease.op, values_of(lease.op)
        try:
            if kind == "submit":
                body = json.loads(op.request_body) if op.request_body is not None else None
                request = submit_request(lease.contract, values, body, op.idempotency_token)
            else:
                request = cancel_request(lease.contract, values)
        except (CallerError, HostRefused) as wrong:
            return _unjudged(f"the request cannot be built: {wrong}")
        try:
            answer = await self._transport.send(request, self._gate(lease), fresh=True)
        except Withheld as no:
            return _unjudged(f"withheld: {no.reason}", CallError.DELIVERY_FAILURE)
        except (ProviderFault, CallerError) as fault:
            return _faulted(fault)
        return self._observed(lease, answer, "submit") if kind == "submit" else _heard(answer)

    # ---- shared ---------------------------------------------------------------------------------------------------------
    def _gate(self, lease: _Lease) -> RequestGate:
        timeout = lease.contract.status.timeout
        margin = max(timeout - GATE_MARGIN, timeout / 2)
        op = lease.op
        probes = is_probe(op) if lease.kind is None else may_probe(op, lease.kind)
        return RequestGate(
            clock=self._clock,
            store=self._store,
            operation_id=op.operation_id,
            account_key=op.account_key,
            token=lease.token,
            until_up=lease.asked_up + int(margin / MILLISECOND),
            boot=lease.boot,
            until_at=lease.until,
            not_before=op.not_before,
            action_id=lease.action_id,
            credential=op.credential,
            ignores_denial=probes,
        )

    async def _transact(self, op: Operation, command: Command[R], kind: CommandKind, *, also: tuple[str, ...] = ()) -> R | None:
        """Run a command on the operation, its account and its open actions; None where the operation is unknown."""
        actions = tuple(opened.action_id for opened in op.open_actions.values())
        operations = (op.operation_id, *also)
        scope = Scope(operations, (op.account_key,), actions, creating=bool(also))
        got = await self._store.transact(scope, command, kind=kind)
        return got.result if isinstance(got, Receipt) else None


def values_of(op: Operation) -> RequestValues:
    """What the record knows for the requests about its job."""
    return RequestValues(
        job_id=op.provider_job_id,
        status_url=op.status_url,
        result_url=op.result_url,
        result_id=op.result.result_id if op.result else None,
        params=op.params,
        credential=op.credential,
    )


def _is_redirect(answer: Answer, request: HttpRequest, contract: Contract) -> bool:
    """An unlisted 3xx is followed, GET only (CONTRACT, order of evaluation, 1)."""
    listed = answer.http_status in contract.http.codes
    return answer.http_status in REDIRECT_CODES and not listed and request.method == "GET"


def _followed(request: HttpRequest, answer: Answer) -> HttpRequest | Observation:
    """The same request to where the answer points, if the contract allows that host; nothing is sent to another (HT-02).

    One that is to be followed later is not followed: no lease is held while waiting, so the next check asks again (B7, S2).
    """
    if wait_s := read_headers(answer.headers, answer.received_at).retry_after_s:
        return _unjudged("redirected, but not now", CallError.DELIVERY_FAILURE, answer.http_status, wait_s)
    location = next((value for name, value in answer.headers if name.lower() == "location"), "")
    try:
        url = hosts.check(hosts.resolve(location, request.url), request.auth_host, request.allowed_hosts)
    except HostRefused as refused:
        text = f"redirected to a place that the contract does not allow: {refused}"
        return _unjudged(text, CallError.DELIVERY_FAILURE, answer.http_status)
    return replace(request, url=url)


def _faulted(fault: ProviderFault | CallerError) -> Observation:
    """What a fault means for the record; a secret that is not there is a refusal of ours: a person mends it (B11, C13)."""
    if isinstance(fault, SecretMissing):
        return _unjudged(str(fault), CallError.AUTHORIZATION_DENIED)
    return unseen(fault) if isinstance(fault, ProviderFault) else _unjudged(str(fault))


def _heard(answer: Answer) -> Observation:
    """The answer to a cancel, which is never judged as a state (X11); what it says about pace holds all the same (B7, B9)."""
    said = read_headers(answer.headers, answer.received_at)
    return Observation(
        verdict=(call_error_of(answer.http_status) or StateClass.WAITING).value,
        http_status=answer.http_status,
        detail=f"the provider answered {answer.http_status}",
        retry_after_s=said.retry_after_s,
        rejected=said.rejected,
        rate=said.rate,
    )


def _too_many_hops(answer: Answer) -> Observation:
    return _unjudged(f"more than {REDIRECTS} redirects", CallError.DELIVERY_FAILURE, answer.http_status)


def _unjudged(
    text: str,
    error: CallError = CallError.INTEGRATION_ERROR,
    status: int | None = None,
    retry_after_s: float | None = None,
) -> Observation:
    delivery = Delivery.NONE if status is None else Delivery.ANSWERED
    return Observation(
        verdict=error.value, delivery=delivery, http_status=status, detail=text[:300], retry_after_s=retry_after_s
    )
