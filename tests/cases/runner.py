"""A case on stage: the real engine over a memory store, a manual clock and a provider that answers as the case says.

Only this file decides how a case's steps become answers. Tests act through `Stage` (submit, let time pass, decide) and compare
what was sent, when, and what is on record. Where bytes and connections matter, `loopback.py` puts the same steps on a real
server.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from jobconsole.cli.exits import Exit, of_words
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.operation import Operation
from jobconsole.core.telling.outcome import status_word
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.engine.desk import Desk
from jobconsole.engine.submissions import Wish
from jobconsole.errors import ContractInvalid, TransportFault
from jobconsole.play.job import Fault, FaultKind, Reply
from jobconsole.protocols import HttpRequest, Store, Transport
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.testing.transport import Scripted, ScriptedTransport
from tests.cases.case_file import Case
from tests.cases.demo_contract import Tables, demo_contract
from tests.cases.driver import Condition, all_settled, perform_until, run_for, run_until

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)  # the moment that dates in the cases are about
PERSON = "person:ana"


@dataclass(frozen=True, slots=True)
class Call:
    """One request as the provider saw it. `answer` is the status of the answer, None where none came."""

    kind: str
    at: datetime
    url: str
    headers: Mapping[str, str]  # names in lower case
    answer: int | None


class CaseProvider:
    """Answers by kind of request and number: the steps of a case. The last step of a kind is repeated for ever."""

    def __init__(self, steps: Sequence[Mapping[str, Any]], clock: ManualClock) -> None:
        self._clock = clock
        self._steps = {kind: [step for step in steps if step["on"] == kind] for kind in ("submit", "poll", "cancel")}
        self.calls: list[Call] = []

    def __call__(self, request: HttpRequest) -> Scripted:
        """The answer to this request, which is remembered."""
        kind = kind_of(request.method, request.url)
        scripted = scripted_answer(nth(self._steps[kind], self.count(kind)))
        status = scripted.status if isinstance(scripted, Reply) and scripted.fault is None else None
        headers = {name.lower(): value for name, value in request.headers}
        self.calls.append(Call(kind, self._clock.wall(), request.url, headers, status))
        return scripted

    def count(self, kind: str) -> int:
        """How many requests of this kind came."""
        return sum(call.kind == kind for call in self.calls)


class OneContract:
    """A catalogue with the contract of the case."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract

    def get(self, name: str) -> Contract:
        """The contract, whatever it is called."""
        return self.contract

    def names(self) -> Sequence[str]:
        """Its name."""
        return [self.contract.name]

    def all(self) -> Sequence[Contract | ContractInvalid]:
        """It alone."""
        return [self.contract]


class Stage:
    """One case being played."""

    def __init__(
        self, contract: Contract, clock: ManualClock, transport: Transport, calls: list[Call], store: Store | None = None
    ) -> None:
        self.contract, self.clock, self.calls = contract, clock, calls
        self.store = store or MemoryStore(clock)
        self.console = Desk(self.store, OneContract(contract), lambda: transport, clock, "test")
        self.operation_id = ""

    async def submit(self, operation_id: str | None = None) -> str:
        """Write a submission down; it is sent when time goes on."""
        begun = await self.console.submit("demo", {"n": 1}, wish=Wish(by=PERSON, operation_id=operation_id))
        self.operation_id = self.operation_id or begun.op.operation_id
        return begun.op.operation_id

    async def until_settled(self) -> Operation:
        """Let time pass until the operation has ended or needs a person."""
        await self._until(all_settled(self.console))
        return await self.op()

    async def until_polls(self, number: int) -> Operation:
        """Let time pass until so many status requests are over."""

        async def are_over() -> bool:
            return (await self.op()).attempts >= number

        await self._until(are_over)
        return await self.op()

    async def for_a_while(self, seconds: float) -> Operation:
        """Let so much time pass, with a worker at work."""
        await run_for(timedelta(seconds=seconds), self.console.worker(), self.clock)
        return await self.op()

    async def _until(self, is_done: Condition) -> None:
        await run_until(is_done, self.console.worker(), self.clock)

    async def decide(self, option: str, **asked: Any) -> str:
        """What a person chooses; the words of its effect."""
        return (await self.console.decide(self.operation_id, option, by=PERSON, **asked)).effect

    async def op(self) -> Operation:
        """The operation on record."""
        return await self.console.get(self.operation_id)

    def times(self, kind: str) -> list[datetime]:
        """When requests of this kind were sent."""
        return [call.at for call in self.calls if call.kind == kind]

    def count(self, kind: str) -> int:
        """How many requests of this kind were sent."""
        return len(self.times(kind))

    def gaps(self, *, after: str = "submit") -> list[float]:
        """Seconds between the answer to the last request of kind `after` and the first poll, and from poll to poll."""
        times = [self.times(after)[-1], *self.times("poll")]
        return [(later - earlier) / timedelta(seconds=1) for earlier, later in pairwise(times)]

    async def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The audit's events, of one kind or all."""
        parsed = [json.loads(line) for line in await self.lines()]
        return [event for event in parsed if kind is None or event["kind"] == kind]

    async def lines(self) -> list[str]:
        """The audit as it is stored."""
        return [line.decode() async for line in self.store.events()]

    async def option_names(self) -> set[str]:
        """What a person may choose now."""
        return {option.name for option in await self.console.options(await self.op())}


