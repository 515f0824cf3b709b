"""The credential: where it goes, what it looks like there, and that it shows nowhere else."""

from __future__ import annotations

import base64
import logging
from datetime import timedelta
from typing import Literal

import pytest

from jobconsole.adapters.http import HttpTransport
from jobconsole.core.contracts.contract import Auth
from jobconsole.errors import InvalidValue, SecretMissing, TransportFault
from jobconsole.protocols import HttpRequest
from tests.adapters.conftest import CountingGate
from tests.adapters.raw_server import Connection, RawServer, answer_all

TOKEN = "tok-4711-secret"


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    """The credential behind env:TOKEN."""
    monkeypatch.setenv("TOKEN", TOKEN)


def get(server: RawServer, auth: Auth, **more: object) -> HttpRequest:
    """A GET with a credential."""
    made = {"auth": auth, "auth_host": server.place, "timeout": timedelta(seconds=30), **more}
    return HttpRequest("GET", f"{server.url}/v1/jobs/1", **made)  # type: ignore[arg-type]  # a test's own words


@pytest.mark.rule("C13")
@pytest.mark.parametrize(
    ("secret", "auth", "line"),
    [
        (TOKEN, Auth("env:TOKEN"), f"Authorization: Bearer {TOKEN}"),
        ("ana:p:w", Auth("env:TOKEN", "basic"), "Authorization: Basic " + base64.b64encode(b"ana:p:w").decode()),
        ("ana:pä", Auth("env:TOKEN", "basic"), "Authorization: Basic " + base64.b64encode("ana:pä".encode()).decode()),
        (TOKEN, Auth("env:TOKEN", "raw", "X-Api-Key", "Key {secret}"), f"X-Api-Key: Key {TOKEN}"),
    ],
)
async def test_a_scheme_makes_its_header(
    transport: HttpTransport,
    gate: CountingGate,
    monkeypatch: pytest.MonkeyPatch,
    secret: str,
    auth: Auth,
    line: str,
) -> None:
    monkeypatch.setenv("TOKEN", secret)
    async with RawServer(answer_all) as server:
        await transport.send(get(server, auth, headers=(("authorization", "Bearer old"), ("X-Api-Key", "old"))), gate)
    lines = server.requests[0].split("\r\n")
    assert line in lines
    name = line.partition(":")[0].lower()
    assert sum(each.lower().startswith(f"{name}:") for each in lines) == 1


