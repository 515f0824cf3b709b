"""What is done in one face appears in the others within a second, in each direction, with real processes (U1)."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import jobconsole
from jobconsole.testing.server import SlowJobServer
from tests.cli.conftest import PATIENCE_S, Called, Shell, eventually

WITHIN_S = 1.0

pytestmark = [pytest.mark.rule("U1"), pytest.mark.slow_job_server(factor=4)]


class PythonFace:
    """A program with a `Console`, in a process of its own."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "tests.api.face_process", str(home)]
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        assert self._answer() == "ready"

    def __call__(self, verb: str, *args: Any) -> Any:
        """Let it do one thing; its answer, which is the time at which it was done where it has no other."""
        self.begin(verb, *args)
        return self._answer()

    def begin(self, verb: str, *args: Any) -> None:
        """Let it begin; `end` waits for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([verb, *args]) + "\n")
        self._process.stdin.flush()

    def end(self) -> Any:
        """The answer to what was begun."""
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate(timeout=PATIENCE_S)


class Lines:
    """The lines that a process writes, each with the time at which it came."""

    def __init__(self, process: subprocess.Popen[str], stream: str) -> None:
        self.seen: list[tuple[float, str]] = []
        self._stream = getattr(process, stream)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._stream:
            self.seen.append((time.time(), line))

    def when(self, *words: str) -> float:
        """When a line with all these words came."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            for at, line in list(self.seen):
                if all(word in line for word in words):
                    return at
            time.sleep(0.01)
        raise AssertionError(f"no line with {words}: {self.seen}")


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """The command line on an empty store."""
    monkeypatch.delenv("JOBCONSOLE_HOME", raising=False)
    shell = Shell(tmp_path / "home", capsys)
    yield shell
    shell.close()


@pytest.fixture
def python(shell: Shell) -> Iterator[PythonFace]:
    """The Python face on the same store."""
    face = PythonFace(shell.home)
    yield face
    face.close()


def call(shell: Shell, *args: str) -> tuple[Called, float]:
    """One command as a process of its own, and when it had ended."""
    done = shell.finish(shell.start(*args))
    return done, time.time()


def submit(shell: Shell, server: SlowJobServer, scenario: str, *args: str) -> float:
    """Submit a job named after its scenario from the command line."""
    body = json.dumps({"scenario": scenario})
    done, at = call(shell, "submit", "play", "--id", scenario, "--param", f"port={server.port}", "--json-body", body, *args)
    assert done.code == 0, done.err
    return at


def written_at(shell: Shell, operation_id: str, kind: str) -> float:
    """When an event of this kind was written."""
    lines = [json.loads(line) for line in shell("audit", operation_id, "--format", "json").out.splitlines()]
    return max(datetime.fromisoformat(line["at"]).timestamp() for line in lines if line["kind"] == kind)


def test_what_the_command_line_does_the_python_face_sees(
    shell: Shell, python: PythonFace, slow_job_server: SlowJobServer
) -> None:
    """A submission, and a decision."""
    at = submit(shell, slow_job_server, "never-ends")
    assert python("see", "never-ends", "phase", "waiting") - at < WITHIN_S
    done, at = call(shell, "decide", "never-ends", "close", "--reason", "not needed", "--by", "ben")
    assert done.code == 0, done.err
    assert python("see", "never-ends", "phase", "abandoned") - at < WITHIN_S


def test_what_the_python_face_does_the_command_line_shows(
    shell: Shell, python: PythonFace, slow_job_server: SlowJobServer
) -> None:
    """In the live listing of another process, and in the next `ls`."""
    submit(shell, slow_job_server, "never-ends", "--requests", "1")
    live = Lines(shell.start(), "stdout")
    live.when("never-ends")
    at = python("submit", slow_job_server.port, "second", "never-ends", 20)
    assert live.when("second") - at < WITHIN_S
    assert python("see", "never-ends", "phase", "escalated")
    at = python("decide", "never-ends", "close", {"reason": "not needed"})
    assert live.when("never-ends", "abandoned") - at < WITHIN_S
    assert [view["operation_id"] for view in shell("ls", "--json").json] == ["second"]


def test_what_a_worker_does_both_see(shell: Shell, python: PythonFace, slow_job_server: SlowJobServer) -> None:
    """A job ends while a worker watches it; an operation needs a person while nobody else looks."""
    submit(shell, slow_job_server, "quick")
    submit(shell, slow_job_server, "never-ends", "--requests", "1")
    live = Lines(shell.start("--read-only"), "stdout")
    live.when("quick")
    python.begin("see", "quick", "phase", "succeeded")
    worker = Lines(shell.start("run", "--until-idle"), "stderr")
    seen = {"python": python.end(), "live": live.when("quick", "succeeded"), "worker": worker.when("quick", "succeeded")}
    ended_at = written_at(shell, "quick", "closed")
    assert {face: at - ended_at < WITHIN_S for face, at in seen.items()} == dict.fromkeys(seen, True), (seen, ended_at)
    assert live.when("never-ends", "escalated") - written_at(shell, "never-ends", "escalated") < WITHIN_S
    assert python("inbox") == ["never-ends"]
    assert shell("inbox", "--json").json[0]["operation_id"] == "never-ends"


@pytest.mark.rule("X19")
def test_a_worker_hears_of_what_the_others_begin_and_decide(
    shell: Shell, python: PythonFace, slow_job_server: SlowJobServer
) -> None:
    """It sleeps for half a minute otherwise: a submission and an extension wake it at once."""
    submit(shell, slow_job_server, "never-ends", "--requests", "1")
    worker = Lines(shell.start("run"), "stderr")
    worker.when("never-ends", "escalated")
    at = python("decide", "never-ends", "extend", {"minutes": 1, "checks": 1})
    assert worker.when("never-ends", "waiting") - at < WITHIN_S
    at = submit(shell, slow_job_server, "quick")
    assert worker.when("quick", "waiting") - at < WITHIN_S
    assert python("see", "quick", "phase", "succeeded")


def test_a_worker_in_the_python_face_serves_the_command_line(
    shell: Shell, python: PythonFace, slow_job_server: SlowJobServer
) -> None:
    """A kernel's worker watches what the command line submitted; stopped, it is told that nothing moves by itself."""
    submit(shell, slow_job_server, "quick")
    python("start")
    assert eventually(lambda: "no worker" not in shell("ls").err)
    assert python("see", "quick", "phase", "succeeded")
    assert shell.phase("quick") == "succeeded"
    python("stop")
    submit(shell, slow_job_server, "never-ends")
    assert "no worker is running" in shell("ls").err


def test_two_programs_see_each_other(shell: Shell, python: PythonFace, slow_job_server: SlowJobServer) -> None:
    """Two Python faces, in both directions."""
    at = python("submit", slow_job_server.port, "first", "never-ends", 20)
    with jobconsole.open(shell.home) as console:
        assert [op.operation_id for op in console.operations()] == ["first"]
        assert time.time() - at < WITHIN_S + 1  # opening included
        console.decide("first", "close", reason="not needed", by="ben")
        at = time.time()
        assert python("see", "first", "phase", "abandoned") - at < WITHIN_S
