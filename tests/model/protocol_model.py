# ruff: noqa
# mypy: ignore-errors
"""Executable model of jobconsole's ownership protocol: every interleaving, every crash, small bounds.

    python protocol_model.py            all configurations, then the wrong variants (each must be caught)
    python protocol_model.py quick      two workers only
    python protocol_model.py NAME       one wrong variant with its shortest counter-example

One operation at one provider; 2-3 workers, one operator (whose two clicks on one view stand for two people), a webhook
that delivers twice, a clock, a machine that may lose power. A step is one atomic thing: a store transaction (lock, fresh
state, append, sync), one look, one request leaving, one answer arriving. Between any two steps anything else may happen:
a crash (the worker forgets everything and restarts), expiry of a lease (a stalled process is expiry without a crash).
Worker clocks may lag the store's clock by one tick, so no result rests on synchronous clocks.

Safety, on every state and every step:
  I1 counted   requests seen by the provider <= requests counted <= budget + granted
  I2 single    at most one request in flight under a valid lease; `timely` runs (no stalls): at most one in flight at all
  I3 fenced    a write by a worker whose token is not the current one changes nothing
  I4 one-shot  one shown option has at most one effect, and the limit is budget + granted
  I5 next-once the next step runs at most once
  I6 deadline  nothing is sent between the recorded deadline decision and a later grant
  I7 monotone  used and limit never decrease
  I8 final     a terminal phase never changes
Liveness (crash-free steps, strong fairness): from every state the operation can reach an outcome or an escalation, and
from every success the next step has run exactly once and is recorded as done.
"""

from __future__ import annotations

import sys
import time
from array import array
from typing import Iterator, NamedTuple

T = 2  # last tick of the clock
WAITING, ESCALATED, SUCCEEDED = "W", "E", "S"
IDLE, PICKED, RESERVED, SENT, GOT, CLAIMED, RAN = "idle", "picked", "reserved", "sent", "got", "claimed", "ran"


class Worker(NamedTuple):
    pc: str = IDLE
    token: int = 0  # fencing token of the lease or of the action claim
    ok: bool = False  # own reckoning, by the boot clock: the lease has not ended
    deadline: int = 0  # as read when the request was reserved
    answer: bool = False  # provider said "succeeded"
    seen: tuple = ()  # what the pick saw (phase, used, limit, deadline): only a hint


class Store(NamedTuple):  # what the journal says
    phase: str = WAITING
    used: int = 0
    limit: int = 0
    deadline: int = 1
    token: int = 0  # current lease (0: none)
    lease_ok: bool = False
    revision: int = 0
    option: int = 0  # number of the escalation that is, or was last, open
    grants: int = 0
    action: str = ""  # "", requested, claimed, done, unknown
    claim: int = 0
    claim_ok: bool = False
    decided: bool = False  # deadline decision stands (ghost)


class State(NamedTuple):
    store: Store
    workers: tuple[Worker, ...]
    clock: int = 0
    job_done: bool = False
    deliveries: int = 2  # webhook deliveries still to come
    view: tuple = ()  # operator: (revision, option, clicks left)
    sent: int = 0  # ghost: seen by the provider
    ran: int = 0  # ghost: next steps run
    effects: tuple = (0, 0, 0, 0)  # ghost: effects per option shown
    disk: Store | None = None  # only in the variant that acknowledges before sync


class Broken(Exception):
    """A step broke an invariant."""


