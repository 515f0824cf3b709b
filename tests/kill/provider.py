"""The provider of the kill test: a process that counts every request at its first byte.

    python tests/kill/provider.py SEED

Prints its port and serves until it is ended. What a job does follows from its name and the seed; see `Course`. Each worker
sends a credential of its own (`worker-17`), so that the provider can tell who asked what. `GET /log` answers everything that
was counted, as JSON:

- `looks`: job id -> status requests; `posts` and `created`: operation -> submissions seen, jobs made of them
- `exchanges`: one `[job id, worker, begun, ended, how]` per status request; times are of the machine's monotonic clock, `how`
  is `answered`, `dropped` (by us) or `lost` (the other side closed before we had answered)
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

LONGEST_ANSWER_S = 0.25  # each answer takes up to so long, so that requests are in flight when workers die


class Ending(StrEnum):
    """How a job behaves to its end."""

    SUCCEEDS = "succeeded"
    FAILS = "failed"
    PARTIAL = "partial"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Course:
    """What a job does: after `looks` good answers it ends so; a share of its answers goes wrong on the way."""

    ending: Ending
    looks: int
    faults: float

    @classmethod
    def of(cls, name: str, seed: int) -> Course:
        """The same for the same name and seed."""
        rng = random.Random(f"{seed}/{name}")
        ending = rng.choices(list(Ending), weights=(60, 12, 10, 18))[0]
        return cls(ending, rng.randint(2, 14), rng.choice((0.0, 0.0, 0.25)))


@dataclass(slots=True)
class Job:
    """One job of ours; several submissions with one token are one job."""

    job_id: str
    course: Course
    shown: int = 0
    is_cancelled: bool = False

    def look(self) -> dict[str, Any]:
        """The next good answer."""
        self.shown += 1
        return {"id": self.job_id, "state": self.state}

    @property
    def state(self) -> str:
        """Running, until as many good answers were given as its course says."""
        if self.is_cancelled:
            return "cancelled"
        if self.course.ending is Ending.NEVER or self.shown < self.course.looks:
            return "running"
        return str(self.course.ending)


@dataclass(slots=True)
class Book:
    """All jobs, and everything that was counted."""

    seed: int
    jobs: dict[str, Job] = field(default_factory=dict)
    by_token: dict[str, Job] = field(default_factory=dict)
    looks: Counter[str] = field(default_factory=Counter)
    posts: Counter[str] = field(default_factory=Counter)
    created: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    exchanges: list[list[Any]] = field(default_factory=list)
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def submit(self, operation: str, token: str | None) -> Job:
        """A new job, or the one that this token has."""
        if token is not None and token in self.by_token:
            return self.by_token[token]
        job = self.job(f"j{len(self.created)}-{len(self.created[operation])}-{operation}", operation)
        self.created[operation].append(job.job_id)
        if token is not None:
            self.by_token[token] = job
        return job

    def job(self, job_id: str, name: str) -> Job:
        """The job of this id; jobs that others started, with ids that begin with `t`, exist when they are asked for."""
        return self.jobs.setdefault(job_id, Job(job_id, Course.of(name, self.seed)))

    def log(self) -> dict[str, Any]:
        """Everything that was counted."""
        return {"looks": self.looks, "posts": self.posts, "created": self.created, "exchanges": self.exchanges}


@dataclass(slots=True)
class Head:
    """The head of one request."""

    method: str
    path: str
    headers: dict[str, str]

    @classmethod
    def parse(cls, data: bytes) -> Head:
        """From its bytes, without the empty line."""
        first, *rest = data.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        pairs = (line.partition(":") for line in rest)
        return cls(method, path, {name.strip().lower(): value.strip() for name, _, value in pairs})

    @property
    def worker(self) -> str:
        """Who asks: the credential."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")


class Connection(asyncio.Protocol):
    """One connection: requests come one after another."""

    def __init__(self, book: Book) -> None:
        self._book, self._received = book, b""
        self._exchange: list[Any] | None = None  # the status request that is not answered yet

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._over("lost")

    def data_received(self, data: bytes) -> None:
        if not self._received:
            self._count(data)
        self._received += data
        while b"\r\n\r\n" in self._received:
            head_bytes, _, rest = self._received.partition(b"\r\n\r\n")
            head = Head.parse(head_bytes)
            size = int(head.headers.get("content-length", "0"))
            if len(rest) < size:
                return
            self._received = rest[size:]
            self._answer_later(head, rest[:size])

    def _count(self, data: bytes) -> None:
        """Count a status request before anything else is known of it."""
        if data.startswith(b"GET /jobs/"):
            head = Head.parse(data.partition(b"\r\n\r\n")[0])
            job_id = head.path.removeprefix("/jobs/")
            self._book.looks[job_id] += 1
            self._exchange = [job_id, head.worker, time.monotonic(), None, "open"]
            self._book.exchanges.append(self._exchange)

    def _over(self, how: str) -> None:
        if self._exchange is not None:
            self._exchange[3:] = time.monotonic(), how
            self._exchange = None

    def _answer_later(self, head: Head, body: bytes) -> None:
        if head.path == "/log":
            self._send(200, self._book.log())
            return
        status, answer = self._made(head, body)
        delay = self._book.rng.uniform(0, LONGEST_ANSWER_S)
        asyncio.get_running_loop().call_later(delay, self._send, status, answer)

    def _made(self, head: Head, body: bytes) -> tuple[int, dict[str, Any] | None]:
        """Status and body of the answer; None instead of a body drops the connection."""
        book = self._book
        if head.method == "POST" and head.path in ("/jobs", "/once"):
            operation = json.loads(body)["operation"]
            book.posts[operation] += 1
            job = book.submit(operation, head.headers.get("idempotency-key"))
            return (202, {"id": job.job_id, "state": "running"}) if book.rng.random() > 0.1 else (0, None)
        job_id = head.path.split("/")[2]
        job = book.job(job_id, job_id)
        if head.method == "POST":
            job.is_cancelled = True
            return 202, {"id": job_id}
        chance = book.rng.random()
        if chance < job.course.faults:
            return (0, None) if chance < job.course.faults / 3 else (503, {"error": "busy"})
        return 200, job.look()

    def _send(self, status: int, answer: dict[str, Any] | None) -> None:
        if answer is None:
            self._over("dropped")
            self._transport.abort()
            return
        self._over("answered")
        body = json.dumps(answer).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


async def serve(seed: int) -> None:
    """Serve until the process is ended."""
    book = Book(seed)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(book), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
