"""Rows, pages and patches: the first message is bounded, a later one is as large as what changed (UX 1b, U2)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from jobconsole.core.deciding.account import Account
from jobconsole.core.operation import Escalation, Operation
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.notebook.feed import News, Picture
from jobconsole.notebook.items import MOST, Items
from jobconsole.notebook.pages import ALL_ROWS, PAGE, Pages, Query, arranged, matches
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
    assert (len(opening["rows"]), opening["paged"], "ids" in opening) == (ALL_ROWS, False, False)
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
    patch = pages.patch(Picture(many(ALL_ROWS + 1)), News(frozenset({"op-01000"})), NOW)
    assert (patch["whole"], patch["paged"], len(patch["rows"])) == (True, True, PAGE)


def test_a_row_that_comes_onto_the_page_is_sent_although_it_did_not_change() -> None:
    picture, pages = Picture(many(ALL_ROWS + 200)), Pages()
    ids = pages.full(picture, NOW)["ids"]
    rest = {key: op for key, op in picture.operations.items() if key != ids[0]}
    patch = pages.patch(Picture(rest), News(frozenset({ids[0]})), NOW)
    assert patch["gone"] == [ids[0]]
    assert [shown["id"] for shown in patch["rows"]] == [patch["ids"][-1]]


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("", True),
        ("q3", True),
        ("Q3 REPORT", True),
        ("q3 nothing", False),
        ("!q3", False),
        ("!nothing", True),
        ("state:waiting", True),
        ("state:RUNNING", True),
        ("state:failed", False),
        ("!state:failed provider:ac", True),
        ("owner:ana", True),
        ("owner:ben", False),
        ("unknown:field", False),
        ("job-1", True),
    ],
)
def test_a_filter_finds_words_and_fields(text: str, is_found: bool) -> None:
    op = operation(name="Q3 report", owner="ana", last_known_state="running")
    assert matches(op, text) is is_found


def test_what_needs_a_person_stands_first_and_then_the_newest() -> None:
    asked = Escalation(reason=Reason.DEADLINE_EXCEEDED, since=START)
    found = [
        operation(operation_id="ended", phase=Phase.SUCCEEDED, ended_at=NOW),
        operation(operation_id="old"),
        operation(operation_id="new", started_at=at(9)),
        operation(operation_id="asks", phase=Phase.ESCALATED, escalation=asked),
    ]
    assert [op.operation_id for op in arranged(found, Query())] == ["asks", "new", "old", "ended"]
    assert [op.operation_id for op in arranged(found, Query(sort="began"))] == ["ended", "old", "asks", "new"]
    assert [op.operation_id for op in arranged(found, Query(phase="waiting"))] == ["new", "old"]


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
