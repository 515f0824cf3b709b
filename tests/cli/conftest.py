"""What tests of whole commands share: a store in a folder of its own, calls in this process, and real processes.

A call in this process goes through `main` as the installed program does; only what needs a signal or a pipe starts another.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jobconsole.cli.main import main
from jobconsole.testing.server import SlowJobServer

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0  # for a condition in another process, on a loaded machine


@dataclass(frozen=True, slots=True)
class Called:
    """How one call ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What stdout holds: one JSON document."""
        return json.loads(self.out)


class Shell:
    """Calls the program on one store, which the environment names."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self._capsys = home, capsys
        self._started: list[subprocess.Popen[str]] = []

    def __call__(self, *args: str) -> Called:
        """Run one command in this process."""
        self._capsys.readouterr()
        code = main(list(args))
        captured = self._capsys.readouterr()
        return Called(code, captured.out, captured.err)

    def start(self, *args: str, stdout: int | None = subprocess.PIPE, **env: str) -> subprocess.Popen[str]:
        """Start one command as a process; it is killed at the end of the test if it still runs."""
        process = subprocess.Popen(
            [sys.executable, "-m", "jobconsole", *args],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "JOBCONSOLE_HOME": str(self.home), **env},
        )
        self._started.append(process)
        return process

    def finish(self, process: subprocess.Popen[str]) -> Called:
        """Wait until it has ended by itself."""
        out, err = process.communicate(timeout=PATIENCE_S)
        return Called(process.returncode, out or "", err)

    def phase(self, operation_id: str) -> str:
        """The operation's phase, as the store has it now."""
        return str(self("show", operation_id, "--json").json["phase"])

    def close(self) -> None:
        """Kill what still runs."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """The program on an empty store; the environment names no other one."""
    monkeypatch.setenv("JOBCONSOLE_HOME", str(tmp_path / "home"))
    shell = Shell(tmp_path / "home", capsys)
    yield shell
    shell.close()


@pytest.fixture
def submit(shell: Shell, slow_job_server: SlowJobServer) -> Callable[..., Called]:
    """Submit a job of a scenario to a play provider that runs in this process; the operation's id is the scenario's name."""

    def submit(scenario: str, *args: str, **settings: Any) -> Called:
        body = json.dumps({"scenario": scenario, **settings})
        params = ["--param", f"port={slow_job_server.port}", "--json-body", body]
        return shell("submit", "play", *params, *(() if "--id" in args else ("--id", scenario)), *args)

    return submit


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true within a bound."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
