"""Starting the dashboard: only on a terminal that can show it, and leaving one as it was (SPEC 11)."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

PATIENCE = 60.0  # seconds, on a busy machine
LEAVE_ALTERNATE_SCREEN = b"\x1b[?1049l"
SHOW_CURSOR = b"\x1b[?25h"


def take_terminal() -> None:
    """In the new process: the terminal is the session's, and tells it when it is closed."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *args: str, env: dict[str, str], columns: int = 100, lines: int = 30) -> None:
        self.main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.modes = termios.tcgetattr(other)
        self.other = other
        self.seen = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jobconsole", *args],
            stdin=other,
            stdout=other,
            stderr=other,
            env={**os.environ, "COLORTERM": "truecolor", **env},
            start_new_session=True,
            preexec_fn=take_terminal,
        )

    def read_until(self, is_there: Callable[[bytes], bool]) -> None:
        """Read what it writes until it is there, or the program ended."""
        end = time.monotonic() + PATIENCE
        while not is_there(self.seen) and time.monotonic() < end:
            ready, _, _ = select.select([self.main], [], [], 0.1)
            if ready:
                self.seen += os.read(self.main, 65_536)
            elif self.process.poll() is not None:
                return
        assert is_there(self.seen), self.seen[-2000:]

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self.main, keys)

    def ended(self) -> tuple[int, float]:
        """The exit code and the seconds it took to end; what it wrote meanwhile is read."""
        began = time.monotonic()
        while self.process.poll() is None and time.monotonic() - began < PATIENCE:
            if select.select([self.main], [], [], 0.05)[0]:
                self.seen += os.read(self.main, 65_536)
        took = time.monotonic() - began
        while select.select([self.main], [], [], 0.1)[0]:
            self.seen += os.read(self.main, 65_536)
        code = self.process.poll()
        assert code is not None
        return code, took

    def close_window(self) -> None:
        """Close the terminal under the program: the kernel sends SIGHUP and SIGCONT."""
        os.close(self.main)
        self.main = -1

    def close(self) -> None:
        """End what is left of it."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.main >= 0:
            os.close(self.main)
        os.close(self.other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("leave", "code"),
    [(b"q", 0), (b"\x11", 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0)],
    ids=["q", "ctrl+q", "SIGTERM", "SIGHUP"],
)
@pytest.mark.parametrize("command", [("tui",), ()], ids=["tui", "jobconsole"])
def test_leaving_gives_the_terminal_back(
    tmp_path: Path, command: tuple[str, ...], leave: bytes | signal.Signals, code: int
) -> None:
    """Case TU-06: main screen, cursor and echo as before, by key or by signal, with the exit code of an ordinary end."""
    terminal = Terminal("--home", str(tmp_path / "store"), *command, env={"TERM": "xterm-256color"})
    try:
        terminal.read_until(lambda seen: b"No operations yet" in seen and b"worker" in seen)
        if isinstance(leave, signal.Signals):
            terminal.process.send_signal(leave)
        else:
            terminal.press(leave)
        assert terminal.ended()[0] == code
        assert LEAVE_ALTERNATE_SCREEN in terminal.seen
        assert SHOW_CURSOR in terminal.seen
        assert termios.tcgetattr(terminal.other) == terminal.modes
        assert b"Traceback" not in terminal.seen
        assert b"Warning" not in terminal.seen
    finally:
        terminal.close()


@pytest.mark.slow
def test_closing_the_window_ends_the_dashboard_and_its_worker(tmp_path: Path) -> None:
    """No key can come any more: the worker gives back what it holds, and its file goes with it."""
    terminal = Terminal("--home", str(tmp_path / "store"), "tui", env={"TERM": "xterm-256color"})
    try:
        terminal.read_until(lambda seen: b"No operations yet" in seen and b"worker" in seen)
        assert len(list((tmp_path / "store" / "workers").iterdir())) == 1
        terminal.close_window()
        assert terminal.process.wait(PATIENCE) == 0
        assert list((tmp_path / "store" / "workers").iterdir()) == []
    finally:
        terminal.close()


@pytest.mark.slow
@pytest.mark.parametrize("command", [("tui",), ()], ids=["tui", "jobconsole"])
def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path, command: tuple[str, ...]) -> None:
    """No escape sequence, and the program ends where nothing waits."""
    terminal = Terminal("--home", str(tmp_path / "store"), *command, env={"TERM": "dumb"})
    try:
        assert terminal.ended()[0] == 0
        assert b"\x1b" not in terminal.seen
        assert b"nothing waits" in terminal.seen
    finally:
        terminal.close()


@pytest.mark.slow
@pytest.mark.parametrize("command", [("tui",), ()], ids=["tui", "jobconsole"])
@pytest.mark.rule("U5")
def test_without_a_terminal_there_are_plain_lines(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Stdin from nowhere and stdout into a pipe: the listing ends by itself."""
    call = [sys.executable, "-m", "jobconsole", "--home", str(tmp_path / "store"), *command]
    done = subprocess.run(call, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"nothing waits" in done.stderr


@pytest.mark.slow
@pytest.mark.rule("U5", "U8")
def test_where_the_picture_would_go_elsewhere_there_are_plain_lines(tmp_path: Path) -> None:
    """`jobconsole tui 2>log`: keys would act on operations that nobody sees."""
    ours, theirs = pty.openpty()
    call = [sys.executable, "-m", "jobconsole", "--home", str(tmp_path / "store"), "tui"]
    env = {**os.environ, "TERM": "xterm-256color"}
    done = subprocess.run(call, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=env, timeout=PATIENCE, check=False)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0
    assert b"\x1b" not in done.stderr
    assert b"nothing waits" in done.stderr


MOUSE = re.compile(rb"\x1b\[\?1003([hl])")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "keys", "is_ours"),
    [((), b"", True), ((), b"m", False), ((), b"mm", True), (("--no-mouse",), b"", False), (("--no-mouse",), b"m", True)],
    ids=["on", "m", "m m", "--no-mouse", "--no-mouse m"],
)
def test_m_gives_the_mouse_to_the_terminal_and_takes_it_back(
    tmp_path: Path, options: tuple[str, ...], keys: bytes, is_ours: bool
) -> None:
    """As the terminal hears it, at the start and while it runs; at the end the terminal always has it."""
    terminal = Terminal("--home", str(tmp_path / "store"), "tui", *options, env={"TERM": "xterm-256color"})
    try:
        terminal.read_until(lambda seen: b"No operations yet" in seen and b"worker" in seen)
        for number in range(len(keys)):
            heard = len(MOUSE.findall(terminal.seen))
            terminal.press(keys[number : number + 1])
            terminal.read_until(partial(has_heard_more, heard))
        modes = MOUSE.findall(terminal.seen)
        assert (modes[-1:] == [b"h"]) is is_ours
        terminal.press(b"q")
        assert terminal.ended()[0] == 0
        assert MOUSE.findall(terminal.seen)[-1:] in ([], [b"l"])
    finally:
        terminal.close()


