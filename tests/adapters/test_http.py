"""One request over real connections: what is sent, what comes back, when the gate is asked."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from jobconsole.adapters.http import HttpTransport
from jobconsole.errors import HostRefused, InvalidValue, TransportFault, Withheld
from jobconsole.protocols import HttpRequest
from jobconsole.testing.clock import ManualClock
from tests.adapters.conftest import CountingGate
from tests.adapters.raw_server import Connection, RawServer, answer_all


def get(server: RawServer, path: str = "/v1/jobs/1", **more: object) -> HttpRequest:
    """A GET to the server, with half a minute."""
    made = {"timeout": timedelta(seconds=30), "auth_host": server.place, **more}
    return HttpRequest("GET", server.url + path, **made)  # type: ignore[arg-type]  # a test's own words


async def test_the_answer_holds_status_headers_as_sent_body_and_times_of_the_clock(
    transport: HttpTransport, clock: ManualClock, gate: CountingGate
) -> None:
    async def handler(connection: Connection) -> None:
        await connection.request()
        clock.advance(0.25)
        await connection.answer(b'{"a": 1}', "X-Request-ID: r-7", "Retry-After: 3", "retry-after: 5", status="202 Accepted")

    async with RawServer(handler) as server:
        answer = await transport.send(get(server), gate)
    assert (answer.http_status, answer.body, answer.url) == (202, b'{"a": 1}', f"{server.url}/v1/jobs/1")
    assert answer.headers[:3] == (("X-Request-ID", "r-7"), ("Retry-After", "3"), ("retry-after", "5"))
    assert (answer.received_at, answer.received_up, answer.elapsed_ms) == (clock.wall(), clock.up_ms(), 250)


async def test_a_post_carries_its_body_headers_and_length_and_asks_for_no_compression(
    transport: HttpTransport, gate: CountingGate
) -> None:
    async with RawServer(answer_all) as server:
        request = HttpRequest(
            "POST",
            f"{server.url}/v1/jobs?x=a%20b#part",
            headers=(("Content-Type", "application/json"), ("Cache-Control", "no-cache")),
            body=b'{"q": 3}',
            auth_host=server.place,
        )
        await transport.send(request, gate)
    head, _, body = server.requests[0].partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    assert (first, body) == ("POST /v1/jobs?x=a%20b HTTP/1.1", '{"q": 3}')
    assert {line.split(": ")[0].lower(): line.split(": ")[1] for line in lines} == {
        "host": server.place,
        "content-type": "application/json",
        "cache-control": "no-cache",
        "user-agent": "jobconsole",
        "accept-encoding": "identity",
        "content-length": "8",
    }


@pytest.mark.parametrize(
    ("rest", "target"),
    [
        ("", "/"),
        ("?a=1", "/?a=1"),
        ("/v1/jobs/a%2Fb;x=1/~it's:@$&()*+,=!", "/v1/jobs/a%2Fb;x=1/~it's:@$&()*+,=!"),
        ("/v1?next=https://other.example/x?y#part", "/v1?next=https://other.example/x?y"),
        ("//other.example/x", "//other.example/x"),
        ("/v1/caf\u00e9?q=\u00fc", "/v1/caf%C3%A9?q=%C3%BC"),
        ("/a/../b/./c", "/b/c"),
        ('/{a}|"b"^`<c>', "/%7Ba%7D|%22b%22^%60%3Cc%3E"),
    ],
)
async def test_the_target_is_the_path_and_query_with_what_needs_it_encoded(
    transport: HttpTransport, gate: CountingGate, rest: str, target: str
) -> None:
    async with RawServer(answer_all) as server:
        await transport.send(get(server, rest), gate)
        assert server.requests[0].startswith(f"GET {target} HTTP/1.1\r\nHost: {server.place}\r\n")


@pytest.mark.rule("B3")
async def test_a_redirect_is_an_answer_and_is_not_followed(transport: HttpTransport, gate: CountingGate) -> None:
    async def handler(connection: Connection) -> None:
        while await connection.request():
            await connection.answer(b"", "Location: /elsewhere", status="302 Found")

    async with RawServer(handler) as server:
        answer = await transport.send(get(server), gate)
        assert (answer.http_status, len(server.requests), gate.calls) == (302, 1, 1)


async def test_cookies_are_not_kept(transport: HttpTransport, gate: CountingGate) -> None:
    async def handler(connection: Connection) -> None:
        while await connection.request():
            await connection.answer(b"{}", "Set-Cookie: session=s1; Path=/")

    async with RawServer(handler) as server:
        for _ in range(2):
            await transport.send(get(server), gate)
    assert not any("cookie" in request.lower() for request in server.requests)


# ---- the gate -------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B2", "B3")
@pytest.mark.parametrize("fresh", [False, True])
async def test_no_byte_leaves_when_the_gate_says_no(transport: HttpTransport, gate: CountingGate, fresh: bool) -> None:
    """On a first connection, on a reused one, and on one made for a repeat; and the transport stays usable."""
    async with RawServer(answer_all) as server:
        closed = CountingGate(refuses="deadline passed")
        with pytest.raises(Withheld, match="deadline passed"):
            await transport.send(get(server), closed, fresh=fresh)
        assert (server.bytes_received, closed.calls) == (0, 1)
        await transport.send(get(server), gate)
        before = server.bytes_received
        with pytest.raises(Withheld):
            await transport.send(get(server), closed, fresh=fresh)
        await transport.send(get(server), gate)
        assert (server.bytes_received, len(server.requests)) == (2 * before, 2)


async def test_the_gate_is_asked_once_for_each_request(transport: HttpTransport, gate: CountingGate) -> None:
    async with RawServer(answer_all) as server:
        for number in (1, 2, 3):
            await transport.send(get(server), gate)
            assert (gate.calls, len(server.requests)) == (number, number)


async def test_the_gate_is_asked_only_when_the_connection_stands(transport: HttpTransport, gate: CountingGate) -> None:
    async with RawServer(answer_all) as server:
        request = get(server)
    with pytest.raises(TransportFault):
        await transport.send(request, gate)
    assert gate.calls == 0


# ---- connections ----------------------------------------------------------------------------------------------------------
async def test_connections_are_kept_and_reused_one_for_each_request_in_flight(
    transport: HttpTransport, gate: CountingGate
) -> None:
    async with RawServer(answer_all) as server:
        for _ in range(3):
            await asyncio.gather(*(transport.send(get(server), gate) for _ in range(8)))
        assert (len(server.requests), server.connections) == (24, 8)


async def test_a_fresh_request_has_a_connection_that_never_served_and_is_not_kept(
    transport: HttpTransport, gate: CountingGate
) -> None:
    async with RawServer(answer_all) as server:
        await transport.send(get(server), gate)
        await transport.send(get(server), gate, fresh=True)
        assert server.connections == 2
        await transport.send(get(server), gate)
        assert server.connections == 2


async def test_a_connection_that_the_peer_closed_while_idle_is_not_used_again(
    transport: HttpTransport, gate: CountingGate
) -> None:
    """Where the close is already known the request simply goes out on a new connection, and nothing is repeated."""
    closed = asyncio.Event()

    async def handler(connection: Connection) -> None:
        await connection.request()
        await connection.answer()
        connection.writer.close()
        await connection.writer.wait_closed()
        closed.set()

    async with RawServer(handler) as server:
        await transport.send(get(server), gate)
        await closed.wait()
        assert (await transport.send(get(server), gate)).http_status == 200
        assert (server.connections, gate.calls) == (2, 2)


async def test_a_connection_that_the_server_wants_closed_is_not_used_again(
    transport: HttpTransport, gate: CountingGate
) -> None:
    async def handler(connection: Connection) -> None:
        while await connection.request():
            await connection.answer(b"{}", "Connection: close")

    async with RawServer(handler) as server:
        for _ in range(2):
            await transport.send(get(server), gate)
        assert server.connections == 2


async def test_a_cancelled_request_leaves_a_usable_transport(transport: HttpTransport, gate: CountingGate) -> None:
    arrived = asyncio.Event()

    async def handler(connection: Connection) -> None:
        await connection.request()
        if connection.number == 1:
            arrived.set()
            await connection.request()
        await connection.answer()

    async with RawServer(handler) as server:
        task = asyncio.create_task(transport.send(get(server), gate))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await transport.send(get(server), gate)).http_status == 200


# ---- what is refused before anything is sent ------------------------------------------------------------------------------
@pytest.mark.rule("C6", "C13")
@pytest.mark.parametrize(
    "url",
    [
        "http://user:pw@{place}/",  # a user would become a credential
        "http://@{place}/",
        "http://127.0.0.1:1/",  # another port is another origin (HT-02)
        "http://localhost:{port}/",  # another name
        "http://{place}.evil.example.test/",
        "http://{place}\\@evil.example.test/",  # clients disagree about the backslash
        "https://{place}@evil.example.test/",
        "ftp://{place}/",
        "http://{place}/a b",
        "http://{place}/\r\nX-Injected: 1",
        "//{place}/",
        "http://[::1/",
        "http://example.com/",  # plain http to another machine
    ],
)
async def test_a_url_that_the_contract_does_not_allow_is_refused_and_nothing_is_sent(
    transport: HttpTransport, gate: CountingGate, url: str
) -> None:
    async with RawServer(answer_all) as server:
        request = get(server)
        bad = HttpRequest("GET", url.format(place=server.place, port=server.port), auth_host=request.auth_host)
        with pytest.raises(HostRefused) as caught:
            await transport.send(bad, gate)
        assert (server.connections, gate.calls) == (0, 0)
        assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "1\r\nX-B: 2"),
        ("X-A", "1\n"),
        ("X-A", "a\x00b"),
        ("X-A", "snow \N{SNOWMAN}"),
        ("X A", "1"),
        ("X-A:", "1"),
        ("", "1"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("Host", "evil.example.test"),
    ],
)
async def test_headers_cannot_end_a_line_or_speak_for_the_transport(
    transport: HttpTransport, gate: CountingGate, name: str, value: str
) -> None:
    async with RawServer(answer_all) as server:
        with pytest.raises(InvalidValue):
            await transport.send(get(server, headers=((name, value),)), gate)
        assert (server.connections, gate.calls) == (0, 0)


@pytest.mark.parametrize(
    ("value", "sent"),
    [("  padded\t", "padded"), ("a \t b", "a \t b"), ("", ""), ("caf\u00e9", "caf\u00e9"), ('a:b;c="d"', 'a:b;c="d"')],
)
async def test_a_header_value_that_is_unusual_but_allowed_arrives(
    transport: HttpTransport, gate: CountingGate, value: str, sent: str
) -> None:
    async with RawServer(answer_all) as server:
        await transport.send(get(server, headers=(("X-A", value),)), gate)
    assert f"X-A: {sent}\r\n" in server.requests[0]


async def test_a_method_that_is_none_is_refused_before_anything_is_sent(transport: HttpTransport, gate: CountingGate) -> None:
    async with RawServer(answer_all) as server:
        request = HttpRequest("GET / HTTP/1.1\r\nX:", server.url, auth_host=server.place)
        with pytest.raises(InvalidValue, match="no HTTP method"):
            await transport.send(request, gate)
        assert (server.connections, gate.calls) == (0, 0)
