"""Whatever workers, people and clocks do, in any order: the invariants of the protocol hold after every step (STORE 8).

Three workers and people act on three operations of one account, with tokens that may be stale, revisions that may be old,
clicks that come twice, owners that die, and a wall clock that jumps. After each step everything that must hold is checked.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from jobconsole.core.commands.claims import Claimed
from jobconsole.core.commands.effects import Applied
from jobconsole.core.commands.reservation import Reserved
from jobconsole.core.deciding.account import account
from jobconsole.core.events import Kind
from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.operation import Operation, document
from jobconsole.core.vocabulary import Phase, StateClass
from jobconsole.protocols import WorkerInfo
from tests.core.desk import Desk, finished
from tests.core.sample_contract import CANCEL, CONFIRM, WITH_TOKEN, budget, sample
from tests.core.sample_facts import (
    accepted,
    answered,
    denied,
    done,
    lacking,
    limited,
    missing,
    running,
    state,
    unanswered,
    unavailable,
)

CONTRACT = sample(
    submit=WITH_TOKEN,
    cancel=CANCEL,
    confirm=CONFIRM,
    auth='secret = "env:K1"\nothers = ["env:K2"]',
    limits="per_minute = 30\nmax_concurrent = 3",
    budget=budget("60m", 4, 2, extension="{ minutes = 5, checks = 2, times = 2 }"),
)
OPERATIONS = ("op-1", "op-2", "op-3")
WORKERS = ("a", "b", "c")
SEEN = (
    running(), running(progress=0.5, hint_s=3.0), running(retry_after_s=20.0), done(), lacking(), state("failed"),
    state("cancelled"), state("odd", StateClass.UNKNOWN), state("odd", StateClass.CONTRADICTION), unanswered(), limited(),
    limited(20.0), limited(5_000.0), unavailable(10.0), denied(), missing(), answered(200, CallError.INTEGRATION_ERROR),
)  # fmt: skip
SUBMITTED = (
    accepted(), accepted(), accepted(), accepted(),  # more often than not
    accepted(None), unanswered(), unanswered(is_ambiguous=False), limited(10.0), denied(),
    answered(409, CallError.INTEGRATION_ERROR, job_id="job-9"), answered(422, CallError.INTEGRATION_ERROR),
)  # fmt: skip
CHOICES = (
    "extend", "pause", "check_once", "cancel", "credential_mended", "use_credential", "adopt", "replay_submit", "close",
    "acknowledge",
)  # fmt: skip
GROWING = (
    "status_requests_used", "attempts", "transport_failures_used", "rate_limits_used", "submit_attempts", "max_status_requests",
    "max_transport_failures", "max_transport_failures_in_a_row", "max_rate_limits", "deadline_at", "revision", "op_seq",
    "waited_for_person_ms",
)  # fmt: skip
"""Fields of a record that never go back (B4)."""


TOKENS = st.sampled_from([0, 0, 0, 1, 2, 5])
"""Which token a worker uses, counted from the newest: mostly that one."""
AGES = st.sampled_from([0, 0, 1])
"""How many revisions ago a person looked: mostly none."""


def pick(index: int, choices: Any) -> Any:
    """One of `choices`, whatever the number."""
    return choices[index % len(choices)]


class Protocol(RuleBasedStateMachine):
    """Random steps of workers and people, invariants after each."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk(CONTRACT)
        self.desk.track("op-1")
        self.desk.track("op-2", requests=2)
        self.desk.submit("op-3")
        self.lives = dict.fromkeys(WORKERS, 0)
        self.handles = {name: self.desk.store.handle() for name in WORKERS}
        for name in WORKERS:
            self._announce(name)
        self.tokens: dict[str, list[int]] = {operation_id: [0] for operation_id in OPERATIONS}
        self.clicks: list[dict[str, Any]] = []
        self.last = {operation_id: self.desk.op(operation_id) for operation_id in OPERATIONS}

    # ---- workers --------------------------------------------------------------------------------------------------------
    @rule(operation_id=st.sampled_from(OPERATIONS), worker=st.sampled_from(WORKERS), moves=st.booleans())
    def reserve(self, operation_id: str, worker: str, moves: bool) -> None:
        if moves:
            self._until_due(operation_id)
        before = self.desk.op(operation_id)
        got = self.desk.reserve(operation_id, owner=self._owner(worker))
        if isinstance(got, Reserved):
            assert before.phase is Phase.WAITING or before.permit is not None  # escalated only by a permit
            assert got.op.status_requests_used == before.status_requests_used + 1
            self.tokens[operation_id].append(got.token)

    @rule(operation_id=st.sampled_from(OPERATIONS), token=TOKENS, purpose=st.sampled_from(["status", "confirm"]))
    def reserve_again(self, operation_id: str, token: int, purpose: str) -> None:
        chosen = self._token(operation_id, token)
        before = self.desk.op(operation_id)
        got = self.desk.reserve(operation_id, token=chosen, purpose=purpose)
        if isinstance(got, Reserved):
            assert before.lease is not None
            assert before.lease.token == chosen

    @rule(
        operation_id=st.sampled_from(OPERATIONS),
        token=TOKENS,
        seen=st.sampled_from(SEEN),
        draw=st.floats(0, 0.99),
        is_confirm=st.booleans(),
    )
    def record(self, operation_id: str, token: int, seen: Observation, draw: float, is_confirm: bool) -> None:
        chosen = self._token(operation_id, token)
        before = self.desk.op(operation_id)
        self.desk.record(chosen, seen, operation_id, draw=draw, is_confirm=is_confirm)
        if before.lease is None or before.lease.token != chosen:
            self._is_unchanged(before, but=frozenset({"next_poll_at", "due_at"}))  # a late end only looks earlier

    @rule(operation_id=st.sampled_from(OPERATIONS), token=TOKENS, is_lost=st.booleans())
    def give_back(self, operation_id: str, token: int, is_lost: bool) -> None:
        chosen = self._token(operation_id, token)
        before = self.desk.op(operation_id)
        self.desk.give_back(chosen, operation_id, kind=Kind.LEASE_LOST if is_lost else Kind.CHECK_WITHHELD)
        if before.lease is None or before.lease.token != chosen:
            self._is_unchanged(before)

    @rule(operation_id=st.sampled_from(OPERATIONS), worker=st.sampled_from(WORKERS), kind=st.sampled_from(["submit", "cancel"]))
    def claim(self, operation_id: str, worker: str, kind: str) -> None:
        got = self.desk.claim(kind, operation_id, owner=self._owner(worker))
        if isinstance(got, Claimed):
            self.tokens[operation_id].append(got.token)

    @rule(
        operation_id=st.sampled_from(OPERATIONS),
        token=TOKENS,
        kind=st.sampled_from(["submit", "cancel"]),
        seen=st.sampled_from(SUBMITTED),
    )
    def answer(self, operation_id: str, token: int, kind: str, seen: Observation) -> None:
        chosen = self._token(operation_id, token)
        before = self.desk.op(operation_id)
        opened = before.open_actions.get(kind)
        current = self.desk.action(opened.action_id) if opened else {}
        self.desk.answer(chosen, seen, kind, operation_id)
        if current.get("state") != "claimed" or current.get("token") != chosen:
            self._is_unchanged(before)

    @rule(worker=st.sampled_from(WORKERS))
    def crash(self, worker: str) -> None:
        self.handles[worker].crash()
        self.lives[worker] += 1
        self.handles[worker] = self.desk.store.handle()
        self._announce(worker)

    @rule(operation_id=st.sampled_from(OPERATIONS), seen=st.sampled_from(SEEN), moves=st.booleans())
    def stall(self, operation_id: str, seen: Observation, moves: bool) -> None:
        """A worker stalls until its lease has ended, another takes over, and the first one comes back with an answer."""
        self._until_due(operation_id)
        first = self.desk.reserve(operation_id, owner=self._owner("a"))
        if not isinstance(first, Reserved):
            return
        self.tokens[operation_id].append(first.token)
        assert not isinstance(self.desk.reserve(operation_id, owner=self._owner("b")), Reserved)  # one at a time
        self.desk.clock.advance(15 if moves else 14)
        second = self.desk.reserve(operation_id, owner=self._owner("b"))
        assert moves or not isinstance(second, Reserved)
        if isinstance(second, Reserved):
            before = self.desk.op(operation_id)
            self.desk.record(first.token, seen, operation_id)
            self._is_unchanged(before)
            self.tokens[operation_id].append(second.token)

    @rule(operation_id=st.sampled_from(OPERATIONS), hops=st.integers(1, 4))
    def redirect(self, operation_id: str, hops: int) -> None:
        """One look with several requests under one lease, as far as the budget goes."""
        self._until_due(operation_id)
        got = self.desk.reserve(operation_id)
        if isinstance(got, Reserved):
            for _ in range(hops):
                self.desk.reserve(operation_id, token=got.token)
                self.holds()
            self.desk.record(got.token, running(), operation_id)

    @rule(kind=st.sampled_from(["submit", "cancel"]), operation_id=st.sampled_from(OPERATIONS))
    def claim_twice(self, kind: str, operation_id: str) -> None:
        """Two workers go for one action."""
        got = self.desk.claim(kind, operation_id, owner=self._owner("a"))
        if isinstance(got, Claimed):
            self.tokens[operation_id].append(got.token)
            self.desk.claim(kind, operation_id, owner=self._owner("b"))
            self._is_unchanged(got.op)

    @rule(operation_id=st.sampled_from(OPERATIONS), data=st.data())
    def answer_question(self, operation_id: str, data: st.DataObject) -> None:
        """A person takes an open option other than `close`, and a worker does what follows."""
        names = [name for name in self.desk.options(operation_id) if name not in ("close", "inspect")]
        if names and self.desk.op(operation_id).phase is Phase.ESCALATED:
            self.desk.choose(data.draw(st.sampled_from(names)), operation_id, job_id="job-9", reason="as agreed")
            self.holds()
            self.look(operation_id, "c", data)

    @rule(operation_id=st.sampled_from(OPERATIONS), worker=st.sampled_from(WORKERS), data=st.data())
    def look(self, operation_id: str, worker: str, data: st.DataObject) -> None:
        """One whole look, as a worker does it: the open action where one is due, else a check and its confirmation."""
        op = self.desk.op(operation_id)
        kind = next(iter(op.open_actions), None)
        if kind is not None:
            got = self.desk.claim(kind, operation_id, owner=self._owner(worker))
            if isinstance(got, Claimed):
                self.tokens[operation_id].append(got.token)
                self.desk.answer(got.token, data.draw(st.sampled_from(SUBMITTED)), kind, operation_id)
            return
        self._until_due(operation_id)
        reserved = self.desk.reserve(operation_id, owner=self._owner(worker))
        if isinstance(reserved, Reserved):
            self.tokens[operation_id].append(reserved.token)
            judged = self.desk.record(reserved.token, data.draw(st.sampled_from(SEEN)), operation_id)
            if judged.wants_confirm and isinstance(
                self.desk.reserve(operation_id, token=reserved.token, purpose="confirm"), Reserved
            ):
                self.desk.record(reserved.token, data.draw(st.sampled_from(SEEN)), operation_id, is_confirm=True)

    # ---- people and clocks ----------------------------------------------------------------------------------------------
    @rule(
        operation_id=st.sampled_from(OPERATIONS),
        option=st.integers(0, 99),
        age=st.sampled_from([0, 0, 0, 0, 1]),
        is_open=st.booleans(),
    )
    def choose(self, operation_id: str, option: int, age: int, is_open: bool) -> None:
        op = self.desk.op(operation_id)
        names = [name for name in self.desk.options(operation_id) if name != "close"] if is_open else CHOICES
        click = {
            "option": pick(option, names or CHOICES),
            "operation_id": operation_id,
            "revision": max(1, op.revision - age),
            "decision_id": f"dec-{len(self.clicks)}",
            "action_id": f"act-click-{len(self.clicks)}",
            "job_id": "job-9",
            "reason": "as agreed",
        }
        self.clicks.append(click)
        got = self.desk.choose(**click)
        if age and op.revision > 1:
            assert not isinstance(got, Applied)

    @precondition(lambda self: self.clicks)
    @rule(index=st.integers(0, 99))
    def click_again(self, index: int) -> None:
        click = pick(index, self.clicks)
        before = self.desk.op(click["operation_id"])
        applied = any(done.decision_id == click["decision_id"] for done in before.decided)
        got = self.desk.choose(**click)
        if applied:
            assert isinstance(got, Applied)
            assert got.is_repeat
            self._is_unchanged(before)

    @rule(seconds=st.sampled_from([0.5, 5.0, 15.0, 60.0, 700.0]))
    def wait(self, seconds: float) -> None:
        self.desk.clock.advance(seconds)

    @rule(seconds=st.sampled_from([-3600.0, -30.0, 30.0]))
    def jump(self, seconds: float) -> None:
        self.desk.clock.jump_wall(seconds)

    # ---- what must hold -------------------------------------------------------------------------------------------------
    @invariant()
    def holds(self) -> None:
        for operation_id in OPERATIONS:
            before, op = self.last[operation_id], self.desk.op(operation_id)
            assert op.status_requests_used <= op.max_status_requests
            for name in GROWING:
                assert getattr(op, name) >= getattr(before, name), name
            assert op.original == before.original
            assert op.max_status_requests == op.original.status_requests + op.granted.checks
            assert op.max_transport_failures == op.original.transport_failures + op.granted.failures
            assert op.max_rate_limits == op.original.rate_limits + op.granted.rate_limits
            assert op.granted.times <= CONTRACT.budget.extension.times
            if before.phase.is_terminal:
                assert (op.phase, op.ended_at) == (before.phase, before.ended_at)
            self._is_consistent(op)
            self.last[operation_id] = op
        acc = account(finished(self.desk.store.documents("accounts"))[0]) if self._has_account() else None
        assert acc is None or acc.level >= 0

    def teardown(self) -> None:
        verified = finished(self.desk.store.verify())
        assert (verified.broken, verified.miscounts) == (None, ())
        for operation_id in OPERATIONS:
            used, decided = 0, list[str]()
            for event in self.desk.events(operation_id):
                used += event["kind"] == "check_reserved"
                assert event.get("status_requests_used", 0) == used  # each reservation by one, nothing else
                if event["kind"] == "decided":
                    decided.append(event["decision_id"])
            assert len(decided) == len(set(decided))  # one effect per decision

    def _is_consistent(self, op: Operation) -> None:
        assert (op.escalation is not None) == (op.phase is Phase.ESCALATED)
        assert op.phase is not Phase.SUBMITTING or "submit" in op.open_actions
        assert op.phase not in (Phase.WAITING, Phase.SUBMITTING) or op.due_at is not None
        if op.phase.is_terminal:
            assert (op.lease, op.permit, op.open_actions, op.due_at) == (None, None, {}, None)

    # ---- inside ---------------------------------------------------------------------------------------------------------
    def _owner(self, worker: str) -> str:
        return f"worker:{worker}{self.lives[worker]}"

    def _announce(self, worker: str) -> None:
        info = WorkerInfo(f"{worker}{self.lives[worker]}", "test", 1, self.desk.clock.wall())
        finished(self.handles[worker].announce(info).__aenter__())

    def _token(self, operation_id: str, index: int) -> int:
        return self.tokens[operation_id][-1 - index % len(self.tokens[operation_id])]

    def _until_due(self, operation_id: str) -> None:
        planned = self.desk.op(operation_id).next_poll_at
        if planned is not None and planned > self.desk.clock.wall():
            self.desk.clock.advance(min(planned - self.desk.clock.wall(), timedelta(hours=2)))

    def _has_account(self) -> bool:
        return bool(finished(self.desk.store.documents("accounts")))

    def _is_unchanged(self, before: Operation, *, but: frozenset[str] = frozenset()) -> None:
        old, new = document(before), document(self.desk.op(before.operation_id))
        ignored = {"op_seq", *but}
        assert {k: v for k, v in old.items() if k not in ignored} == {k: v for k, v in new.items() if k not in ignored}


@pytest.mark.rule("B3", "B4", "S1", "H4", "H9", "X7", "A1", "C4", "L3")
def test_no_order_of_steps_breaks_an_invariant() -> None:
    run_state_machine_as_test(Protocol, settings=settings(max_examples=50, stateful_step_count=40, deadline=None))
