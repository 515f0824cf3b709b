"""Copying: the desktop where it is the person's own, then tmux, then the terminal; nothing is claimed but what is known."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from jobconsole.tui import texts
from jobconsole.tui.clipboard import LONGEST_SENT, Copier, DesktopClipboard, Way
from jobconsole.tui.dialogs.select import SelectDialog
from tests.tui.conftest import TestedDashboard, running, settled, text_of, until

LONG_S = 60.0  # for what should take a moment


class Desktop:
    """A desktop's clipboard that takes what it is given, or spoils it, or fails."""

    def __init__(self, *, spoils: bool = False, fails: bool = False, until: threading.Event | None = None) -> None:
        self.held, self._spoils, self._fails, self._until = "", spoils, fails, until

    def copy(self, content: str) -> None:
        """Take it; where there is an event, not before that."""
        if self._until is not None:
            self._until.wait(2 * LONG_S)
        if self._fails:
            raise RuntimeError("no display")
        self.held = content[:-1] if self._spoils else content

    def paste(self) -> str:
        """Give it back."""
        return self.held


def tmux(folder: Path, *, code: int = 0) -> Path:
    """A program of that name, which writes down what it is given."""
    program = folder / "tmux"
    program.write_text(f'#!/bin/sh\necho "$@" > {folder}/args\ncat > {folder}/buffer\nexit {code}\n')
    program.chmod(0o755)
    return program


SSH = {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}


@pytest.mark.parametrize(
    ("environ", "desktop", "way"),
    [
        ({}, Desktop(), Way.DESKTOP),
        ({}, None, Way.TERMINAL),
        ({}, Desktop(fails=True), Way.TERMINAL),
        ({}, Desktop(spoils=True), Way.TERMINAL),  # not what was copied: nothing is claimed
        (SSH, Desktop(), Way.TERMINAL),  # the desktop of the wrong machine
        ({"SSH_TTY": "/dev/pts/3"}, Desktop(), Way.TERMINAL),
        ({"TERM": "linux"}, None, Way.NONE),
        ({"TERM_PROGRAM": "Apple_Terminal"}, None, Way.NONE),
        ({"TERM_PROGRAM": "Apple_Terminal"}, Desktop(), Way.DESKTOP),
    ],
)
async def test_the_first_way_that_works_is_taken(
    environ: Mapping[str, str], desktop: DesktopClipboard | None, way: Way
) -> None:
    """Only what was read back counts as copied."""
    sent: list[str] = []
    copier = Copier(environ, sent.append, lambda: desktop, patience_s=LONG_S)
    assert await copier.copy("op-1") is way
    assert sent == (["op-1"] if way is Way.TERMINAL else [])
    assert copier.last == "op-1"


async def test_in_a_browser_neither_the_desktop_nor_tmux_of_the_server_is_meant(tmp_path: Path) -> None:
    """The person sits elsewhere."""
    tmux(tmp_path)
    sent: list[str] = []
    environ = {"TMUX": "/tmp/x,1,0", "PATH": f"{tmp_path}:/bin:/usr/bin"}
    copier = Copier(environ, sent.append, Desktop, is_in_browser=lambda: True)
    assert await copier.copy("op-1") is Way.TERMINAL
    assert sent == ["op-1"]
    assert not (tmp_path / "buffer").exists()


async def test_a_desktop_that_does_not_answer_holds_nobody_up() -> None:
    """After a second the terminal is asked."""
    sent: list[str] = []
    ends = threading.Event()
    copier = Copier({}, sent.append, lambda: Desktop(until=ends))
    began = time.monotonic()
    assert await copier.copy("op-1") is Way.TERMINAL
    assert time.monotonic() - began < LONG_S
    ends.set()


@pytest.mark.parametrize(("code", "way"), [(0, Way.TMUX), (1, Way.TERMINAL)])
async def test_inside_tmux_its_buffer_takes_it_and_passes_it_on(tmp_path: Path, code: int, way: Way) -> None:
    """Over ssh, too: tmux runs where we do, and its terminal is the person's."""
    tmux(tmp_path, code=code)
    sent: list[str] = []
    copier = Copier(
        {**SSH, "TMUX": "/tmp/x,1,0", "PATH": f"{tmp_path}:/bin:/usr/bin"}, sent.append, lambda: None, patience_s=LONG_S
    )
    assert await copier.copy("op-1\nop-2") is way
    assert (tmp_path / "buffer").read_text() == "op-1\nop-2"
    assert (tmp_path / "args").read_text() == "load-buffer -w -\n"
    assert bool(sent) is (way is Way.TERMINAL)


async def test_what_is_too_long_for_a_terminal_is_not_sent() -> None:
    """Many cut it off in silence."""
    sent: list[str] = []
    copier = Copier({}, sent.append, lambda: None)
    assert await copier.copy("x" * (LONGEST_SENT // 4 * 3 + 3)) is Way.NONE
    assert sent == []


@pytest.mark.parametrize(
    ("way", "said"),
    [
        (Way.DESKTOP, "op-1 copied"),
        (Way.TMUX, "op-1 copied to tmux's buffer, and sent on to its terminal"),
        (Way.TERMINAL, "op-1 sent to terminal (OSC 52); if it did not arrive, :copied shows it"),
        (Way.NONE, "op-1 cannot be copied from here: select it"),
    ],
)
def test_no_more_is_claimed_than_what_is_known(way: Way, said: str) -> None:
    """ "copied" stands alone only where it was read back."""
    assert texts.copied("op-1", way) == said


async def test_where_nothing_takes_it_the_text_is_shown_to_be_selected(dashboard: TestedDashboard) -> None:
    """Alone, from the left edge, with the mouse left to the terminal; Esc leads back."""
    await dashboard.track("job-1")
    dashboard.copier = Copier({"TERM": "linux"}, lambda _: None, lambda: None)
    async with running(dashboard) as pilot:
        await settled(pilot)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(dashboard.screen, SelectDialog))
        await pilot.pause()
        assert text_of(dashboard)[1].rstrip() == "job-1"
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(dashboard.screen, SelectDialog))


async def test_what_was_copied_can_be_shown_again(dashboard: TestedDashboard) -> None:
    """`:copied`, for whoever finds that it did not arrive."""
    await dashboard.track("job-1")
    dashboard.copier = Copier({}, lambda _: None, lambda: None)
    async with running(dashboard) as pilot:
        await settled(pilot)
        dashboard.run_command("copied")
        await until(pilot, lambda: any("Nothing has been copied yet" in each.message for each in dashboard._notifications))
        await pilot.press("Y")
        await until(pilot, lambda: bool(dashboard.copier.last))
        dashboard.run_command("copied")
        await until(pilot, lambda: isinstance(dashboard.screen, SelectDialog))
        await pilot.pause()
        assert any('"operation_id": "job-1"' in line for line in text_of(dashboard))
