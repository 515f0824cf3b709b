"""The widgets' script in a headless Chromium: rows keyed by id, clicks that count once, words when the kernel is gone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Phase
from jobconsole.notebook import assets
from jobconsole.notebook.items import Items
from jobconsole.notebook.pages import Pages, Query
from jobconsole.notebook.rows import row
from tests.core.sample_facts import at, operation
from tests.notebook.page import NOW, Paper, asking, inbox, picture, table
from tests.notebook.test_pages import many

pytestmark = pytest.mark.browser


def rows(paper: Paper) -> list[str]:
    """Ids of the rows, from above."""
    ids: list[str] = paper.root.locator("tr[data-id]").evaluate_all("rows => rows.map((each) => each.dataset.id)")
    return ids


# ---- rows --------------------------------------------------------------------------------------------------------------------
def test_phase_and_order_are_the_same_in_the_browser_and_in_python(page: Page) -> None:
    found = [
        *(operation(operation_id=f"op-{n}", name=f"Job {n % 3}", started_at=at(n), status_requests_used=n) for n in range(9)),
        asking(operation_id="asks", last_known_state="running", owner="ana"),
        operation(operation_id="ended", phase=Phase.FAILED, ended_at=NOW, task="tax"),
    ]
    held = picture(*found)
    shown = [row(held.view(op, NOW), NOW) for op in held.operations.values()]
    page.goto("about:blank")
    call = "([script, rows, query, ids]) => new Function(`${script}; return arranged`)()(rows, query, ids).map((row) => row.id)"
    script = assets.script().replace("export default", "const widget =")
    for text, phase in (("", ""), ("job", "waiting"), ("needs:you", ""), ("!job", ""), ("task:tax", "failed"), ("none", "")):
        for sort in ("state", "name", "began", "stops", "used", "progress", "tried"):
            for is_down in (False, True):
                query, pages = Query(text=text, phase=phase, sort=sort, is_down=is_down), Pages()
                pages.ask(query, held, NOW)
                told = pages.full(held, NOW)
                expected = [op.operation_id for op in pages.arranged(held, NOW)]
                assert page.evaluate(call, [script, shown, told["query"], told["ids"]]) == expected, query


@pytest.mark.rule("U2")
def test_focus_and_marks_survive_an_update_that_moves_the_row(page: Page) -> None:
    paper = table(page, *many(5).values())
    third = paper.root.locator("tr[data-id=op-00002]")
    third.focus()
    page.keyboard.press(" ")
    changed = operation(operation_id="op-00002", name="job 2", started_at=at(2), status_requests_used=9)
    paper.patch(rows=[row(picture(changed).view(changed, NOW), NOW)], phases={"waiting": 5}, found=5, total=5)
    moved = asking(operation_id="op-00002", name="job 2", started_at=at(2))
    paper.patch(rows=[row(picture(moved).view(moved, NOW), NOW)], phases={"waiting": 4, "escalated": 1}, found=5, total=5)
    assert rows(paper)[0] == "op-00002"
    assert page.evaluate("() => document.activeElement.dataset.id") == "op-00002"
    assert third.locator("input").is_checked()
    assert paper.sent("save")[-1]["state"]["selected"] == ["op-00002"]


@pytest.mark.rule("U8")
def test_no_row_moves_under_the_pointer(page: Page) -> None:
    paper = table(page, *many(3).values())
    before = rows(paper)
    paper.root.locator("tbody tr").first.hover()
    moved = asking(operation_id="op-00000", name="job 0")
    paper.patch(rows=[row(picture(moved).view(moved, NOW), NOW)], phases={"waiting": 2, "escalated": 1}, found=3, total=3)
    assert rows(paper) == before
    assert "escalated" in paper.root.locator("tr[data-id=op-00000]").inner_text()
    page.mouse.move(5, 5)
    expect(paper.root.locator("tbody tr").first).to_have_attribute("data-id", "op-00000")


@pytest.mark.parametrize("width", [1100, 780])
def test_when_the_last_answer_came_is_shown_whole(page: Page, width: int) -> None:
    """On a wide page and on a narrow one, where the table scrolls."""
    page.set_viewport_size({"width": width, "height": 600})
    answered = [operation(operation_id=f"op-{n}", last_http_status=200, last_http_at=at(600 - n)) for n in (113, 599, 86_340)]
    notes = table(page, *answered).root.locator("td.jc-cell-answer .jc-note")
    assert sorted(notes.all_inner_texts()) == ["1 min 53 s ago", "23 h 59 min ago", "9 min 59 s ago"]
    assert notes.evaluate_all("notes => notes.filter((each) => each.scrollWidth > each.clientWidth).length") == 0


def test_what_has_passed_and_what_is_left_are_rounded_as_elsewhere(page: Page) -> None:
    """9.9 s since the answer are 9 s; the check in 4.1 s is 5 s away (core/durations.py)."""
    shown = table(page, operation(next_poll_at=at(604.1), last_http_status=200, last_http_at=at(590.1))).root.inner_text()
    assert "next in 5 s" in shown
    assert "9 s ago" in shown


@pytest.mark.rule("H12")
def test_a_job_that_nobody_looked_at_says_since_when(page: Page) -> None:
    idle = operation(observed_at=at(60), state_since=at(0), stalls_at=at(300), last_known_state="running")
    assert "not checked since 10:01:00 UTC" in table(page, idle).root.locator("tr[data-id] .jc-cell-state").inner_text()


def test_times_tick_without_the_kernel(page: Page) -> None:
    paper = table(page, operation(next_poll_at=at(605)))
    assert "next in 5 s" in paper.root.inner_text()
    assert "10 min of 40 min" in paper.root.inner_text()
    paper.go(3)
    assert "next in 2 s" in paper.root.inner_text()
    assert paper.sent("hello") == []
    assert paper.sent("save") == []


def test_a_missed_patch_is_noticed_and_the_state_is_asked_for(page: Page) -> None:
    paper = table(page, operation())
    paper.sequence = 4
    paper.patch(rows=[])
    assert len(paper.sent("hello")) == 1


def test_fifty_rows_make_a_page(page: Page) -> None:
    paper = table(page, *many(120).values())
    assert len(rows(paper)) == 50
    assert "1–50 of 120" in paper.root.inner_text()
    paper.root.get_by_role("button", name="Next page").click()
    paper.root.get_by_role("button", name="Next page").click()
    assert len(rows(paper)) == 20


def test_a_filter_that_hides_all_says_so_and_escape_clears_it(page: Page) -> None:
    paper = table(page, *many(4).values())
    paper.root.locator("tr[data-id]").first.focus()
    page.keyboard.press("/")
    page.keyboard.type("state:failed")
    assert len(rows(paper)) == 4
    answer(paper, *many(4).values())
    assert 'No operation matches "state:failed". Esc clears the filter (4 hidden).' in paper.root.inner_text()
    page.keyboard.press("Escape")
    assert len(rows(paper)) == 4


def filter_field(paper: Paper) -> Locator:
    return paper.root.get_by_role("searchbox", name="Filter")


def answer(paper: Paper, *operations: Operation) -> None:
    """The kernel answers the last thing that was asked."""
    pages, held = Pages(), picture(*operations)
    pages.full(held, NOW)
    paper.patch(**pages.ask(Query.of(paper.sent("query")[-1]), held, NOW))


@pytest.mark.rule("U1", "U6")
def test_the_kernel_filters_and_what_is_wrong_stands_under_the_field(page: Page) -> None:
    ops = [*many(3).values(), asking(operation_id="asks")]
    paper = table(page, *ops)
    filter_field(paper).fill("needs:you")
    answer(paper, *ops)
    assert rows(paper) == ["asks"]
    filter_field(paper).fill("age>xx")
    answer(paper, *ops)
    fault = paper.root.locator(".jc-search").get_by_role("status")
    assert fault.inner_text().startswith("'xx' is no duration; write digits and a unit")
    assert fault.bounding_box()["y"] > filter_field(paper).bounding_box()["y"]  # type: ignore[index]
    filter_field(paper).fill("")
    assert len(rows(paper)) == 4
    answer(paper, *ops)
    assert fault.inner_text() == ""


def test_a_filter_that_the_kernel_has_not_answered_says_so(page: Page) -> None:
    """A cell is running, or the kernel is gone: the rows are those of before."""
    paper = table(page, *many(3).values())
    filter_field(paper).fill("nothing")
    assert paper.root.locator(".jc-search").inner_text() == ""
    paper.go(1.1)
    assert paper.root.locator(".jc-search").inner_text() == "queued: kernel is busy"
    page.evaluate("() => window.event('comm_live_update')")
    paper.go(1.1)
    assert paper.root.locator(".jc-search").inner_text().startswith("Not connected.")
    answer(paper, *many(3).values())
    assert (rows(paper), paper.root.locator(".jc-search").inner_text()) == ([], "")


def test_an_answer_to_what_was_typed_before_does_not_take_back_what_was_typed_since(page: Page) -> None:
    paper, ops = table(page, *many(3).values()), [*many(3).values()]
    filter_field(paper).press_sequentially("job")
    first, *_ = paper.sent("query")
    pages = Pages()
    pages.full(picture(*ops), NOW)
    paper.patch(**pages.ask(Query.of(first), picture(*ops), NOW))
    assert filter_field(paper).input_value() == "job"
    answer(paper, *ops)
    assert (filter_field(paper).input_value(), len(rows(paper))) == ("job", 3)


def test_a_filter_of_python_stands_in_the_field(page: Page) -> None:
    """And so does the one that another view of the same widget asked for."""
    ops, pages = [*many(3).values(), asking(operation_id="asks")], Pages()
    paper, held = table(page, *ops), picture(*ops)
    pages.ask(Query.asked("needs:you", ""), held, NOW)
    paper.hear(type="snapshot", sequence=0, now=paper.millis(), **pages.full(held, NOW))
    assert (filter_field(paper).input_value(), rows(paper)) == ("needs:you", ["asks"])
    pages.full(held, NOW)
    paper.patch(**pages.ask(Query(text="name:job"), held, NOW))
    assert (filter_field(paper).input_value(), len(rows(paper))) == ("name:job", 3)


@pytest.mark.rule("U8")
def test_a_filter_moves_no_row_under_the_pointer_because_of_news(page: Page) -> None:
    """What a person types is shown at once, what happens meanwhile when the pointer has left."""
    ops = [*many(3).values()]
    paper = table(page, *ops)
    paper.root.locator("tbody tr").first.hover()
    filter_field(paper).focus()
    page.keyboard.type("!2")
    answer(paper, *ops)
    assert rows(paper) == ["op-00001", "op-00000"]
    paper.patch(ids=["op-00000"], found=1)
    assert rows(paper) == ["op-00001", "op-00000"]
    page.mouse.move(5, 5)
    expect(paper.root.locator("tr[data-id]")).to_have_count(1)


def test_arrows_move_between_rows_and_enter_opens_one(page: Page) -> None:
    paper = table(page, *many(3).values())
    paper.root.locator("tr[data-id]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert paper.sent("save")[-1]["state"]["opened"] == rows(paper)[1]
    paper.go(1)
    assert "queued: kernel is busy" in paper.root.inner_text()


def test_a_change_of_phase_is_spoken(page: Page) -> None:
    paper = table(page, operation(name="Q3 report"))
    moved = asking(name="Q3 report")
    paper.patch(rows=[row(picture(moved).view(moved, NOW), NOW)], phases={"escalated": 1}, found=1, total=1)
    expect(paper.root.locator("[aria-live=polite]")).to_have_text(
        "Q3 report: escalated, every status request that was allowed is used"
    )


# ---- clicks ------------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("U8", "H4")
def test_five_clicks_are_one_decision_bound_to_the_revision_that_was_shown(page: Page) -> None:
    paper = inbox(page, asking(revision=7))
    paper.root.get_by_role("button", name="Extend once").evaluate("each => { for (let n = 0; n < 5; n += 1) each.click(); }")
    (sent,) = paper.sent("decide")
    assert (sent["id"], sent["option"], sent["revision"]) == ("op-1", "extend", 7)
    assert len(sent["decision_id"]) == len("dec_") + 32


def test_a_click_that_nobody_hears_says_that_the_kernel_is_busy_and_then_the_truth(page: Page) -> None:
    paper = inbox(page, asking())
    note = paper.root.locator(".jc-options .jc-click")
    paper.root.get_by_role("button", name="Extend once").click()
    paper.go(0.2)
    expect(note).to_have_text("queued: kernel is busy")
    paper.go(4)
    expect(note).to_have_text("queued: kernel is busy (4 s)")
    (sent,) = paper.sent("decide")
    paper.hear(type="got", decision_id=sent["decision_id"])
    expect(note).to_have_text("being written down …")
    paper.hear(type="answer", decision_id=sent["decision_id"], ok=True, text="deadline 10:40 → 10:55, checks 12 → 16")
    expect(note).to_have_text("✔ deadline 10:40 → 10:55, checks 12 → 16")


def test_after_a_refusal_the_option_can_be_chosen_again_as_a_new_decision(page: Page) -> None:
    paper = inbox(page, asking())
    extend = paper.root.get_by_role("button", name="Extend once")
    extend.click()
    (first,) = paper.sent("decide")
    paper.hear(type="answer", decision_id=first["decision_id"], ok=False, text="the store is busy; nothing happened")
    expect(paper.root.locator(".jc-options .jc-click")).to_have_text("✖ the store is busy; nothing happened")
    extend.click()
    assert paper.sent("decide")[1]["decision_id"] != first["decision_id"]


def test_cancel_takes_two_steps_and_the_safe_one_has_the_focus(page: Page) -> None:
    paper = inbox(page, asking())
    paper.root.get_by_role("button", name="Cancel at provider …").click()
    assert page.evaluate("() => document.activeElement.textContent") == "Keep it running"
    page.keyboard.press("Enter")
    assert paper.sent("decide") == []
    paper.root.get_by_role("button", name="Cancel at provider …").click()
    paper.root.get_by_role("group").get_by_role("button", name="Cancel at provider").click()
    assert [sent["option"] for sent in paper.sent("decide")] == ["cancel"]


def test_close_asks_for_a_reason(page: Page) -> None:
    paper = inbox(page, asking())
    paper.root.get_by_role("button", name="Close …").click()
    paper.root.get_by_role("group").get_by_role("button", name="Close").click()
    assert paper.sent("decide") == []
    page.keyboard.type("the window closed")
    paper.root.get_by_role("group").get_by_role("button", name="Close").click()
    assert paper.sent("decide")[0]["reason"] == "the window closed"


def test_words_that_move_with_time_do_not_disarm_a_second_step(page: Page) -> None:
    later = at(2_500)
    paper = inbox(page, asking())
    paper.root.get_by_role("button", name="Cancel at provider …").click()
    paper.patch(**Items().full(picture(asking()), later))
    expect(paper.root.get_by_role("button", name="Keep it running")).to_be_focused()
    paper.patch(**Items().full(picture(asking(revision=2)), later))
    expect(paper.root.get_by_role("button", name="Keep it running")).to_have_count(0)


@pytest.mark.rule("U7")
def test_a_request_on_the_time_axis_is_a_button_that_asks_why_then(page: Page) -> None:
    millis = int(NOW.timestamp() * 1000)
    attempts = [
        {"at": millis - back, "end": millis - back + 90, "what": "status", "number": number, "outcome": "seen"}
        for number, back in ((1, 40_000), (2, 30_000), (3, 20_000))
    ]
    shown = row(picture(operation()).view(operation(), NOW), NOW)
    rest = {"options": [], "missing": [], "why": "", "granted": "", "story": []}
    detail = {"id": "op-1", "row": shown, "attempts": attempts, **rest}
    paper = Paper(page, "timeline", NOW, detail=detail)
    second = paper.root.get_by_role("button", name="status 2").first
    second.focus()
    page.keyboard.press("Enter")
    assert paper.sent("why") == [{"type": "why", "id": "op-1", "at": attempts[1]["at"]}]
    paper.hear(type="why", text="Checked at 10:09:30 because local backoff drew 9 s.")
    paper.patch(detail=detail)
    expect(paper.root.get_by_role("status").last).to_have_text("Checked at 10:09:30 because local backoff drew 9 s.")
    expect(second).to_be_focused()


# ---- the connection ----------------------------------------------------------------------------------------------------------
def test_three_missed_beats_say_how_to_reconnect_and_stop_the_clock(page: Page) -> None:
    paper = table(page, operation(next_poll_at=at(700)))
    for _ in range(3):
        paper.go(5)
        paper.beat()
    expect(paper.root.locator(".jc-warning")).to_have_text("")
    paper.go(17)
    warning = "Not connected. Run this cell again. Shown: state as of 10:10:15 UTC."
    expect(paper.root.locator(".jc-warning")).to_have_text(warning)
    before = paper.root.inner_text()
    paper.go(20)
    assert paper.root.inner_text() == before
    paper.beat()
    expect(paper.root.locator(".jc-warning")).to_have_text("")


def test_a_dead_comm_is_said_at_once_and_nothing_can_be_clicked(page: Page) -> None:
    paper = inbox(page, asking())
    page.evaluate("() => { window.event('comm_live_update'); }")
    expect(paper.root.locator(".jc-warning")).to_contain_text("Not connected. Run this cell again.")
    assert paper.root.locator("button:not(:disabled)").count() == 0


@pytest.mark.rule("H11")
def test_in_a_read_only_store_no_button_can_be_pressed_and_each_says_why(page: Page) -> None:
    """Those that choose and those that take care; when the store can be written again, they can be used."""
    paper = inbox(page, asking())
    tell = "([now, why]) => window.trait('pulse', JSON.stringify({ now, worker: true, why_not: why }))"
    page.evaluate(tell, [paper.millis(), "opened read-only"])
    paper.go(1)
    buttons = paper.root.locator(".jc-options button, .jc-care button")
    titles = buttons.evaluate_all("all => all.map((each) => [each.disabled, each.title])")
    assert len(titles) > 3
    assert {(is_disabled, title) for is_disabled, title in titles} == {(True, "READ-ONLY: opened read-only")}
    page.evaluate(tell, [paper.millis(), ""])
    paper.go(1)
    assert buttons.evaluate_all("all => all.some((each) => each.disabled || each.title)") is False


def test_a_click_whose_kernel_ended_is_said_to_be_unknown(page: Page) -> None:
    paper = inbox(page, asking())
    paper.root.get_by_role("button", name="Extend once").click()
    page.evaluate("() => { window.event('comm_live_update'); }")
    expect(paper.root.locator(".jc-options .jc-click")).to_contain_text("Not known whether this was done")


def test_a_saved_state_of_long_ago_is_not_taken_for_a_live_one(page: Page) -> None:
    paper = table(page, operation(), opened_at=at(90_000))
    warning = paper.root.locator(".jc-warning")
    expect(warning).to_have_text("Connecting … Shown: state as of 10:10:00 UTC.")
    assert "10 min of 40 min" in paper.root.inner_text()
    assert len(paper.sent("hello")) == 1
    paper.go(17)
    expect(warning).to_have_text("Not connected. Run this cell again. Shown: state as of 10:10:00 UTC.")
    assert "10 min of 40 min" in paper.root.inner_text()


def test_a_store_without_worker_says_so(page: Page) -> None:
    paper = table(page, operation())
    page.evaluate("now => window.trait('pulse', JSON.stringify({ now, worker: false, why_not: '' }))", paper.millis())
    expect(paper.root.locator(".jc-warning")).to_contain_text("No worker is running")


def test_nothing_stays_behind_when_the_view_is_taken_away(page: Page) -> None:
    table(page, operation())
    page.evaluate("() => window.stop.forEach((each) => each())")
    assert page.evaluate("() => document.querySelector('.jobconsole')") is None
    assert page.evaluate("() => Object.values(window.listeners).flat().length") == 0


def test_an_empty_table_and_an_empty_inbox_say_what_to_do(page: Page) -> None:
    assert "No operations yet. Try:" in table(page).root.inner_text()
    page.goto("about:blank")
    assert "Nothing needs you. 3 operations watched." in inbox(page).root.inner_text()
