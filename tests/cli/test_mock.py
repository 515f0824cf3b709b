"""`mock`: the play provider as a process of its own."""

from __future__ import annotations

import json
import signal
import urllib.request
from pathlib import Path

import pytest

from .conftest import Shell


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)])
def test_it_prints_its_url_serves_and_ends_when_told(shell: Shell, number: signal.Signals, code: int) -> None:
    mock = shell.start("mock", "--port", "0", "--json", "--factor", "20")
    assert mock.stdout is not None
    told = json.loads(mock.stdout.readline())
    begun = shell("submit", "play", "--param", f"port={told['port']}", "--json-body", '{"scenario": "quick"}', "--wait")
    assert begun.code == 0
    mock.send_signal(number)
    ended = shell.finish(mock)
    assert (ended.code, "Traceback" in ended.err) == (code, False)


def test_it_answers_by_a_script(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"on": "poll", "status": 200, "body": {"state": "running"}}]))
    mock = shell.start("mock", "--port", "0", "--script", str(script))
    assert mock.stdout is not None
    url = mock.stdout.readline().strip()
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"{url}/v1/jobs/any", timeout=60) as answer:
        assert json.load(answer) == {"state": "running"}


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--port", "70000"], 2),
        (["--factor", "0"], 2),
        (["--script", "/no/such/file"], 2),
    ],
)
def test_a_wrong_option_is_one_line(shell: Shell, args: list[str], code: int) -> None:
    ended = shell("mock", *args)
    assert (ended.code, ended.err.count("\n")) == (code, 1)
