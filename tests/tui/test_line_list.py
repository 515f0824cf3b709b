"""A list keeps its cursor and its place by keys, whatever happens to its lines (SPEC U2, U8)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.pilot import Pilot

from jobconsole.tui.widgets.line_list import Entry, LineList


class ListApp(App[None]):
    """A list alone."""

    def __init__(self) -> None:
        super().__init__()
        self.turned: list[int] = []
        self.chosen: list[str] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The one colour that only themes of jobconsole have."""
        return {"quiet": "#808080"}

    def compose(self) -> ComposeResult:
        """The list."""
        yield LineList(empty="Nothing here. Try something else.")

    def on_line_list_end_reached(self, message: LineList.EndReached) -> None:
        """Beyond an end."""
        self.turned.append(message.direction)

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Enter, or a second click."""
        self.chosen.append(message.key)


@asynccontextmanager
async def showing(keys: Iterable[str], rows: int = 1) -> AsyncIterator[tuple[Pilot[None], LineList, ListApp]]:
    """The list with an entry for each key, 10 rows high; a key in capitals is a heading."""
    app = ListApp()
    async with app.run_test(size=(40, 10)) as pilot:
        lines = app.query_one(LineList)
        lines.show(entries(keys, rows))
        lines.focus()
        await pilot.pause()
        yield pilot, lines, app


def entries(keys: Iterable[str], rows: int = 1) -> list[Entry]:
    """Entries that show their keys."""
    return [Entry(key, tuple(Content(f"{key} {row}") for row in range(rows)), is_heading=key.isupper()) for key in keys]


@pytest.mark.rule("U8")
async def test_the_cursor_stays_on_its_key_when_lines_come_go_and_move() -> None:
    """Never on its row."""
    async with showing("abcdef") as (pilot, lines, _):
        await pilot.press("j", "j")
        assert lines.cursor == "c"
        for order in ("xyzabcdef", "fedcba", "c"):
            lines.show(entries(order))
            assert lines.cursor == "c"


async def test_a_key_that_is_gone_gives_its_cursor_to_the_next_one() -> None:
    """The one that took its place, or the last."""
    async with showing("abc") as (pilot, lines, _):
        await pilot.press("j")
        lines.show(entries("ac"))
        assert lines.cursor == "c"
        lines.show(entries("a"))
        assert lines.cursor == "a"


@pytest.mark.rule("U2")
async def test_the_cursors_line_keeps_its_height_in_the_window() -> None:
    """Fifty lines inserted above move nothing on the screen."""
    before = [f"b{number}" for number in range(100)]
    async with showing(before) as (pilot, lines, _):
        lines.cursor = "b50"
        await pilot.pause()
        height = 50 - lines.scroll_offset.y
        lines.show(entries([f"a{number}" for number in range(50)] + before))
        await pilot.pause()
        assert 100 - lines.scroll_offset.y == height


@pytest.mark.parametrize(
    ("keys", "cursor"),
    [
        (["j", "j"], "c"),
        (["down", "k"], "a"),
        (["G"], "t"),
        (["G", "g"], "a"),
        (["ctrl+d"], "f"),  # half of ten rows
        (["pagedown"], "k"),
        (["G", "pageup"], "j"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
async def test_vim_keys_stand_beside_the_arrows(keys: list[str], cursor: str) -> None:
    """Twenty lines in ten rows."""
    async with showing("abcdefghijklmnopqrst") as (pilot, lines, _):
        await pilot.press(*keys)
        assert lines.cursor == cursor


async def test_headings_have_no_cursor() -> None:
    """Keys step over them, clicks pass them by."""
    async with showing(["ONE", "a", "TWO", "b"]) as (pilot, lines, _):
        assert lines.cursor == "a"
        await pilot.press("j")
        assert lines.cursor == "b"
        await pilot.click(LineList, offset=(1, 2))
        assert lines.cursor == "b"


async def test_beyond_an_end_the_list_says_so_and_stands_still() -> None:
    """For lists in pages."""
    async with showing("ab") as (pilot, lines, app):
        await pilot.press("k", "G", "j")
        assert app.turned == [-1, 1]
        assert lines.cursor == "b"


async def test_a_click_moves_the_cursor_and_a_second_one_opens() -> None:
    """By the row's own entry, also where an entry has two rows."""
    async with showing("abc", rows=2) as (pilot, lines, app):
        await pilot.click(LineList, offset=(1, 3))
        assert (lines.cursor, app.chosen) == ("b", [])
        await pilot.click(LineList, offset=(1, 2), times=2)
        assert app.chosen == ["b"]


@pytest.mark.rule("U6")
async def test_an_empty_list_says_what_to_do() -> None:
    """And a key in it does no harm."""
    async with showing("") as (pilot, lines, _):
        await pilot.press("j", "enter", "G", "pagedown")
        assert lines.render_line(0).text.strip() == "Nothing here. Try something else."
        assert lines.cursor is None


@pytest.mark.rule("U3")
async def test_a_long_line_is_cut_to_the_width_of_the_list() -> None:
    """One row, an ellipsis, no more; a column is kept for the scrollbar, so that no row changes its width when it comes."""
    async with showing("a") as (_, lines, _app):
        lines.show([Entry("a", (Content("漢" * 100_000),))])
        assert lines.render_line(0).cell_length == 39
        assert "…" in lines.render_line(0).text
