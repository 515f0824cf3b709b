"""Options that serve no purpose any more are marked, and stay open (H8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from jobconsole.core.telling.purpose import no_purpose
from jobconsole.core.vocabulary import StateClass
from tests.core.desk import Desk
from tests.core.sample_facts import at

NOW = at(3600)  # 11:00:00
BEFORE, AFTER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


@pytest.mark.rule("H8")
@pytest.mark.parametrize(
    ("fields", "option", "said"),
    [
        ({"business_deadline_at": BEFORE}, "extend", "business deadline 10:59:59 UTC has passed"),
        ({"business_deadline_at": NOW}, "check_once", "business deadline 11:00:00 UTC has passed"),
        ({"business_deadline_at": BEFORE}, "submit_again", "business deadline 10:59:59 UTC has passed"),
        ({"business_deadline_at": BEFORE}, "close", None),
        ({"business_deadline_at": BEFORE}, "cancel", None),
        ({"business_deadline_at": AFTER}, "extend", None),
        ({"business_deadline_at": BEFORE, "is_business_deadline_waived": True}, "extend", None),
        ({"provider_expires_at": BEFORE}, "extend", "expired at its provider at 10:59:59 UTC"),
        ({"provider_expires_at": BEFORE}, "pause", "expired at its provider"),
        ({"provider_expires_at": BEFORE}, "check_once", None),
        ({"provider_expires_at": AFTER}, "extend", None),
        ({"state_class": StateClass.SUCCEEDED}, "cancel", "the job has ended (succeeded)"),
        ({"state_class": StateClass.NO_OUTCOME}, "cancel", "the job has ended (no outcome)"),
        ({"state_class": StateClass.WAITING}, "cancel", None),
        ({"state_class": StateClass.UNKNOWN}, "cancel", None),
        ({}, "extend", None),
    ],
)
def test_an_option_says_why_it_serves_nothing_any_more(fields: dict[str, Any], option: str, said: str | None) -> None:
    desk = Desk()
    desk.track()
    words = no_purpose(option, replace(desk.op(), **fields), NOW)
    assert words is None if said is None else words is not None and said in words