async def test_aws_sigv4_signs_what_is_sent(
    transport: HttpTransport, gate: CountingGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY:session-token")
    auth = Auth("env:TOKEN", "aws-sigv4", service="athena", region="eu-central-1")
    async with RawServer(answer_all) as server:
        await transport.send(get(server, auth, headers=(("X-Amz-Target", "AmazonAthena.GetQueryExecution"),)), gate)
    sent = server.requests[0]
    assert "X-Amz-Date: 20261129T100000Z\r\n" in sent
    assert "X-Amz-Security-Token: session-token\r\n" in sent
    assert "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261129/eu-central-1/athena/aws4_request, " in sent
    assert "SignedHeaders=host;x-amz-date;x-amz-security-token;x-amz-target, Signature=" in sent
    assert "wJalr" not in sent


@pytest.mark.rule("C13")
async def test_the_credential_goes_to_base_urls_own_host_only(transport: HttpTransport, gate: CountingGate) -> None:
    """HT-02: another allowed host, and another port of the same host, are asked without it."""
    async with RawServer(answer_all) as own, RawServer(answer_all) as other:
        await transport.send(get(other, Auth("env:TOKEN"), auth_host=own.place, allowed_hosts=(other.place,)), gate)
        await transport.send(get(own, Auth("env:TOKEN")), gate)
    assert TOKEN not in "".join(other.requests)
    assert TOKEN in own.requests[0]


@pytest.mark.rule("B11", "C13")
async def test_the_reference_is_read_anew_for_each_request(
    transport: HttpTransport, gate: CountingGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawServer(answer_all) as server:
        await transport.send(get(server, Auth("env:TOKEN")), gate)
        monkeypatch.setenv("TOKEN", "rotated-token")
        await transport.send(get(server, Auth("env:TOKEN")), gate)
    assert "Bearer rotated-token" in server.requests[1]


@pytest.mark.rule("B11")
async def test_a_credential_has_changed_when_its_value_is_not_the_one_last_sent(
    transport: HttpTransport, gate: CountingGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawServer(answer_all) as server:
        request = get(server, Auth("env:TOKEN"))
        assert not transport.credential_changed(request)  # nothing was sent yet, so nothing was refused
        await transport.send(request, gate)
        assert not transport.credential_changed(request)
        monkeypatch.setenv("TOKEN", "rotated-token")
        assert transport.credential_changed(request)
        await transport.send(request, gate)
        assert not transport.credential_changed(request)
        monkeypatch.delenv("TOKEN")
        assert not transport.credential_changed(request)  # there is none to try
        assert not transport.credential_changed(get(server, Auth()))


@pytest.mark.rule("C13")
@pytest.mark.parametrize(
    ("secret", "auth"),
    [
        (None, Auth("env:TOKEN")),
        ("", Auth("env:TOKEN")),
        ("a\r\nX-Injected: 1", Auth("env:TOKEN")),
        ("a\nb", Auth("env:TOKEN", "raw", "X-Key", "{secret}")),
        ("snow\N{SNOWMAN}", Auth("env:TOKEN")),
        ("no-colon", Auth("env:TOKEN", "basic")),
        ("only-one-part", Auth("env:TOKEN", "aws-sigv4", service="athena", region="eu-central-1")),
    ],
)
async def test_a_credential_that_is_missing_or_does_not_fit_stops_before_anything_is_sent(
    transport: HttpTransport,
    gate: CountingGate,
    monkeypatch: pytest.MonkeyPatch,
    secret: str | None,
    auth: Auth,
) -> None:
    monkeypatch.delenv("TOKEN")
    if secret is not None:
        monkeypatch.setenv("TOKEN", secret)
    async with RawServer(answer_all) as server:
        with pytest.raises(SecretMissing, match="env:TOKEN") as caught:
            await transport.send(get(server, auth), gate)
        assert (server.connections, gate.calls) == (0, 0)
    assert not secret or secret not in str(caught.value)


async def test_sigv4_without_service_or_region_names_what_is_missing(
    transport: HttpTransport, gate: CountingGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "AKID:SECRET")
    async with RawServer(answer_all) as server:
        with pytest.raises(InvalidValue, match="region"):
            await transport.send(get(server, Auth("env:TOKEN", "aws-sigv4", service="athena")), gate)


@pytest.mark.rule("C13")
@pytest.mark.parametrize(
    ("scheme", "sends_back"), [("bearer", TOKEN), ("basic", "pw-4711"), ("basic", base64.b64encode(b"ana:pw-4711").decode())]
)
async def test_no_error_and_no_repr_shows_the_credential_even_where_the_provider_sends_it_back(
    transport: HttpTransport,
    gate: CountingGate,
    monkeypatch: pytest.MonkeyPatch,
    scheme: Literal["bearer", "basic"],
    sends_back: str,
) -> None:
    monkeypatch.setenv("TOKEN", TOKEN if scheme == "bearer" else "ana:pw-4711")

    async def echoes(connection: Connection) -> None:
        await connection.request()
        await connection.send(f"no such user as {sends_back}\r\n\r\n".encode())

    async with RawServer(echoes) as server:
        request = get(server, Auth("env:TOKEN", scheme))
        with pytest.raises(TransportFault) as caught:
            await transport.send(request, gate)
    assert "***" in str(caught.value)
    shown = [str(caught.value), repr(caught.value), repr(request), repr(transport), repr(vars(transport))]
    assert not [text for text in shown if sends_back in text]


async def test_no_log_line_shows_the_credential_when_every_logger_tells_all_it_knows(
    transport: HttpTransport, gate: CountingGate, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with RawServer(answer_all) as server:
        await transport.send(get(server, Auth("env:TOKEN")), gate)
        await transport.send(get(server, Auth("env:TOKEN", "raw", "X-Api-Key", "{secret}")), gate)
    assert TOKEN not in caplog.text
