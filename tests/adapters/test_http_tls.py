"""Certificates, and the proxy of the environment."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.http_origin import origin, proxy_for
from jobconsole.core.contracts.contract import Auth
from jobconsole.errors import CertificateFault, InvalidValue, TransportFault, Withheld
from jobconsole.protocols import HttpRequest
from tests.adapters.conftest import CountingGate
from tests.adapters.raw_server import Connection, RawServer, answer_all

Serves = Callable[..., ssl.SSLContext]


def get(url: str, place: str) -> HttpRequest:
    """A GET that would carry a credential."""
    return HttpRequest("GET", url, auth=Auth(secret="env:TLS_TOKEN"), auth_host=place, timeout=timedelta(seconds=30))


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    """The credential that must not show."""
    monkeypatch.setenv("TLS_TOKEN", "tok-4711-secret")
    return "tok-4711-secret"


async def test_a_certificate_of_a_trusted_authority_serves_and_its_connection_is_kept(
    transport: HttpTransport, gate: CountingGate, trusted: ssl.SSLContext
) -> None:
    async with RawServer(answer_all, tls=trusted) as server:
        for _ in range(3):
            assert (await transport.send(get(server.url, server.place), gate)).http_status == 200
        assert (server.connections, gate.calls) == (1, 3)


@pytest.mark.rule("B10")
@pytest.mark.parametrize("flaw", ["expired", "wrong name", "unknown authority", "self-signed"])
async def test_a_certificate_that_does_not_verify_is_a_fault_of_its_own_and_nothing_is_sent(
    transport: HttpTransport, gate: CountingGate, serves: Serves, token: str, tmp_path: Path, flaw: str
) -> None:
    """HT-15: the message names the host and the flaw, never the token."""
    stranger = trustme.CA()
    signed_by_itself = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    stranger.private_key_pem.write_to_path(str(tmp_path / "self.pem"))
    stranger.cert_pem.write_to_path(str(tmp_path / "self.pem"), append=True)
    signed_by_itself.load_cert_chain(tmp_path / "self.pem")
    context, words = {
        "expired": (serves("127.0.0.1", not_after=datetime(2020, 2, 1, tzinfo=UTC)), "expired"),
        "wrong name": (serves("jobs.example.test"), "127.0.0.1"),
        "unknown authority": (serves("127.0.0.1", by=stranger), "issuer"),
        "self-signed": (signed_by_itself, "self-signed"),
    }[flaw]
    async with RawServer(answer_all, tls=context) as server:
        with pytest.raises(CertificateFault) as caught:
            await transport.send(get(server.url, server.place), gate)
        assert (gate.calls, server.bytes_received) == (0, 0)
    assert server.place in str(caught.value)
    assert words in str(caught.value)
    assert token not in repr(caught.value)


@pytest.mark.rule("B10")
async def test_a_handshake_that_fails_for_another_reason_is_a_failure_of_the_way_and_not_ambiguous(
    transport: HttpTransport, gate: CountingGate, authority: trustme.CA
) -> None:
    async def speaks_plainly(connection: Connection) -> None:
        await connection.reader.read(1)
        await connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def closes(connection: Connection) -> None:
        await connection.reader.read(1)
        connection.reset()

    for handler in (speaks_plainly, closes):
        async with RawServer(handler) as server:
            with pytest.raises(TransportFault) as caught:
                await transport.send(get(f"https://{server.place}/", server.place), gate)
        assert (caught.value.kind, caught.value.is_ambiguous, gate.calls) == ("tls", False, 0)


async def test_no_byte_leaves_over_tls_when_the_gate_says_no(
    transport: HttpTransport, gate: CountingGate, trusted: ssl.SSLContext
) -> None:
    async with RawServer(answer_all, tls=trusted) as server:
        closed = CountingGate(refuses="paused")
        with pytest.raises(Withheld):
            await transport.send(get(server.url, server.place), closed)
        await transport.send(get(server.url, server.place), gate)
        before = server.bytes_received
        with pytest.raises(Withheld):
            await transport.send(get(server.url, server.place), closed)
        assert (server.bytes_received, len(server.requests)) == (before, 1)


# ---- proxies --------------------------------------------------------------------------------------------------------------
class Tunnel:
    """A CONNECT proxy that leads every tunnel to one port of this machine."""

    def __init__(self, port: int, status: str = "200 OK") -> None:
        self.port, self.status = port, status
        self.heads: list[str] = []

    async def handle(self, connection: Connection) -> None:
        """Answer CONNECT, then copy both ways."""
        self.heads.append(await connection.request())
        await connection.send(f"HTTP/1.1 {self.status}\r\n\r\n".encode())
        if not self.status.startswith("200"):
            return
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65_536):
                sink.write(data)
            sink.close()

        try:
            await asyncio.gather(copy(connection.reader, writer), copy(reader, connection.writer))
        finally:
            writer.close()


async def test_through_a_proxy_the_gate_is_asked_at_the_request_and_not_at_the_connect(
    transport: HttpTransport,
    gate: CountingGate,
    serves: Serves,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nor does the library's own log show the credential."""
    caplog.set_level(logging.DEBUG)
    async with RawServer(answer_all, tls=serves("jobs.example.test")) as server:
        tunnel = Tunnel(server.port)
        async with RawServer(tunnel.handle) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://user:proxypw@{proxy.place}")
            request = get("https://jobs.example.test/v1/jobs/1", "jobs.example.test")
            with pytest.raises(Withheld):
                await transport.send(request, CountingGate(refuses="deadline passed"))
            assert (len(tunnel.heads), server.bytes_received) == (1, 0)
            for calls in (1, 2):
                assert (await transport.send(request, gate)).http_status == 200
                assert gate.calls == calls
            await transport.close()
        assert len(tunnel.heads) == 2
        assert tunnel.heads[0].startswith("CONNECT jobs.example.test:443 ")
        assert token not in "".join(tunnel.heads)
        assert f"Authorization: Bearer {token}" in server.requests[0]
        assert "send_request_headers" in caplog.text
        assert token not in caplog.text


