"""HTTP as the engine needs it: one request, once, bounded in time and size, the gate directly before the first byte.

Only this file imports httpx, so that a successor can take its place; it uses httpx's messages and its seam for transports,
never its client, which would follow redirects, keep cookies, read netrc and turn userinfo into credentials. The composition
root makes one `HttpTransport` for a process; the worker and the actions call `send`. What an answer means is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import h11
import httpx

from jobconsole.adapters.http_body import BodyReader
from jobconsole.adapters.http_connection import ClosedUnanswered, HttpConnection, connect, is_end_signed
from jobconsole.adapters.http_credential import CredentialDesk, credential_headers
from jobconsole.adapters.http_headers import NAME, checked, value_of
from jobconsole.adapters.http_idle import IdleConnections, close_quietly
from jobconsole.adapters.http_origin import Origin, origin, proxy_for
from jobconsole.adapters.sigv4 import Signable
from jobconsole.core.contracts import hosts
from jobconsole.core.judging.answer import Answer
from jobconsole.core.redaction import redact
from jobconsole.errors import CertificateFault, HostRefused, InvalidValue, PeerClosedIdle, TransportFault
from jobconsole.protocols import Clock, Gate, HttpRequest, Secrets

IDLE_S = 20.0  # seconds that an unused connection is kept; shorter than what servers and load balancers keep (60 s and more)
MOST_IDLE = 256  # unused connections in all
LONGEST_TEXT = 500  # characters of an error's text, which may quote what a server sent
USER_AGENT = (b"User-Agent", b"jobconsole")
_ONE = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_S)
_TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # for plain http, where no certificate is ever looked at
_UNBOUNDED: dict[str, Any] = {}  # no timeouts of httpx's own: they are per read, ours stands around the whole exchange


class HttpTransport:
    """The transport of protocols.py over httpx. Belongs to one event loop; `close` when done."""

    def __init__(self, secrets: Secrets, clock: Clock) -> None:
        self._clock = clock
        self._desk = CredentialDesk(secrets)
        self._idle: IdleConnections[_Connection] = IdleConnections(longest_s=IDLE_S, most=MOST_IDLE)

    async def send(self, request: HttpRequest, gate: Gate, *, fresh: bool = False) -> Answer:
        """Send and read the whole answer, or raise; see `Transport.send`. `fresh` uses a connection that never served."""
        url, to = _target(request.url, request.auth_host, request.allowed_hosts)
        path = url.raw_path.decode("ascii").partition("?")[0]
        progress = _Progress(gate, f"{request.method} {to.scheme}://{to.place}{path}")
        trust = self._trust if to.scheme == "https" else _TRUSTS_NOBODY  # loading it takes 0.2 s, once: not part of a request
        started_up = self._clock.up_ms()
        bound = asyncio.timeout(request.timeout.total_seconds())
        try:
            async with bound:
                wire = await self._wire(request, url, to, progress)
                status, headers, body = await self._exchange(wire, to, trust, request.max_bytes, progress, fresh=fresh)
        except TransportFault as fault:
            raise progress.fault(fault.kind, str(fault)) from None
        except (httpx.HTTPError, h11.ProtocolError, OSError, UnicodeError) as error:
            if bound.expired():
                raise progress.fault("timeout", f"no whole answer within {request.timeout.total_seconds():g} s") from None
            raise _fault_of(error, progress) from None
        return Answer(
            http_status=status,
            headers=headers,
            body=body,
            url=request.url,
            received_at=self._clock.wall(),
            received_up=self._clock.up_ms(),
            elapsed_ms=self._clock.up_ms() - started_up,
        )

    def credential_changed(self, request: HttpRequest) -> bool:
        """Whether the reference holds another value than the one last sent for it; see `Transport.credential_changed`."""
        return request.auth.secret is not None and self._desk.has_changed(request.auth.secret)

    async def close(self) -> None:
        """Close all connections; those in use as soon as their exchange ends."""
        await self._idle.close()

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """The machine's trust (`SSL_CERT_FILE`, `SSL_CERT_DIR`, else the bundle); verification cannot be switched off."""
        trust = httpx.create_ssl_context()
        trust.set_alpn_protocols(["http/1.1"])
        return trust

    async def _wire(self, request: HttpRequest, url: httpx.URL, to: Origin, progress: _Progress) -> httpx.Request:
        """The request as it goes out, with its credential where the host is the one that gets it."""
        if not NAME.fullmatch(request.method):
            raise InvalidValue(f"{request.method[:20]!r} is no HTTP method")
        headers = checked(request.headers)
        reference = request.auth.secret
        if reference is not None and to.place == request.auth_host:
            secret = await self._desk.read(reference)
            path, _, query = url.raw_path.decode("ascii").partition("?")
            signable = Signable(request.method, url.netloc.decode("ascii"), path, query, headers, request.body or b"")
            shown = checked(credential_headers(request.auth, secret, signable, self._clock.wall()))
            progress.secrets = (secret, *secret.split(":"), *(value.rpartition(" ")[2] for _, value in shown))
            names = {name.lower() for name, _ in shown}
            headers = [*(pair for pair in headers if pair[0].lower() not in names), *shown]
            progress.when_sent = lambda: self._desk.sent(reference, secret)
        raw = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
        if not any(name.lower() == "user-agent" for name, _ in headers):
            raw.append(USER_AGENT)
        raw.append((b"Accept-Encoding", b"identity"))
        extensions = {"trace": progress.trace, "timeout": _UNBOUNDED}
        return httpx.Request(request.method, url, headers=raw, content=request.body, extensions=extensions)

    async def _exchange(
        self, wire: httpx.Request, to: Origin, trust: ssl.SSLContext, max_bytes: int, progress: _Progress, *, fresh: bool
    ) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        """One request over one connection, which is kept only where the exchange was clean to its end."""
        connection = None if fresh else self._idle.take(to)
        if connection is None:
            connection = _connection(to, trust)
        is_clean = False
        try:
            response = await connection.handle_async_request(wire)
            stream = response.stream
            assert isinstance(stream, httpx.AsyncByteStream)
            try:
                progress.http_status = response.status_code
                headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw)
                coding, length = value_of(headers, "content-encoding"), value_of(headers, "content-length")
                reader = BodyReader(coding, length, max_bytes, response.status_code)
                async for chunk in stream:
                    reader.feed(chunk)
                body = reader.finish()
            finally:
                await stream.aclose()
            is_clean = True
        finally:
            if not is_clean or fresh or not self._idle.keep(to, connection):
                await close_quietly(connection)
        return response.status_code, headers, body


