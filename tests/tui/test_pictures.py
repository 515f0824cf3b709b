"""The dashboard as pictures, at a fixed size, clock and version of Textual; the README shows two of them.

Where the dashboard looks otherwise on purpose, `pytest tests/tui --snapshot-update` draws them anew: look at them. What they
show is `staged_day.py`'s; a failed run leaves a report with the differences in `snapshot_report.html`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from jobconsole.tui.app import Dashboard
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.theme_choice import DEFAULT_THEME
from jobconsole.tui.widgets.line_list import LineList
from tests.tui.conftest import until
from tests.tui.staged_day import LEDGER, staged_day

ROOT = Path(__file__).parents[2]
PICTURES = Path(__file__).with_name("__snapshots__") / "test_pictures"
README_SIZE = (160, 30)

Look = Callable[[Pilot[None]], Awaitable[None]]


class Compare(Protocol):
    """The plugin's fixture: whether the app looks as it did, once `run_before` has acted on it."""

    def __call__(self, app: Dashboard, *, terminal_size: tuple[int, int], run_before: Look) -> bool: ...


# ---- what is looked at -------------------------------------------------------------------------------------------------------
async def operations(pilot: Pilot[None]) -> None:
    """The table, and the pane beside it where there is one."""
    app = pilot.app
    assert isinstance(app, Dashboard)
    await until(pilot, lambda: app.feed.is_loaded)
    story = app.screen.query_one("#side-pane #detail-story", Static)
    await until(pilot, lambda: not app.screen.query_one("#side-pane").display or bool(str(story.content)))


async def ledgers_card(pilot: Pilot[None]) -> None:
    """The card of the job that spent its checks, with the keys going there."""
    await operations(pilot)
    await pilot.press("i")
    await until(pilot, lambda: isinstance(pilot.app.screen, InboxScreen) and pilot.app.screen.list.cursor is not None)
    screen = pilot.app.screen
    assert isinstance(screen, InboxScreen)
    screen.list.cursor = LEDGER
    options = screen.card.query_one("#card-options", LineList)
    await until(pilot, lambda: screen.card.operation_id == LEDGER and bool(options.entries))
    await pilot.press("enter")
    await until(pilot, lambda: options.has_focus)


# ---- the README's ------------------------------------------------------------------------------------------------------------
def test_dashboard(snap_compare: Compare, tmp_path: Path) -> None:
    """A morning's jobs: some wait, two need a person, the others ended in each way; the pane tells of the first."""
    with staged_day(tmp_path, DEFAULT_THEME) as app:
        assert snap_compare(app, terminal_size=README_SIZE, run_before=operations)


def test_inbox(snap_compare: Compare, tmp_path: Path) -> None:
    """The card of the job that spent its checks, with its numbered options and what each would cost."""
    with staged_day(tmp_path, DEFAULT_THEME) as app:
        assert snap_compare(app, terminal_size=README_SIZE, run_before=ledgers_card)


def test_the_readme_shows_both_pictures() -> None:
    """By their place in the checkout."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("test_dashboard.svg", "test_inbox.svg"):
        assert f"({(PICTURES / name).relative_to(ROOT).as_posix()})" in text


# ---- all of them -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_tells_nothing_of_the_machine_that_drew_it(path: Path) -> None:
    """No paths, no addresses but made-up ones, and nothing that a viewer would fetch."""
    svg = path.read_text(encoding="utf-8")
    assert not re.search(r"/(tmp|home|Users|root|work|var|private)/", svg)
    hosts = set(re.findall(r"https?://([^/\s\"<&]+)", svg))
    assert all(host == "www.w3.org" or host.endswith(".example") for host in hosts)
    assert "url(" not in svg.replace("url(#", "")
