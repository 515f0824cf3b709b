"""A server on loopback that counts bytes and says exactly what a test tells it, well-formed or not."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

Handler = Callable[["Connection"], Awaitable[None]]


@dataclass
class Connection:
    """One accepted connection; `number` counts from 1."""

    number: int
    server: RawServer
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def request(self) -> str:
        """The next request, head and body, as text; empty where the client has gone. Its bytes are counted."""
        received = b""
        while b"\r\n\r\n" not in received:
            data = await self.reader.read(65_536)
            self.server.bytes_received += len(data)
            if not data:
                return ""
            received += data
        head, _, body = received.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        wanted = int(lengths[0].partition(b":")[2]) if lengths else 0
        while len(body) < wanted:
            data = await self.reader.read(65_536)
            self.server.bytes_received += len(data)
            body += data
        text = (head + b"\r\n\r\n" + body).decode("latin-1")
        self.server.requests.append(text)
        return text

    async def send(self, data: bytes) -> None:
        """Bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, body: bytes = b"{}", *headers: str, status: str = "200 OK") -> None:
        """A well-formed answer."""
        lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
        await self.send("\r\n".join(lines).encode() + body)

    def reset(self) -> None:
        """Close with RST."""
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@dataclass
class RawServer:
    """Runs `handler` for each connection and closes it afterwards."""

    handler: Handler
    tls: ssl.SSLContext | None = None
    bytes_received: int = 0
    connections: int = 0
    requests: list[str] = field(default_factory=list)
    port: int = 0

    def __post_init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def place(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL."""
        return f"{'https' if self.tls else 'http'}://{self.place}"

    async def __aenter__(self) -> RawServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.CancelledError, ssl.SSLError):
                await self.handler(Connection(self.connections, self, reader, writer))
        finally:
            self._tasks.discard(task)
            writer.close()


async def answer_all(connection: Connection) -> None:
    """Answers every request of the connection with `{}`."""
    while await connection.request():
        await connection.answer()
