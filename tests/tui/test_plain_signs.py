"""A theme of ASCII signs draws nothing else: no frame, arrow, dot or key on any screen or in any dialog (SPEC U4)."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.segment import Segment
from textual.color import Color
from textual.pilot import Pilot

from jobconsole.core.telling.theme import parse_theme
from jobconsole.core.vocabulary import Phase
from jobconsole.tui.clipboard import Copier
from jobconsole.tui.plain_signs import PlainSigns, plain_key
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until
from tests.tui.test_operations_table import table_of

SIZES = [(80, 24), (160, 45)]


async def staged(app: TestedDashboard) -> None:
    """One that waits, one that asks, one that failed; and one whose name is foreign."""
    app.copier = Copier({"TERM": "linux"}, lambda _: None, lambda: None)
    await app.track("job-1")
    await app.check("job-1", {"state": "running", "progress": 41, "message": "pass 1"})
    await app.track("job-2")
    await app.check("job-2", {"state": "moderating"})
    await app.track("job-3")
    await app.check("job-3", {"state": "failed", "error": "disk full"})


async def shown_plainly(pilot: Pilot[None]) -> None:
    """Every line of the screen is ASCII, some moments later as well."""
    app = pilot.app
    assert isinstance(app, TestedDashboard)
    for _ in range(3):
        await pass_time(pilot, 1)
        await pilot.pause(0.05)
    lines = text_of(app)
    assert any(line.strip() for line in lines)
    assert [line for line in lines if not line.isascii()] == []


@pytest.mark.rule("U4")
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("mode", ["operations", "inbox", "audit", "providers", "log"])
async def test_every_screen_is_drawn_in_ascii(dashboard: TestedDashboard, mode: str, size: tuple[int, int]) -> None:
    """With its keys open beside it, too."""
    await staged(dashboard)
    dashboard.theme = "ansi16"
    async with running(dashboard, size) as pilot:
        await settled(pilot)
        dashboard.run_command(mode)
        await until(pilot, lambda: dashboard.main_screen.mode == mode)
        await pilot.pause()
        await shown_plainly(pilot)
        await pilot.press("question_mark")
        await pilot.pause(0.1)
        await shown_plainly(pilot)


@pytest.mark.rule("U4")
@pytest.mark.parametrize(
    ("operation_id", "command"),
    [
        ("job-1", "open"),
        ("job-2", "open"),
        ("job-3", "open"),
        ("job-1", "extend"),
        ("job-1", "cancel"),
        ("job-1", "close"),
        ("job-1", "options"),
        ("job-2", "options"),
        ("job-3", "acknowledge"),
        ("job-1", "why"),
        ("job-1", "copy"),
        ("job-1", "theme"),
        ("job-1", "palette"),
        ("job-1", "jump"),
        ("job-1", "note"),
        ("job-2", "snooze"),
        ("job-2", "assign"),
    ],
)
async def test_every_dialog_is_drawn_in_ascii(dashboard: TestedDashboard, operation_id: str, command: str) -> None:
    """Frames, fields, buttons and arrows."""
    await staged(dashboard)
    dashboard.theme = "ansi16"
    async with running(dashboard, (100, 32)) as pilot:
        await settled(pilot)
        table_of(dashboard).go_to(operation_id)
        await pilot.pause()
        dashboard.run_command(command)
        await until(pilot, lambda: len(dashboard.screen_stack) > 1 or dashboard.current_mode == "audit")
        await pilot.pause(0.1)
        await shown_plainly(pilot)


async def test_the_dialog_for_many_is_drawn_in_ascii(dashboard: TestedDashboard) -> None:
    """Its list and what is left out of it."""
    await staged(dashboard)
    dashboard.theme = "ansi16"
    async with running(dashboard, (100, 32)) as pilot:
        await settled(pilot)
        table_of(dashboard).marked = {"job-1", "job-2", "job-3"}
        dashboard.run_command("cancel")
        await until(pilot, lambda: len(dashboard.screen_stack) > 1)
        await shown_plainly(pilot)


async def test_a_theme_that_is_switched_live_changes_the_frames_at_once(dashboard: TestedDashboard) -> None:
    """To ASCII and back."""
    await staged(dashboard)
    async with running(dashboard) as pilot:
        await settled(pilot)
        assert not all(line.isascii() for line in text_of(dashboard))
        dashboard.run_command("theme ansi16")
        await until(pilot, lambda: all(line.isascii() for line in text_of(dashboard)))
        dashboard.run_command("log")
        await until(pilot, lambda: dashboard.main_screen.mode == "log")
        dashboard.run_command("theme jobconsole-dark")
        await until(pilot, lambda: any("─" in line for line in text_of(dashboard)))
        dashboard.run_command("operations")
        await until(pilot, lambda: "⏎ Open" in text_of(dashboard)[-1])


def test_letters_of_other_languages_stay() -> None:
    """Only signs that the dashboard draws are changed, column for column."""
    line = [Segment("│ Zürich → 東京 · données… ╯")]
    (drawn,) = PlainSigns().apply(line, Color(0, 0, 0))
    assert drawn.text == "| Zürich > 東京 - données~ +"
    plain = [Segment("plain")]
    assert PlainSigns().apply(plain, Color(0, 0, 0)) is plain


@pytest.mark.parametrize(("shown", "plain"), [("⏎", "enter"), ("^p", "^p"), ("shift+↑", "shift+up"), ("esc", "esc")])
def test_keys_are_told_in_words(shown: str, plain: str) -> None:
    """Where the terminal may have no sign for them."""
    assert plain_key(shown) == plain


def test_the_signs_of_the_theme_are_ascii_themselves() -> None:
    """What tells a state is chosen where it is drawn, not by the filter."""
    theme = parse_theme((Path(__file__).parents[2] / "themes" / "ansi16.toml").read_text(), "ansi16.toml")
    assert all(theme.glyph(phase).isascii() for phase in Phase)
