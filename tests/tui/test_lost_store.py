"""The dashboard of a store whose folder is deleted under it: what was last seen stays, and the reason is in sight (S4, U6)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jobconsole.console import Wish, open_desk
from jobconsole.tui.start import make_dashboard
from jobconsole.tui.widgets.status_bar import StatusBar
from tests.tui.conftest import PROVIDER


@pytest.mark.rule("S4", "U6")
async def test_a_store_that_is_deleted_under_the_dashboard_is_told_in_its_status_line(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "acme.toml"
    file.write_text(PROVIDER)
    async with open_desk(home, label="tui", provider_files=[file]) as desk:
        await desk.track("acme", job_id="job-1", wish=Wish("person:ana", "op-1"))
        app = make_dashboard(desk, home, has_mouse=False, is_animated=False)
        async with app.run_test(size=(160, 24), notifications=True) as pilot:
            for turn in range(3_000):
                if app.feed.is_loaded and turn > 10:
                    if home.exists():
                        shutil.rmtree(home)
                    if app.feed.health.damage and len(app._notifications):
                        break
                await pilot.pause(0.02)
            assert "was deleted, moved or replaced while it was open" in str(app.screen.query_one(StatusBar).render())
            (said,) = app._notifications
            assert str(home) in said.message
            assert list(app.feed.operations) == ["op-1"]
        assert app.return_code in (0, None)
    assert not home.exists()
