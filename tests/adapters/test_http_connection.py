"""A direct connection: how it is made, which answers it understands, and that nothing of it stays behind."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.http_address import Address, interleaved
from jobconsole.adapters.http_connection import LONGEST_HEAD, connect
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.core.judging.answer import Answer
from jobconsole.errors import TransportFault
from jobconsole.protocols import HttpRequest
from jobconsole.testing.clock import ManualClock
from tests.adapters.conftest import CountingGate
from tests.adapters.raw_server import Connection, Handler, RawServer, answer_all

OK = b"HTTP/1.1 200 OK\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"


def get(server: RawServer, *, max_bytes: int = 1_000_000) -> HttpRequest:
    """A GET to the server, with half a minute."""
    url = server.url + "/v1/jobs/1"
    return HttpRequest("GET", url, timeout=timedelta(seconds=30), auth_host=server.place, max_bytes=max_bytes)


def says(*parts: bytes, then: Callable[[Connection], Awaitable[None]] | None = None) -> Handler:
    """A handler that answers each request with the parts, one write each, and does `then` after the first."""

    async def handler(connection: Connection) -> None:
        while await connection.request():
            for part in parts:
                await connection.send(part)
                await asyncio.sleep(0)
            if then is not None:
                await then(connection)
                return

    return handler


async def hangs_up(connection: Connection) -> None:
    connection.writer.close()


async def drops_the_line(connection: Connection) -> None:
    """Over TLS without saying goodbye."""
    connection.writer.transport.abort()


async def stops_sending(connection: Connection) -> None:
    """A bare FIN, below TLS, with the connection open in the other direction."""
    below: socket.socket = connection.writer.get_extra_info("socket")
    below.shutdown(socket.SHUT_WR)
    await connection.reader.read()


# ---- what an answer may look like -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("parts", "http_status", "body", "connections"),
    [
        pytest.param([OK + b"Content-Length: 2\r\n\r\n{}"], 200, b"{}", 1, id="a length"),
        pytest.param([OK + b"Content-Length: 2\r\n\r\n", b"{", b"}"], 200, b"{}", 1, id="a length, in pieces"),
        pytest.param([bytes([byte]) for byte in OK + b"Content-Length: 2\r\n\r\n{}"], 200, b"{}", 1, id="byte by byte"),
        pytest.param(
            [OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"1;x=y\r\n}\r\n0\r\nX-Trailer: 1\r\n\r\n"],
            *(200, b"{}", 1),
            id="chunks with an extension and a trailer",
        ),
        pytest.param([b"HTTP/1.1 204 No Content\r\n\r\n"], 204, b"", 1, id="no content"),
        pytest.param([b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"], 304, b"", 1, id="a code without a body"),
        pytest.param(
            [b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", INTERIM * 3, OK + b"Content-Length: 0\r\n\r\n"],
            *(200, b"", 1),
            id="interim answers before it",
        ),
        pytest.param([b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n{}"], 200, b"{}", 1, id="no reason phrase"),
        pytest.param([OK + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}"], 200, b"{}", 2, id="closed by announcement"),
        pytest.param([b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"], 200, b"{}", 2, id="HTTP/1.0"),
    ],
)
@pytest.mark.parametrize("tls", [False, True])
async def test_every_form_of_an_answer_is_read_and_says_whether_the_connection_serves_again(
    transport: HttpTransport,
    gate: CountingGate,
    trusted: ssl.SSLContext,
    parts: list[bytes],
    http_status: int,
    body: bytes,
    connections: int,
    tls: bool,
) -> None:
    async with RawServer(says(*parts), tls=trusted if tls else None) as server:
        for _ in range(2):
            answer = await transport.send(get(server), gate)
            assert (answer.http_status, answer.body) == (http_status, body)
        assert (server.connections, gate.calls) == (connections, 2)


@pytest.mark.parametrize(("tls", "then"), [(False, hangs_up), (False, drops_the_line), (True, hangs_up)])
async def test_a_body_without_a_length_ends_where_the_connection_does(
    transport: HttpTransport,
    gate: CountingGate,
    trusted: ssl.SSLContext,
    tls: bool,
    then: Callable[[Connection], Awaitable[None]],
) -> None:
    async with RawServer(says(OK + b"\r\n{", b"}", then=then), tls=trusted if tls else None) as server:
        assert (await transport.send(get(server), gate)).body == b"{}"


@pytest.mark.rule("B10")
@pytest.mark.parametrize("then", [drops_the_line, stops_sending])
@pytest.mark.parametrize("size", [2, 500_000])
async def test_under_tls_a_body_without_a_length_is_whole_only_where_the_peer_says_that_it_ends(
    transport: HttpTransport,
    gate: CountingGate,
    trusted: ssl.SSLContext,
    then: Callable[[Connection], Awaitable[None]],
    size: int,
) -> None:
    """RFC 9112 8, RFC 8446 6.1: what came may parse, and anybody on the way can have cut it."""
    body = b"{" + b" " * (size - 2) + b"}"
    async with RawServer(says(OK + b"\r\n" + body, then=then), tls=trusted) as server:
        with pytest.raises(TransportFault) as caught:
            await transport.send(get(server), gate)
    assert (caught.value.kind, caught.value.http_status, caught.value.is_ambiguous) == ("truncated", 200, True)


@pytest.mark.parametrize("then", [drops_the_line, stops_sending])
async def test_under_tls_a_body_with_a_length_is_whole_however_the_connection_ends(
    transport: HttpTransport, gate: CountingGate, trusted: ssl.SSLContext, then: Callable[[Connection], Awaitable[None]]
) -> None:
    async with RawServer(says(OK + b"Content-Length: 2\r\n\r\n{}", then=then), tls=trusted) as server:
        assert (await transport.send(get(server), gate)).body == b"{}"


@pytest.mark.parametrize("tls", [False, True])
async def test_a_large_answer_comes_whole(
    transport: HttpTransport, gate: CountingGate, trusted: ssl.SSLContext, tls: bool
) -> None:
    """5 MB, more than is taken from the network before somebody reads."""
    body = bytes(range(256)) * 20_000
    head = OK + b"Content-Length: %d\r\n\r\n" % len(body)
    async with RawServer(says(head + body), tls=trusted if tls else None) as server:
        for _ in range(2):
            assert (await transport.send(get(server, max_bytes=len(body)), gate)).body == body
        assert server.connections == 1


@pytest.mark.rule("B10")
@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", id="another protocol, unasked"),
        pytest.param(OK + b"X: " + b"x" * 2 * LONGEST_HEAD, id="headers without end"),
        pytest.param(OK + b"no colon\r\n\r\n", id="a line that is no header"),
        pytest.param(OK + b"Content-Length: -1\r\n\r\n", id="a negative length"),
        pytest.param(OK + b"Transfer-Encoding: gzip\r\n\r\n", id="an unknown transfer coding"),
    ],
)
async def test_what_is_no_answer_is_a_fault_of_the_protocol(transport: HttpTransport, gate: CountingGate, head: bytes) -> None:
    async with RawServer(says(head)) as server:
        with pytest.raises(TransportFault) as caught:
            await transport.send(get(server), gate)
    assert (caught.value.kind, caught.value.is_ambiguous) == ("protocol", True)


# ---- addresses ------------------------------------------------------------------------------------------------------------
async def test_an_ipv6_address_is_connected_to_and_named_in_brackets(transport: HttpTransport, gate: CountingGate) -> None:
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(OK + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    try:
        server = await asyncio.start_server(serve, "::1", 0)
    except OSError:
        pytest.skip("this machine has no IPv6")
    async with server:
        place = f"[::1]:{server.sockets[0].getsockname()[1]}"
        request = HttpRequest("GET", f"http://{place}/", timeout=timedelta(seconds=30), auth_host=place)
        assert (await transport.send(request, gate)).http_status == 200
    assert f"Host: {place}\r\n" in heads[0]


class NamedAddresses(asyncio.SelectorEventLoop):
    """An event loop whose name server knows one host, `jobs.localhost`, at the given addresses."""

    addresses: tuple[str, ...] = ()

    async def getaddrinfo(self, host: Any, port: Any, **more: Any) -> Any:
        """The addresses, in this order."""
        assert host == "jobs.localhost"
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (each, port)) for each in self.addresses]


@asynccontextmanager
async def silent(address: str, port: int) -> AsyncIterator[None]:
    """An address at which a connect neither succeeds nor fails."""
    with socket.socket() as listening:
        listening.bind((address, port))
        listening.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex((address, port))
        yield
        for each in waiting:
            each.close()


@pytest.mark.parametrize(
    ("families", "order"),
    [("6644", [0, 2, 1, 3]), ("4466", [0, 2, 1, 3]), ("444", [0, 1, 2]), ("46", [0, 1]), ("6446", [0, 1, 3, 2]), ("4", [0])],
)
def test_addresses_are_tried_by_turns_of_their_families(families: str, order: list[int]) -> None:
    """RFC 8305 4: two dead addresses of one family do not cost two quarters of a second."""
    numbers = {"4": socket.AF_INET, "6": socket.AF_INET6}
    found: list[Address] = [(numbers[each], 1, 6, "", (str(at), 443)) for at, each in enumerate(families)]
    assert [int(each[4][0]) for each in interleaved(found)] == order


@pytest.mark.rule("B10")
@pytest.mark.parametrize("first", ["refuses", "is silent"])
def test_a_host_whose_first_address_is_dead_is_reached_at_the_next(first: str) -> None:
    """RFC 8305: a quarter of a second later at most; the total bound is 30 s."""

    async def ask() -> Answer:
        transport = HttpTransport(ReferenceSecrets(), ManualClock())
        async with RawServer(answer_all) as server:
            place = f"jobs.localhost:{server.port}"
            request = HttpRequest("GET", f"http://{place}/", timeout=timedelta(seconds=30), auth_host=place)
            if first == "refuses":
                answer = await transport.send(request, lambda: None)
            else:
                async with silent("127.0.0.2", server.port):
                    answer = await transport.send(request, lambda: None)
            await transport.close()
            return answer

    loop = NamedAddresses()
    loop.addresses = ("127.0.0.2", "127.0.0.1")
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(ask()).http_status == 200


# ---- nothing stays behind -------------------------------------------------------------------------------------------------
async def drip(connection: Connection) -> None:
    """An answer without end, a byte in 10 ms."""
    await connection.request()
    await connection.send(OK + b"Content-Length: 1000\r\n\r\n")
    while True:
        await connection.send(b" ")
        await asyncio.sleep(0.01)


async def is_silent(connection: Connection) -> None:
    """Reads and says nothing."""
    while await connection.request():
        pass


async def is_silent_from_the_start(connection: Connection) -> None:
    """Not even a handshake."""
    await connection.reader.read()


def leaks(collected: Iterable[warnings.WarningMessage]) -> list[str]:
    """Sockets and transports that the collector had to close."""
    return [str(each.message) for each in collected if issubclass(each.category, ResourceWarning)]


@pytest.mark.patient
@pytest.mark.parametrize("ends", ["cancelled", "timed out"])
@pytest.mark.parametrize(
    ("handler", "tls", "scheme"),
    [
        (is_silent, False, "http"),
        (is_silent, True, "https"),
        (drip, False, "http"),
        (drip, True, "https"),
        (is_silent_from_the_start, False, "https"),
    ],
)
async def test_a_request_that_is_given_up_leaves_no_socket_open(
    transport: HttpTransport, gate: CountingGate, trusted: ssl.SSLContext, handler: Handler, tls: bool, scheme: str, ends: str
) -> None:
    has_come, gone = asyncio.Event(), asyncio.Event()

    async def watched(connection: Connection) -> None:
        has_come.set()
        try:
            await handler(connection)
        finally:
            gone.set()

    with warnings.catch_warnings(record=True) as collected:
        warnings.simplefilter("always")
        async with RawServer(watched, tls=trusted if tls else None) as server:
            url, bound = f"{scheme}://{server.place}/", timedelta(seconds=0.2 if ends == "timed out" else 30)
            task = asyncio.create_task(transport.send(HttpRequest("GET", url, timeout=bound, auth_host=server.place), gate))
            if ends == "cancelled":
                await has_come.wait()
                task.cancel()
            with pytest.raises((asyncio.CancelledError, TransportFault)):
                await task
            await asyncio.wait_for(gone.wait(), 30)  # the server sees that the client has gone
        gc.collect()
    assert not leaks(collected)


async def test_close_returns_when_the_socket_is_closed_and_a_closed_connection_can_be_closed_again() -> None:
    async with RawServer(answer_all) as server:
        connection = await connect("127.0.0.1", server.port)
        assert connection.is_ready
        for _ in range(2):
            await connection.close()
            assert not connection.is_ready
