"""The audit browser: pages, search, jumps, proof; a long audit costs what a page costs."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from jobconsole.core.keeping.chain import Breach, Broken, Verification
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.tui.audit_pages import DAMAGED, PAGE, newest_page, page_after, page_before
from jobconsole.tui.audit_search import parse_search
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.dialogs.jump import JumpDialog
from jobconsole.tui.screens.audit import AuditScreen, proof
from jobconsole.tui.screens.detail import DetailScreen
from tests.tui.conftest import TestedDashboard, running, settled, text_of, until


async def open_audit(pilot: Pilot[None]) -> AuditScreen:
    """Go to the audit and wait for its page."""
    await settled(pilot)
    await pilot.press("A")
    await until(pilot, lambda: isinstance(pilot.app.screen, AuditScreen))
    screen = pilot.app.screen
    assert isinstance(screen, AuditScreen)
    await until(pilot, lambda: bool(screen.list.entries))
    return screen


async def fill(app: TestedDashboard, operations: int) -> None:
    """Operations, each of one event; with the store's own there is one more."""
    for number in range(operations):
        await app.track(f"acme-{number}")


async def test_it_opens_at_the_newest_event_and_turns_pages_at_their_ends(dashboard: TestedDashboard) -> None:
    """501 events: the last 200, and those before them by one key up."""
    await fill(dashboard, 500)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        assert (screen.list.entries[0].key, screen.list.cursor) == ("302", "501")
        screen.list.action_first()
        await pilot.press("k")
        await until(pilot, lambda: screen.list.cursor == "301")
        assert len(screen.list.entries) == PAGE
        await pilot.press("n")
        await until(pilot, lambda: screen.list.cursor == "302")


async def test_pages_are_read_both_ways_and_end_where_the_audit_ends(dashboard: TestedDashboard) -> None:
    """Never all lines; a page knows whether others stand before or behind it."""
    await fill(dashboard, 30)
    desk = dashboard.desk
    for page, seqs, has_older, has_newer in (
        (await page_after(desk, 0, most=3), [1, 2, 3], False, True),
        (await page_before(desk, 32, most=3), [29, 30, 31], True, True),
        (await page_before(desk, 3, most=9), [1, 2], False, True),
        (await page_after(desk, 31), [], True, False),
        (await page_after(desk, 28, most=3), [29, 30, 31], True, False),
        (await newest_page(desk, 31), [*range(1, 32)], False, False),
    ):
        assert ([event.seq for event in page.events], page.has_older, page.has_newer) == (seqs, has_older, has_newer)


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("acme-7", [9]),
        ("ACME-7", [9]),
        ("submitted acme-1", [3, 12, 13]),
        ("!submitted", [1]),
        ("nothing-like-it", []),
        ("kind:store", [1]),
        ("kind:submitted job:acme-1", [3, 12, 13]),
        ("job:!", []),
        ("kind:", [*range(1, 14)]),  # still being typed
        ("by:ana !job:acme", []),
        ("by:store", [1]),
    ],
)
async def test_a_search_finds_every_term(dashboard: TestedDashboard, search: str, found: list[int]) -> None:
    """In any field, or in the one that is named; `!` turns a term round. Both ways find the same."""
    await fill(dashboard, 12)
    matches = parse_search(search, {})
    assert [event.seq for event in (await page_before(dashboard.desk, 14, matches)).events] == found
    assert [event.seq for event in (await page_after(dashboard.desk, 0, matches)).events] == found


@pytest.mark.parametrize("search", ["ledger", "job:LEDGER", "job:acme-1 ledger", "job:job-acme-1"])
async def test_a_search_finds_the_events_of_an_operation_by_its_name(dashboard: TestedDashboard, search: str) -> None:
    """What a person called it, and what the provider does; its checks too, which do not tell either."""
    await dashboard.track("acme-0")
    await dashboard.track("acme-1", title="Q3 ledger")
    await dashboard.check("acme-1")
    operations = {op.operation_id: op for op in await dashboard.desk.operations()}
    found = (await page_after(dashboard.desk, 0, parse_search(search, operations))).events
    assert [event.kind for event in found] == ["submitted", "check_reserved", "check_answered", "state_changed"]


