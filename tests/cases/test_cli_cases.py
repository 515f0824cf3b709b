"""CL-01: how calls of the command line end, for shells and scripts that see nothing but a code and two streams (area cli)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jobconsole.testing.server import SlowJobServer
from tests.cases.case_file import case
from tests.cli.conftest import Called, Shell

RUNS: list[str] = case("CL-01").input["runs"]
Begin = Callable[..., None]
FULL = Path("/dev/full")  # every write to it finds the disk full

pytestmark = [pytest.mark.rule("X26", "U5"), pytest.mark.slow_job_server(factor=20)]


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """The program on an empty store."""
    monkeypatch.setenv("JOBCONSOLE_HOME", str(tmp_path / "home"))
    shell = Shell(tmp_path / "home", capsys)
    yield shell
    shell.close()


@pytest.fixture
def begin(shell: Shell, slow_job_server: SlowJobServer) -> Begin:
    """Submit `job-1`, which goes as a scenario of the play provider."""

    def begin(scenario: str, **settings: float) -> None:
        body = json.dumps({"scenario": scenario, **settings})
        begun = shell("submit", "play", "--id", "job-1", "--param", f"port={slow_job_server.port}", "--json-body", body)
        assert begun.code == 0

    return begin


def fails(shell: Shell, begin: Begin) -> Called:
    begin("late-failure")
    return shell.finish(shell.start("wait", "job-1", "--json"))


def still_runs(shell: Shell, begin: Begin) -> Called:
    begin("never-ends")
    return shell.finish(shell.start("wait", "job-1", "--timeout", "300ms", "--json"))


def needs_sign_in(shell: Shell, begin: Begin) -> Called:
    begin("auth-expires", duration_s=0.1, refused_s=100_000)
    return shell.finish(shell.start("wait", "job-1", "--json"))


def no_such_job(shell: Shell, begin: Begin) -> Called:
    return shell.finish(shell.start("wait", "no-such-job", "--json"))


def into_a_reader_that_leaves(shell: Shell, begin: Begin) -> Called:
    """The other end of the pipe is closed before the first line is written."""
    begin("never-ends")
    read_end, write_end = os.pipe()
    process = shell.start("ls", "--json", stdout=write_end)
    os.close(read_end)
    os.close(write_end)
    return shell.finish(process)


def onto_a_full_disk(shell: Shell, begin: Begin) -> Called:
    begin("never-ends")
    with FULL.open("w") as full:
        return shell.finish(shell.start("ls", "--json", stdout=full.fileno(), PYTHONUNBUFFERED=""))


def into_a_pipe(shell: Shell, begin: Begin) -> Called:
    begin("slow")
    return shell.finish(shell.start("wait", "job-1", "--json", TERM="xterm-256color", FORCE_COLOR="1"))


def interrupted(shell: Shell, begin: Begin) -> Called:
    begin("never-ends")
    waiting = shell.start("wait", "job-1", "--json")
    assert waiting.stderr is not None
    assert "waiting" in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    return shell.finish(waiting)


ENDS: dict[str, tuple[Callable[[Shell, Begin], Called], int, str | None]] = {
    "wait job-1 (fails)": (fails, 10, "failed"),
    "wait job-1 --timeout 5 (still running)": (still_runs, 12, "timed_out"),
    "wait job-1 (sign-in needed)": (needs_sign_in, 13, "needs_decision"),
    "wait no-such-job": (no_such_job, 1, None),
    "list --json | head -1": (into_a_reader_that_leaves, 0, None),
    "list --json > full disk": (onto_a_full_disk, 1, None),
    "wait job-1 --json, not a terminal": (into_a_pipe, 0, "succeeded"),
    "Ctrl+C in wait": (interrupted, 130, None),
}
"""Each run of the case → how it is played, its exit code, and the word of the outcome on stdout."""


@pytest.mark.parametrize("run", RUNS)
def test_a_call_ends_with_its_own_code_and_nothing_but_data_on_stdout(shell: Shell, begin: Begin, run: str) -> None:
    play, code, word = ENDS[run]
    ended = play(shell, begin)
    assert ended.code == code
    assert "Traceback" not in ended.err
    assert "\x1b" not in ended.out + ended.err
    if word is None:
        assert ended.out == ""
    else:
        assert [outcome["status"] for outcome in ended.json] == [word]
        assert ended.out.count("\n") == 1


def test_a_full_disk_is_said_and_a_closed_pipe_is_not(shell: Shell, begin: Begin) -> None:
    full = onto_a_full_disk(shell, begin)
    assert json.loads(full.err.splitlines()[-1])["error"]["code"] == "output_lost"
    piped = shell.finish(shell.start("ls", "--json"))
    assert [view["operation_id"] for view in json.loads(piped.out)] == ["job-1"]


def test_a_real_shell_sees_the_same(shell: Shell, begin: Begin) -> None:
    """`head -1` takes the first line and leaves; the pipe's own code is that of the program."""
    begin("never-ends")
    command = f'"{sys.executable}" -m jobconsole --home "{shell.home}" ls --json | head -c 1; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "[")
    assert "Traceback" not in done.stderr


def test_no_code_means_two_things() -> None:
    """Success, failure, an unfinished wait, a question and an interrupt are told apart by the code alone."""
    assert sorted({code for _, code, _ in ENDS.values()}) == [0, 1, 10, 12, 13, 130]
    assert set(ENDS) == set(RUNS)
