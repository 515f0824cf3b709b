"""What can go wrong on the way: the kind of the fault, whether the request may have arrived, and the bound that held."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from jobconsole.adapters.http import HttpTransport
from jobconsole.errors import PeerClosedIdle, TransportFault
from jobconsole.protocols import HttpRequest
from tests.adapters.conftest import CountingGate
from tests.adapters.raw_server import Connection, RawServer, answer_all


def get(server: RawServer, *, seconds: float = 30, max_bytes: int = 1_000_000) -> HttpRequest:
    """A GET to the server."""
    url = server.url + "/v1/jobs/1"
    return HttpRequest("GET", url, timeout=timedelta(seconds=seconds), auth_host=server.place, max_bytes=max_bytes)


async def fault_of(transport: HttpTransport, request: HttpRequest, gate: CountingGate) -> TransportFault:
    """The fault that the request ends with; nothing else will do."""
    with pytest.raises(TransportFault) as caught:
        await transport.send(request, gate)
    return caught.value


# ---- nothing left: never ambiguous ----------------------------------------------------------------------------------------
@pytest.mark.rule("B10")
async def test_a_refused_connection_is_not_ambiguous(transport: HttpTransport, gate: CountingGate) -> None:
    async with RawServer(answer_all) as server:
        request = get(server)
    fault = await fault_of(transport, request, gate)
    assert (fault.kind, fault.is_ambiguous, fault.http_status) == ("refused", False, None)
    assert server.place in str(fault)


@pytest.mark.rule("B10")
@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 70 + ".invalid"])
async def test_an_unknown_host_name_is_not_ambiguous(transport: HttpTransport, gate: CountingGate, host: str) -> None:
    request = HttpRequest("GET", f"https://{host}/", timeout=timedelta(seconds=60), auth_host=host)
    fault = await fault_of(transport, request, gate)
    assert (fault.kind, fault.is_ambiguous, gate.calls) == ("dns", False, 0)


@asynccontextmanager
async def full_backlog() -> AsyncIterator[int]:
    """A port that takes no more connections: a connect to it neither succeeds nor fails."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]
        for each in waiting:
            each.close()


@pytest.mark.patient
@pytest.mark.rule("B10")
async def test_a_connect_that_never_ends_is_cut_by_the_total_limit_and_not_ambiguous(
    transport: HttpTransport, gate: CountingGate
) -> None:
    """HT-15, connect_timeout."""
    async with full_backlog() as port:
        request = HttpRequest("GET", f"http://127.0.0.1:{port}/", timeout=timedelta(seconds=0.2), auth_host=f"127.0.0.1:{port}")
        fault = await fault_of(transport, request, gate)
    assert (fault.kind, fault.is_ambiguous, gate.calls) == ("timeout", False, 0)


# ---- the request left: ambiguous ------------------------------------------------------------------------------------------
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


async def resets(connection: Connection) -> None:
    await connection.request()
    connection.reset()


async def closes(connection: Connection) -> None:
    await connection.request()


async def closes_in_the_head(connection: Connection) -> None:
    await connection.request()
    await connection.send(HEAD)


async def is_silent(connection: Connection) -> None:
    await connection.request()
    await connection.request()


async def sends_part_of_a_body(connection: Connection) -> None:
    await connection.request()
    await connection.send(HEAD + b"Content-Length: 100\r\n\r\n")
    await connection.send(b'{"state": "succeeded"}')


async def sends_part_of_the_chunks(connection: Connection) -> None:
    await connection.request()
    await connection.send(HEAD + b'Transfer-Encoding: chunked\r\n\r\n15\r\n{"state": "running"}\r\n')


async def resets_in_the_body(connection: Connection) -> None:
    await connection.request()
    await connection.send(HEAD + b"Content-Length: 100\r\n\r\n{}")
    connection.reset()


async def speaks_no_http(connection: Connection) -> None:
    await connection.request()
    await connection.send(b"SSH-2.0-\x1b[31m" + b"x" * 5000 + b"\r\n\r\n")


async def sends_two_lengths(connection: Connection) -> None:
    await connection.request()
    await connection.send(HEAD + b"Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}{}")