async def test_a_search_finds_only_what_the_line_says(dashboard: TestedDashboard) -> None:
    """A note is found; the same digits in a hash, a counter or a field's name are not: nobody could see why they match."""
    await dashboard.track("acme-1")
    await dashboard.desk.note("acme-1", "ticket 4711", by="person:ana")
    lines = [line async for line in dashboard.desk.events(None, 0)]
    noted = json.loads(lines[-1])
    for search, found in (("4711", 1), ('"ticket 4711"', 1), ('"4711 ticket"', 0), (noted["hash"][:12], 0), ("prev_hash", 0)):
        matches = parse_search(search, {})
        assert matches is not None
        assert sum(matches(line) for line in lines) == found, search


async def test_what_is_typed_after_the_decisions_is_a_term_of_its_own(dashboard: TestedDashboard) -> None:
    """`D`, then `/` and a name: what ben decided. A slash that is typed again is no text."""
    await dashboard.track("acme-1")
    await dashboard.desk.decide("acme-1", "extend", by="person:ben")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_audit(pilot)
        await pilot.press("D", "slash", *"by:ben", "enter")
        assert screen.filter_text() == "kind:decided by:ben"
        await until(pilot, lambda: len(screen.list.entries) == 1)
        await pilot.press("escape", "slash", *"/by:ben", "enter")
        assert screen.filter_text() == "by:ben"


async def test_slash_searches_and_escape_shows_all_again(dashboard: TestedDashboard) -> None:
    """As in every list."""
    await fill(dashboard, 12)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        await pilot.press("slash", *"acme-7", "enter")
        await until(pilot, lambda: [entry.key for entry in screen.list.entries] == ["9"])
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.list.entries) == 13)


async def test_a_search_without_a_hit_says_so(dashboard: TestedDashboard) -> None:
    """No blank pane."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        screen.filter_by("zebra")
        await until(pilot, lambda: any('No event matches "zebra"' in line for line in text_of(dashboard)))


@pytest.mark.rule("U6")
async def test_without_a_decision_that_is_said(dashboard: TestedDashboard) -> None:
    """And what shows everything again."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        await open_audit(pilot)
        await pilot.press("D")
        await until(pilot, lambda: any("Nobody has decided anything yet. D shows" in line for line in text_of(dashboard)))


async def test_a_jump_goes_to_a_number_and_to_a_time(dashboard: TestedDashboard) -> None:
    """The first event at or after the time."""
    await fill(dashboard, 3)
    dashboard.clock.advance(60)
    await dashboard.track("late")
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        for typed, number in (("2", "2"), ("10:00:30", "5")):
            await pilot.press("J")
            await until(pilot, lambda: isinstance(dashboard.screen, JumpDialog))
            await pilot.press(*typed, "enter")
            await until(pilot, lambda number=number: screen.list.cursor == number)  # type: ignore[misc]


