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
    with direct.open(f"{server.url}/v1/jobs/{job_id}", timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow_job_server(factor=100)
def test_a_job_is_slow_and_then_done(slow_job_server: SlowJobServer) -> None:
    """At factor 100 a provider's day takes 864 s, so the first look finds it at work; 8 provider seconds take 80 ms."""
    long_job, job_id = slow_job_server.submit("slow", duration_s=86_400), slow_job_server.submit("slow")
    assert look(slow_job_server, long_job)["state"] != "succeeded"

    looks, until = 1, time.monotonic() + 60
    while look(slow_job_server, job_id)["state"] != "succeeded":
        looks += 1
        assert time.monotonic() < until
    assert (slow_job_server.requests(long_job), slow_job_server.requests(job_id)) == (1, looks)
    assert [seen.on for seen in slow_job_server.log[:3]] == ["submit", "submit", "poll"]


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
    server = SlowJobServer()
    server.start()
    server.submit("never-ends")
    assert "slow-job-server" in {thread.name for thread in threading.enumerate()}
    server.stop()
    server.stop()
    assert "slow-job-server" not in {thread.name for thread in threading.enumerate()}
