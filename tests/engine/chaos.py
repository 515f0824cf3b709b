"""A provider, people, workers and clocks that do anything at all, from one seed; and then a provider that behaves.

Only this file decides what can happen in `test_liveness.py`. Workers are real ones over one memory store; each is a process
that may die between two events, before or after its request has left.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.file import load
from jobconsole.core.denial import carries, may_inherit
from jobconsole.core.judging.answer import Answer
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Phase
from jobconsole.engine.poll import Looker
from jobconsole.engine.submissions import Budget, Wish
from jobconsole.engine.worker import Worker
from jobconsole.errors import (
    CertificateFault,
    HostRefused,
    PeerClosedIdle,
    Refused,
    SecretMissing,
    StoreReadOnly,
    TransportFault,
)
from jobconsole.play.job import Reply
from jobconsole.protocols import Gate, HttpRequest, WorkerInfo
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.testing.transport import Scripted, ScriptedTransport
from tests.core.sample_contract import CANCEL, CHARGED, CONFIRM, TABLES, WITH_TOKEN, budget, sample
from tests.engine.stage import Stage, accepts, says

MOST_OPERATIONS = 6
LOOKS = 400
"""Looks after which everything that is planned must have happened."""
SPINS = 40
"""Looks in a row that write nothing: more of them are a worker that spins."""
LEADS_ON = (
    *("credential_mended", "approve_once", "replay_submit", "adopt", "extend", "check_once", "pause", "cancel"),
    "adopt_contract",
)
"""What a person who wants an outcome chooses, best first."""
BODILESS = (Reply(204), Reply(200), Reply(202), Reply(200, b"<html>sign in</html>", (("Content-Type", "text/html"),)))
FAULTS: tuple[Callable[[], Exception], ...] = (
    lambda: TransportFault("timeout", "timed out", is_ambiguous=True),
    lambda: TransportFault("refused", "refused", is_ambiguous=False),
    lambda: PeerClosedIdle("reset", "the kept-alive connection was closed", is_ambiguous=True),
    lambda: CertificateFault("self-signed"),
    lambda: HostRefused("elsewhere"),
    lambda: SecretMissing("env:ACME_KEY is not set"),
)
STATES = ("done", "done_with_errors", "failed", "cancelled", "expired", "awaiting_review", "skipped", "odd", "torn")
CODES = (401, 403, 404, 410, 409, 418, 422, 429, 500, 503, 504)


def contract_of(rng: random.Random) -> Contract:
    """Any contract: every table that changes how a wait goes on."""
    some = rng.choice
    return sample(
        submit=some([TABLES["submit"], WITH_TOKEN]),
        cancel=some([None, CANCEL, CANCEL]),
        confirm=some([None, None, CONFIRM]),
        status=some([TABLES["status"], TABLES["status"], CHARGED]),
        states=TABLES["states"] + 'contradiction = ["torn"]',
        auth=some(['secret = "env:K1"', 'secret = "env:K1"\nothers = ["env:K2"]', 'secret = "env:K1"\nrotates = true']),
        limits=some([None, None, "per_minute = 30\nmax_concurrent = 2", "per_minute = 6"]),
        hints=some([None, 'min_interval = "2s"\npoll_after_seconds = "body.wait"']),
        http=some([None, 'not_found = { grace = "60s", in_a_row = 2, expired_after = "10m" }']),
        budget=budget("20m", some([2, 8]), some([1, 3]), extension=f"{{ minutes = 15, checks = 4, times = {some([1, 3])} }}"),
    )


class Provider:
    """Answers at random; `refuses` names the credentials that it refuses; once it `behaves`, jobs run and then succeed."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.refuses, self.behaves = rng, set[str](), False
        self.looks: Counter[str] = Counter()
        self.begun: Counter[bytes] = Counter()  # by the body of the submission: each may be a job that costs
        self.jobs = 0

    def __call__(self, request: HttpRequest) -> Scripted:
        """What this request gets."""
        reply = self._reply(request)
        is_taken = isinstance(reply, Reply) and reply.status // 100 == 2
        if is_taken and request.method == "POST" and request.body is not None:
            self.begun[request.body] += 1
        return reply

    def _reply(self, request: HttpRequest) -> Scripted:
        if self.behaves:
            return self._good(request)
        if request.auth.secret in self.refuses:
            return Reply(401)
        return self._good(request) if self.rng.random() < 0.45 else self._bad(request)

    def _good(self, request: HttpRequest) -> Scripted:
        if request.method == "POST" and request.url.endswith("/cancel"):
            return Reply(202)
        if request.method == "POST":
            self.jobs += 1
            return accepts(f"job-new-{self.jobs}")
        if request.url.endswith("/result"):
            return Reply(200, {"rows": 3})
        self.looks[request.url] += 1
        return says("done" if self.behaves and self.looks[request.url] > 1 else "running")

    def _bad(self, request: HttpRequest) -> Scripted:
        some, wait_s = self.rng.choice, self.rng.choice([None, None, 5, 90, 5_000])
        headers = some(
            [(), (), (("RateLimit", '"q";r=0;t=30'),), (("X-RateLimit-Remaining", "1"), ("X-RateLimit-Reset", "40"))]
        )
        kinds: list[Callable[[], Scripted]] = [
            lambda: says(some(STATES), progress=self.rng.random(), wait=some([0, 3, 400, -1])),
            lambda: Reply(some(CODES), {"id": "job-told"}, headers, retry_after_s=wait_s),
            lambda: Reply(200, {"state": "running"}, headers, retry_after_s=wait_s),
            lambda: Reply(some([302, 307]), None, (("Location", f"{request.url}/moved"),), retry_after_s=wait_s),
            lambda: some(BODILESS),
            lambda: some(FAULTS)(),
        ]
        return some(kinds)()


