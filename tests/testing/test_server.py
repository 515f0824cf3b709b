"""The fixture `slow_job_server`, as a user's synchronous test would use it."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from jobconsole.testing.server import SlowJobServer

pytest_plugins = ("jobconsole.testing.plugin",)


def look(server: SlowJobServer, job_id: str) -> Any:
    """One status request with nothing but the standard library."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"{server.url}/v1/jobs/{job_id}", timeout=5) as answer:
        return json.load(answer)


@pytest.mark.slow_job_server(factor=100)
def test_a_job_is_slow_and_then_done(slow_job_server: SlowJobServer) -> None:
    """8 provider seconds at factor 100 are 80 ms."""
    job_id = slow_job_server.submit("slow")
    states, until = [], time.monotonic() + 10
    while (state := look(slow_job_server, job_id)["state"]) != "succeeded":
        states.append(state)
        assert time.monotonic() < until
    assert states
    assert slow_job_server.requests(job_id) == len(states) + 1
    assert [seen.on for seen in slow_job_server.log[:2]] == ["submit", "poll"]


@pytest.mark.slow_job_server(script=[{"on": "poll", "status": 503}, {"on": "poll", "body": {"state": "succeeded"}}])
def test_a_script_may_answer_instead(slow_job_server: SlowJobServer) -> None:
    job_id = slow_job_server.submit()
    with pytest.raises(urllib.error.HTTPError, match="503"):
        look(slow_job_server, job_id)
    assert look(slow_job_server, job_id) == {"state": "succeeded"}


def test_the_same_seed_gives_the_same_ids() -> None:
    with SlowJobServer(seed=5) as one, SlowJobServer(seed=5) as two:
        assert one.submit() == two.submit()
        assert one.port != two.port


def test_stop_ends_the_thread_and_may_be_said_twice() -> None:
    before = threading.active_count()
    server = SlowJobServer()
    server.start()
    server.submit("never-ends")
    server.stop()
    server.stop()
    assert threading.active_count() == before
