"""Who looks after an inbox item, in the widget: the core's words, a click that counts once, what serves no purpose (H7, H8)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jobconsole.api import Console
from jobconsole.core.operation import Attention, Note
from jobconsole.core.telling.inbox import inbox_items, item_lines
from jobconsole.core.vocabulary import Phase
from jobconsole.testing.server import SlowJobServer
from tests.core.sample_facts import at
from tests.notebook.conftest import click, told
from tests.notebook.page import NOW, asking, inbox, table
from tests.notebook.test_widgets import escalated, until

pytestmark = pytest.mark.slow_job_server(factor=8)
CLICK = "dec_" + "c" * 32
LOOKED_AFTER = Attention(
    assigned_to="ben",
    assigned_at=at(550),
    snoozed_until=at(4200),
    notes=(Note(by="ana", at=at(560), text="called <b>them</b>"),),
)


def _has_told(widget: Any, answers: int) -> bool:
    return len(told(widget, "answer")) == answers


def acts(console: Console, operation_id: str) -> list[str]:
    """What the audit says was done about the item."""
    frame = console.audit(operation_id).to_frame()
    return list(frame.loc[frame["kind"] == "item_changed", "actor"])


# ---- in the browser ----------------------------------------------------------------------------------------------------------
@pytest.mark.browser
@pytest.mark.rule("H7", "U3")
def test_a_card_tells_who_has_the_item_in_the_words_of_the_core(page: Page) -> None:
    op = asking(attention=LOOKED_AFTER)
    paper = inbox(page, op, asking(operation_id="op-2"))
    lines = [line for line in item_lines(inbox_items([op], NOW)[0], NOW) if line.startswith(("with", "snoozed", "note"))]
    assert len(lines) == 3
    for line in lines:
        expect(paper.root).to_contain_text(line)
    expect(paper.root.locator("h4")).to_have_text(["1 decision to make", "", "1 snoozed"])
    expect(paper.root.locator("[data-care=claim]")).to_have_text(["Claim", "Take over from ben"])
    expect(table(page, op).root.locator("td.jc-cell-state")).to_contain_text("with ben, snoozed")


@pytest.mark.browser
@pytest.mark.rule("H7", "H4")
def test_five_clicks_on_claim_are_one_message_bound_to_who_was_shown(page: Page) -> None:
    paper = inbox(page, asking(attention=LOOKED_AFTER))
    paper.root.locator("[data-care=claim]").evaluate("each => { for (let n = 0; n < 5; n += 1) each.click(); }")
    (sent,) = paper.sent("attend")
    assert (sent["act"], sent["shown"]) == ("claim", "ben")
    assert not paper.sent("decide")
    expect(paper.root.locator("[data-care=claim]")).to_be_disabled()
    paper.hear(type="answer", decision_id=sent["decision_id"], ok=True, text="with ana now")
    expect(paper.root.locator(".jc-care .jc-click")).to_have_text("✔ with ana now")
    paper.go(7)
    expect(paper.root.locator(".jc-care .jc-click")).to_have_text("")


@pytest.mark.browser
@pytest.mark.rule("H7")
def test_snooze_and_note_ask_in_the_card_and_escape_closes_them(page: Page) -> None:
    paper = inbox(page, asking())
    paper.root.locator("[data-care=snooze]").click()
    expect(paper.root.get_by_role("button", name="30 minutes")).to_be_focused()
    page.keyboard.press("Escape")
    expect(paper.root.locator("[data-care=snooze]")).to_be_focused()
    paper.root.locator("[data-care=note]").click()
    page.keyboard.type("called them")
    page.keyboard.press("Enter")
    (note,) = paper.sent("attend")
    assert (note["act"], note["text"]) == ("note", "called them")
    paper.hear(type="answer", decision_id=note["decision_id"], ok=True, text="noted")
    paper.root.locator("[data-care=snooze]").click()
    paper.root.get_by_role("button", name="2 hours").click()
    assert [(sent["act"], sent.get("seconds")) for sent in paper.sent("attend")] == [("note", None), ("snooze", 7200)]


@pytest.mark.browser
@pytest.mark.rule("H8")
def test_an_option_that_serves_no_purpose_any_more_says_so_and_can_be_chosen(page: Page) -> None:
    paper = inbox(page, asking(business_deadline_at=at(400)))
    vain = paper.root.locator(".jc-vain").first
    expect(vain).to_contain_text("serves no purpose any more: the business deadline")
    paper.root.get_by_role("button", name="Extend").click()
    assert [sent["option"] for sent in paper.sent("decide")] == ["extend"]


# ---- in the kernel -----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("H7")
def test_what_is_clicked_is_done_once_and_shows_in_the_card(console: Console, params: dict[str, str]) -> None:
    op = escalated(console, params)
    widget = console.inbox_widget(by="ana")
    for act, more in (("claim", {"shown": ""}), ("snooze", {"seconds": 7200}), ("wake", {}), ("note", {"text": "called them"})):
        answers = len(told(widget, "answer")) + 1
        click(widget, type="attend", id=op.operation_id, act=act, decision_id=CLICK, **more)
        until(partial(_has_told, widget, answers))
    said = [answer["text"] for answer in told(widget, "answer")]
    assert (said[0], said[1][:14], said[2:]) == ("with ana now", "snoozed until ", ["awake again", "noted"])
    assert acts(console, op.operation_id) == ["person:ana"] * 4
    until(lambda: any("note: " in line for line in told(widget, "rows_patch")[-1]["items"][0]["lines"]))
    assert told(widget, "rows_patch")[-1]["items"][0]["with"] == "ana"


@pytest.mark.rule("H4", "H7")
def test_of_two_who_claim_an_item_the_second_is_told_who_was_faster(console: Console, params: dict[str, str]) -> None:
    op = escalated(console, params)
    widget = console.inbox_widget(by="ana")
    console.assign(op, "ben", by="ben")
    click(widget, type="attend", id=op.operation_id, act="claim", shown="", decision_id=CLICK)
    until(lambda: bool(told(widget, "answer")))
    (answer,) = told(widget, "answer")
    assert (answer["ok"], "was given to ben" in answer["text"]) == (False, True)
    assert console.operation(op).attention.assigned_to == "ben"


@pytest.mark.parametrize(
    "broken",
    [
        {"act": "escalate"},
        {"act": "snooze", "seconds": "7200"},
        {"act": "snooze", "seconds": -1},
        {"act": "note", "text": "x" * 2_001},
        {"act": "claim", "shown": ["ben"]},
        {"act": "claim", "decision_id": "1"},
        {"act": "claim", "id": 7},
    ],
    ids=str,
)
def test_a_message_of_the_wrong_shape_changes_nothing(
    console: Console, params: dict[str, str], slow_job_server: SlowJobServer, broken: dict[str, Any]
) -> None:
    op = escalated(console, params)
    widget = console.inbox_widget(by="ana")
    click(widget, **{"type": "attend", "id": op.operation_id, "decision_id": CLICK, **broken})
    until(lambda: bool(told(widget, "answer")))
    assert told(widget, "answer")[0]["ok"] is False
    assert acts(console, op.operation_id) == []
    assert console.operation(op).phase is Phase.ESCALATED