@pytest.mark.rule("B10")
@pytest.mark.parametrize(("ending", "fault"), [("close", None), ("abort", "truncated")])
async def test_through_a_proxy_too_a_body_without_a_length_is_whole_only_where_the_server_says_that_it_ends(
    transport: HttpTransport,
    gate: CountingGate,
    serves: Serves,
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
    fault: str | None,
) -> None:
    async def says_no_length(connection: Connection) -> None:
        await connection.request()
        await connection.send(b"HTTP/1.1 200 OK\r\n\r\n{}")
        getattr(connection.writer.transport, ending)()

    async with (
        RawServer(says_no_length, tls=serves("jobs.example.test")) as server,
        RawServer(Tunnel(server.port).handle) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.place}")
        request = get("https://jobs.example.test/v1/jobs/1", "jobs.example.test")
        if fault is None:
            assert (await transport.send(request, gate)).body == b"{}"
        else:
            with pytest.raises(TransportFault) as caught:
                await transport.send(request, gate)
            assert (caught.value.kind, caught.value.is_ambiguous) == (fault, True)


async def test_a_proxy_that_refuses_is_a_failure_of_the_way_and_not_ambiguous(
    transport: HttpTransport, gate: CountingGate, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawServer(Tunnel(1, "407 Proxy Authentication Required").handle) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:proxypw@{proxy.place}")
        with pytest.raises(TransportFault) as caught:
            await transport.send(get("https://jobs.example.test/", "jobs.example.test"), gate)
    assert (caught.value.kind, caught.value.is_ambiguous, gate.calls) == ("refused", False, 0)
    assert "proxypw" not in str(caught.value)


@pytest.mark.parametrize("named", ["gopher://user:proxypw@proxy.example:1", "http://[::1"])
async def test_a_proxy_that_cannot_be_used_is_named_by_its_variable(
    transport: HttpTransport, gate: CountingGate, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", named)
    with pytest.raises(InvalidValue, match="HTTPS_PROXY") as caught:
        await transport.send(get("https://jobs.example.test/", "jobs.example.test"), gate)
    assert "proxypw" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "no_proxy", "proxy"),
    [
        (("https", "api.example.com", None), "", "http://proxy:3128"),
        (("https", "127.0.0.1", 8443), "", None),
        (("https", "localhost", None), "", None),
        (("https", "::1", None), "", None),
        (("http", "localhost", 80), "", None),
        (("https", "api.example.com", None), "example.com", None),
        (("https", "api.example.com", None), ".example.com,other", None),
        (("https", "api.example.com", None), "*", None),
        (("https", "api.example.com", None), "api.example.com:443", None),
        (("https", "api.example.com", None), "api.example.com:8443", "http://proxy:3128"),
        (("https", "notexample.com", None), "example.com", "http://proxy:3128"),
    ],
)
def test_the_proxy_is_the_environments_and_never_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, url: tuple[str, str, int | None], no_proxy: str, proxy: str | None
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "proxy:3128")
    monkeypatch.setenv("HTTP_PROXY", "proxy:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert proxy_for(origin(*url)) == proxy
