"""A terminal of 80 columns: the words that a person acts on are whole there."""

from __future__ import annotations

import pytest

from jobconsole.tui import texts
from jobconsole.tui.dialogs.choose import ChooseDialog
from tests.tui.conftest import TestedDashboard, running, settled, text_of, until

SIZE = (80, 24)


@pytest.mark.rule("U2")
async def test_a_table_that_scrolls_hides_no_word_behind_its_scrollbar(dashboard: TestedDashboard) -> None:
    """Thirty rows; `needs you` stands in the last column."""
    for number in range(30):
        await dashboard.track(f"job-{number}")
    await dashboard.check("job-7", {"state": "undocumented"})
    async with running(dashboard, SIZE) as pilot:
        await settled(pilot)
        (line,) = (line for line in text_of(dashboard) if "job-7" in line)
        assert "needs you" in line


@pytest.mark.rule("H2")
async def test_the_options_dialog_cuts_no_line(dashboard: TestedDashboard) -> None:
    """What an option changes is wrapped to the width that there is."""
    await dashboard.track("job-1")
    async with running(dashboard, SIZE) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(dashboard.screen, ChooseDialog))
        await pilot.pause()
        shown = [line.split("│")[-2] for line in text_of(dashboard) if line.count("│") >= 2]
        assert any("Extend once" in line for line in shown)
        assert not any("…" in line for line in shown)


def test_how_a_held_act_is_undone_stands_before_its_name() -> None:
    """However long the name is."""
    assert texts.held("Cancel at provider: " + "x" * 200, 4, "").startswith("in 4 s, u undoes: Cancel at provider: xxx")
