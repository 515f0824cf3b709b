"""A wait on stage: the real commands on a memory store, a manual clock, and answers that a test writes down.

Tests of views, story, "why?" and exports build their events by it, so that what they read is what the commands write.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from jobconsole.core.command import Command, Refusal, Scope
from jobconsole.core.commands.action_answers import ActionAnswer, record_action
from jobconsole.core.commands.claims import Claim, Claimed, claim
from jobconsole.core.commands.decisions import choose
from jobconsole.core.commands.effects import Applied, Choice
from jobconsole.core.commands.recording import Judged, Record, record
from jobconsole.core.commands.reservation import Reservation, Reserve, Reserved, reserve
from jobconsole.core.commands.submission import NewOperation, Wanted, submit, track
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.file import load
from jobconsole.core.deciding.account import Account, account
from jobconsole.core.judging.answer import Answer, CallError, Known, Observation
from jobconsole.core.judging.observation import observe
from jobconsole.core.judging.verdict import Step
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Delivery
from jobconsole.protocols import CommandKind, Receipt
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore

R = TypeVar("R")
WORKER = "worker:w1"
LEASE = timedelta(seconds=15)

# Full jitter, so that a draw is the share of the whole delay: after n checks the delay is draw x min(120, 10 x 2**n) seconds.
CONTRACT = """
contract = 1
[provider]
name = "acme-exports"
title = "ACME report exports"
base_url = "https://api.acme.example"
console_url = "https://console.acme.example/exports/{job_id}"
account = "acme-prod"
[limits]
per_minute = 600
[auth]
secret = "env:ACME_TOKEN"
others = ["env:ACME_TOKEN_2"]
[submit]
request = "POST /v1/exports"
job_id = "body.id"
idempotency = "header Idempotency-Key"
[status]
request = "GET /v1/exports/{job_id}"
read_only = true
state = "body.state"
progress = "body.progress"
error = "body.error"
[states]
waiting = ["queued", "running"]
succeeded = ["succeeded"]
partial = ["partial"]
failed = ["failed"]
cancelled = ["cancelled"]
[hints]
poll_after_seconds = "body.poll_after"
[result]
inline = "body.result"
counts = { total = "body.total", failed = "body.bad" }
[cancel]
request = "POST /v1/exports/{job_id}/cancel"
effect = "Stops billing; partial output is lost."
[schedule]
base = "10s"
jitter = [0.0, 1.0]
stalled_after = "10m"
[budget]
deadline = "40m"
status_requests = 12
transport_failures = 3
extension = { minutes = 15, checks = 4, failures = 1, rate_limits = 1, times = 2 }
"""


def at(clock: str) -> datetime:
    """A time of the stage's day: `10:20:05`."""
    return datetime.fromisoformat(f"2026-11-29T{clock}+00:00").astimezone(UTC)


def contract(extra: str = "", **replaced: str) -> Contract:
    """The stage's contract; `replaced` puts another line in the place of the one that begins with the key."""
    lines = []
    for line in CONTRACT.splitlines():
        key = line.partition(" =")[0]
        lines.append(f"{key} = {replaced[key]}" if key in replaced else line)
    return load("\n".join([*lines, extra]), "acme-exports.toml")