class Model:
    def __init__(
        self, workers: int, budget: int, wrong: str = "", timely: bool = False, grants: int = 2, watch: str = ""
    ) -> None:
        self.wrong, self.timely, self.budget, self.grants, self.watch = wrong, timely, budget, grants, watch
        store = Store(limit=budget)
        self.start = State(store, (Worker(),) * workers, disk=store if wrong == "ack-before-sync" else None)

    # ---- transitions -------------------------------------------------------------------------------------------
    def steps(self, s: State) -> Iterator[tuple[str, State]]:
        """Every (name, successor); names starting with '!' are faults, which liveness does not rely on."""
        done = set()
        for i, w in enumerate(s.workers):
            if w in done:  # two workers in the same local state are interchangeable
                continue
            done.add(w)
            yield from self.worker(s, i, w)
            if w.pc != IDLE:
                yield f"!crash({w.pc})", self.put(s, i, Worker())
        yield from self.people(s)
        yield from self.world(s)

    def put(self, s: State, i: int, w: Worker, **more: object) -> State:
        ws = list(s.workers)
        ws[i] = w
        return s._replace(workers=tuple(sorted(ws)), **more)

    def fresh_token(self, s: State) -> int:
        """Tokens are compared for equality only, so the smallest one that nobody remembers will do for a new one."""
        held = {w.token for w in s.workers} | {s.store.token, s.store.claim}
        return next(n for n in range(1, 99) if n not in held)

    def worker(self, s: State, i: int, w: Worker) -> Iterator[tuple[str, State]]:
        st = s.store
        if w.pc == IDLE:
            if st.phase == WAITING and self.wrong == "no-reload":
                yield "pick", self.put(s, i, Worker(PICKED, seen=(st.phase, st.used, st.limit, st.deadline)))
            elif st.phase == WAITING:  # a pick is only a hint, so it needs no step of its own
                yield from self.reserve(s, i, w)
            if st.action == "requested":
                tok = self.fresh_token(s)
                yield (
                    "claim",
                    self.put(s, i, Worker(CLAIMED, tok, True), store=st._replace(action="claimed", claim=tok, claim_ok=True)),
                )
            if st.action == "claimed" and not st.claim_ok:
                again = "requested" if self.wrong == "blind-repeat" else "unknown"
                yield "claim-lost", s._replace(store=st._replace(action=again, claim=0))
        elif w.pc == PICKED:
            yield from self.reserve(s, i, w)
        elif w.pc == RESERVED:
            for now in (s.clock, s.clock - 1):
                if self.wrong == "no-gate" or (w.ok and now < w.deadline):
                    if self.wrong != "count-after-send":
                        yield "send", self.send(s, i, w)
                    else:
                        yield "send", self.send(s, i, w._replace(seen=("uncounted",)))
                else:  # withheld: the reservation stays counted, the lease is given back (fenced)
                    nxt = st._replace(token=0, lease_ok=False) if st.token == w.token else st
                    yield "withhold", self.put(s, i, Worker(), store=nxt)
        elif w.pc == SENT:
            yield "answer", self.put(s, i, w._replace(pc=GOT, ok=False))
        elif w.pc == GOT:
            yield from self.record(s, i, w)
        elif w.pc == CLAIMED:
            if w.ok or self.wrong == "no-action-gate":
                yield "run", self.put(s, i, w._replace(pc=RAN, ok=False), ran=s.ran + 1)
            else:
                yield "claim-expired", self.put(s, i, Worker())
        elif w.pc == RAN:
            mine = st.action == "claimed" and st.claim == w.token
            yield "finish", self.put(s, i, Worker(), store=st._replace(action="done", claim=0, claim_ok=False) if mine else st)

    def reserve(self, s: State, i: int, w: Worker) -> Iterator[tuple[str, State]]:
        """One transaction on fresh state: lease + every condition + counter. Nothing has been sent yet."""
        st = s.store
        phase, used, limit, deadline = w.seen or (st.phase, st.used, st.limit, st.deadline)
        free = not (st.token and st.lease_ok) or self.wrong == "memory-flag"
        if phase != WAITING or (not free and not (self.wrong == "decide-over-lease" and s.clock >= deadline)):
            if w.pc == PICKED:
                yield "refused", self.put(s, i, Worker())
        elif s.clock >= deadline:
            yield "deadline", self.put(s, i, Worker(), store=self.escalate(st)._replace(decided=True))
        elif used >= limit:
            yield "budget", self.put(s, i, Worker(), store=self.escalate(st))
        else:
            tok = self.fresh_token(s)
            counted = used if self.wrong == "count-after-send" else used + 1
            yield (
                "reserve",
                self.put(
                    s, i, Worker(RESERVED, tok, True, deadline), store=st._replace(token=tok, lease_ok=True, used=counted)
                ),
            )

    def send(self, s: State, i: int, w: Worker) -> State:
        if s.store.decided:
            self.broken("I6 sent after the deadline decision")
        return self.put(s, i, w._replace(pc=SENT, answer=s.job_done, deadline=0), sent=s.sent + 1)

    def record(self, s: State, i: int, w: Worker) -> Iterator[tuple[str, State]]:
        """One fenced transaction: observation, decision, release of the lease."""
        st = s.store
        if st.token != w.token and self.wrong != "no-fencing":
            yield "late", self.put(s, i, Worker())  # kept as a late observation, changes nothing
            return
        if st.token != w.token:
            self.broken("I3 a stale worker's write landed")
        st = st._replace(token=0, lease_ok=False)
        if w.seen == ("uncounted",):
            st = st._replace(used=st.used + 1)
        if st.phase == SUCCEEDED and self.wrong != "terminal-not-final":
            yield "late", self.put(s, i, Worker(), store=st)
        elif w.answer:
            yield "record", self.put(s, i, Worker(), store=self.conclude(st))
        elif st.phase == SUCCEEDED:
            yield "record", self.put(s, i, Worker(), store=st._replace(phase=WAITING))
        elif st.used >= st.limit and st.phase == WAITING:  # B15: escalate now, not at the next wake-up
            yield "record", self.put(s, i, Worker(), store=self.escalate(st))
        else:
            yield "record", self.put(s, i, Worker(), store=st)

    def escalate(self, st: Store) -> Store:
        return st._replace(phase=ESCALATED, revision=st.revision + 1, option=st.option + 1, token=0, lease_ok=False)

    def conclude(self, st: Store) -> Store:
        """Terminal answer and the request for the next step in one transaction; a second conclusion changes nothing."""
        if st.phase == SUCCEEDED and self.wrong != "conclude-twice":
            return st
        return st._replace(phase=SUCCEEDED, revision=st.revision + 1, action="requested", decided=False)

    def people(self, s: State) -> Iterator[tuple[str, State]]:
        st = s.store
        if st.phase == ESCALATED and not s.view:
            yield "look", s._replace(view=(st.revision, st.option, 2))
        if s.view:
            revision, option, clicks = s.view
            left = (revision, option, clicks - 1) if clicks > 1 else ()
            fits = st.revision == revision or self.wrong == "no-revision"
            if st.phase == ESCALATED and fits and st.grants < self.grants:
                eff = list(s.effects)
                eff[option] += 1
                yield (
                    "extend",
                    s._replace(
                        view=left,
                        effects=tuple(eff),
                        store=st._replace(
                            phase=WAITING,
                            limit=st.limit + 1,
                            grants=st.grants + 1,
                            deadline=min(s.clock + 1, T + 1),
                            revision=st.revision + 1,
                            decided=False,
                        ),
                    ),
                )
            else:
                yield "refuse", s._replace(view=left)  # told what happened meanwhile
        if st.action == "unknown":  # a person looks at the evidence, then decides
            yield "resolve", s._replace(store=st._replace(action="done" if s.ran else "requested"))

    def world(self, s: State) -> Iterator[tuple[str, State]]:
        st = s.store
        if s.clock < T:
            yield "tick", s._replace(clock=s.clock + 1)
        if not s.job_done:
            yield "job ends", s._replace(job_done=True)
        elif s.deliveries:
            yield "webhook", s._replace(deliveries=s.deliveries - 1, store=self.conclude(st))
        for tok in (
            {w.token for w in s.workers if w.ok}
            | ({st.token} if st.lease_ok else set())
            | ({st.claim} if st.claim_ok else set())
        ):
            owners = [w for w in s.workers if w.token == tok and w.pc in (RESERVED, SENT, GOT, CLAIMED)]
            if self.timely and owners and self.wrong != "timeout-over-lease":
                continue  # the request timeout is shorter than the lease, and nobody stalls
            yield (
                "expire",
                s._replace(
                    workers=tuple(sorted(w._replace(ok=False) if w.token == tok else w for w in s.workers)),
                    store=st._replace(lease_ok=st.lease_ok and st.token != tok, claim_ok=st.claim_ok and st.claim != tok),
                ),
            )
        if s.disk is not None:
            if s.disk != st:
                yield "sync", s._replace(disk=st)
            yield "!power loss", s._replace(store=s.disk, workers=(Worker(),) * len(s.workers))

    # ---- invariants --------------------------------------------------------------------------------------------
    def broken(self, text: str) -> None:
        if not self.watch or text.startswith(self.watch):
            raise Broken(text)

    def check(self, a: State, b: State) -> None:
        st, old = b.store, a.store
        if not b.sent <= st.used <= st.limit:
            self.broken(f"I1 sent {b.sent}, counted {st.used}, limit {st.limit}")
        flying = [w for w in b.workers if w.pc == SENT]
        if sum(w.ok for w in flying) > 1:
            self.broken("I2 two requests in flight under leases that both are valid")
        if self.timely and len(flying) > 1:
            self.broken("I2 two requests in flight")
        if max(b.effects) > 1 or st.limit != self.budget + st.grants or sum(b.effects) < st.grants:
            self.broken("I4 one option had two effects")
        if b.ran > 1:
            self.broken("I5 the next step ran twice")
        if st.used < old.used or st.limit < old.limit:
            self.broken("I7 a counter went back")
        if old.phase == SUCCEEDED != st.phase:
            self.broken("I8 a terminal phase changed")

    # ---- exploration -------------------------------------------------------------------------------------------
    def explore(self) -> tuple[int, int]:
        """(states, steps), breadth first; raises Broken with the shortest trace in its args."""
        ids, states = {self.start: 0}, [self.start]
        came, names, back, count, i = array("i", [-1]), [""], (array("i"), array("i")), 0, 0
        while i < len(states):
            a, name = states[i], "?"
            try:
                for name, b in self.steps(a):
                    count += 1
                    j = ids.get(b)
                    if j is None:
                        self.check(a, b)
                        j = ids[b] = len(states)
                        states.append(b)
                        came.append(i)
                        names.append(name)
                    elif b.store is not a.store:
                        self.check(a, b)
                    if name[0] != "!":
                        back[0].append(j)
                        back[1].append(i)
            except Broken as e:
                last = "send" if "I6" in str(e) else "record" if "I3" in str(e) else name
                raise Broken(str(e), self.trace(came, names, i) + last, len(states)) from None
            i += 1
        del ids
        for what, k in self.live(states, back):
            raise Broken(f"L a state cannot reach {what}", self.trace(came, names, k) + "...", len(states))
        return len(states), count

    @staticmethod
    def trace(came: array, names: list[str], i: int) -> str:
        path = []
        while i > 0:
            path.append(names[i])
            i = came[i]
        return "".join(f"{n} > " for n in reversed(path))

    def live(self, states: list[State], back: tuple[array, array]) -> Iterator[tuple[str, int]]:
        """Backward reachability over crash-free steps: which states can still reach a good rest?"""
        heads: list = [None] * len(states)  # predecessor lists, built once
        for j, i in zip(*back):
            if heads[j] is None:
                heads[j] = array("i")
            heads[j].append(i)
        finished = [i for i, s in enumerate(states) if s.store.phase == SUCCEEDED and s.store.action == "done" and s.ran == 1]
        rest = finished + [i for i, s in enumerate(states) if s.store.phase == ESCALATED]
        for goal, only, what in ((rest, "", "an outcome or an escalation"), (finished, SUCCEEDED, "its next step")):
            reach, stack = bytearray(len(states)), list(goal)
            for i in goal:
                reach[i] = 1
            while stack:
                for i in heads[stack.pop()] or ():
                    if not reach[i]:
                        reach[i] = 1
                        stack.append(i)
            yield from ((what, i) for i, s in enumerate(states) if not reach[i] and s.store.phase.startswith(only))