@dataclass(slots=True)
class _Progress:
    """How far one request has come; told by the events of httpx's `trace` extension."""

    gate: Gate
    what: str  # method, scheme, host and path, for messages
    secrets: Sequence[str] = field(default=(), repr=False)
    when_sent: Callable[[], None] | None = field(default=None, repr=False)
    is_reused: bool = True
    stage: str = "connecting"
    has_left: bool = False  # the gate has opened: bytes may be on the wire
    has_read: bool = False  # the loop has turned since the request was sent, as every read from the network makes it do
    http_status: int | None = None

    async def trace(self, event: str, info: dict[str, Any]) -> None:
        """An exception in here, so the gate's too, stops the request before its first byte."""
        if event.endswith(".connect_tcp.started"):
            self.is_reused = False
        elif event.endswith(".start_tls.started"):
            self.stage = "setting up TLS"
        elif event.endswith(".send_request_headers.started") and info["request"].method != b"CONNECT":
            self.gate()
            self.has_left, self.stage = True, "waiting for the answer"
            if self.when_sent is not None:
                self.when_sent()
        elif event.endswith(".receive_response_headers.started"):
            asyncio.get_running_loop().call_soon(setattr, self, "has_read", True)
        elif event.endswith(".receive_response_headers.complete") and self.has_left and not self.has_read:
            # Surplus bytes of the answer before: they were here before this request was.
            raise TransportFault("protocol", "the server had sent more than it announced", is_ambiguous=True)

    def fault(self, kind: str, text: str) -> TransportFault:
        """The fault to raise, its text complete, redacted and bounded."""
        shown = redact(f"{self.what}: {text} (while {self.stage})", self.secrets)
        return TransportFault(kind, shown[:LONGEST_TEXT], is_ambiguous=self.has_left, http_status=self.http_status)


@lru_cache(maxsize=1024)  # a job's status URL is asked again and again
def _target(given: str, auth_host: str, allowed_hosts: tuple[str, ...]) -> tuple[httpx.URL, Origin]:
    """The URL as it will be used, and its origin. Raises `HostRefused`: nothing is sent there."""
    checked = hosts.check(given, auth_host, allowed_hosts)
    try:
        url = httpx.URL(checked)
    except httpx.InvalidURL:
        raise HostRefused("a URL does not parse; nothing was sent") from None
    to = origin(url.scheme, url.raw_host.decode("ascii"), url.port)
    if to.place != hosts.host_port(checked) or url.userinfo:
        raise HostRefused(f"{to.place}: the URL can be read in two ways; nothing was sent")
    return url, to


