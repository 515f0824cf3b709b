"""The language of `/`: one row a term, with what it lets through."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from jobconsole.core.operation import Attention, Limits, Note, Operation
from jobconsole.core.operation import Escalation as Asked
from jobconsole.core.telling.filter import EVERYTHING, parse_filter
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.errors import InvalidValue

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def made(**fields: object) -> Operation:
    """A waiting operation of two hours."""
    deadline = NOW + timedelta(hours=1)
    op = Operation(
        operation_id="op_8F3K2A",
        provider="render",
        account="prod",
        account_key="prod@render",
        contract="c",
        request_fingerprint="f",
        phase=Phase.WAITING,
        started_at=NOW - timedelta(hours=2),
        deadline_at=deadline,
        original=Limits(deadline_at=deadline, status_requests=12, transport_failures=3, rate_limits=3),
        max_status_requests=12,
        max_transport_failures=3,
        max_transport_failures_in_a_row=3,
        max_rate_limits=3,
        name="Trailer [4k]",
        owner="ana",
        last_known_state="encoding",
        last_http_status=503,
        status_requests_used=8,
    )
    return msgspec.structs.replace(op, **fields)


NOTED = made(attention=Attention(notes=(Note(by="person:ana", at=NOW, text="ticket 4711"),)))
ESCALATED = made(phase=Phase.ESCALATED, escalation=Asked(reason=Reason.DEADLINE_EXCEEDED, since=NOW))


@pytest.mark.parametrize(
    ("text", "op", "matches"),
    [
        ("", made(), True),
        ("trailer", made(), True),
        ("TRAILER", made(), True),
        ("[4k]", made(), True),
        ('"trailer [4k]"', made(), True),
        ('"trailer [4k', made(), True),  # still typing
        ("podcast", made(), False),
        ("!podcast", made(), True),
        ("!trailer", made(), False),
        ("trailer encoding", made(), True),
        ("trailer !encoding", made(), False),
        ("4711", NOTED, True),
        ("note", NOTED, False),  # the name of a field is no text
        ("state:waiting", made(), True),
        ("state:wait", made(), True),
        ("state:enc", made(), True),
        ("state:failed", made(), False),
        ("!state:failed", made(), True),
        ("state:escalated", ESCALATED, True),
        ("state:", made(), True),  # still typing
        ("deadline", ESCALATED, True),
        ("needs:you", made(), False),
        ("needs:you", ESCALATED, True),
        ("!needs:you", ESCALATED, False),
        ("provider:ren", made(), True),
        ("provider:ocr", made(), False),
        ("owner:ana name:trailer", made(), True),
        ("age>1h", made(), True),
        ("age>2h30m", made(), False),
        ("age<2h30m", made(), True),
        ("checks>7", made(), True),
        ("checks>8", made(), False),
        ("checks:8", made(), True),
        ("http:5", made(), True),
        ("http:200", made(), False),
        ("http:none", made(last_http_status=None), True),
        ("id:8f3k", made(), True),
    ],
)
def test_a_filter_lets_through_what_all_its_terms_match(text: str, op: Operation, matches: bool) -> None:
    """Terms stand beside each other; `!` turns one round."""
    assert parse_filter(text).matches(op, NOW) is matches


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("stat:failed", "did you mean state:?"),
        ("colour:red", "known are"),
        ("age:2h", "age>2h"),
        ("age>soon", "write digits and a unit"),
        ("checks>many", "checks>8"),
        ("needs:coffee", "needs:you"),
    ],
)
def test_a_term_that_is_none_says_how_it_is_written(text: str, mend: str) -> None:
    """And nothing is filtered by it."""
    with pytest.raises(InvalidValue, match=mend.replace("?", r"\?")):
        parse_filter(text)


def test_only_a_filter_by_age_changes_with_time() -> None:
    """So only such a one is asked again each second."""
    assert parse_filter("age>2h trailer").is_about_time
    assert not parse_filter("trailer state:failed").is_about_time
    assert not EVERYTHING.is_about_time
