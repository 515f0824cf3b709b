"""Rows, pages and patches: the first message is bounded, a later one is as large as what changed (UX 1b, U2)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from jobconsole.core.deciding.account import Account
from jobconsole.core.operation import Attention, Escalation, Note, Operation
from jobconsole.core.telling.filter import EVERYTHING
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.notebook.feed import News, Picture
from jobconsole.notebook.items import MOST, Items
from jobconsole.notebook.pages import ALL_ROWS, PAGE, Pages, Query, arranged
from jobconsole.notebook.record import Record
from jobconsole.notebook.rows import link, row
from tests.core.sample_facts import START, at, operation

NOW = at(600)


def many(count: int) -> dict[str, Operation]:
    """Operations that began one second after another."""
    made = (operation(operation_id=f"op-{n:05}", name=f"job {n}", started_at=at(n % 500)) for n in range(count))
    return {op.operation_id: op for op in made}


def size(message: dict[str, Any]) -> int:
    """Bytes on the wire."""
    return len(json.dumps(message).encode())


def changed(picture: Picture, ids: list[str]) -> Picture:
    """The same with these operations polled once more."""
    moved = {each: replace(picture.operations[each], status_requests_used=5, op_seq=9) for each in ids}
    return Picture({**picture.operations, **moved})


@pytest.mark.rule("U2")
def test_ten_thousand_operations_open_with_one_page() -> None:
    picture = Picture(many(10_000))
    opening = Pages().full(picture, NOW)
    assert (len(opening["rows"]), opening["total"], opening["found"], opening["paged"]) == (PAGE, 10_000, 10_000, True)
    assert size(opening) < 50_000


@pytest.mark.rule("U2")
def test_an_update_of_one_hundred_costs_the_rows_that_are_shown_and_no_more() -> None:
    picture, pages = Picture(many(10_000)), Pages()
    ids = [shown["id"] for shown in pages.full(picture, NOW)["rows"]]
    on_page, elsewhere = ids[:20], [f"op-{n:05}" for n in range(80)]
    hundred = pages.patch(changed(picture, on_page + elsewhere), News(frozenset(on_page + elsewhere)), NOW)
    assert len(hundred["rows"]) == 20
    assert size(hundred) < 12_000
    five = pages.patch(changed(picture, ids[:5]), News(frozenset(ids[:5])), NOW)
    assert size(five) < size(hundred) / 3


@pytest.mark.rule("U2")
def test_up_to_a_thousand_the_browser_holds_all_and_gets_only_what_changed() -> None:
    picture, pages = Picture(many(ALL_ROWS)), Pages()
    opening = pages.full(picture, NOW)
    assert (len(opening["rows"]), opening["paged"], opening["ids"]) == (ALL_ROWS, False, None)
    ids = sorted(picture.operations)[:100]
    patch = pages.patch(changed(picture, ids), News(frozenset(ids)), NOW)
    assert sorted(shown["id"] for shown in patch["rows"]) == ids
    assert size(patch) < size(opening) * 100 / ALL_ROWS * 1.2


def test_what_left_the_store_leaves_the_browser() -> None:
    picture, pages = Picture(many(5)), Pages()
    pages.full(picture, NOW)
    left = {key: op for key, op in picture.operations.items() if key != "op-00002"}
    patch = pages.patch(Picture(left), News(frozenset({"op-00002"})), NOW)
    assert (patch["gone"], patch["total"], "rows" in patch) == (["op-00002"], 4, False)


def test_beyond_a_thousand_the_state_is_sent_anew_as_a_page() -> None:
    pages = Pages()
    pages.full(Picture(many(ALL_ROWS)), NOW)
    picture = Picture(many(ALL_ROWS + 1))
    assert pages.patch(picture, News(frozenset({"op-01000"})), NOW) == {"whole": True}
    anew = pages.full(picture, NOW)
    assert (anew["paged"], len(anew["rows"])) == (True, PAGE)


def test_a_row_that_comes_onto_the_page_is_sent_although_it_did_not_change() -> None:
    picture, pages = Picture(many(ALL_ROWS + 200)), Pages()
    ids = pages.full(picture, NOW)["ids"]
    rest = {key: op for key, op in picture.operations.items() if key != ids[0]}
    patch = pages.patch(Picture(rest), News(frozenset({ids[0]})), NOW)
    assert patch["gone"] == [ids[0]]
    assert [shown["id"] for shown in patch["rows"]] == [patch["ids"][-1]]


# ---- filters -----------------------------------------------------------------------------------------------------------------
ASKED = Escalation(reason=Reason.DEADLINE_EXCEEDED, since=START)
SOME = Picture(
    {
        "q3": operation(operation_id="q3", name="Q3 report", owner="ana", last_known_state="running", last_http_status=503),
        "old": operation(operation_id="old", name="two words", started_at=NOW - timedelta(hours=3)),
        "asks": operation(operation_id="asks", phase=Phase.ESCALATED, escalation=ASKED, attention=Attention(assigned_to="ben")),
        "noted": operation(operation_id="noted", attention=Attention(notes=(Note(by="person:ana", at=NOW, text="ticket 7"),))),
    }
)


@pytest.mark.rule("U1")
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", None),  # nothing is asked: all are shown
        ("  ", None),
        ("q3", ["q3"]),
        ("REPORT !state:failed", ["q3"]),
        ('"two words"', ["old"]),
        ('"words two"', []),
        ("name:report", ["q3"]),
        ("owner:ana http:5", ["q3"]),
        ("age>2h", ["old"]),
        ("needs:you", ["asks"]),
        ("with:ben", ["asks"]),
        ("with:nobody !age>2h", ["q3", "noted"]),
        ("deadline", ["asks"]),  # the reason in words
        ("ticket", ["noted"]),  # more than a row tells
    ],
)
@pytest.mark.parametrize("others", [0, ALL_ROWS], ids=["all rows", "a page"])
def test_the_filter_is_the_dashboards(text: str, ids: list[str] | None, others: int) -> None:
    """In a store whose rows the browser holds, and in one of which it holds a page."""
    picture, pages = Picture({**SOME.operations, **many(others)}), Pages()
    opening = pages.full(picture, NOW)
    told = pages.ask(Query(text=f"{text} !id:op-" if others else text), picture, NOW)
    if others:
        assert told == {"whole": True}
        told = pages.full(picture, NOW)
    expected = ids if ids is not None or not others else list(SOME.operations)
    assert sorted(told.get("ids", opening["ids"]) or ()) == sorted(expected or ())
    assert told["fault"] == ""
    assert told["found"] == len(SOME.operations if ids is None else ids)


def test_a_term_that_is_none_is_said_and_what_was_shown_stays() -> None:
    pages = Pages()
    pages.full(SOME, NOW)
    assert pages.ask(Query(text="needs:you"), SOME, NOW)["ids"] == ["asks"]
    told = pages.ask(Query(text="age>xx"), SOME, NOW)
    assert told["fault"].startswith("'xx' is no duration")
    assert (told["query"]["text"], "ids" in told, pages.filtered_by) == ("age>xx", False, "needs:you")
    assert pages.full(SOME, NOW)["ids"] == ["asks"]
    assert pages.ask(Query(), SOME, NOW)["ids"] is None


def test_a_fault_says_foreign_text_inert() -> None:
    assert Pages().ask(Query(text="age>\x1b[2J"), SOME, NOW)["fault"].startswith(r"'\x1b[2J' is no")


@pytest.mark.rule("U2")
@pytest.mark.parametrize("count", [ALL_ROWS, 10_000])
def test_the_answer_to_a_filter_is_one_bounded_message(count: int) -> None:
    """Ids of the rows that the browser has, or a page; never the rows of all."""
    picture, pages = Picture(many(count)), Pages()
    pages.full(picture, NOW)
    told = pages.ask(Query(text="job !http:2"), picture, NOW)
    assert size(pages.full(picture, NOW) if "whole" in told else told) < 50_000
    assert told.get("found", count) == count


def test_what_begins_to_pass_is_told_with_its_row() -> None:
    pages = Pages()
    pages.full(SOME, NOW)
    pages.ask(Query(text="http:503"), SOME, NOW)
    failed = replace(SOME.operations["old"], last_http_status=503)
    patch = pages.patch(Picture({**SOME.operations, "old": failed}), News(frozenset({"old"})), NOW)
    assert (patch["ids"], [shown["id"] for shown in patch["rows"]]) == (["q3", "old"], ["old"])
    again = pages.patch(Picture({**SOME.operations, "old": failed}), News(frozenset({"old"})), NOW)
    assert "ids" not in again


@pytest.mark.parametrize("others", [0, ALL_ROWS], ids=["all rows", "a page"])
def test_a_filter_by_age_lets_through_more_as_time_passes(others: int) -> None:
    picture, pages = Picture({**SOME.operations, **many(others)}), Pages()
    pages.full(picture, NOW)
    pages.ask(Query(text="age>2h !id:op-"), picture, NOW)
    pages.full(picture, NOW)
    assert pages.aged(picture, NOW) == {}
    told = pages.aged(picture, at(7_201))
    assert sorted(told["ids"]) == ["asks", "noted", "old", "q3"]
    assert told["found"] == 4
    assert pages.aged(picture, at(7_202)) == {}


# ---- order -------------------------------------------------------------------------------------------------------------------
def test_what_needs_a_person_stands_first_and_then_the_newest() -> None:
    asked = Escalation(reason=Reason.DEADLINE_EXCEEDED, since=START)
    found = [
        operation(operation_id="ended", phase=Phase.SUCCEEDED, ended_at=NOW),
        operation(operation_id="old"),
        operation(operation_id="new", started_at=at(9)),
        operation(operation_id="asks", phase=Phase.ESCALATED, escalation=asked),
    ]

    def ids(query: Query) -> list[str]:
        return [op.operation_id for op in arranged(found, query, EVERYTHING, NOW)]

    assert ids(Query()) == ["asks", "new", "old", "ended"]
    assert ids(Query(sort="began")) == ["ended", "old", "asks", "new"]
    assert ids(Query(phase="waiting")) == ["new", "old"]


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {"sort": "__class__", "page": -1, "phase": "x", "text": 3},
        {"page": 10**9},
        {"page": True},
        {"sort": []},
        {"phase": {}},
        {"text": "\ud83d"},  # half of a sign
    ],
)
def test_a_query_of_the_wrong_shape_is_as_if_nothing_was_asked(said: Any) -> None:
    assert Query.of(said) == Query()


def test_the_last_page_is_shown_where_a_later_one_was_asked_for() -> None:
    pages = Pages()
    pages.query = Query(page=999)
    assert len(pages.full(Picture(many(ALL_ROWS + 10)), NOW)["rows"]) == 10


def test_the_inbox_holds_fifty_cards_and_counts_the_rest() -> None:
    asked = Escalation(reason=Reason.DEADLINE_EXCEEDED, since=START)
    picture = Picture({k: replace(op, phase=Phase.ESCALATED, escalation=asked) for k, op in many(60).items()})
    items = Items()
    whole = items.full(picture, NOW)
    assert (len(whole["items"]), whole["others"]) == (MOST, 10)
    assert items.patch(picture, NOW) == {}


@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("https://console.example/jobs/1", True),
        ("javascript:alert(1)", False),
        ("http://console.example/", False),
        ("https://console.example/ x", False),
        ("https://consol\u0435.example/", False),
        ("data:text/html,<b>", False),
        (None, False),
    ],
)
def test_only_encrypted_plain_links_are_followed(url: str | None, is_allowed: bool) -> None:
    assert link(url) == (url if is_allowed else None)


@pytest.mark.rule("H12")
def test_a_row_is_told_anew_when_time_alone_makes_it_look_unchecked() -> None:
    """Nothing happened in the store: that is what the row has to say. It is said once."""
    idle = operation(observed_at=at(60), state_since=at(0), stalls_at=at(700))
    picture, pages = Picture({"op-1": idle}), Pages()
    assert "flags" not in pages.full(picture, at(600))["rows"][0]
    assert pages.aged(picture, at(690)) == {}
    (told,) = pages.aged(picture, at(710))["rows"]
    assert told["flags"] == "not checked since 10:01:00 UTC"
    assert pages.aged(picture, at(720)) == {}


@pytest.mark.rule("B9")
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"spent_this_hour": 312, "hour_at": at(0)}, "account acme-prod: 312 this hour"),
        ({"hold_since_at": at(500), "hold_until_at": at(900)}, "account acme-prod: 0 this hour; held until 10:15:00 UTC"),
        (None, ""),
    ],
)
def test_the_details_tell_what_the_account_has_spent(fields: dict[str, Any] | None, told: str) -> None:
    key = operation().account_key
    accounts = {} if fields is None else {key: Account(account_key=key, account="acme-prod", **fields)}
    assert Record("op-1").full(Picture({"op-1": operation()}, accounts), NOW)["account"] == told


def test_a_row_leaves_out_what_is_unknown_and_cuts_what_is_long() -> None:
    shown = row(Picture().view(operation(name="n" * 5_000, ended_at=START + timedelta(minutes=1)), NOW), NOW)
    assert len(shown["name"]) == 120
    assert "progress" not in shown
    assert size(shown) < 700
