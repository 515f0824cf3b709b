"""The play provider in a thread of its own, so that synchronous tests can use it too.

The fixture `slow_job_server` (`jobconsole.testing.plugin`) hands one out. Only this file decides how the server's loop is
run; what it answers is the business of `jobconsole.play`.
"""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.request
from collections.abc import Sequence
from typing import Any

from jobconsole.play.book import Seen
from jobconsole.play.script import Script
from jobconsole.play.server import PlayServer

PATIENCE_S = 60.0  # for a thread that starts or stops, on a machine that stands still meanwhile


class SlowJobServer:
    """A provider of slow jobs for tests of your own code.

    `factor` is provider seconds per real second: at 10 a job of 8 s takes 0.8 s. `seed` makes ids and answers
    reproducible; `script` answers by request number instead. Use it as a context manager, or call `start` and `stop`.
    """

    def __init__(self, *, factor: float = 10.0, seed: int = 0, script: Script | None = None) -> None:
        self._server = PlayServer(factor=factor, seed=seed, script=script)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_asked = asyncio.Event()
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL: `POST {url}/v1/jobs` starts a job, `GET {url}/v1/jobs/{id}` shows it."""
        return self._server.url

    @property
    def port(self) -> int:
        """The port, which is also the parameter `port` of the contract `play`."""
        return self._server.port

    @property
    def log(self) -> Sequence[Seen]:
        """Every request in the order of arrival, with what it got."""
        return list(self._server.log)

    def requests(self, job_id: str, on: str = "poll") -> int:
        """How many requests of a kind (`poll`, `cancel`, `result`, ...) came for this job."""
        return self._server.requests(job_id, on)

    def submit(self, scenario: str = "slow", **settings: Any) -> str:
        """Start a job over HTTP and return its id; `settings` are `seed`, `duration_s` and what the scenario knows."""
        body = json.dumps({"scenario": scenario, **settings}).encode()
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(urllib.request.Request(f"{self.url}/v1/jobs", body), timeout=PATIENCE_S) as answer:  # noqa: S310
            return str(json.load(answer)["id"])

    def start(self) -> None:
        """Listen on a free port. Raises what the server raises where it cannot."""
        ready, failures = threading.Event(), list[OSError]()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(ready, failures)), name="slow-job-server", daemon=True
        )
        self._thread.start()
        if not ready.wait(PATIENCE_S):
            raise TimeoutError("the server's thread did not start")
        if failures:
            raise failures[0]

    def stop(self) -> None:
        """Close the port and all connections, and wait for the thread."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._stop_asked.set)
        self._thread.join(PATIENCE_S)
        self._loop = self._thread = None

    def __enter__(self) -> SlowJobServer:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    async def _serve(self, ready: threading.Event, failures: list[OSError]) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await self._server.start()
        except OSError as error:
            failures.append(error)
            return
        finally:
            ready.set()
        await self._stop_asked.wait()
        await self._server.stop()
