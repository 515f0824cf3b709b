"""The cases of `cases.jsonl` whose area is the dashboard, on the screens that show foreign text (SPEC U3, U8)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from jobconsole.console import Budget
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.vocabulary import Phase
from jobconsole.testing.clock import ManualClock
from jobconsole.tui.screens.detail import DetailScreen
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.widgets.line_list import LineList
from tests.quickest import quickest_async
from tests.tui.conftest import TestedDashboard, made, pass_time, running, settled, text_of, until

_LINES = (Path(__file__).parents[1] / "cases.jsonl").read_text(encoding="utf-8").splitlines()
CASES: dict[str, Any] = {case["id"]: case for case in map(json.loads, _LINES) if case["area"].startswith("tui/")}
FOREIGN = [*CASES["TU-01"]["input"]["texts"], *CASES["TU-02"]["input"]["texts"]]


def shown(app: TestedDashboard) -> str:
    """The screen as one text, without the gaps between rows."""
    return "\n".join(line.rstrip() for line in text_of(app))


async def fail_with(app: TestedDashboard, text: str) -> None:
    """A job whose name, state message and error are `text`."""
    await app.track("acme-1", title=text)
    await app.check("acme-1", {"state": "running", "message": text})
    app.clock.advance(60)
    await app.check("acme-1", {"state": "failed", "error": text})


async def open_detail(pilot: Pilot[None]) -> DetailScreen:
    """Open the operation under the cursor, with its audit read."""
    await settled(pilot)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, DetailScreen))
    screen = pilot.app.screen
    assert isinstance(screen, DetailScreen)
    await until(pilot, lambda: bool(screen.query_one("#list-story", LineList).entries))
    return screen


@pytest.mark.rule("U3")
@pytest.mark.parametrize("text", FOREIGN, ids=[f"text {number}" for number in range(len(FOREIGN))])
async def test_tu_01_and_02_foreign_text_is_shown_as_it_is_and_does_nothing(dashboard: TestedDashboard, text: str) -> None:
    """In the detail, in the story, on an inbox card and in a toast: literally, or as a visible escape."""
    await fail_with(dashboard, text)
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        assert inert(text) in str(screen.query_one("#detail-title", Static).content)
        assert inert(text) in str(screen.query_one("#detail-ending", Static).content)
        assert inert(text) in shown(dashboard)
        dashboard.say(text)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(dashboard.screen, InboxScreen) and bool(dashboard.screen.card.operation_id))
        await until(pilot, lambda: inert(text) in str(dashboard.screen.query_one("#card-facts", Static).content))
        assert all(character.isprintable() or character == "\n" for character in shown(dashboard))
        assert dashboard.is_running


@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    "text",
    ["😀 emoji and 漢字 wide", "e\u0301te\u0301 combining", "ملف\u202e right to left", "tab\tand\nnewline", "x" * 100_000],
    ids=["wide", "combining", "bidi", "newline", "100 kB"],
)
async def test_the_layout_stays_whole_under_any_text(dashboard: TestedDashboard, text: str) -> None:
    """Every row of every screen is exactly as wide as the terminal, and the frame of the card is unbroken."""
    await fail_with(dashboard, text)
    async with running(dashboard, (100, 30)) as pilot:
        await open_detail(pilot)
        for key in ("right_square_bracket", "i", "A", "L"):
            await pilot.press(key)
            await pilot.pause()
            strips = dashboard.screen._compositor.render_strips()
            assert {strip.cell_length for strip in strips} == {100}


async def key_s(folder: Path, text: str) -> float:
    """Seconds that a key takes beside this text: the median of twenty, the pilot's own pauses included."""
    async with made(folder, ManualClock()) as dashboard:
        await fail_with(dashboard, text)
        async with running(dashboard, (200, 60)) as pilot:
            await open_detail(pilot)
            took = []
            for key in ("k", "j") * 10:
                began = perf_counter()
                await pilot.press(key)
                took.append(perf_counter() - began)
    return median(took)


async def test_tu_04_keys_answer_in_time_beside_a_long_text(tmp_path: Path) -> None:
    """A story line, a message and an error of 100 kB; moving in the detail stays quick, or as quick as this machine is."""
    beside_a_word, beside_much = await key_s(tmp_path, "long"), await key_s(tmp_path, "long " * 20_000)
    assert beside_much < max(0.4, 4 * beside_a_word)  # the figures are measured in bench/


@pytest.mark.rule("U8")
async def test_tu_08_a_resize_while_a_dialog_is_open_loses_nothing(dashboard: TestedDashboard) -> None:
    """From large to one cell and back, with every act still reachable by keys."""
    await dashboard.track("acme-1", budget=Budget(status_requests=1))
    op = await dashboard.check("acme-1")
    assert op.phase is Phase.ESCALATED
    async with running(dashboard, (200, 60)) as pilot:
        await settled(pilot)
        await pilot.press("c")
        await until(pilot, lambda: bool(dashboard.screen.query("#keep")))
        for size in ((80, 24), (20, 5), (1, 1), (200, 60)) * 5:
            await pilot.resize_terminal(*size)
        await pass_time(pilot, 1)
        assert "Stops the job; partial output is lost." in shown(dashboard)
        await pilot.press("C")
        await until(pilot, lambda: bool(dashboard.holds.waiting))


async def test_tu_06_quitting_cancels_nothing_and_is_quick(tmp_path: Path) -> None:
    """`ctrl+q` ends the screen within two seconds, whatever is open or held."""

    async def quitting_s(_: int) -> float:
        async with made(tmp_path, ManualClock()) as dashboard:
            await dashboard.track("acme-1")
            async with running(dashboard) as pilot:
                await settled(pilot)
                await pilot.press("c")
                await until(pilot, lambda: bool(dashboard.screen.query("#keep")))
                await pass_time(pilot, 1)
                await pilot.press("C")
                began = perf_counter()
                await pilot.press("ctrl+q")
            took_s = perf_counter() - began
            dashboard.clock.advance(60)
            await asyncio.sleep(0)
            assert (await dashboard.desk.get("acme-1")).cancel_requested_at is None
            return took_s

    assert await quickest_async(2, quitting_s) < 2