class Wire(ScriptedTransport):
    """A worker's way to the provider: slow before or after its request has left, and sometimes its end."""

    def __init__(self, world: World, process: MemoryStore) -> None:
        super().__init__(world.provider, world.clock)
        self.world, self.process = world, process

    async def send(self, request: HttpRequest, gate: Gate, *, fresh: bool = False) -> Answer:
        """Send; on the way time passes, and the process may die."""
        world, rng = self.world, self.world.rng
        fate = rng.random() if not world.provider.behaves else 1.0
        if fate < 0.03:
            world.clock.advance(rng.choice([4, 9, 16]))
        elif fate < 0.06:
            self._die()
        try:
            return await super().send(request, gate, fresh=fresh)
        finally:
            if self.requests[-1].was_sent:
                world.sent.append(request)
            if fate > 0.94 and not world.provider.behaves:
                world.clock.advance(rng.choice([4, 9, 16]))
            elif fate > 0.91 and not world.provider.behaves:
                self._die()

    def _die(self) -> None:
        self.process.crash()
        raise StoreReadOnly("the process died")


class World:
    """Two workers and a person on one store; whatever happens comes from `seed`."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.clock = ManualClock()
        self.contract = contract_of(self.rng)
        self.newer = load(self.contract.text.replace('title = "ACME jobs"', 'title = "ACME jobs, again"'), "newer.toml")
        self.provider = Provider(self.rng)
        self.sent: list[HttpRequest] = []
        self.person = Stage((), self.contract, clock=self.clock)
        self.made, self.boots, self.lives = 0, 1, 0
        self.workers = [self._born() for _ in range(2)]

    def _born(self) -> Worker:
        self.lives += 1
        store = self.person.store.handle()
        wire, info = Wire(self, store), WorkerInfo(f"w{self.lives}", "test", self.lives, self.clock.wall())
        looker = Looker(store, wire, self.person.console.book, self.clock, f"worker:{info.worker_id}", self.rng)
        return Worker(store, looker, self.person.console.book, self.clock, info, max_concurrent=4)

    # ---- what can happen ------------------------------------------------------------------------------------------------
    async def step(self) -> None:
        """One thing happens."""
        steps: tuple[Callable[[], Any], ...] = (
            *(self.begin, self.pass_time, self.pass_time, self.decide, self.decide, self.change_access),
            *(self.crash, self.reboot, self.jump, self.change_file, self.lose_contracts, self.restore_contracts),
        )
        weights = (2, 4, 4, 3, 3, 1, 0.5, 0.2, 0.3, 0.3, 0.1, 0.3)
        await self.rng.choices(steps, weights)[0]()
        await self.work()

    async def begin(self) -> None:
        """A submission, or a job of somebody else's."""
        if self.made < MOST_OPERATIONS:
            self.made += 1
            name, budget = f"op-{self.made}", Budget(deadline=self.rng.choice(["5m", "15m", "20m"]))
            wish = Wish("person:ana", operation_id=name, budget=budget)
            if self.rng.random() < 0.5:
                await self.person.console.submit("acme", {"quarter": self.made}, wish=wish)
            else:
                await self.person.console.track("acme", job_id=f"job-{name}", wish=wish)

    async def pass_time(self) -> None:
        """To the next look, mostly."""
        next_at = await self.person.store.next_due()
        to_next = next_at - self.clock.wall() if next_at is not None else timedelta(minutes=1)
        others = [timedelta(seconds=each) for each in (0.2, 7, 90, 700)]
        self.clock.advance(max(timedelta(0), self.rng.choice([to_next, to_next, to_next, *others])))

    async def decide(self) -> None:
        """A person chooses any open option, sometimes for what was on the screen before."""
        operations = await self.person.console.operations()
        if operations:
            op = self.rng.choice(operations)
            names = [option.name for option in await self.person.console.options(op) if option.name != "inspect"]
            if self.rng.random() < 0.9:
                names = [name for name in names if name != "close"]
            if names:
                await self.choose(op, self.rng.choice(names), age=self.rng.choice([0, 0, 0, 0, 1]))

    async def choose(self, op: Operation, option: str, *, age: int = 0) -> bool:
        """Choose it; False where it was refused."""
        try:
            await self.person.console.decide(
                op.operation_id,
                option,
                by="person:ana",
                revision=op.revision - age,
                reason="as agreed",
                job_id=f"job-{op.operation_id}" if option == "adopt" else None,
            )
        except Refused:
            return False
        return True

    async def change_access(self) -> None:
        """The provider refuses another set of credentials."""
        self.provider.refuses = {name for name in ("env:K1", "env:K2") if self.rng.random() < 0.5}

    async def crash(self) -> None:
        """One process dies while it sleeps."""
        self.rng.choice(self.workers).store.crash()  # type: ignore[attr-defined]

    async def reboot(self) -> None:
        """The machine restarts: nobody survives, and the boot clock begins anew."""
        for worker in self.workers:
            worker.store.crash()  # type: ignore[attr-defined]
        self.boots += 1
        self.clock.reboot(f"boot-{self.boots}", away=timedelta(seconds=self.rng.choice([20, 600])))

    async def jump(self) -> None:
        """Somebody sets the wall clock."""
        self.clock.jump_wall(self.rng.choice([-3600.0, -30.0, 30.0, 1800.0]))

    async def change_file(self) -> None:
        """The provider's file says something else, or again what it said."""
        self.person.shelf.contracts["acme"] = self.rng.choice([self.contract, self.newer])

    async def lose_contracts(self) -> None:
        """Somebody deletes the copies that the store keeps; those who have read them die, too."""
        self.person.store._memory.contracts.clear()
        self.person.console.book._by_digest.clear()

    async def restore_contracts(self) -> None:
        """A backup of the copies is put back."""
        for contract in (self.contract, self.newer):
            await self.person.store.keep_contract(contract.digest, contract.text)

    async def work(self) -> None:
        """The living workers do what is due now; whoever died is followed by another one."""
        self.workers = [worker if worker.store.health().is_writable else self._born() for worker in self.workers]
        ends = await asyncio.gather(*(worker.run(once=True) for worker in self.workers), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException) and not isinstance(end, StoreReadOnly):
                raise end

    # ---- what must come of it -------------------------------------------------------------------------------------------
    async def settle(self) -> None:
        """The provider behaves, and people answer, until nobody can do more. Raises where that takes too long."""
        self.provider.behaves, has_waited = True, False
        await self.restore_contracts()
        for _ in range(30):
            await self.run_out()
            answers = [await self.answer(op) for op in await self.person.console.operations()]
            if not any(answers) and has_waited:
                return
            if not any(answers):
                has_waited = True
                self.clock.advance(timedelta(hours=12))  # longer than any provider asked to wait, by any clock
        raise AssertionError("people answer and answer, and nothing comes of it")

    async def run_out(self) -> None:
        """Look at whatever is planned, until nothing is."""
        idle = 0
        for _ in range(LOOKS):
            before = await self.person.console.last_seq()
            await self.work()
            idle = 0 if await self.person.console.last_seq() != before else idle + 1
            assert idle < SPINS, "looks again and again, and nothing comes of it"
            next_at = await self.person.store.next_due()
            if next_at is None:
                return
            self.clock.advance(max(next_at - self.clock.wall(), timedelta(seconds=min(15, 2**idle / 4))))
        raise AssertionError(f"something is still planned after {LOOKS} looks")

    async def answer(self, op: Operation) -> bool:
        """The best answer to the operation's question; False where there is none."""
        if op.phase is not Phase.ESCALATED:
            return False
        names = {option.name for option in await self.person.console.options(op)}
        best = next((name for name in LEADS_ON if name in names), None)
        return best is not None and await self.choose(op, best)

    async def check(self) -> None:
        """What must hold at any time."""
        operations = await self.person.console.operations(include_ended=True)
        left = Counter(job for request in self.sent if request.method == "GET" for job in [request.url.split("/")[5]])
        for op in operations:
            assert op.status_requests_used <= op.max_status_requests, op
            if op.provider_job_id is not None:
                assert left[op.provider_job_id] <= op.status_requests_used, op
        if self.contract.submit is None or self.contract.submit.idempotency is None:
            again = Counter(op.request_body for op in operations)  # `submit_again` is another operation of the same request
            for body, begun in self.provider.begun.items():
                assert begun <= again[body.decode()], f"{body!r} was accepted {begun} times"
        for acc in (await self.person.console.accounts()).values():
            for credential in acc.denied.carriers if acc.denied is not None else ():
                concerned = [op for op in operations if (op.credential or "") == credential]
                held = [op for op in concerned if may_inherit(op) and op.lease is None]
                assert not held or any(carries(op, credential) for op in concerned), f"nobody asks about {credential!r}"
