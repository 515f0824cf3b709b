"""The operations table through Textual's pilot: what is seen and acted on is named by its id, whatever happens meanwhile."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from jobconsole.play.job import Reply
from jobconsole.tui.screens.operations import OperationsScreen
from jobconsole.tui.widgets.operations_table import OperationsTable
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until


def table_of(app: TestedDashboard) -> OperationsTable:
    """The table of the operations screen."""
    screen = app.main_screen
    assert isinstance(screen, OperationsScreen)
    return screen.table


def line_of(app: TestedDashboard, operation_id: str) -> str:
    """The row of this operation as it stands on the screen."""
    table = table_of(app)
    y = next(y for y, line in table._lines.items() if line.operation_id == operation_id)
    return table.render_line(y).text


async def five(app: TestedDashboard) -> None:
    """Five jobs, one each second: job-1 is the oldest."""
    for number in range(1, 6):
        await app.track(f"job-{number}")
        app.clock.advance(1)


@pytest.mark.rule("U2", "U8")
async def test_the_cursor_stays_on_its_operation_when_rows_move(dashboard: TestedDashboard) -> None:
    """Three rows down is job-3; job-1 needs a person and comes to the top, job-5 ends and goes to the bottom."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        table = table_of(dashboard)
        assert table.order.rows == ["job-5", "job-4", "job-3", "job-2", "job-1"]
        await pilot.press("j", "j")
        assert table.cursor_id == "job-3"
        await dashboard.check("job-1", {"state": "undocumented"})
        await dashboard.check("job-5", {"state": "done"})
        await settled(pilot)
        assert table.order.rows == ["job-1", "job-4", "job-3", "job-2", "job-5"]
        assert table.cursor_id == "job-3"
        assert "▌" in line_of(dashboard, "job-3")


@pytest.mark.rule("U8")
@pytest.mark.parametrize("key", ["t", "j", "S"])
async def test_the_cursor_stays_at_the_top_until_somebody_pressed_a_key(dashboard: TestedDashboard, key: str) -> None:
    """Nobody chose the first row of the first second; whoever pressed any key looked at it."""
    await dashboard.track("job-1")
    async with running(dashboard) as pilot:
        table = table_of(dashboard)
        dashboard.clock.advance(1)
        await dashboard.track("job-2")
        await until(pilot, lambda: table.order.rows == ["job-2", "job-1"])
        await until(pilot, lambda: table.cursor_id == "job-2")
        await pilot.press(key)
        chosen = table.cursor_id
        dashboard.clock.advance(1)
        await dashboard.track("job-3")
        await until(pilot, lambda: "job-3" in table.order.rows and table.count == 3)
        await pilot.pause()
        assert table.cursor_id == chosen


