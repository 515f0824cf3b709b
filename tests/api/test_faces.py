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
from tests.quickest import quickest

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

    def when(self, *words: str, since: float = 0.0) -> float:
        """When a line with all these words came, the first one after the time `since`."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            for at, line in list(self.seen):
                if at >= since and all(word in line for word in words):
                    return at
            time.sleep(0.01)
        raise AssertionError(f"no line with {words}: {self.seen}")


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """The command line on an empty store."""
    monkeypatch.setenv("JOBCONSOLE_HOME", str(tmp_path / "home"))
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


def submit(shell: Shell, server: SlowJobServer, operation_id: str, scenario: str, *args: str) -> float:
    """Submit a job from the command line, with an hour for its end."""
    given = ["--param", f"port={server.port}", "--json-body", json.dumps({"scenario": scenario}), "--deadline", "1h", *args]
    done, at = call(shell, "submit", "play", "--id", operation_id, *given)
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

    def seen_submission(number: int) -> float:
        at = submit(shell, slow_job_server, f"op-{number}", "never-ends")
        return float(python("see", f"op-{number}", "phase", "waiting") - at)

    def seen_decision(number: int) -> float:
        submit(shell, slow_job_server, f"closed-{number}", "never-ends")
        done, at = call(shell, "decide", f"closed-{number}", "close", "--reason", "not needed", "--by", "ben")
        assert done.code == 0, done.err
        return float(python("see", f"closed-{number}", "phase", "abandoned") - at)

    assert quickest(WITHIN_S, seen_submission) < WITHIN_S
    assert quickest(WITHIN_S, seen_decision) < WITHIN_S


def test_what_the_python_face_does_the_command_line_shows(
    shell: Shell, python: PythonFace, slow_job_server: SlowJobServer
) -> None:
    """In the live listing of another process, which goes on as long as something is under way, and in the next `ls`."""
    submit(shell, slow_job_server, "op-0", "never-ends", "--requests", "1000")
    live = Lines(shell.start(), "stdout")
    live.when("op-0")
    under_way = ["op-0"]

    def shown_submission(number: int) -> float:
        at = python("submit", slow_job_server.port, f"op-{number}", "never-ends", 1000)
        under_way.append(f"op-{number}")
        return float(live.when(f"op-{number}") - at)

    def shown_decision(number: int) -> float:
        python("submit", slow_job_server.port, f"asks-{number}", "never-ends", 1)
        python("see", f"asks-{number}", "phase", "escalated")
        at = python("decide", f"asks-{number}", "close", {"reason": "not needed"})
        return float(live.when(f"asks-{number}", "abandoned") - at)

    assert quickest(WITHIN_S, shown_submission) < WITHIN_S
    assert quickest(WITHIN_S, shown_decision) < WITHIN_S
    assert [view["operation_id"] for view in shell("ls", "--json").json] == under_way


def test_what_a_worker_does_both_see(shell: Shell, python: PythonFace, slow_job_server: SlowJobServer) -> None:
    """A job ends while a worker watches it; an operation needs a person while nobody else looks."""
    asking = []

    def seen_by_all(number: int) -> float:
        ends, asks = f"ends-{number}", f"asks-{number}"
        submit(shell, slow_job_server, ends, "quick")
        submit(shell, slow_job_server, asks, "never-ends", "--requests", "1")
        asking.append(asks)
        live = Lines(shell.start("--read-only"), "stdout")
        live.when(ends)
        python.begin("see", ends, "phase", "succeeded")
        worker = Lines(shell.start("run", "--until-idle"), "stderr")
        seen_at = max(python.end(), live.when(ends, "succeeded"), worker.when(ends, "succeeded"))
        asked_s = live.when(asks, "escalated") - written_at(shell, asks, "escalated")
        return float(max(seen_at - written_at(shell, ends, "closed"), asked_s))

    assert quickest(WITHIN_S, seen_by_all) < WITHIN_S
    assert python("inbox") == asking
    assert [item["operation_id"] for item in shell("inbox", "--json").json] == asking


@pytest.mark.rule("X19")
def test_a_worker_hears_of_what_the_others_begin_and_decide(
    shell: Shell, python: PythonFace, slow_job_server: SlowJobServer
) -> None:
    """It sleeps for half a minute otherwise: a submission and an extension wake it at once."""
    worker = Lines(shell.start("run"), "stderr")
    worker.when("watches")

    def hears_extension(number: int) -> float:
        submit(shell, slow_job_server, f"asks-{number}", "never-ends", "--requests", "1")
        worker.when(f"asks-{number}", "escalated")
        began = time.time()
        at = python("decide", f"asks-{number}", "extend", {"minutes": 1, "checks": 1})
        return float(worker.when(f"asks-{number}", "waiting", since=began) - at)

    def hears_submission(number: int) -> float:
        at = submit(shell, slow_job_server, f"ends-{number}", "quick")
        told_s = worker.when(f"ends-{number}", "waiting") - at
        assert python("see", f"ends-{number}", "phase", "succeeded")
        return told_s

    assert quickest(WITHIN_S, hears_extension) < WITHIN_S
    assert quickest(WITHIN_S, hears_submission) < WITHIN_S


def test_a_worker_in_the_python_face_serves_the_command_line(
    shell: Shell, python: PythonFace, slow_job_server: SlowJobServer
) -> None:
    """A kernel's worker watches what the command line submitted; stopped, it is told that nothing moves by itself."""
    submit(shell, slow_job_server, "quick", "quick")
    python("start")
    assert eventually(lambda: "no worker" not in shell("ls").err)
    assert python("see", "quick", "phase", "succeeded")
    assert shell.phase("quick") == "succeeded"
    python("stop")
    submit(shell, slow_job_server, "never-ends", "never-ends")
    assert "no worker is running" in shell("ls").err


def test_two_programs_see_each_other(shell: Shell, python: PythonFace, slow_job_server: SlowJobServer) -> None:
    """Two Python faces, in both directions."""

    def seen_here(number: int) -> float:
        at = python("submit", slow_job_server.port, f"op-{number}", "never-ends", 1000)
        with jobconsole.open(shell.home) as console:
            assert f"op-{number}" in {op.operation_id for op in console.operations()}
        return float(time.time() - at)

    def seen_there(number: int) -> float:
        python("submit", slow_job_server.port, f"closed-{number}", "never-ends", 1000)
        with jobconsole.open(shell.home) as console:
            console.decide(f"closed-{number}", "close", reason="not needed", by="ben")
            at = time.time()
            return float(python("see", f"closed-{number}", "phase", "abandoned") - at)

    assert quickest(WITHIN_S + 1, seen_here) < WITHIN_S + 1  # opening included
    assert quickest(WITHIN_S, seen_there) < WITHIN_S
