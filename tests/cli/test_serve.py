"""`serve`: the dashboard in a browser is for whoever has the link, and for no page of somebody else."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.ports import free_port

PATIENCE = 60.0  # seconds, on a busy machine


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """A running `jobconsole serve`: its port and its token."""
    port = free_port()
    call = [sys.executable, "-m", "jobconsole", "--home", str(tmp_path), "--read-only", "serve", "--port", str(port)]
    process = subprocess.Popen(call, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = re.search(rf"http://127\.0\.0\.1:{port}/\?token=(\S+)", process.stderr.readline())
        assert found is not None  # the link is printed once somebody listens
        yield port, found.group(1)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


class Got(NamedTuple):
    """An answer, read whole."""

    status: int
    headers: Message
    body: bytes


def get(port: int, path: str, **headers: str) -> Got:
    """One GET; no redirect is followed."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={name.title(): value for name, value in headers.items()})
        answer = connection.getresponse()
        return Got(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


@pytest.mark.slow
def test_only_the_link_opens_the_door(served: tuple[int, str]) -> None:
    """Nothing without it, a cookie and a clean address with it, and no socket for a page from elsewhere."""
    port, token = served
    assert [get(port, path).status for path in ("/", "/ws", "/static/css/xterm.css", "/?token=wrong")] == [403] * 4
    assert get(port, "/", cookie="jobconsole=wrong").status == 403
    entered = get(port, f"/?token={token}")
    assert (entered.status, entered.headers["Location"]) == (303, f"http://127.0.0.1:{port}/")
    cookie = entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    mine = cookie.partition(";")[0]
    page = get(port, "/", cookie=mine)
    assert page.status == 200
    assert token.encode() not in page.body
    assert get(port, "/ws", cookie=mine, origin="http://evil.example.test").status == 403


@pytest.mark.slow
def test_a_link_behind_which_nobody_listens_is_not_printed(tmp_path: Path) -> None:
    """Another program has the port: one line says so."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        call = [sys.executable, "-m", "jobconsole", "--home", str(tmp_path), "serve", "--port", port]
        ended = subprocess.run(call, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 1
    assert "token=" not in ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith("jobconsole: ")
    assert port in line