class PatientStage(Stage):
    """A stage where looks take real time, over connections or with files: each ends before the clock moves."""

    async def _until(self, is_done: Condition) -> None:
        await perform_until(is_done, self.console, self.clock, self.operation_id)


@asynccontextmanager
async def staged(
    case: Case, tables: Tables | None = None, *, steps: Sequence[Mapping[str, Any]] | None = None
) -> AsyncIterator[Stage]:
    """The case on a scripted transport; `steps` in place of its own where a test plays what comes after it."""
    clock = ManualClock(wall=NOON)
    provider = CaseProvider(case.steps if steps is None else steps, clock)
    transport = ScriptedTransport(provider, clock)
    stage = Stage(demo_contract(case.input, tables), clock, transport, provider.calls)
    yield stage
    await stage.console.close()


@asynccontextmanager
async def played(
    case: Case, tables: Tables | None = None, *, steps: Sequence[Mapping[str, Any]] | None = None
) -> AsyncIterator[Stage]:
    """The case, submitted and played until its operation has ended or needs a person."""
    async with staged(case, tables, steps=steps) as stage:
        await stage.submit()
        await stage.until_settled()
        yield stage


def ended(op: Operation) -> tuple[Phase, Reason | None]:
    """Where an operation came to rest: its phase, and why it needs a person or should be seen."""
    if op.escalation is not None:
        return op.phase, op.escalation.reason
    return op.phase, op.look.reason if op.look else None


def exit_of(op: Operation) -> Exit:
    """What a waiting command line ends with."""
    return of_words([status_word(op, is_waited_out=False)])


def kind_of(method: str, url: str) -> str:
    """Which of the contract's requests this is."""
    if method == "GET":
        return "poll"
    return "cancel" if url.endswith("/cancel") else "submit"


def nth(steps: Sequence[Mapping[str, Any]], number: int) -> Mapping[str, Any]:
    """The step for the request with this number, from 0; the last one where they are used up."""
    for step in steps:
        number -= step.get("repeat", 1)
        if number < 0:
            return step
    return steps[-1]


def body_of(step: Mapping[str, Any]) -> bytes:
    """The body's bytes: a text is sent as it stands, everything else as JSON; nothing where the step has none."""
    if "body_b64" in step:
        return base64.b64decode(step["body_b64"])
    body = step.get("body", "")
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def scripted_answer(step: Mapping[str, Any]) -> Scripted:
    """What the scripted transport does for a step."""
    fault = step.get("fault")
    if fault == "connect_timeout":
        return TransportFault("timeout", "the host did not answer", is_ambiguous=False)
    if fault == "unforeseen":
        return RuntimeError("a fault that nobody foresaw")
    headers = tuple((name, value) for name, value in step.get("headers", []))
    kind = None if fault is None else Fault(FaultKind(fault))
    return Reply(step.get("status", 200), body_of(step), headers, kind)