def has_heard_more(before: int, seen: bytes) -> bool:
    """Whether the terminal was told about the mouse once more."""
    return len(MOUSE.findall(seen)) > before


def is_in_colour(seen: bytes) -> bool:
    """Whether anything but greys and the terminal's own two colours was asked for."""
    for found in re.findall(rb"\x1b\[([0-9;]*)m", seen):
        for red, green, blue in re.findall(rb"[34]8;2;([0-9]+);([0-9]+);([0-9]+)", found):
            if not red == green == blue:
                return True
        rest = re.sub(rb"[34]8;2;[0-9]+;[0-9]+;[0-9]+", b"", found)
        if re.search(rb"(?:^|;)(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;|$)", rest):
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "is_coloured"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, True),  # empty says nothing, by its convention
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "COLORTERM": ""}, True),
        ({"TERM": "xterm", "COLORTERM": "", "NO_COLOR": "1"}, False),
        ({"TERM": "linux", "COLORTERM": "", "NO_COLOR": "1"}, False),
    ],
    ids=lambda value: " ".join(f"{key}={each}" for key, each in value.items()) if isinstance(value, dict) else str(value),
)
@pytest.mark.rule("U4")
def test_no_color_is_obeyed_with_any_palette(tmp_path: Path, env: dict[str, str], is_coloured: bool) -> None:
    """Greys on a terminal of many colours, on one of 16 its own two: nothing black on black."""
    terminal = Terminal("--home", str(tmp_path / "store"), "tui", env=env)
    try:
        terminal.read_until(lambda seen: b"No operations yet" in seen and b"worker" in seen)
        terminal.press(b"q")
        assert terminal.ended()[0] == 0
        assert is_in_colour(terminal.seen) is is_coloured
    finally:
        terminal.close()


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_ascii(tmp_path: Path) -> None:
    """In the C locale every byte is plain, frames and arrows included."""
    env = {"TERM": "xterm-256color", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    terminal = Terminal("--home", str(tmp_path / "store"), "tui", env=env)
    try:
        terminal.read_until(lambda seen: b"No operations yet" in seen and b"worker" in seen)
        terminal.press(b"q")
        assert terminal.ended()[0] == 0
        assert terminal.seen.isascii()
    finally:
        terminal.close()


@pytest.mark.slow
def test_an_unknown_theme_is_told_before_the_screen_changes(tmp_path: Path) -> None:
    """Exit 2, with the names there are."""
    terminal = Terminal("--home", str(tmp_path / "store"), "tui", "--theme", "mauve", env={"TERM": "xterm-256color"})
    try:
        assert terminal.ended()[0] == 2
        assert b"there is no theme 'mauve'; there are ansi16" in terminal.seen
        assert b"\x1b[?1049h" not in terminal.seen
    finally:
        terminal.close()