class _Direct(httpx.AsyncBaseTransport):
    """One connection of our own to one origin; it tells `trace` the same events as httpx's own transport does."""

    def __init__(self, to: Origin, trust: ssl.SSLContext) -> None:
        self._to, self._trust = to, trust
        self._connection: HttpConnection | None = None

    @property
    def is_free(self) -> bool:
        """Whether it may be kept for another request."""
        return self._connection is not None and self._connection.is_free

    @property
    def is_ready(self) -> bool:
        """Whether it can serve another request right now."""
        return self._connection is not None and self._connection.is_ready

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Connect where that was not done yet, send, and read the head; the body comes as the response's stream."""
        trace = request.extensions["trace"]
        if (connection := self._connection) is None:
            await trace("connection.connect_tcp.started", {})
            connection = self._connection = await connect(self._to.host, self._to.port)
            if self._to.scheme == "https":
                await trace("connection.start_tls.started", {})
                await connection.start_tls(self._trust, self._to.host)
        data = connection.begin(request.method, request.url.raw_path, request.headers.raw, request.content)
        await trace("http11.send_request_headers.started", {"request": request})
        head = await connection.send(data)
        return httpx.Response(head.status_code, headers=head.headers.raw_items(), stream=_Body(connection))

    async def aclose(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            await self._connection.close()


class _Body(httpx.AsyncByteStream):
    """The body of an answer, as it comes; closed when the exchange is over."""

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if (data := await self._connection.chunk()) is None:
            raise StopAsyncIteration
        return data

    async def aclose(self) -> None:
        """Tell the connection."""
        self._connection.end()


class _Proxied(httpx.AsyncHTTPTransport):
    """httpx's own transport, for one connection through a proxy.

    It does not tell whether anything of an answer came before a connection was gone: that is never a `PeerClosedIdle`.
    """

    is_free = is_ready = True  # its own pool of one looks after that

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """As httpx does it; a body that ends with the connection is whole only where the peer says so (B10)."""
        response = await super().handle_async_request(request)
        stream, network = response.stream, response.extensions["network_stream"]
        if not response.headers.keys() & {"content-length", "transfer-encoding"}:
            assert isinstance(stream, httpx.AsyncByteStream)
            response.stream = _UntilClose(stream, network.get_extra_info("ssl_object"))
        return response


class _UntilClose(httpx.AsyncByteStream):
    """A body that says nothing of its length; an empty one need not have lasted until the connection was closed (204)."""

    def __init__(self, body: httpx.AsyncByteStream, secured: ssl.SSLObject | None) -> None:
        self._body, self._secured = body, secured

    async def __aiter__(self) -> AsyncIterator[bytes]:
        is_empty = True
        async for part in self._body:
            is_empty = False
            yield part
        if not is_empty and not is_end_signed(self._secured):
            raise httpx.RemoteProtocolError("the connection was closed without the end of TLS")

    async def aclose(self) -> None:
        """Close the exchange."""
        await self._body.aclose()


_Connection: TypeAlias = _Direct | _Proxied


def _connection(to: Origin, trust: ssl.SSLContext) -> _Connection:
    """A transport that holds one connection to one origin; it connects when the first request comes.

    This is where the ways part: with a proxy in the environment httpx's own transport speaks to it, slower; else ours does.
    """
    proxy = proxy_for(to)
    if proxy is None:
        return _Direct(to, trust)
    try:
        return _Proxied(verify=trust, limits=_ONE, proxy=proxy)
    except (ValueError, ImportError, httpx.InvalidURL):
        raise InvalidValue(
            "HTTPS_PROXY or ALL_PROXY names a proxy that cannot be used: write http://host:port; "
            "for socks5:// install httpx[socks]"
        ) from None


def _fault_of(error: Exception, progress: _Progress) -> TransportFault | CertificateFault:
    """What an exception of httpx means for the wait (B10)."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = cause.verify_message or "it does not verify"
            text = f"{progress.what}: the certificate cannot be trusted: {why}; nothing was sent"
            return CertificateFault(redact(text, progress.secrets)[:LONGEST_TEXT])
    if not progress.has_left:
        return progress.fault(*_connect_fault(error, causes, progress))
    if progress.http_status is not None and isinstance(error, httpx.RemoteProtocolError | h11.RemoteProtocolError):
        return progress.fault("truncated", "the answer's body is not complete")
    if any(isinstance(cause, h11.ProtocolError) for cause in causes):
        return progress.fault("protocol", f"the answer is not HTTP ({error})")
    if progress.is_reused and isinstance(error, ClosedUnanswered):
        fault = progress.fault("reset", "the kept-alive connection was closed before an answer began")
        return PeerClosedIdle(fault.kind, str(fault), is_ambiguous=True)
    return progress.fault("reset", "the connection was closed before the answer was complete")


def _connect_fault(error: Exception, causes: Sequence[BaseException], progress: _Progress) -> tuple[str, str]:
    """Kind and text of a fault before the gate: none of these is ambiguous."""
    if isinstance(error, httpx.ProxyError):
        return "refused", f"the proxy refused ({error})"
    for cause in causes:
        if isinstance(cause, socket.gaierror | UnicodeError):
            return "dns", "the host name was not found"
        if isinstance(cause, ssl.SSLError):
            return "tls", f"the TLS handshake failed ({cause.reason or type(cause).__name__})"
        if isinstance(cause, TimeoutError):
            return "timeout", "the host did not answer"
    if progress.stage == "setting up TLS":
        return "tls", "the connection was closed during the TLS handshake"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "refused", "the connection was refused"
    return "refused", "the host cannot be reached"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and everything behind it: causes, contexts, members of groups; each once."""
    seen, waiting = set[int](), [error]
    while waiting:
        each = waiting.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