@pytest.mark.rule("L3")
async def test_verify_tells_what_the_chain_proves(dashboard: TestedDashboard) -> None:
    """A whole chain, and how far it is anchored."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        await pilot.press("V")
        proved = screen.query_one("#audit-proof", Static)
        await until(pilot, lambda: "The chain is whole up to 3" in str(proved.content))
        assert str(proved.content).splitlines()[0].endswith(" · verified 10:00:00 UTC")


@pytest.mark.rule("L3")
def test_a_broken_chain_shows_the_first_broken_place_first() -> None:
    """In words, with its number."""
    broken = Broken(Breach.CHANGED, 17, 1, 17, "its hash does not fit")
    told = proof(Verification(whole_to=16, anchored_to=10, broken=broken), Pen(80, datetime(2026, 11, 29, tzinfo=UTC))).plain
    assert told.startswith("✖ BROKEN: changed at seq 17")


def damage(app: TestedDashboard, *seqs: int) -> None:
    """Make lines of the audit no events, as a bad disk would, all but the end of each."""
    store = app.desk.store
    assert isinstance(store, MemoryStore)
    for seq in seqs:
        line = store._memory.lines[seq - 1]
        store._memory.lines[seq - 1] = b"#" * (len(line) - 100) + line[-100:]


@pytest.mark.rule("L3")
async def test_damaged_lines_are_read_in_their_places(dashboard: TestedDashboard) -> None:
    """Counted from the lines around them, both ways, at both ends; what they held is not made up."""
    await fill(dashboard, 9)
    damage(dashboard, 1, 2, 6, 10)
    desk, whole = dashboard.desk, [*range(1, 11)]
    for page in (await page_after(desk, 0), await page_before(desk, 11), await newest_page(desk, 10)):
        assert [event.seq for event in page.events] == whole
        assert [event.seq for event in page.events if event.at is None] == [1, 2, 6, 10]
    assert [event.seq for event in (await page_after(desk, 5)).events] == [6, 7, 8, 9, 10]
    assert [event.seq for event in (await page_before(desk, 7, most=2)).events] == [5, 6]
    assert {event.text for event in (await page_before(desk, 3)).events} == {DAMAGED}


@pytest.mark.rule("L3")
async def test_a_line_that_was_changed_with_care_is_marked_all_the_same(dashboard: TestedDashboard) -> None:
    """It is JSON, and its hash is not its own any more."""
    await fill(dashboard, 3)
    store = dashboard.desk.store
    assert isinstance(store, MemoryStore)
    store._memory.lines[2] = store._memory.lines[2].replace(b"person:ana", b"person:eve")
    (changed,) = [event for event in (await page_after(dashboard.desk, 0)).events if event.text == DAMAGED]
    assert (changed.seq, changed.actor, changed.operation_id) == (3, "", None)
    assert "person:eve" in changed.fields["line"]


@pytest.mark.rule("L3")
@pytest.mark.parametrize(
    "changed", [(b'"at":"2', b'"at":"x'), (b'"at":', b'"bt":'), (b'"operation_id":"', b'"operation_id":"\xff')]
)
@pytest.mark.parametrize("term", ["acme", "none", "kind:submitted", "by:ana", "job:acme"])
async def test_a_search_meets_a_changed_line_without_a_fault(
    dashboard: TestedDashboard, changed: tuple[bytes, bytes], term: str
) -> None:
    """A time that is none, a field that is gone, bytes that are no text: of such a line only whose it is is read."""
    await fill(dashboard, 1)
    (line,) = [line async for line in dashboard.desk.events(None) if b'"kind":"submitted"' in line]
    assert changed[0] in line
    matches = parse_search(term, dashboard.feed.operations)
    assert matches is not None
    assert matches(line.replace(*changed)) is (term == "job:acme")


@pytest.mark.rule("L3")
async def test_the_audit_can_be_looked_at_when_it_is_damaged(dashboard: TestedDashboard) -> None:
    """The line says so where it stands, the proof goes there, and a search passes it over."""
    await fill(dashboard, 5)
    damage(dashboard, 4)
    async with running(dashboard, (140, 30)) as pilot:
        screen = await open_audit(pilot)
        assert [DAMAGED in entry.rows[0].plain for entry in screen.list.entries] == [False] * 3 + [True] + [False] * 2
        await pilot.press("V")
        await until(pilot, lambda: screen.list.cursor == "4")
        assert "BROKEN" in str(screen.query_one("#audit-proof", Static).content)
        await pilot.press("slash", *"kind:submitted", "enter")
        await until(pilot, lambda: len(screen.list.entries) == 4)


@pytest.mark.rule("H5")
@pytest.mark.parametrize("keys", [("D",), ("slash", *"kind:decided", "enter"), ("slash", *"by:ben tax", "enter")])
async def test_who_approved_what_is_one_key_away(dashboard: TestedDashboard, keys: tuple[str, ...]) -> None:
    """The decision, by whom, about which job, and why; the same key shows everything again."""
    await dashboard.track("acme-1", title="Q3 ledger")
    await dashboard.desk.decide("acme-1", "extend", by="person:ben", reason="tax filing is due")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_audit(pilot)
        await pilot.press(*keys)
        await until(pilot, lambda: len(screen.list.entries) == 1)
        shown = " ".join(text_of(dashboard))
        for told in ("acme-1", "Q3 ledger", "ben chose extend", "tax filing is due", "1 event of 4 matches"):
            assert told in shown
        await pilot.press("escape" if len(keys) > 1 else "D")
        await until(pilot, lambda: len(screen.list.entries) == 4)


@pytest.mark.rule("H5")
async def test_a_row_gives_the_reason_before_the_effect(dashboard: TestedDashboard) -> None:
    """Where the terminal ends, the new limits are cut, not why: the record beside it has both."""
    await dashboard.track("acme-1", title="Q3 ledger")
    await dashboard.desk.decide("acme-1", "extend", by="person:ben", reason="quarter close")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_audit(pilot)
        rows = (screen.list.render_line(number).text for number in range(len(screen.list.entries)))
        assert any("ben chose extend (quarter close): deadline" in row for row in rows)


@pytest.mark.rule("H5")
@pytest.mark.parametrize("columns", [80, 100, 140])
async def test_a_row_says_who_approved_an_action_and_of_which_job(dashboard: TestedDashboard, columns: int) -> None:
    """However narrow the terminal."""
    await dashboard.track("acme-1", title="Q3 ledger")
    await dashboard.desk.decide("acme-1", "cancel", by="person:ben")
    async with running(dashboard, (columns, 40)) as pilot:
        screen = await open_audit(pilot)
        row = "".join(segment.text for segment in screen.list.render_line(len(screen.list.entries) - 1))
        assert "acme-1  Q3 ledger" in row
        assert "cancel approved by ben" in row


async def test_the_line_of_the_search_says_what_may_be_asked(dashboard: TestedDashboard) -> None:
    """While it is empty."""
    await fill(dashboard, 1)
    async with running(dashboard) as pilot:
        await open_audit(pilot)
        await pilot.press("slash")
        await until(
            pilot, lambda: any('kind:decided  by:ana  job:8HRWE1  text  "two words"' in line for line in text_of(dashboard))
        )


async def test_a_searched_page_counts_what_it_shows(dashboard: TestedDashboard) -> None:
    """2 of 4 events; 300 that match are not counted to their end, and that is said."""
    await fill(dashboard, 300)
    async with running(dashboard, (120, 24)) as pilot:
        screen = await open_audit(pilot)
        for search, told in (
            ("acme-29", "11 events of 301 match"),  # 29, 290 to 299
            ("submitted", "200 events that match, and maybe older ones"),
            ("", "events 102–301 of 301"),
        ):
            screen.filter_by(search)
            await until(pilot, lambda told=told: told in text_of(dashboard)[-2])  # type: ignore[misc]


async def test_a_searched_page_goes_on_without_searching_again(dashboard: TestedDashboard) -> None:
    """What matches joins it, what does not is counted."""
    await fill(dashboard, 3)
    async with running(dashboard, (120, 24)) as pilot:
        screen = await open_audit(pilot)
        screen.filter_by("job:acme-1")
        await until(pilot, lambda: len(screen.list.entries) == 1)
        await dashboard.track("other")
        await until(pilot, lambda: "1 event of 5 matches" in text_of(dashboard)[-2])
        await dashboard.track("acme-11")
        await until(pilot, lambda: [entry.key for entry in screen.list.entries] == ["3", "6"])


async def test_enter_opens_the_operation_of_an_event(dashboard: TestedDashboard) -> None:
    """From what happened to whom it happened."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        await open_audit(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(dashboard.screen, DetailScreen))
        assert isinstance(dashboard.screen, DetailScreen)
        assert dashboard.screen.operation_id == "acme-1"


async def test_the_newest_page_goes_on_by_itself(dashboard: TestedDashboard) -> None:
    """While the cursor is on its last line."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        await dashboard.track("new")
        await until(pilot, lambda: screen.list.cursor == "4")


async def test_a_record_is_shown_field_by_field(dashboard: TestedDashboard) -> None:
    """Nothing of the stored line is kept back."""
    await fill(dashboard, 1)
    async with running(dashboard, (140, 60)) as pilot:
        screen = await open_audit(pilot)
        told = str(screen.query_one("#audit-fields", Static).content)
        fields = json.loads([line async for line in dashboard.desk.events()][-1])
        assert all(f"{name}  " in told for name in fields)
