"""The dashboard on a real terminal: what it sends past its picture when something newly needs a person (UX 1a)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Called, Shell, eventually
from .test_launch import Terminal

BELL = b"\x07"
DESKTOP = b"\x1b]9;jobconsole: \\x1b)0;owned\\x07 needs you: every status request that was allowed is used\x1b\\"


@pytest.mark.rule("U3")
@pytest.mark.slow
@pytest.mark.slow_job_server(factor=4)
def test_an_escalation_rings_once_and_is_shown_on_the_desktop_whatever_its_name_says(
    shell: Shell, submit: Callable[..., Called], monkeypatch: pytest.MonkeyPatch
) -> None:
    for around in ("TMUX", "STY", "VTE_VERSION"):
        monkeypatch.delenv(around, raising=False)
    shell.home.mkdir()
    (shell.home / "config.toml").write_text("[notify]\nbell = true\ndesktop = true\n")
    terminal = Terminal("--home", str(shell.home), "tui", env={"TERM": "xterm-kitty"})
    try:
        terminal.read_until(lambda seen: b"No operations yet" in seen and b"worker" in seen)
        before = terminal.seen.count(BELL)
        submit("never-ends", "--requests", "1", "--name", "\x1b]0;owned\x07")
        assert eventually(lambda: shell.phase("never-ends") == "escalated")
        terminal.read_until(lambda seen: DESKTOP in seen)
        terminal.press(b"q")
        assert terminal.ended()[0] == 0
        assert terminal.seen.count(DESKTOP) == 1
        assert terminal.seen.count(BELL) - before == 1
        assert b"\x1b]0;owned" not in terminal.seen
    finally:
        terminal.close()
