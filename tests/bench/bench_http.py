"""CPU per request of the transport against stock httpx.AsyncClient, in the same run (PERF P3).

    python tests/bench/bench_http.py [--rounds 5] [--requests 600] [--tls] [--smoke]

A minimal server runs in a process of its own, so that only the client's CPU is counted. Both clients read the same small
JSON answer, over TLS if asked for, with a time limit on each request; rounds are interleaved. Printed per number of requests
in flight: microseconds of CPU per request (min / median / max) and the ratio of the medians; then our own cost at the most in
flight against one at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
import trustme

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.protocols import HttpRequest

BODY = b'{"id": "job-1", "state": "running", "progress": 10}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)

Ask = Callable[[], Awaitable[object]]


class Minimal(asyncio.Protocol):
    """Answers each head that arrives; requests have no body."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._received = transport, b""

    def data_received(self, data: bytes) -> None:
        *heads, self._received = (self._received + data).split(b"\r\n\r\n")
        self._transport.write(ANSWER * len(heads))


def serve(ready: Connection, certificate: str = "") -> None:
    """Serve until the process is ended; with the path of a certificate and its key, over TLS."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if certificate else None
    if tls is not None:
        tls.load_cert_chain(certificate)

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Minimal, "127.0.0.1", 0, ssl=tls)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def cpu_us(ask: Ask, in_flight: int, requests: int) -> float:
    """Microseconds of this process's CPU per request."""
    left = iter(range(requests))

    async def one_after_another() -> None:
        for _ in left:
            await ask()

    started = time.process_time()
    await asyncio.gather(*(one_after_another() for _ in range(in_flight)))
    return (time.process_time() - started) / requests * 1e6


async def measure(origin: str, in_flight: int, rounds: int, requests: int) -> dict[str, list[float]]:
    """Both clients, interleaved, after a warm-up that opens every connection."""
    url = f"{origin}/v1/jobs/1"
    limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    transport = HttpTransport(ReferenceSecrets(), SystemClock())
    request = HttpRequest("GET", url, timeout=timedelta(seconds=30), auth_host=origin.partition("//")[2])
    async with httpx.AsyncClient(limits=limits, verify=httpx.create_ssl_context(), trust_env=False, timeout=30) as client:
        asks: dict[str, Ask] = {
            "ours": lambda: transport.send(request, lambda: None),
            "stock": lambda: client.get(url),
        }
        for ask in asks.values():
            await cpu_us(ask, in_flight, 2 * in_flight)
        figures: dict[str, list[float]] = {name: [] for name in asks}
        for _ in range(rounds):
            for name, ask in asks.items():
                figures[name].append(await cpu_us(ask, in_flight, max(requests, 2 * in_flight)))
    await transport.close()
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=600, help="of each client, per round")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="the smallest run that takes every step")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        certificate = certified(Path(name)) if options.tls else ""
        if options.smoke:
            bench(certificate, (1, 4, 8), rounds=1, requests=20)
        else:
            bench(certificate, (1, 16, 64, 256), options.rounds, options.requests)


def certified(folder: Path) -> str:
    """The path of a certificate with its key for this machine; its authority is trusted by both clients."""
    authority, chain = trustme.CA(), folder / "chain.pem"
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(chain))
    os.environ["SSL_CERT_FILE"] = str(folder / "authority.pem")
    return str(chain)


def bench(certificate: str, levels: Sequence[int], rounds: int, requests: int) -> None:
    """Run the server, measure each level, print."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there, certificate), daemon=True)
    server.start()
    try:
        origin = f"{'https' if certificate else 'http'}://127.0.0.1:{here.recv()}"
        medians: dict[int, float] = {}
        for in_flight in levels:
            figures = asyncio.run(measure(origin, in_flight, rounds, requests))
            for name, each in figures.items():
                low, middle, high = min(each), statistics.median(each), max(each)
                print(f"{in_flight:3} in flight  {name:5}  {low:8.0f} / {middle:8.0f} / {high:8.0f} us CPU a request")
            medians[in_flight] = statistics.median(figures["ours"])
            print(
                f"{in_flight:3} in flight  ratio  {medians[in_flight] / statistics.median(figures['stock']):.3f} (ours / stock)"
            )
        print(f"ours at {levels[-1]} in flight / at 1: {medians[levels[-1]] / medians[1]:.2f}")
    finally:
        server.terminate()
        server.join()


if __name__ == "__main__":
    main()