class StagedWait:
    """One operation from its first event on. `go` sets the clock; every other method runs one command at that moment."""

    def __init__(self, judge: Contract | None = None, operation_id: str = "op_1", start: str = "10:20:00") -> None:
        self.contract = judge or contract()
        self.operation_id = operation_id
        self.clock = ManualClock(at(start))
        self.store = MemoryStore(self.clock)
        self._numbers = count(1)

    # ---- time -------------------------------------------------------------------------------------------------------
    def go(self, clock: str, *, days: int = 0) -> None:
        """Let time pass until `clock` of the stage's day, or `days` later."""
        passed = at(clock) + timedelta(days=days) - self.clock.wall()
        assert passed >= timedelta(0), "a stage's time only moves forward"
        self.clock.advance(passed)

    # ---- a submission -----------------------------------------------------------------------------------------------
    def new(self, **changed: Any) -> NewOperation:
        """What a record begins with."""
        budget = self.contract.budget
        known: dict[str, Any] = {
            "operation_id": self.operation_id,
            "contract": self.contract,
            "account_key": "acme-prod@api.acme.example",
            "fingerprint": "f" * 64,
            "actor": "person:ana",
            "budget": Wanted(budget.deadline, budget.status_requests, budget.transport_failures, budget.rate_limits),
            "name": "Q3 report",
            "owner": "ana",
            "request_body": '{"quarter":3}',
            "idempotency_token": "token-that-nobody-sees",
            "action_id": "act_submit",
        }
        return NewOperation(**{**known, **changed})

    async def record_submission(self, **changed: Any) -> None:
        """Write the record; nothing is sent yet."""
        await self.run(submit(self.new(**changed)), "create")

    async def track(self, job_id: str = "exp_71c", **changed: Any) -> None:
        """Adopt a job."""
        known: dict[str, Any] = {"job_id": job_id, "is_tracked": True, "request_body": None, "idempotency_token": None}
        await self.run(track(self.new(**{**known, **changed})), "create")

    async def start_action(self, kind: str = "submit") -> Claimed:
        """Claim the open action: its request is under way."""
        got = await self.run(claim(Claim(self.operation_id, kind, self.contract, WORKER, LEASE)), "reserve")
        assert isinstance(got, Claimed)
        return got

    async def end_action(self, claimed: Claimed, seen: Observation, *, draw: float = 0.0) -> Operation:
        """Write down the answer to an action."""
        kind = claimed.action.kind
        entry = ActionAnswer(self.operation_id, kind, self.contract, WORKER, claimed.token, seen, draw)
        return await self.run(record_action(entry), "record")

    async def submit(self, job_id: str = "exp_71c", *, draw: float = 0.5, **changed: Any) -> None:
        """The whole submission, accepted at once; with draw 0.5 the first check is planned in 5 s."""
        await self.record_submission(**changed)
        claimed = await self.start_action()
        await self.end_action(claimed, await self.seen(202, {"id": job_id}, step="submit"), draw=draw)

    # ---- a check ----------------------------------------------------------------------------------------------------
    async def reserve(self, purpose: str = "status", token: int | None = None) -> Reservation:
        """Ask for the right to send one request."""
        ask = Reserve(self.operation_id, self.contract, WORKER, LEASE, purpose, token)
        return await self.run(reserve(ask), "reserve")

    async def answer(self, reserved: Reservation, seen: Observation, *, draw: float = 0.0, is_confirm: bool = False) -> Judged:
        """Write down one observation under its token."""
        assert isinstance(reserved, Reserved)
        entry = Record(self.operation_id, self.contract, WORKER, reserved.token, seen, draw, is_confirm)
        return await self.run(record(entry), "record")

    async def check(
        self, status: int, body: Any = None, *, headers: Mapping[str, str] | None = None, draw: float = 0.0
    ) -> Judged:
        """Reserve, and write down one answer."""
        reserved = await self.reserve()
        return await self.answer(reserved, await self.seen(status, body, headers=headers), draw=draw)

    async def seen(
        self, status: int, body: Any = None, *, headers: Mapping[str, str] | None = None, step: Step = "status"
    ) -> Observation:
        """What the judge makes of an answer with a JSON body."""
        op = await self.op()
        sent = {"Content-Type": "application/json", **(headers or {})}
        answer = Answer(
            http_status=status,
            headers=tuple(sent.items()),
            body=b"" if body is None else json.dumps(body).encode(),
            url="https://api.acme.example/v1/exports",
            received_at=self.clock.wall(),
            received_up=self.clock.up_ms(),
        )
        return observe(self.contract, answer, Known(op.provider_job_id, op.submitted_at, op.was_seen, answer.url), step=step)

    @staticmethod
    def lost(detail: str = "the answer did not come within 10s") -> Observation:
        """A request that may have reached the provider, and no answer."""
        return Observation(verdict=CallError.DELIVERY_FAILURE, delivery=Delivery.AMBIGUOUS, detail=detail)

    # ---- people -----------------------------------------------------------------------------------------------------
    async def decide(self, option: str, *, by: str = "ana", **numbers: Any) -> Applied | Refusal:
        """Choose an option for the revision that stands."""
        number = next(self._numbers)
        choice = Choice(
            operation_id=self.operation_id,
            option=option,
            revision=numbers.pop("revision", (await self.op()).revision),
            decision_id=f"dec_{number}",
            actor=f"person:{by}",
            contract=self.contract,
            action_id=f"act_{number}",
            **numbers,
        )
        got = await self.store.transact(self._scope(), choose(choice), kind="record")
        return got if isinstance(got, Refusal) else got.result

    # ---- what came of it --------------------------------------------------------------------------------------------
    async def op(self) -> Operation:
        """The record as it stands."""
        found = await self.store.get(self.operation_id)
        assert found is not None
        return found

    async def account(self) -> Account:
        """The account as it stands."""
        found = await self.store.document("accounts", "acme-prod@api.acme.example")
        assert found is not None
        return account(found)

    async def events(self, *, everything: bool = False) -> list[dict[str, Any]]:
        """The stored lines, parsed: of the operation, or of the whole store."""
        lines = self.store.events(None if everything else self.operation_id)
        return [json.loads(line) async for line in lines]

    async def run(self, command: Command[R], kind: CommandKind = "record") -> R:
        """Run any command that a test brings."""
        got = await self.store.transact(self._scope(creating=kind == "create"), command, kind=kind)
        assert isinstance(got, Receipt), got
        return got.result

    def _scope(self, *, creating: bool = False) -> Scope:
        return Scope(
            operations=(self.operation_id,),
            accounts=("acme-prod@api.acme.example",),
            actions=("act_submit", *(f"act_{number}" for number in range(1, 10))),
            job=("acme-exports", "acme-prod", "exp_71c"),
            fingerprint="f" * 64,
            creating=creating,
        )
