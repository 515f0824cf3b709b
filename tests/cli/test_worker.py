"""`run` in the foreground: how it ends, and how quickly."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable

import pytest

from jobconsole.testing.server import SlowJobServer
from tests.quickest import quickest

from .conftest import Called, Shell, eventually

Submit = Callable[..., Called]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_a_signal_ends_a_worker_within_two_seconds_and_nothing_is_lost(
    shell: Shell, submit: Submit, number: signal.Signals, code: int
) -> None:
    submit("never-ends", "--deadline", "1h", "--requests", "1000")

    def took(_: int) -> float:
        worker = shell.start("run")
        assert worker.stderr is not None
        assert "watches 1 operation" in worker.stderr.readline()
        asked = time.monotonic()
        worker.send_signal(number)
        ended = shell.finish(worker)
        took_s = time.monotonic() - asked
        assert (ended.code, "Traceback" in ended.err) == (code, False)
        return took_s

    assert quickest(2, took) < 2
    assert shell.phase("never-ends") == "waiting"
    assert shell("audit", "verify").code == 0
    assert list((shell.home / "workers").iterdir()) == []


@pytest.mark.slow_job_server(factor=100)
def test_a_worker_that_was_started_with_nohup_outlives_its_terminal(shell: Shell, submit: Submit) -> None:
    """SIGHUP is ignored there already, and stays so: what is submitted behind it is still waited for."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        worker = shell.start("run")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert worker.stderr is not None
    assert "watches 0 operations" in worker.stderr.readline()
    worker.send_signal(signal.SIGHUP)
    submit("quick")
    assert eventually(lambda: shell.phase("quick") == "succeeded")
    worker.send_signal(signal.SIGTERM)
    assert shell.finish(worker).code == 0


@pytest.mark.rule("S4")
def test_a_worker_whose_store_is_deleted_says_so_and_ends_with_the_stores_code(shell: Shell, submit: Submit) -> None:
    """Within a second, although nothing may be due for hours."""
    submit("never-ends")
    worker = shell.start("run")
    assert worker.stderr is not None
    assert "watches 1 operation" in worker.stderr.readline()
    shutil.rmtree(shell.home)
    ended = shell.finish(worker)
    assert ended.code == 3
    assert f"the store was deleted, moved or replaced while it was open: {shell.home}." in ended.err.splitlines()[-1]
    assert "Traceback" not in ended.err
    assert not shell.home.exists()


@pytest.mark.slow_job_server(factor=100)
def test_once_does_what_is_due_and_ends(shell: Shell, slow_job_server: SlowJobServer) -> None:
    job_id = slow_job_server.submit("slow")
    shell("track", "play", "--job-id", job_id, "--param", f"port={slow_job_server.port}", "--id", "adopted")
    assert shell("run", "--once").code == 0
    assert slow_job_server.requests(job_id) == 1


def test_until_idle_ends_at_once_where_nothing_waits(shell: Shell) -> None:
    ended = shell("run", "--until-idle", "--json")
    assert (ended.code, ended.json["in_flight"], ended.json["needs_decision"]) == (0, 0, 0)


@pytest.mark.slow_job_server(factor=20)
def test_a_worker_tells_changes_and_what_needs_a_person(shell: Shell, submit: Submit) -> None:
    submit("never-ends", "--requests", "1")
    ended = shell("run", "--until-idle")
    assert ended.out == ""
    assert "never-ends escalated: request budget exhausted" in ended.err
    assert ended.err.splitlines()[-1] == "1 operation needs a decision: jobconsole inbox"


@pytest.mark.rule("H11")
def test_read_only_there_is_no_worker(shell: Shell) -> None:
    refused = shell("--read-only", "run", "--until-idle")
    assert refused.code == 4
    assert refused.err.splitlines()[-1].startswith("jobconsole: nothing can be written: it was opened read-only; ")
    assert not shell.home.exists()
