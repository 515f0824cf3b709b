"""An account as all front ends show it: what was spent of what, when it is empty, what holds it back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account, Denied
from jobconsole.core.judging.answer import RateLimit
from jobconsole.core.telling.account_view import account_view
from tests.core.sample_contract import sample
from tests.core.sample_facts import at, operation

KEY = "acme-prod@api.acme.example"


def account(**fields: object) -> Account:
    """An account whose hour began at 10:00."""
    return Account(account_key=KEY, account="acme-prod", **({"hour_at": at(0)} | fields))  # type: ignore[arg-type]


def limited(per_minute: float) -> Contract:
    """A contract that bounds its account."""
    return sample(limits=f"per_minute = {per_minute}")


@pytest.mark.rule("B9")
@pytest.mark.parametrize(
    ("spent", "minutes", "text"),
    [
        (312, 10, "312 of 6,000 this hour"),  # 1,872 an hour
        (1_500, 10, "1,500 of 6,000 this hour; at this rate empty 10:40 UTC"),  # 6,000 in 40 minutes
        (6_000, 10, "6,000 of 6,000 this hour; at this rate empty 10:10 UTC"),  # it is empty now
        (1_500, 0.5, "1,500 of 6,000 this hour"),  # half a minute says nothing yet
        (312, 61, "0 of 6,000 this hour"),  # the hour is over
    ],
    ids=["lasts", "empty at twenty to", "empty now", "too early to say", "another hour"],
)
def test_the_words_say_when_it_is_empty_at_this_rate(spent: int, minutes: float, text: str) -> None:
    """Where it lasts for the hour, they say nothing of the end."""
    shown = account_view(account(spent_this_hour=spent), at(minutes * 60), (), limited(100))
    assert shown["text"] == text
    assert (shown["empty_at"] is not None) is ("empty" in text)


@pytest.mark.parametrize(("minutes", "text"), [(30, "312 this hour"), (61, "0 this hour")])
def test_without_a_limit_it_says_what_was_spent(minutes: int, text: str) -> None:
    """And what the provider counts itself stands beside it; its window is its own."""
    rate = RateLimit(limit=5_000, remaining=4_688, reset_seconds=900.0)
    shown = account_view(account(spent_this_hour=312, remote=rate), at(minutes * 60))
    assert shown["text"] == text
    assert shown["remote"]["text"] == "the provider counts 312 of 5,000"


@pytest.mark.rule("B9")
def test_it_says_which_operations_spent_it() -> None:
    """Those of this account alone, the largest first."""
    spenders = [operation(operation_id=name, status_requests_used=used) for name, used in (("op-1", 2), ("op-2", 9))]
    other = operation(operation_id="op-3", account_key="else@api.acme.example", status_requests_used=20)
    shown = account_view(account(), at(60), [*spenders, other])
    assert [(each["operation_id"], each["status_requests_used"]) for each in shown["spent_by"]] == [("op-2", 9), ("op-1", 2)]


@pytest.mark.rule("B9", "B11")
@pytest.mark.parametrize(
    ("fields", "standing"),
    [
        ({}, ""),
        ({"hold_until_at": at(90)}, "held until 10:01:30 UTC"),
        ({"hold_until_at": at(30)}, ""),
        ({"hold_until_at": at(90), "denied": Denied(since=at(20), http_status=403)}, "credential refused since 10:00:20 UTC"),
    ],
    ids=["free", "held", "a hold that is over", "refused"],
)
def test_what_holds_it_back_is_said_in_words(fields: dict[str, object], standing: str) -> None:
    """At 10:01; a refused credential comes first, because no waiting mends it."""
    assert account_view(account(**fields), at(60))["standing"] == standing


def test_every_key_is_always_there() -> None:
    """Null where nothing is known."""
    assert account_view(account(), at(0)).keys() == account_view(account(spent_this_hour=9), at(60), (), limited(1)).keys()


def test_the_forecast_is_a_time_for_programs_too() -> None:
    """RFC 3339 beside the words: 1,500 in 10 minutes are 6,000 in 40."""
    shown = account_view(account(spent_this_hour=1_500), at(0) + timedelta(minutes=10), (), limited(100))
    assert shown["empty_at"] == "2026-11-29T10:40:00.000Z"
