"""A console that works tells people, where its store's settings say so (SPEC A6)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import jobconsole
from jobconsole.testing.server import SlowJobServer
from tests.adapters.receiver import Receiver
from tests.quickest import quickest


@pytest.mark.rule("A6")
@pytest.mark.slow
@pytest.mark.slow_job_server(factor=20)
def test_a_console_that_was_started_tells_once_and_stops_within_two_seconds(
    tmp_path: Path, slow_job_server: SlowJobServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "store"
    home.mkdir()
    (home / "config.toml").write_text('[notify]\nurls = ["env:JOBCONSOLE_NOTIFY_URL"]\n')
    with Receiver() as receiver, jobconsole.open(home) as console:
        monkeypatch.setenv("JOBCONSOLE_NOTIFY_URL", receiver.url())
        params = {"port": str(slow_job_server.port)}
        budget = jobconsole.Budget(status_requests=1)
        op = console.submit("play", json={"scenario": "never-ends"}, name="Q3 report", params=params, budget=budget)
        console.start()
        assert console.wait(op, timeout="60s").status == "needs_decision"
        assert receiver.arrived.wait(60)

        def stopping_s(_: int) -> float:
            console.start()  # which is begun already, at first
            asked = time.monotonic()
            console.stop()
            return time.monotonic() - asked

        assert quickest(2, stopping_s) < 2
        assert [message["title"] for message in receiver.received] == ["jobconsole: Q3 report needs a decision"]


@pytest.mark.rule("H11")
@pytest.mark.slow_job_server(factor=20)
def test_a_store_that_is_open_for_reading_tells_nobody(
    tmp_path: Path, slow_job_server: SlowJobServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "store"
    with Receiver() as receiver:
        monkeypatch.setenv("JOBCONSOLE_NOTIFY_URL", receiver.url())
        with jobconsole.open(home) as console:
            params = {"port": str(slow_job_server.port)}
            budget = jobconsole.Budget(status_requests=1)
            op = console.submit("play", json={"scenario": "never-ends"}, params=params, budget=budget)
            assert console.wait(op, timeout="60s").status == "needs_decision"
        (home / "config.toml").write_text('[notify]\nurls = ["env:JOBCONSOLE_NOTIFY_URL"]\n')
        with jobconsole.open(home, read_only=True) as reader:
            reader.start()
            assert not receiver.arrived.wait(3)  # a message would leave after two
            reader.stop()