async def is_compressed_by_something_else(connection: Connection) -> None:
    await connection.request()
    await connection.answer(b"\x1b\x00", "Content-Encoding: br")


async def announces_too_much(connection: Connection) -> None:
    await connection.request()
    await connection.send(HEAD + b"Content-Length: 999999999999\r\n\r\n")
    await connection.request()


async def never_stops(connection: Connection) -> None:
    await connection.request()
    await connection.send(HEAD + b"\r\n")
    while True:
        await connection.send(b" " * 65_536)


@pytest.mark.patient
@pytest.mark.rule("B10")
@pytest.mark.parametrize(
    ("handler", "kind", "http_status"),
    [
        (resets, "reset", None),
        (closes, "reset", None),
        (closes_in_the_head, "reset", None),
        (is_silent, "timeout", None),
        (sends_part_of_a_body, "truncated", 200),  # although what came parses
        (sends_part_of_the_chunks, "truncated", 200),
        (resets_in_the_body, "reset", 200),
        (speaks_no_http, "protocol", None),
        (sends_two_lengths, "protocol", None),
        (is_compressed_by_something_else, "bad_encoding", 200),
        (announces_too_much, "too_large", 200),
        (never_stops, "too_large", 200),
    ],
)
async def test_a_fault_after_the_request_left_is_ambiguous_and_names_its_kind(
    transport: HttpTransport,
    gate: CountingGate,
    handler: Callable[[Connection], Awaitable[None]],
    kind: str,
    http_status: int | None,
) -> None:
    async with RawServer(handler) as server:
        fault = await fault_of(transport, get(server, max_bytes=100_000), gate)
        assert (fault.kind, fault.http_status, fault.is_ambiguous) == (kind, http_status, True)
        assert not isinstance(fault, PeerClosedIdle)
        assert str(fault).isprintable()
        assert len(str(fault)) <= 500
        assert (gate.calls, len(server.requests)) == (1, 1)


@pytest.mark.patient
@pytest.mark.rule("B10")
@pytest.mark.parametrize("place", ["head", "body"])
async def test_a_drip_is_cut_by_the_total_limit_although_each_read_is_quick(
    transport: HttpTransport, gate: CountingGate, place: str
) -> None:
    """HT-12: 144 bytes at one in 20 ms would take 2.9 s; the limit is 0.3 s. The next request is served."""

    async def handler(connection: Connection) -> None:
        await connection.request()
        if connection.number > 1:
            await connection.answer()
            return
        if place == "body":
            await connection.send(HEAD + b"Content-Length: 200\r\n\r\n")
        for byte in HEAD * 3:
            await connection.send(bytes([byte]))
            await asyncio.sleep(0.02)

    async with RawServer(handler) as server:
        loop = asyncio.get_running_loop()
        started = loop.time()
        fault = await fault_of(transport, get(server, seconds=0.3), gate)
        assert (fault.kind, fault.is_ambiguous) == ("timeout", True)
        assert fault.http_status == (200 if place == "body" else None)
        assert loop.time() - started == pytest.approx(0.3)
        assert (await transport.send(get(server), gate)).http_status == 200


# ---- a kept-alive connection ----------------------------------------------------------------------------------------------
@pytest.mark.rule("B10")
@pytest.mark.parametrize("end", [closes, resets])
async def test_a_reused_connection_that_closes_before_it_answers_may_be_repeated_on_a_fresh_one(
    transport: HttpTransport, gate: CountingGate, end: Callable[[Connection], Awaitable[None]]
) -> None:
    """HT-13: the fault says so; the transport itself repeats nothing."""

    async def handler(connection: Connection) -> None:
        await connection.request()
        await connection.answer()
        await end(connection)

    async with RawServer(handler) as server:
        await transport.send(get(server), gate)
        with pytest.raises(PeerClosedIdle) as caught:
            await transport.send(get(server), gate)
        assert (caught.value.kind, caught.value.is_ambiguous) == ("reset", True)
        assert (len(server.requests), server.connections, gate.calls) == (2, 1, 2)
        answer = await transport.send(get(server), gate, fresh=True)
        assert (answer.http_status, server.connections, gate.calls) == (200, 2, 3)


