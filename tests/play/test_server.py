"""The play provider on the wire, asked by the transport that the worker uses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.core.judging.answer import Answer
from jobconsole.errors import InvalidValue, PeerClosedIdle, TransportFault
from jobconsole.play.script import parse
from jobconsole.play.server import PlayServer
from jobconsole.protocols import HttpRequest
from jobconsole.testing.clock import ManualClock


class Caller:
    """Sends requests to one server over the real transport."""

    def __init__(self, transport: HttpTransport, server: PlayServer) -> None:
        self._transport, self._server = transport, server

    async def send(self, method: str, path: str, body: bytes | None = None, *, seconds: float = 30, **more: Any) -> Answer:
        """One request."""
        server = self._server
        request = HttpRequest(
            method, server.url + path, (), body, timedelta(seconds=seconds), auth_host=server.url.removeprefix("http://")
        )
        return await self._transport.send(request, lambda: None, **more)

    async def start(self, scenario: str, **settings: Any) -> str:
        """The path of a new job."""
        answer = await self.send("POST", "/v1/jobs", json.dumps({"scenario": scenario, **settings}).encode())
        return dict(answer.headers)["Location"]

    async def look(self, path: str, **more: Any) -> Any:
        """The body of a status answer."""
        return json.loads((await self.send("GET", path, **more)).body)


@pytest.fixture
async def transport() -> AsyncIterator[HttpTransport]:
    """The worker's transport."""
    made = HttpTransport(ReferenceSecrets(), ManualClock())
    yield made
    await made.close()


async def test_a_job_runs_to_its_end_at_the_servers_factor(transport: HttpTransport) -> None:
    """8 provider seconds at 100 in a real one are 80 ms."""
    async with PlayServer(factor=100) as server:
        caller = Caller(transport, server)
        path = await caller.start("slow")
        body: Any = {}
        async with asyncio.timeout(60):
            while body.get("state") != "succeeded":
                body = await caller.look(path)
        assert server.requests(path.rpartition("/")[2]) == len(server.log) - 1


async def test_every_answer_has_date_and_request_id(transport: HttpTransport) -> None:
    async with PlayServer() as server:
        caller = Caller(transport, server)
        answers = [await caller.send("GET", path) for path in ("/", "/v1/jobs/none")]
    headers = [dict(answer.headers) for answer in answers]
    assert [each["X-Request-Id"] for each in headers] == ["req_000001", "req_000002"]
    assert all(parsedate_to_datetime(each["Date"]).tzinfo is not None for each in headers)


@pytest.mark.patient
@pytest.mark.parametrize(
    ("fault", "kind", "http_status"),
    [
        ("reset_before_response", "reset", None),
        ("read_timeout", "timeout", None),
        ({"drip": {"bytes": 1, "every_s": 4}}, "timeout", None),
        ("truncate", "truncated", 200),
        ({"truncate": 3}, "truncated", 200),
    ],
)
async def test_a_fault_of_a_script_reaches_the_client_as_what_it_is(
    transport: HttpTransport, fault: Any, kind: str, http_status: int | None
) -> None:
    """On a fresh connection, then the same request answered; a drip of a byte in 4 s at factor 20 is one in 0.2 s."""
    script = parse(
        [{"on": "poll", "body": {"state": "succeeded"}, "fault": fault}, {"on": "poll", "body": {"state": "running"}}]
    )
    async with PlayServer(script=script, factor=20) as server:
        caller = Caller(transport, server)
        with pytest.raises(TransportFault) as caught:
            await caller.look("/v1/jobs/job-1", seconds=0.4)
        assert (caught.value.kind, caught.value.http_status) == (kind, http_status)
        assert await caller.look("/v1/jobs/job-1") == {"state": "running"}
        assert server.requests("job-1") == 2