@pytest.mark.rule("U2", "U8")
@pytest.mark.parametrize("column", ["name", "id", "age", "time", "checks", "next", "http", "progress", "last", "state"])
async def test_sorting_takes_the_cursor_along(dashboard: TestedDashboard, column: str) -> None:
    """Whatever the column, and turned round as well, the cursor is on the operation it was on."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        table = table_of(dashboard)
        table.go_to("job-2")
        dashboard.run_command(f"sort {column}")
        await pilot.press("S")
        await pilot.pause()
        assert table.cursor_id == "job-2"
        assert (table.order.column.key, table.order.is_reversed) == (column, True)


@pytest.mark.rule("U2")
async def test_scroll_keeps_what_is_looked_at_when_rows_come_above(dashboard: TestedDashboard) -> None:
    """Forty rows on a small screen: the row under the cursor stays at its height while five new ones come in above."""
    for number in range(40):
        await dashboard.track(f"old-{number:02}")
        dashboard.clock.advance(1)
    async with running(dashboard, (80, 16)) as pilot:
        table = table_of(dashboard)
        table.go_to("old-05")
        await pilot.pause()
        line = next(number for number, text in enumerate(text_of(dashboard)) if "▌" in text)
        for number in range(5):
            await dashboard.track(f"new-{number}")
            dashboard.clock.advance(1)
        await settled(pilot)
        assert table.cursor_id == "old-05"
        assert "old-05" in text_of(dashboard)[line]
        assert "▌" in text_of(dashboard)[line]


@pytest.mark.rule("U8")
async def test_an_action_gets_the_id_and_the_revision_that_were_shown(dashboard: TestedDashboard) -> None:
    """While repainting is paused, the record moves on; the subject is what is on the screen, so the core can refuse it."""
    shown = await dashboard.track("job-1")
    async with running(dashboard) as pilot:
        await pilot.press("p")
        escalated = await dashboard.check("job-1", {"state": "undocumented"})
        assert escalated.revision > shown.revision
        await until(pilot, lambda: any("PAUSED · 1 change waiting" in line for line in text_of(dashboard)))
        (subject,) = dashboard.main_screen.subjects(for_many=False)
        assert (subject.operation_id, subject.revision) == ("job-1", shown.revision)
        await pilot.press("p")
        await settled(pilot)
        (subject,) = dashboard.main_screen.subjects(for_many=False)
        assert subject.revision == escalated.revision


async def test_a_paused_picture_holds_its_times_too(dashboard: TestedDashboard) -> None:
    """Ages stop with `p` and catch up when it goes on: 5 s, still 5 s after another 20 s, then 25 s."""
    await dashboard.track("job-1")
    async with running(dashboard) as pilot:
        await pass_time(pilot, 5)
        await pilot.press("p")
        await pass_time(pilot, 20)
        assert " 5s " in line_of(dashboard, "job-1")
        await pilot.press("p")
        await pilot.pause()
        assert " 25s " in line_of(dashboard, "job-1")


@pytest.mark.rule("U2")
async def test_times_tick_without_a_look_at_the_store(dashboard: TestedDashboard) -> None:
    """A minute later the row says so, and the store was not asked: nothing changed in it."""
    await dashboard.track("job-1")
    async with running(dashboard) as pilot:
        before = dashboard.feed.operations["job-1"]
        await pass_time(pilot, 65)
        assert " 1m " in line_of(dashboard, "job-1")
        assert dashboard.feed.operations["job-1"] is before


async def test_a_row_that_leaves_the_filter_waits_for_the_cursor_to_leave(dashboard: TestedDashboard) -> None:
    """job-2 ends under a filter for waiting ones: it stays under the cursor, now the last row, and is gone one key later."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        table = table_of(dashboard)
        dashboard.run_command("filter state:waiting")
        table.go_to("job-2")
        await dashboard.check("job-2", {"state": "done"})
        await settled(pilot)
        assert table.cursor_id == "job-2"
        assert "succeeded" in line_of(dashboard, "job-2")
        await pilot.press("k")
        assert table.order.rows == ["job-5", "job-4", "job-3", "job-1"]
        assert table.cursor_id == "job-1"


