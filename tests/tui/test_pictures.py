"""The dashboard as pictures, at a fixed size, clock and version of Textual; the README shows two of them.

Where the dashboard looks otherwise on purpose, `pytest tests/tui --snapshot-update` draws them anew: look at them. What they
show is `staged_day.py`'s; a failed run leaves a report with the differences in `snapshot_report.html`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import HelpPanel, Input, Static

from jobconsole.tui.app import Dashboard
from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.screens.audit import AuditScreen
from jobconsole.tui.screens.detail import DetailScreen
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.screens.log import LogScreen
from jobconsole.tui.screens.operations import PANE_FROM
from jobconsole.tui.screens.providers import ProvidersScreen
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
    """The table, and the pane beside it where it has room."""
    app = _app(pilot)
    await until(pilot, lambda: app.feed.is_loaded)
    story = app.screen.query_one("#side-pane #detail-story", Static)
    if app.feed.operations and app.size.width >= PANE_FROM:
        await until(pilot, lambda: bool(str(story.content)) and story.size.height > 0)


async def ledgers_card(pilot: Pilot[None]) -> None:
    """The card of the job that spent its checks, with the keys going there."""
    await _go(pilot, "i", InboxScreen)
    screen = pilot.app.screen
    assert isinstance(screen, InboxScreen)
    screen.list.cursor = LEDGER
    options = screen.card.query_one("#card-options", LineList)
    await until(pilot, lambda: screen.card.operation_id == LEDGER and bool(options.entries))
    await pilot.press("enter")
    await until(pilot, lambda: options.has_focus)


async def ledgers_detail(pilot: Pilot[None]) -> None:
    """The same job with its story."""
    await _go(pilot, "enter", DetailScreen)
    await until(pilot, lambda: bool(pilot.app.screen.query_one("#list-story", LineList).entries))


async def decisions(pilot: Pilot[None]) -> None:
    """Who approved what."""
    await _go(pilot, "A", AuditScreen)
    await pilot.press("D")
    screen = pilot.app.screen
    assert isinstance(screen, AuditScreen)
    await until(pilot, lambda: len(screen.list.entries) == 1)


async def busiest_account(pilot: Pilot[None]) -> None:
    """What it spent of what, and by whom."""
    await _go(pilot, "P", ProvidersScreen)
    screen = pilot.app.screen
    assert isinstance(screen, ProvidersScreen)
    await until(pilot, lambda: len(screen.list.entries) > 30)
    screen.list.cursor = "account:northwind-prod@api.northwind.example"


async def log(pilot: Pilot[None]) -> None:
    """A warning of the engine, made up."""
    record = logging.LogRecord("jobconsole.engine", logging.WARNING, __file__, 1, "%s: no answer within 10 s", ("acme",), None)
    record.created = datetime(2026, 11, 29, 10, 19, 58, tzinfo=UTC).timestamp()
    _app(pilot).log_ring.handle(record)
    await _go(pilot, "L", LogScreen)


async def cancelling(pilot: Pilot[None]) -> None:
    """What is asked before a job is cancelled."""
    await _go(pilot, "c", Dialog)


async def extending(pilot: Pilot[None]) -> None:
    """What is asked before an operation is extended."""
    await _go(pilot, "e", Dialog)


async def helped(pilot: Pilot[None]) -> None:
    """The keys that work here."""
    await operations(pilot)
    await pilot.press("question_mark")
    await until(pilot, lambda: bool(pilot.app.screen.query(HelpPanel)))


def _app(pilot: Pilot[None]) -> Dashboard:
    assert isinstance(pilot.app, Dashboard)
    return pilot.app


async def _go(pilot: Pilot[None], key: str, screen: type[Screen[Any]]) -> None:
    """Press a key of the operations, wait for what it opens, and let no cursor blink."""
    await operations(pilot)
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, screen))
    await pilot.pause()
    for entry in pilot.app.screen.query(Input):
        entry.cursor_blink = False


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


# ---- the others --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("theme", "size"),
    [
        ("jobconsole-light", (120, 36)),
        ("high-contrast", (120, 36)),
        ("ansi16", (120, 36)),
        (DEFAULT_THEME, (80, 24)),
        (DEFAULT_THEME, (200, 50)),
    ],
    ids=["light", "high-contrast", "ascii", "80x24", "200x50"],
)
def test_operations(snap_compare: Compare, tmp_path: Path, theme: str, size: tuple[int, int]) -> None:
    """The same morning in other themes and sizes."""
    with staged_day(tmp_path, theme) as app:
        assert snap_compare(app, terminal_size=size, run_before=operations)


@pytest.mark.parametrize(
    "look",
    [ledgers_detail, decisions, busiest_account, log, cancelling, extending, helped],
    ids=lambda look: look.__name__.replace("_", "-"),
)
def test_screens(snap_compare: Compare, tmp_path: Path, look: Look) -> None:
    """Each screen and the two dialogs that change a job."""
    with staged_day(tmp_path, DEFAULT_THEME) as app:
        assert snap_compare(app, terminal_size=(120, 36), run_before=look)


@pytest.mark.rule("U6")
def test_empty(snap_compare: Compare, tmp_path: Path) -> None:
    """A store in which nothing has happened says what to do."""
    with staged_day(tmp_path, DEFAULT_THEME, is_empty=True) as app:
        assert snap_compare(app, terminal_size=(80, 24), run_before=operations)


# ---- all of them -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_tells_nothing_of_the_machine_that_drew_it(path: Path) -> None:
    """No paths, no addresses but made-up ones, and nothing that a viewer would fetch."""
    svg = path.read_text(encoding="utf-8")
    assert not re.search(r"/(tmp|home|Users|root|work|var|private)/", svg)
    hosts = set(re.findall(r"https?://([^/\s\"<&]+)", svg))
    assert all(host == "www.w3.org" or host.endswith(".example") for host in hosts)
    assert "url(" not in svg.replace("url(#", "")
