"""The widgets' script in a headless Chromium: rows keyed by id, clicks that count once, words when the kernel is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from jobconsole.core.operation import Escalation, Operation, Option, Phase, Reason
from jobconsole.notebook import assets
from jobconsole.notebook.feed import Picture
from jobconsole.notebook.items import Items
from jobconsole.notebook.pages import Pages, Query, arranged, matches
from jobconsole.notebook.rows import row
from tests.cases.case_file import case
from tests.core.sample_contract import CANCEL, budget, sample
from tests.core.sample_facts import at, operation
from tests.notebook.lab import chromium
from tests.notebook.page import Paper
from tests.notebook.test_pages import many

pytestmark = pytest.mark.browser
NOW = at(600)
CONTRACT = sample(cancel=CANCEL, budget=budget(extension="{ minutes = 15, checks = 4, times = 2 }"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this file."""
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own for each test."""
    context = browser.new_context(viewport={"width": 1000, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(5_000)
    yield context.new_page()
    context.close()


def picture(*operations: Operation) -> Picture:
    """These operations, judged by the ordinary contract with a cancel."""
    judged = [replace(op, contract=CONTRACT.digest) for op in operations]
    return Picture({op.operation_id: op for op in judged}, contracts={CONTRACT.digest: CONTRACT})


def asking(**fields: Any) -> Operation:
    """An operation that has spent its requests."""
    asked = Escalation(reason=Reason.REQUEST_BUDGET_EXHAUSTED, since=at(500), options=(Option(name="extend"),))
    return operation(phase=Phase.ESCALATED, escalation=asked, status_requests_used=12, **fields)


def table(page: Page, *operations: Operation, **more: Any) -> Paper:
    return Paper(page, "table", NOW, **Pages().full(picture(*operations), NOW), detail=None, **more)


def inbox(page: Page, *operations: Operation) -> Paper:
    return Paper(page, "inbox", NOW, **Items().full(picture(*operations), NOW), watched=3)


def rows(paper: Paper) -> list[str]:
    """Ids of the rows, from above."""
    ids: list[str] = paper.root.locator("tr[data-id]").evaluate_all("rows => rows.map((each) => each.dataset.id)")
    return ids


# ---- rows --------------------------------------------------------------------------------------------------------------------
def test_filter_and_order_are_the_same_in_the_browser_and_in_python(page: Page) -> None:
    found = [
        *(operation(operation_id=f"op-{n}", name=f"Job {n % 3}", started_at=at(n), status_requests_used=n) for n in range(9)),
        asking(operation_id="asks", last_known_state="running", owner="ana"),
        operation(operation_id="ended", phase=Phase.FAILED, ended_at=NOW, task="tax"),
    ]
    shown = [row(picture(op).view(op, NOW)) for op in found]
    page.goto("about:blank")
    call = "([script, rows, query]) => new Function(`${script}; return arranged`)()(rows, query).map((each) => each.id)"
    script = assets.script().replace("export default", "const widget =")
    for text in ("", "job", "!job", "state:running", "owner:ana", "task:tax !asks", "provider:acme job", "x:y", "op-1"):
        for sort in ("state", "name", "began", "stops", "used", "progress", "tried"):
            for is_down in (False, True):
                query = Query(text=text, sort=sort, is_down=is_down)
                expected = [op.operation_id for op in arranged(found, query)]
                assert page.evaluate(call, [script, shown, query.said()]) == expected, query
    assert matches(found[0], "op-0")


@pytest.mark.rule("U2")
def test_focus_and_marks_survive_an_update_that_moves_the_row(page: Page) -> None:
    paper = table(page, *many(5).values())
    third = paper.root.locator("tr[data-id=op-00002]")
    third.focus()
    page.keyboard.press(" ")
    changed = operation(operation_id="op-00002", name="job 2", started_at=at(2), status_requests_used=9)
    paper.patch(rows=[row(picture(changed).view(changed, NOW))], phases={"waiting": 5}, found=5, total=5)
    moved = asking(operation_id="op-00002", name="job 2", started_at=at(2))
    paper.patch(rows=[row(picture(moved).view(moved, NOW))], phases={"waiting": 4, "escalated": 1}, found=5, total=5)
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
    paper.patch(rows=[row(picture(moved).view(moved, NOW))], phases={"waiting": 2, "escalated": 1}, found=3, total=3)
    assert rows(paper) == before
    assert "escalated" in paper.root.locator("tr[data-id=op-00000]").inner_text()
    page.mouse.move(5, 5)
    expect(paper.root.locator("tbody tr").first).to_have_attribute("data-id", "op-00000")


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
    assert 'No operation matches "state:failed". Esc clears the filter (4 hidden).' in paper.root.inner_text()
    page.keyboard.press("Escape")
    assert len(rows(paper)) == 4


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
    paper.patch(rows=[row(picture(moved).view(moved, NOW))], phases={"escalated": 1}, found=1, total=1)
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
    note = paper.root.locator(".jc-click")
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
    expect(paper.root.locator(".jc-click")).to_have_text("✖ the store is busy; nothing happened")
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
    shown = row(picture(operation()).view(operation(), NOW))
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


def test_a_click_whose_kernel_ended_is_said_to_be_unknown(page: Page) -> None:
    paper = inbox(page, asking())
    paper.root.get_by_role("button", name="Extend once").click()
    page.evaluate("() => { window.event('comm_live_update'); }")
    expect(paper.root.locator(".jc-click")).to_contain_text("Not known whether this was done")


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


# ---- foreign text and colours ------------------------------------------------------------------------------------------------
@pytest.mark.rule("U3")
@pytest.mark.parametrize("text", [*case("NB-04").input["texts"], "</style><b>x"])
def test_foreign_text_is_literal_in_every_widget(page: Page, text: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    op = asking(name=text, last_known_state=text, task=text, provider_job_id=text, observed_at=NOW)
    pictured = picture(op)
    whole = {**Pages().full(pictured, NOW), **Items().full(pictured, NOW), "watched": 1, "audit": [[0, text, text]]}
    paper = Paper(page, "dashboard", NOW, **whole, detail=None)
    for name in ("Operations", "Inbox", "Timeline", "Audit"):
        paper.root.get_by_role("tab", name=name).click()
        assert text in paper.root.inner_text()
    assert page.locator("img, marquee, script, a[href^=javascript]").count() == 0
    assert [url for url in requests if not url.startswith(("about:", "blob:", "data:"))] == []


HOSTS = {
    "nothing but a light system": ("light", ""),
    "nothing but a dark system": ("dark", ""),
    "JupyterLab light": ("light", "--jp-layout-color0: white; --jp-ui-font-color0: rgba(0, 0, 0, 1)"),
    "JupyterLab dark": ("light", "--jp-layout-color0: #111111; --jp-ui-font-color0: rgba(255, 255, 255, 1)"),
    "VS Code dark": ("light", "--vscode-editor-background: #1e1e1e; --vscode-editor-foreground: #d4d4d4"),
    "VS Code high contrast": ("dark", "--vscode-editor-background: #000000; --vscode-editor-foreground: #ffffff"),
    "VS Code solarised": ("light", "--vscode-editor-background: #fdf6e3; --vscode-editor-foreground: #657b83"),
    "a dark editor with a white plate": ("dark", "background: white; --vscode-editor-background: #252526"),
}
READABLE = """
root => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
  };
  const light = (parts) => parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => {
    const found = [];
    for (let each = node; each !== root.parentElement; each = each.parentElement) {
      found.unshift(getComputedStyle(each).backgroundColor);
    }
    return found;
  };
  const unreadable = [];
  for (const node of root.querySelectorAll("*")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.checkVisibility() || node.closest(".jc-hidden")) continue;
    const under = behind(node);
    const pair = [light(painted([...under, getComputedStyle(node).color])), light(painted(under))];
    const [one, other] = pair.sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) unreadable.push(`${node.className} ${node.textContent.slice(0, 20)}: ${contrast.toFixed(2)}`);
  }
  return unreadable;
}
"""


@pytest.mark.rule("U4")
@pytest.mark.parametrize("host", HOSTS)
def test_every_text_can_be_read_in_every_host(page: Page, host: str) -> None:
    """Case NB-06: contrast of at least 4.5 to 1, state by word too."""
    scheme, style = HOSTS[host]
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ended = [operation(operation_id=f"op-{phase}", phase=phase, ended_at=NOW) for phase in Phase if phase.is_terminal]
    pictured = picture(asking(operation_id="asks"), operation(operation_id="waits", progress=0.4), *ended)
    whole = {**Pages().full(pictured, NOW), **Items().full(pictured, NOW), "watched": 1, "audit": [[0, "op", "polled"]]}
    paper = Paper(page, "dashboard", NOW, **whole, detail=None)
    page.evaluate("style => { document.body.style.cssText = style; }", style)
    paper.go(1)
    for name in ("Operations", "Inbox", "Timeline", "Audit"):
        paper.root.get_by_role("tab", name=name).click()
        assert paper.root.evaluate(READABLE) == []


def test_a_chosen_theme_rules_over_the_host(page: Page) -> None:
    paper = table(page, operation(), theme="jobconsole-dark")
    expect(paper.root).to_have_css("background-color", "rgb(8, 11, 15)")
    assert paper.root.evaluate(READABLE) == []


def test_an_empty_table_and_an_empty_inbox_say_what_to_do(page: Page) -> None:
    assert "No operations yet. Try:" in table(page).root.inner_text()
    page.goto("about:blank")
    assert "Nothing needs you. 3 operations watched." in inbox(page).root.inner_text()