WRONG = {  # plausible designs that must fail: the invariant watched, and what they leave out
    "count-after-send": ("I1", "the counter is written with the outcome"),
    "ack-before-sync": ("I1", "the reservation is acknowledged before it is on disk"),
    "no-reload": ("I1", "conditions are checked on what was read before the lease was taken"),
    "no-fencing": ("I3", "the lease is held, its token is not compared at the write"),
    "memory-flag": ("I2", "ownership is a flag in memory: another process does not see it"),
    "timeout-over-lease": ("I2", "the request may take longer than the lease lasts"),
    "no-gate": ("I6", "deadline and lease are checked when reserving, not again when the bytes leave"),
    "decide-over-lease": ("I6", "the deadline decision is recorded while another worker's lease is valid"),
    "no-revision": ("I4", "an extension is applied to whatever escalation is open"),
    "conclude-twice": ("I5", "a second completion is applied again"),
    "terminal-not-final": ("I8", "a late 'running' is applied after success"),
    "blind-repeat": ("I5", "an action whose claim ran out is started again at once"),
    "no-action-gate": ("I5", "the claim is not looked at again before the action runs"),
}


def main(argv: list[str]) -> int:
    bad = 0
    if argv and argv[0] in WRONG:
        names = [argv[0]]
    else:
        names = list(WRONG)
        runs = [(2, b, 2, t) for b in (1, 2, 3) for t in (False, True)]
        if argv != ["quick"]:
            runs += [(3, b, 1, t) for b in (1, 2, 3) for t in (False, True)]
        for n, budget, grants, timely in runs:
            t0 = time.perf_counter()
            try:
                states, steps = Model(n, budget, timely=timely, grants=grants).explore()
                print(
                    f"right: {n} workers, budget {budget}+{grants}, {'timely' if timely else 'stalls'}: {states:>9,} states, "
                    f"{steps:>10,} steps, all invariants hold ({time.perf_counter() - t0:.0f} s)",
                    flush=True,
                )
            except Broken as e:
                bad += 1
                print(f"right: {n} workers, budget {budget}: BROKEN {e.args[0]}\n    {e.args[1]}", flush=True)
    for name in names:
        caught = None
        for budget in (1, 2, 3):
            try:
                Model(2, budget, wrong=name, timely=name == "timeout-over-lease", watch=WRONG[name][0]).explore()
            except Broken as e:
                caught = (budget, *e.args)
                break
        bad += caught is None
        print(
            f"wrong: {name:18s} {WRONG[name][1]}\n    "
            + (
                f"caught (budget {caught[0]}, after {caught[3]:,} states): {caught[1]}\n    {caught[2]}"
                if caught
                else "NOT CAUGHT"
            ),
            flush=True,
        )
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