async def test_a_truncated_answer_parses_and_is_still_short(transport: HttpTransport) -> None:
    async with PlayServer(script=parse([{"on": "poll", "body": {"state": "succeeded"}, "fault": "truncate"}])) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(b"GET /v1/jobs/job-1 HTTP/1.1\r\nHost: x\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    assert json.loads(body) == {"state": "succeeded"}
    assert f"content-length: {len(body) + 64}".encode() in head.lower()


@pytest.mark.rule("B10")
async def test_closed_on_reuse_closes_a_kept_connection_and_answers_on_a_fresh_one(transport: HttpTransport) -> None:
    async with PlayServer() as server:
        caller = Caller(transport, server)
        path = await caller.start("closed-on-reuse", duration_s=86_400)
        await caller.look(path)
        with pytest.raises(PeerClosedIdle):
            await caller.look(path)
        assert (await caller.look(path, fresh=True))["state"] == "queued"
        assert server.requests(path.rpartition("/")[2]) == 3


async def test_a_dripped_answer_is_whole_where_the_client_has_patience(transport: HttpTransport) -> None:
    async with PlayServer(script=parse([{"on": "poll", "fault": {"drip": {"bytes": 40, "every_s": 0}}}])) as server:
        assert (await Caller(transport, server).send("GET", "/v1/jobs/job-1")).http_status == 200


@pytest.mark.parametrize("status", [200, 204, 303, 418, 503, 599])
async def test_any_final_status_can_be_scripted_with_its_headers(transport: HttpTransport, status: int) -> None:
    script = parse(
        [{"on": "poll", "status": status, "headers": [["Retry-After", "7"], ["Date", "Sun, 29 Nov 2026 10:00:00 GMT"]]}]
    )
    async with PlayServer(script=script) as server:
        answer = await Caller(transport, server).send("GET", "/v1/jobs/job-1")
    headers = dict(answer.headers)
    assert (answer.http_status, headers["Retry-After"], headers["Date"]) == (status, "7", "Sun, 29 Nov 2026 10:00:00 GMT")


@pytest.mark.parametrize(
    ("value", "arrives"), [("", ""), ("\u00b2", "\u00b2"), ("\u0665", "\u0665".encode().decode("latin-1")), ("a  b", "a  b")]
)
async def test_an_odd_header_value_of_a_script_is_sent_as_it_stands(transport: HttpTransport, value: str, arrives: str) -> None:
    async with PlayServer(script=parse([{"on": "poll", "headers": [["Retry-After", value]]}])) as server:
        answer = await Caller(transport, server).send("GET", "/v1/jobs/job-1")
    assert dict(answer.headers)["Retry-After"] == arrives


async def test_rubbish_and_too_much_end_the_connection_and_not_the_server(transport: HttpTransport) -> None:
    async with PlayServer() as server:
        for data in (
            b"\x00\xff\r\n\r\n",
            b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n" + b" " * 2_000_000,
        ):
            reader, writer = await asyncio.open_connection(server.host, server.port)
            writer.write(data)
            with contextlib.suppress(ConnectionError):  # closed while the rest was still being sent
                await reader.read()
            writer.close()
        assert (await Caller(transport, server).send("GET", "/")).http_status == 200
        assert len(server.log) == 1


async def test_stop_closes_the_port_and_what_hangs(transport: HttpTransport) -> None:
    server = PlayServer(script=parse([{"on": "poll", "fault": "read_timeout"}]))
    await server.start()
    waiting = asyncio.create_task(Caller(transport, server).look("/v1/jobs/job-1"))
    async with asyncio.timeout(60):
        while not server.log:  # noqa: ASYNC110  (a condition of the server under test, within a bound)
            await asyncio.sleep(0)
        await server.stop()
        with pytest.raises(TransportFault):
            await waiting
    with socket.socket() as probe:
        assert probe.connect_ex((server.host, server.port)) != 0


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf")])
def test_a_clock_factor_must_be_a_usable_number(factor: float) -> None:
    with pytest.raises(InvalidValue, match="factor"):
        PlayServer(factor=factor)
