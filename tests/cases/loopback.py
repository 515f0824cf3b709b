"""A case's steps on a real server on loopback, over the real transport: where bytes, connections and certificates matter.

Limits are as the case has them: where one of them must end, the test runs on a patient loop. The clock of the operation is a
manual one.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.core.contracts.contract import Contract
from jobconsole.testing.clock import ManualClock
from tests.adapters.raw_server import Connection, RawServer
from tests.cases.case_file import Case
from tests.cases.demo_contract import Tables, demo_contract
from tests.cases.runner import NOON, Call, PatientStage, body_of, kind_of, nth

OnRequest = Callable[[Call], None]


class ServedProvider:
    """Answers each request by its kind and number, connection faults included. The last step of a kind is repeated.

    `on_request` is told of each request before it is answered: what else changes in the world then.
    """

    def __init__(self, steps: Sequence[Mapping[str, Any]], clock: ManualClock, on_request: OnRequest | None = None) -> None:
        self._clock, self._on_request = clock, on_request
        self._steps = {kind: [step for step in steps if step["on"] == kind] for kind in ("submit", "poll", "cancel")}
        self._used = {"submit": 0, "poll": 0, "cancel": 0}
        self.calls: list[Call] = []
        self.was_cut = asyncio.Event()  # the client did not wait for the end of an answer

    async def __call__(self, connection: Connection) -> None:
        """Serve one connection to its end."""
        served = 0
        while request := await connection.request():
            if not await self._answer(connection, request, is_reused=served > 0):
                return
            served += 1

    async def _answer(self, connection: Connection, request: str, *, is_reused: bool) -> bool:
        """Answer one request; False where the connection is over."""
        head, *lines = request.partition("\r\n\r\n")[0].split("\r\n")
        method, target, _ = head.split(" ")
        kind = kind_of(method, target)
        step = self._next(kind, is_reused=is_reused)
        fault, status = step.get("fault"), step.get("status", 200)
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        self.calls.append(Call(kind, self._clock.wall(), target, headers, None if fault else status))
        if self._on_request is not None:
            self._on_request(self.calls[-1])
        if fault == "closed_on_reuse":
            return False
        if fault == "reset_before_response":
            connection.reset()
            return False
        if isinstance(fault, Mapping):
            return await self._drip(connection, step, fault["drip"])
        await connection.send(wire(step))
        return True

    def _next(self, kind: str, *, is_reused: bool) -> Mapping[str, Any]:
        """The next step; one that closes a kept-alive connection is passed over on a fresh one."""
        while True:
            step = nth(self._steps[kind], self._used[kind])
            self._used[kind] += 1
            if is_reused or step.get("fault") != "closed_on_reuse":
                return step

    async def _drip(self, connection: Connection, step: Mapping[str, Any], how: Mapping[str, Any]) -> bool:
        """The answer a few bytes at a time, until the client has enough."""
        data = wire(step)
        try:
            for start in range(0, len(data), how["bytes"]):
                await connection.send(data[start : start + how["bytes"]])
                await asyncio.sleep(how["every_s"])
                if connection.reader.at_eof():
                    raise ConnectionResetError
        except ConnectionError:  # where bytes were on their way, the client's close is a reset
            self.was_cut.set()
            return False
        return True


class ServedStage(PatientStage):
    """A stage whose requests go over real connections to a server."""

    def __init__(self, contract: Contract, clock: ManualClock, provider: ServedProvider, server: RawServer) -> None:
        super().__init__(contract, clock, HttpTransport(ReferenceSecrets(), clock), provider.calls)
        self.provider, self.server = provider, server


@asynccontextmanager
async def served(
    case: Case,
    tables: Tables | None = None,
    *,
    steps: Sequence[Mapping[str, Any]] | None = None,
    tls: ssl.SSLContext | None = None,
    on_request: OnRequest | None = None,
) -> AsyncIterator[ServedStage]:
    """The case on a real server, its contract pointing there."""
    clock = ManualClock(wall=NOON)
    provider = ServedProvider(case.steps if steps is None else steps, clock, on_request)
    async with RawServer(provider, tls=tls) as server:
        contract = demo_contract(case.input, tables, base_url=server.url)
        stage = ServedStage(contract, clock, provider, server)
        await stage.submit()
        try:
            yield stage
        finally:
            await stage.console.close()


def wire(step: Mapping[str, Any]) -> bytes:
    """The answer of a step as it goes over the wire; Content-Length is what the step says, else the body's."""
    status, body = step.get("status", 200), body_of(step)
    headers = [(name, str(value)) for name, value in step.get("headers", [])]
    if not any(name.lower() == "content-length" for name, _ in headers):
        headers.append(("Content-Length", str(len(body))))
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
