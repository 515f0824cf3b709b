"""One HTTP/1.1 connection: asyncio moves the bytes, h11 says what they mean.

Only this file knows how a direct connection is made, read and given up. `http.py` puts it under httpx's seam wherever no proxy
stands in between. It holds no timer: the caller's bound stands around the whole exchange.
"""

from __future__ import annotations

import asyncio
import select
import ssl

import h11

from jobconsole.adapters.http_address import connected

LONGEST_HEAD = 100 * 1024  # bytes of an answer's status line and headers together
MOST_UNREAD = 128 * 1024  # bytes that wait for their reader before no more are taken from the network


async def connect(host: str, port: int) -> HttpConnection:
    """A connection without TLS to the first address of the host that answers. Raises `OSError`, `UnicodeError`."""
    made = await connected(host, port)
    _, connection = await asyncio.get_running_loop().create_connection(HttpConnection, sock=made)
    return connection


class ClosedUnanswered(ConnectionResetError):
    """The connection is gone, and not one byte of the answer had come."""


class HttpConnection(asyncio.Protocol):
    """One exchange at a time: `begin`, `send`, then `chunk` until it gives None, then `end`.

    Reading raises `h11.RemoteProtocolError` for what is not HTTP or stops within a body, `ClosedUnanswered` for a connection
    that is gone before anything of the answer came, and `ConnectionResetError` for one that is gone otherwise.
    """

    _transport: asyncio.Transport
    _wire: asyncio.Transport  # the same without TLS, else the one below it

    def __init__(self) -> None:
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._lost = asyncio.Event()
        self._error: Exception | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._is_asking = self._is_ended = self._is_paused = self._has_surplus = False
        self._has_heard = self._is_cut = False
        self._unread = 0

    @property
    def is_free(self) -> bool:
        """Whether the last exchange is over, and nothing is known that forbids another one."""
        is_gone = self._is_ended or self._lost.is_set() or self._transport.is_closing()
        return not (self._is_asking or self._has_surplus or is_gone)

    @property
    def is_ready(self) -> bool:
        """Whether another exchange may begin: it is free, and the network has nothing to say, not even "closed".

        What came unasked would otherwise be taken for the next answer; asyncio may not have seen it yet.
        """
        if not self.is_free:
            return False
        here = select.poll()
        here.register(self._transport.get_extra_info("socket"), select.POLLIN)
        return not here.poll(0)

    async def start_tls(self, trust: ssl.SSLContext, host: str) -> None:
        """Verify that the peer is `host`, and encrypt from here on. Raises `OSError`, of which `ssl.SSLError` is one."""
        plain, secured = self._transport, None
        try:
            if not (self._has_surplus or self._is_ended or self._lost.is_set()):
                secured = await asyncio.get_running_loop().start_tls(plain, self, trust, server_hostname=host)
            if secured is None:
                raise ConnectionAbortedError("the peer spoke or went away before the handshake")
        except BaseException:
            plain.abort()
            self._lost.set()  # asyncio tells nobody of the end of a connection that never was secure
            raise
        self._transport = secured

    def begin(self, method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes:
        """The bytes of a request, of which none has left yet; from here on the connection is in use."""
        self._is_asking, self._has_heard = True, False
        send = self._parser.send
        data = send(h11.Request(method=method, target=target, headers=headers)) or b""
        if body:
            data += send(h11.Data(data=body)) or b""
        return data + (send(h11.EndOfMessage()) or b"")

    async def send(self, data: bytes) -> h11.Response:
        """Send what `begin` made; return the head of the answer. Interim answers (1xx) are passed over."""
        self._transport.write(data)
        while True:
            event = self._parser.next_event()
            if isinstance(event, h11.Response):
                return event
            if event is h11.NEED_DATA:
                await self._more()

    async def chunk(self) -> bytes | None:
        """The next part of the body; None behind its end."""
        while True:
            event = self._parser.next_event()
            if isinstance(event, h11.Data):
                return bytes(event.data)
            if event is not h11.NEED_DATA:
                return None
            await self._more()

    def end(self) -> None:
        """The exchange is over. The connection stays usable where both sides said all they had to say, and want to go on.

        A server may answer before it has read the whole request (413). The rest of that would be the head of the next one for
        a server that reads no further, so what has not left us by now spoils the connection.
        """
        parser = self._parser
        is_unsent = bool(self._transport.get_write_buffer_size() or self._wire.get_write_buffer_size())
        is_said = parser.our_state is h11.DONE and parser.their_state is h11.DONE
        if is_said and not is_unsent and not parser.trailing_data[0]:
            parser.start_next_cycle()
            self._is_asking = False

    async def close(self) -> None:
        """Close it, whatever it is doing; return when the socket is closed."""
        self._transport.abort()
        await self._lost.wait()

    async def _more(self) -> None:
        """Return when there is more to parse: bytes, or the end of them."""
        if self._is_ended and self._parser.their_state is not h11.SEND_RESPONSE:
            if self._is_cut:
                raise h11.RemoteProtocolError("the connection was closed without the end of TLS")
            self._parser.receive_data(b"")
            return
        if self._is_ended or self._lost.is_set():
            gone = ConnectionResetError if self._has_heard else ClosedUnanswered
            raise gone("the connection was closed") from self._error
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        self._unread = 0
        self._waiting = asyncio.get_running_loop().create_future()
        await self._waiting

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    # ---- what asyncio tells ---------------------------------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = self._wire = transport

    def data_received(self, data: bytes) -> None:
        """Bytes have come; unasked ones spoil the connection."""
        if not self._is_asking:
            self._has_surplus = True
            return
        self._has_heard = True
        self._parser.receive_data(data)
        self._unread += len(data)
        if self._unread > MOST_UNREAD and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """The peer says nothing more, as far as the network tells."""
        secured = self._transport.get_extra_info("ssl_object")
        self._is_ended, self._is_cut = True, self._is_cut or not is_end_signed(secured)
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone; without an error the peer has closed it, which may be the end of a body."""
        if error is None and not self._is_ended:
            self.eof_received()
        self._error = error
        self._lost.set()
        self._wake()


def is_end_signed(secured: ssl.SSLObject | None) -> bool:
    """Whether the peer itself ended what it had to say: under TLS anybody on the way can close, only the peer can say so.

    Libraries tell both ends alike. After the peer's close_notify a read gives b"", else it fails (RFC 8446 6.1). Without TLS
    nobody can know.
    """
    if secured is None:
        return True
    try:
        return not secured.read(1)
    except ssl.SSLError:
        return False
