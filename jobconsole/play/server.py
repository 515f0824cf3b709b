"""The play provider on the wire: asyncio and h11, because it must drip bytes and lie about lengths.

Only this file does the I/O of the play provider. `jobconsole mock` and `demo` start a `PlayServer`, and the test fixture
`slow_job_server` runs one in a thread; what it answers is the business of `book.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import struct
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any

import h11

from jobconsole.errors import InvalidValue
from jobconsole.play.book import Book, Call, Seen
from jobconsole.play.job import Fault, FaultKind, Reply
from jobconsole.play.script import Script

DEFAULT_PORT = 8642  # also the default of the contract's parameter `port`
LARGEST_BODY = 1_000_000  # bytes of a request
READ_BYTES = 65_536
MISSING_BYTES = 64  # announced but not sent by `truncate`, where the whole body is to arrive
NO_BODY = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


class PlayServer:
    """A provider to play with: a real HTTP server whose jobs behave as their scenario says.

    `port` 0 takes a free one. `factor` is provider seconds per real second: at 10 a job of 8 s takes 0.8 s. `seed` makes
    ids and answers reproducible. `script` answers by request number instead. Use it as an async context manager, or call
    `start` and `stop`; `url` is valid between them.
    """

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, factor: float = 1.0, seed: int = 0, script: Script | None = None
    ) -> None:
        if not 0 < factor < 1e6:
            raise InvalidValue(f"factor {factor}: provider seconds per real second, above 0 and below 1,000,000")
        self.host, self.port, self.factor = host, port, factor
        self._book = Book(seed=seed, factor=factor, script=script)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._started_at = time.monotonic()
        self._ordinals = itertools.count(1)
        self.connections = 0  # accepted so far

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def log(self) -> Sequence[Seen]:
        """The last 100,000 complete requests, in the order of arrival, with what they got."""
        return self._book.log

    def requests(self, job_id: str, on: str = "poll") -> int:
        """How many requests of a kind (`poll`, `cancel`, `result`, ...) came for this job."""
        return self._book.requests(job_id, on)

    async def start(self) -> None:
        """Listen. Raises `OSError` where the port is taken."""
        self._server = await asyncio.start_server(self._accept, self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the port and every connection, answered or not."""
        if self._server is None:
            return
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> PlayServer:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, h11.RemoteProtocolError, asyncio.CancelledError):
                await self._serve(_Wire(reader, writer, self.factor))
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve(self, wire: _Wire) -> None:
        """One connection: request after request, until one side is done with it."""
        is_reused = False
        while (request := await wire.read()) is not None:
            reply = self._book.answer(self._call(*request, is_reused))
            if not await wire.write(reply, self._headers(reply)):
                return
            is_reused = True

    def _call(self, head: h11.Request, body: bytes, is_reused: bool) -> Call:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in head.headers}
        at_s = (time.monotonic() - self._started_at) * self.factor
        return Call(head.method.decode(), head.target.decode("latin-1"), headers, body, at_s, datetime.now(UTC), is_reused)

    def _headers(self, reply: Reply) -> list[tuple[str, str]]:
        given = {name.lower() for name, _ in reply.headers}
        ours = [
            ("Date", format_datetime(datetime.now(UTC), usegmt=True)),
            ("X-Request-Id", f"req_{next(self._ordinals):06d}"),
        ]
        if reply.body is not None:
            ours.append(("Content-Type", "application/json"))
        return [*reply.headers, *((name, value) for name, value in ours if name.lower() not in given)]


class _Wire:
    """One connection's bytes: h11 for what is well-formed, the bare socket for what is not."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, factor: float) -> None:
        self._reader, self._writer, self._factor = reader, writer, factor
        self._http = h11.Connection(h11.SERVER)

    async def read(self) -> tuple[h11.Request, bytes] | None:
        """The next complete request, or None where the client has gone or asks for too much."""
        head, body = None, bytearray()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._reader.read(READ_BYTES))
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > LARGEST_BODY:
                    return None
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return head, bytes(body)
            else:
                return None

    async def write(self, reply: Reply, headers: list[tuple[str, str]]) -> bool:
        """Send the reply, with its fault. False where the connection is over."""
        fault = reply.fault
        if fault is not None and fault.kind is FaultKind.CLOSED_ON_REUSE:
            return False
        if fault is not None and fault.kind is FaultKind.RESET_BEFORE_RESPONSE:
            self._reset()
            return False
        if fault is not None and fault.kind is FaultKind.READ_TIMEOUT:
            await self._reader.read(1)  # returns when the client gives up
            return False
        body = encoded(reply.body)
        if fault is not None and fault.kind is FaultKind.TRUNCATE:
            sent = body if fault.bytes is None else body[: fault.bytes]
            await self._send(self._head(reply.status, headers, max(len(body), len(sent) + MISSING_BYTES)), sent)
            return False
        whole = self._head(reply.status, headers, len(body)) + self._rest(reply.status, body)
        if fault is not None:
            await self._drip(whole, fault)
        else:
            await self._send(whole)
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def _head(self, status: int, headers: list[tuple[str, str]], length: int) -> bytes:
        lengths = [] if status in NO_BODY else [("Content-Length", str(length))]
        sent = [(name, value) for name, value in headers if name.lower() not in ("content-length", "transfer-encoding")]
        phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
        raw = [(name.encode("ascii"), _header_bytes(value)) for name, value in [*sent, *lengths]]
        return self._http.send(h11.Response(status_code=status, reason=phrase.encode(), headers=raw)) or b""

    def _rest(self, status: int, body: bytes) -> bytes:
        data = self._http.send(h11.Data(data=body)) if body and status not in NO_BODY else b""
        return (data or b"") + (self._http.send(h11.EndOfMessage()) or b"")

    async def _send(self, *parts: bytes) -> None:
        self._writer.write(b"".join(parts))
        await self._writer.drain()

    async def _drip(self, whole: bytes, fault: Fault) -> None:
        step = fault.bytes or 1
        for start in range(0, len(whole), step):
            await self._send(whole[start : start + step])
            if self._reader.at_eof():
                raise ConnectionResetError
            await asyncio.sleep(fault.every_s / self._factor)

    def _reset(self) -> None:
        """Close with RST, as a crashed server's kernel would."""
        raw = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def encoded(body: Any) -> bytes:
    """A reply's body as bytes: bytes as they are, None as nothing, everything else as JSON."""
    if body is None:
        return b""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def _header_bytes(value: str) -> bytes:
    """Latin-1 as HTTP has it; what does not fit goes out as UTF-8, as careless servers send it."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
