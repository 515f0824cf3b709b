""" "Why?" gives the same words in the command line and in Python, for each second of an operation's life (U7)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import jobconsole
from jobconsole.core.keeping.line import timestamp
from jobconsole.testing.server import SlowJobServer
from tests.cli.conftest import Shell

pytestmark = [pytest.mark.rule("U7"), pytest.mark.slow_job_server(factor=4)]


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """The command line on an empty store."""
    monkeypatch.setenv("JOBCONSOLE_HOME", str(tmp_path / "home"))
    shell = Shell(tmp_path / "home", capsys)
    yield shell
    shell.close()


def wait_out(shell: Shell, server: SlowJobServer, scenario: str, *args: str) -> None:
    """One operation, named after its scenario, until it has ended or needs a person."""
    body = json.dumps({"scenario": scenario})
    shell("submit", "play", "--id", scenario, "--param", f"port={server.port}", "--json-body", body, "--wait", *args)


@pytest.mark.parametrize(
    ("scenario", "args"), [("slow", []), ("never-ends", ["--requests", "2"]), ("late-failure", [])], ids=lambda v: str(v)
)
def test_both_faces_explain_every_second_alike(
    shell: Shell, slow_job_server: SlowJobServer, scenario: str, args: list[str]
) -> None:
    """From the second before it began to the second after its last event, for a second that has not come, and for now."""
    wait_out(shell, slow_job_server, scenario, *args)
    events = [json.loads(line) for line in shell("audit", scenario, "--format", "json").out.splitlines()]
    first, last = (datetime.fromisoformat(events[place]["at"]).replace(microsecond=0) for place in (0, -1))
    seconds = [first + timedelta(seconds=number) for number in range(-1, int((last - first).total_seconds()) + 2)]
    while datetime.now(UTC) <= seconds[-1]:
        time.sleep(0.05)  # of a second that comes between two questions they tell different things
    seconds.append(last + timedelta(days=1))
    with jobconsole.open(shell.home, read_only=True) as console:
        in_python = [console.why(scenario, at) for at in seconds]
        now = console.why(scenario)
    on_the_command_line = [shell("why", scenario, "--at", timestamp(at)).out for at in seconds]
    assert on_the_command_line == [f"{text}\n" for text in in_python]
    assert shell("why", scenario).out == f"{now}\n"
    assert shell("why", scenario, "--json").json["why"] == now
    assert "the operation begins at" in in_python[0]
    assert any("Checked at" in text and "not earlier:" in text for text in in_python)