async def test_marks_are_bound_to_ids_and_an_action_for_many_gets_them(dashboard: TestedDashboard) -> None:
    """Mark job-5 and job-4, re-sort, copy: both ids, in the order of the rows, with the word that no terminal confirmed it."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        await pilot.press("space", "space")
        dashboard.run_command("sort name")
        await pilot.press("y")
        await pilot.pause()
        assert dashboard.clipboard == "job-4\njob-5"
        assert any("sent to terminal" in notice.message for notice in dashboard._notifications)
        await pilot.press("escape")
        assert table_of(dashboard).marked == set()


@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    "text",
    [
        "done [b + c",
        "rows [00] to [10]",
        "[/]",
        "[bold red]SUCCEEDED[/]",
        "[link=https://evil.example.test]open[/link]",
        "[@click=app.quit]x[/]",
        "\\[x\\]",
        "[/#888888] closing",
    ],
)
async def test_markup_in_foreign_text_is_shown_as_it_is(dashboard: TestedDashboard, text: str) -> None:
    """Case TU-01: in the name and in the last word, on a row that is sorted, hovered and told in a toast."""
    await dashboard.track("job-1", title=text[:14])
    await dashboard.check("job-1", {"state": "failed", "error": text})
    async with running(dashboard, (280, 20)) as pilot:
        table_of(dashboard).sort_named("last")
        await pilot.hover("#operations-table", offset=(30, 1))
        dashboard.say(text)
        await pilot.pause()
        line = line_of(dashboard, "job-1")
        assert text[:14] in line
        assert text in line
        assert any(notice.message == text and not notice.markup for notice in dashboard._notifications)


@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    "text",
    [
        "ok\x1b[2J\x1b[31mFAKE",
        "\x1b]0;owned\x07",
        "\x1b]52;c;ZXZpbA==\x07",
        "\x9b31m",
        "a\rSUCCEEDED",
        "a\bb",
        "line1\nline2 state=succeeded",
        "\u202eevil\u202c",
        "\u200bzero",
        "x" * 100_000,
        "界" * 500,
        "e\u0301" * 300,
    ],
)
async def test_no_foreign_character_can_act_on_the_terminal(dashboard: TestedDashboard, text: str) -> None:
    """Case TU-02 and TU-04: controls and direction marks are visible escapes, and every line keeps the width of the screen."""
    await dashboard.track("job-1")
    await dashboard.check("job-1", {"state": "running", "message": text})
    async with running(dashboard, (110, 20)) as pilot:
        await pilot.pause()
        lines = dashboard.screen._compositor.render_strips()
        shown = "".join(segment.text for line in lines for segment in line)
        assert not any(character in shown for character in "\x1b\x07\x9b\r\b\n\u202e\u202c\u200b")
        assert {line.cell_length for line in lines} == {110}


@pytest.mark.rule("U6")
async def test_an_empty_table_says_what_to_do_next(dashboard: TestedDashboard) -> None:
    """No operation at all, and a filter that hides them all."""
    async with running(dashboard) as pilot:
        assert any("No operations yet. Try: jobconsole demo" in line for line in text_of(dashboard))
        await five(dashboard)
        await settled(pilot)
        dashboard.run_command("filter state:failed")
        await pilot.pause()
        assert any(
            'No operation matches "state:failed". esc clears the filter (5 hidden).' in line for line in text_of(dashboard)
        )
        await pilot.press("escape")
        await pilot.pause()
        assert "job-3" in "".join(text_of(dashboard))


async def test_a_row_not_seen_for_two_intervals_says_so(dashboard: TestedDashboard) -> None:
    """The next check was due 10 s after the last one; 9 minutes later nobody has looked."""
    await dashboard.track("job-1")
    await dashboard.check("job-1")
    async with running(dashboard, (120, 20)) as pilot:
        dashboard.run_command("pane")
        await pass_time(pilot, 9 * 60)
        assert "seen 9m ago" in line_of(dashboard, "job-1")


async def test_only_cells_that_differ_are_painted(dashboard: TestedDashboard) -> None:
    """A second passes: of a row only the age is drawn anew, and of a row that ended nothing."""
    await dashboard.track("ended")
    await dashboard.check("ended", {"state": "failed"})
    dashboard.clock.advance(3600)
    await dashboard.track("running")
    async with running(dashboard, (80, 12)) as pilot:
        table = table_of(dashboard)
        painted: list[Region] = []
        refresh = table.refresh
        table.refresh = lambda *regions, **how: painted.extend(regions) or refresh(*regions, **how)  # type: ignore[method-assign,func-returns-value]
        await pass_time(pilot, 1)
        titles = {place.start: place.column.key for place in table._places}
        assert {(region.y, titles[region.x]) for region in painted} == {(1, "age"), (1, "time")}


async def test_a_click_takes_the_row_that_was_painted_and_a_heading_sorts(dashboard: TestedDashboard) -> None:
    """The mouse does what the keys do."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        table = table_of(dashboard)
        await pilot.click("#operations-table", offset=(10, 3))
        assert table.cursor_id == "job-3"
        name = next(place.start for place in table._places if place.column.key == "name")
        await pilot.click("#operations-table", offset=(name + 1, 0))
        assert table.order.rows == ["job-1", "job-2", "job-3", "job-4", "job-5"]
        await pilot.click("#operations-table", offset=(name + 1, 0))
        assert table.order.rows == ["job-5", "job-4", "job-3", "job-2", "job-1"]
        assert table.cursor_id == "job-3"


async def test_sizes_change_without_harm(dashboard: TestedDashboard) -> None:
    """Case TU-08: from wide to nothing and back; too small says so, and what comes back is complete."""
    await five(dashboard)
    async with running(dashboard, (200, 60)) as pilot:
        for size in [(80, 24), (20, 5), (1, 1), (59, 20), (200, 60)] * 3:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            if size == (20, 5):
                assert "Needs 36 × 8" in " ".join("".join(text_of(dashboard)).split())
        shown = "".join(text_of(dashboard))
        assert all(f"job-{number}" in shown for number in range(1, 6))


async def test_a_job_that_runs_shows_budget_source_http_and_progress(dashboard: TestedDashboard) -> None:
    """What U2 asks for, in one row: 90 s of 40 min, one check of 12, 40 % reported."""
    await dashboard.track("job-1")
    dashboard.answers["job-job-1"] = Reply(body={"state": "running", "progress": 40, "message": "pass 1"})
    await dashboard.desk.perform("job-1")
    async with running(dashboard, (260, 20)) as pilot:
        dashboard.clock.advance(2)
        await pass_time(pilot, 0)
        line = line_of(dashboard, "job-1")
        assert "▶ waiting" in line
        for word in ("acme", "2s/40m", "1/12", "in ", "backoff", "200", "40%", "running pass 1"):
            assert word in line
