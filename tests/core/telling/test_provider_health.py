"""Provider health: who answers, who is silent, held or refuses, kept up with each change."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from jobconsole.core.deciding.account import Account, Denied
from jobconsole.core.operation import Operation
from jobconsole.core.telling.provider_health import ProviderHealth, ProviderStanding, ProviderTally
from jobconsole.core.vocabulary import Delivery, Phase
from tests.core import sample_facts

NOW = sample_facts.at(0)
KEY = "acme-prod@api.acme.example"


def asked(at: datetime | None, delivery: Delivery = Delivery.ANSWERED, **fields: object) -> Operation:
    """An operation of `acme` whose last request was at this time."""
    return sample_facts.operation(provider="acme", account_key=KEY, last_http_at=at, delivery=delivery, **fields)


def standing(*operations: Operation, account: Account | None = None) -> ProviderHealth:
    """How `acme` stands with these operations."""
    tally = ProviderTally()
    for op in operations:
        tally.take(None, op)
    (found,) = tally.healths({} if account is None else {KEY: account}, NOW)
    return found


EARLIER, LATER = NOW - timedelta(minutes=15), NOW - timedelta(minutes=1)
JUST_NOW, EVEN_LATER = NOW - timedelta(seconds=29), NOW - timedelta(seconds=1)


@pytest.mark.parametrize(
    ("operations", "expected", "at"),
    [
        ([asked(None)], ProviderStanding.NOT_ASKED, None),
        ([asked(LATER)], ProviderStanding.ANSWERS, LATER),
        ([asked(LATER, Delivery.NONE)], ProviderStanding.SILENT, LATER),
        ([asked(EARLIER), asked(LATER, Delivery.NONE)], ProviderStanding.SILENT, EARLIER),
        ([asked(JUST_NOW), asked(EVEN_LATER, Delivery.NONE)], ProviderStanding.ANSWERS, JUST_NOW),
        ([asked(LATER), asked(EARLIER, Delivery.AMBIGUOUS)], ProviderStanding.ANSWERS, LATER),
        ([asked(None), asked(LATER, phase=Phase.SUCCEEDED)], ProviderStanding.ANSWERS, LATER),
    ],
    ids=[
        "never asked",
        "answered",
        "never answered",
        "fell silent",
        "one failure just after an answer",
        "answers again",
        "an ended job was answered",
    ],
)
def test_the_newest_fact_of_any_operation_decides(
    operations: list[Operation], expected: ProviderStanding, at: datetime | None
) -> None:
    """A silent provider is so since its last answer, or, where it never gave one, since it was last asked."""
    found = standing(*operations)
    assert (found.standing, found.at) == (expected, at)


@pytest.mark.rule("B9", "B11")
@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"hold_until_at": NOW - timedelta(seconds=1)}, ""),
        ({"hold_until_at": NOW + timedelta(seconds=61)}, "acme: held until 10:01:01 UTC"),
        ({"denied": Denied(since=EARLIER), "hold_until_at": LATER}, "acme: credential refused since 09:45:00 UTC"),
    ],
    ids=["free", "a hold that is over", "held", "refused"],
)
def test_an_account_that_may_not_send_comes_first(fields: dict[str, object], text: str) -> None:
    """However well its last answer was; in words, with the time."""
    account = Account(account_key=KEY, account="acme-prod", **fields)  # type: ignore[arg-type]
    assert standing(asked(LATER), account=account).text(NOW) == text


def test_a_provider_is_in_use_while_one_of_its_operations_has_not_ended() -> None:
    """Two come; one ends; the other is archived."""
    tally, one, other = ProviderTally(), asked(LATER), asked(EARLIER)
    tally.take(None, one)
    tally.take(None, other)
    tally.take(one, replace(one, phase=Phase.FAILED))
    assert [each.provider for each in tally.healths({}, NOW)] == ["acme"]
    tally.take(other, None)
    assert tally.healths({}, NOW) == ()
