"""From a caller's wish to a record: what a program says is checked as what is typed is (X14, X18)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from jobconsole.engine.submissions import Budget, Wish, adoption
from jobconsole.errors import InvalidValue
from tests.core.sample_contract import sample

NOW = datetime(2026, 11, 29, 10, tzinfo=UTC)
NO_COUNTS: list[Any] = [3.5, True, "3", 0, 1_000_001]


@pytest.mark.rule("B18", "S4")
@pytest.mark.parametrize(
    ("said", "mend"),
    [({"budget": Budget(status_requests=wrong)}, "requests: a whole number from 1 to 1,000,000") for wrong in NO_COUNTS]
    + [
        ({"budget": Budget(business_deadline_at=datetime(2026, 11, 29, 12))}, "the business deadline.*give a time zone"),  # noqa: DTZ001
        ({"name": 5}, "the name is a text, not int"),
        ({"owner": b"ana"}, "the owner is a text, not bytes"),
        ({"task": []}, "the task is a text, not list"),
        ({"operation_id": 7}, "the id is a text, not int"),
    ],
)
def test_a_value_of_another_kind_is_refused_before_anything_is_written(said: dict[str, Any], mend: str) -> None:
    """Stored, it could not be read again."""
    with pytest.raises(InvalidValue, match=mend):
        adoption(sample(), Wish("person:ana", **said), NOW, job_id="7")


def test_a_business_deadline_is_kept_in_utc_whatever_its_zone() -> None:
    at = datetime.fromisoformat("2026-11-29T12:00:00.123456+01:00")
    new = adoption(sample(), Wish("person:ana", budget=Budget(business_deadline_at=at)), NOW, job_id="7")
    assert new.budget.business_deadline_at == datetime(2026, 11, 29, 11, 0, 0, 123_000, tzinfo=UTC)