async def closes_in_the_status_line(connection: Connection) -> None:
    await connection.request()
    await connection.send(b"HTTP/1.1 20")


async def resets_behind_an_interim_answer(connection: Connection) -> None:
    await connection.request()
    await connection.send(b"HTTP/1.1 102 Processing\r\n\r\n")
    await asyncio.sleep(0.02)  # on a patient loop: when it has been read, so that the reset does not overtake it
    connection.reset()


async def closes_behind_an_interim_answer(connection: Connection) -> None:
    await connection.request()
    await connection.send(b"HTTP/1.1 102 Processing\r\n\r\n")


@pytest.mark.patient
@pytest.mark.rule("B10")
@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (closes_in_the_status_line, "reset"),
        (closes_behind_an_interim_answer, "reset"),
        (resets_behind_an_interim_answer, "reset"),
        (closes_in_the_head, "reset"),
        (sends_part_of_a_body, "truncated"),
    ],
)
async def test_a_reused_connection_that_fails_within_its_answer_may_not_be_repeated(
    transport: HttpTransport, gate: CountingGate, end: Callable[[Connection], Awaitable[None]], kind: str
) -> None:
    """One byte of the answer proves that the request was read: nothing may say that it was not."""

    async def handler(connection: Connection) -> None:
        await connection.request()
        await connection.answer()
        await end(connection)

    async with RawServer(handler) as server:
        await transport.send(get(server), gate)
        fault = await fault_of(transport, get(server), gate)
        assert (fault.kind, isinstance(fault, PeerClosedIdle), fault.is_ambiguous) == (kind, False, True)


@pytest.mark.parametrize("tls", [False, True])
async def test_a_connection_whose_last_request_has_not_left_whole_is_not_used_again(
    transport: HttpTransport, gate: CountingGate, tls: bool, trusted: ssl.SSLContext
) -> None:
    """The server answers 413 and reads no further: the rest of 8 MB would come before the next request."""

    async def handler(connection: Connection) -> None:
        if connection.number > 1:
            await answer_all(connection)
            return
        await connection.reader.readuntil(b"\r\n\r\n")
        connection.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await connection.answer(status="413 Content Too Large")
        await asyncio.Event().wait()

    async with RawServer(handler, tls=trusted if tls else None) as server:
        large = replace(get(server), method="POST", body=b"x" * 8_000_000)
        assert (await transport.send(large, gate)).http_status == 413
        assert (await transport.send(get(server), gate)).http_status == 200
        assert (server.connections, gate.calls) == (2, 2)


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("comes", ["with the answer", "behind it"])
async def test_bytes_behind_an_answer_never_become_the_next_answer(
    transport: HttpTransport, gate: CountingGate, tls: bool, comes: str, trusted: ssl.SSLContext
) -> None:
    """A server that sends a second answer unasked: each request gets its own, on a connection without anything left over."""
    own, surplus = (b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"job": "%s"}' % job for job in (b"own", b"old"))
    goes_on, has_come = asyncio.Event(), asyncio.Event()

    async def handler(connection: Connection) -> None:
        while await connection.request():
            await connection.send(own + surplus if comes == "with the answer" else own)
            if comes == "behind it":
                await goes_on.wait()
                await connection.send(surplus)
                has_come.set()

    async with RawServer(handler, tls=trusted if tls else None) as server:
        for number in (1, 2, 3):
            assert (await transport.send(get(server), gate)).body == b'{"job": "own"}'
            assert server.connections == number
            goes_on.set()
            if comes == "behind it":
                await has_come.wait()
            goes_on.clear()
            has_come.clear()


async def test_a_connection_with_something_to_read_is_not_used_even_where_the_loop_has_not_seen_it_yet(
    transport: HttpTransport, gate: CountingGate
) -> None:
    """Nothing runs between the peer's close and the next request but the request."""
    peers: list[socket.socket] = []

    async def handler(connection: Connection) -> None:
        peers.append(connection.writer.get_extra_info("socket"))
        await answer_all(connection)

    async with RawServer(handler) as server:
        await transport.send(get(server), gate)
        peers[0].shutdown(socket.SHUT_WR)
        assert (await transport.send(get(server), gate)).http_status == 200
        assert (server.connections, gate.calls) == (2, 2)
