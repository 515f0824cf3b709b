"""What an answer tells about the job beside its state: counts, results, times, hints and words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.judging.answer import Known, Observation
from jobconsole.core.judging.counts import judge
from jobconsole.core.judging.observation import observe
from jobconsole.core.operation import Counts, ProviderError
from tests.core.answers import DATE, JSON, answer, demo

OURS = Known(job_id="job-1")


def seen(body: dict[str, Any], more: str = "", *edits: tuple[str, str], headers: Any = (JSON, DATE)) -> Observation:
    return observe(demo(more, *edits), answer(200, {"id": "job-1", **body}, headers), OURS)


# ---- step 9: counts -----------------------------------------------------------------------------------------------------
@pytest.mark.rule("C2", "C4", "C12")
@pytest.mark.parametrize(
    ("total", "succeeded", "failed", "word"),
    [
        (10, 10, 0, "succeeded"),
        (10, 0, 10, "failed"),  # 0 of 10
        (10, 7, 3, "partial"),  # 7 of 10
        (0, 0, 0, "contradiction"),  # 0 of 0
        (10, 7, 2, "contradiction"),  # 7 + 2 is not 10
        (10, 11, -1, "contradiction"),
        (None, 7, 3, "partial"),  # no total: items may be neither
        (None, 7, 0, "succeeded"),
        (None, 0, 3, "failed"),
        (None, 0, 0, "contradiction"),
        (10, 10, None, "succeeded"),
        (10, 7, None, "contradiction"),
        (None, None, 3, "partial"),
        (None, None, 0, "succeeded"),
        (0, None, None, "contradiction"),
    ],
)
def test_counts_judge_a_success(total: int | None, succeeded: int | None, failed: int | None, word: str) -> None:
    """Case ST-09."""
    found, why = judge(Counts(total=total, succeeded=succeeded, failed=failed))
    assert found == word
    assert bool(why) is (word != "succeeded")


COUNTS = """
[result]
counts = { total = "body.n", processed = "body.done", succeeded = "body.good", failed = "body.bad" }
errors_url = "body.errors"
"""


@pytest.mark.rule("C12")
@pytest.mark.parametrize(
    ("state", "body", "verdict", "counts"),
    [
        ("succeeded", {"n": 10, "good": 7, "bad": 3}, "partial", (10, None, 7, 3)),
        ("succeeded", {"done": 500, "bad": 20}, "partial", (None, 500, 480, 20)),  # processed - failed
        ("succeeded", {"done": "500", "bad": "0"}, "succeeded", (None, 500, 500, 0)),  # digits in texts
        ("succeeded", {"n": 10, "bad": 10}, "failed", (10, None, 0, 10)),
        ("succeeded", {"done": 3, "bad": 5}, "contradiction", (None, 3, -2, 5)),
        ("running", {"n": 10, "good": 2, "bad": 1}, "waiting", (10, None, 2, 1)),  # judges a success only
        ("expired", {"n": 10, "good": 4, "bad": 0}, "expired", (10, None, 4, 0)),
        ("succeeded", {"n": None, "good": 3.5, "bad": True}, "succeeded", None),
        ("succeeded", {}, "succeeded", None),
    ],
)
def test_counts_are_kept_from_every_answer(
    state: str, body: dict[str, Any], verdict: str, counts: tuple[int | None, ...] | None
) -> None:
    found = seen({"state": state, **body}, COUNTS)
    assert found.verdict == verdict
    expected = (
        None if counts is None else Counts(**dict(zip(("total", "processed", "succeeded", "failed"), counts, strict=True)))
    )
    assert found.counts == expected


def test_the_errors_have_an_address() -> None:
    assert seen({"state": "succeeded", "errors": "/v1/errors/1"}, COUNTS).errors_url == "https://jobs.example.test/v1/errors/1"
    assert seen({"state": "succeeded", "errors": "file-123"}, COUNTS).errors_url is None


# ---- step 11: what a success must bring ---------------------------------------------------------------------------------
RESULT = """
[result]
success_requires = ["body.result", "body.url || body.count == '0'"]
url = "body.url"
id = "body.file"
inline = "body.result"
"""


@pytest.mark.rule("C3")
@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ({"result": {"rows": 3}, "url": "https://cdn.example.test/1"}, ()),
        ({"result": "", "url": "https://cdn.example.test/1"}, ()),  # presence and truth are different
        ({"result": [], "url": "https://cdn.example.test/1"}, ()),
        ({"result": 0, "count": "0"}, ()),
        ({"result": None, "url": "https://cdn.example.test/1"}, ("body.result",)),
        ({"result": False, "url": "https://cdn.example.test/1"}, ("body.result",)),
        ({}, ("body.result", "body.url || body.count == '0'")),
        ({"result": 1, "url": "http://cdn.example.test/1"}, ("a usable result URL",)),
        ({"result": 1, "url": "file-1"}, ("a usable result URL",)),
        ({"result": 1, "url": {"a": 1}}, ("a usable result URL",)),
        ({"result": 1, "url": "https://user:pw@cdn.example.test/1"}, ("a usable result URL",)),
    ],
)
def test_a_success_says_what_it_lacks(body: dict[str, Any], missing: tuple[str, ...]) -> None:
    """Case ST-05. Whether it may still come is the lag's to say, in `decide`."""
    found = seen({"state": "succeeded", **body}, RESULT)
    assert found.verdict == "succeeded"
    told = () if found.result is None else found.result.missing
    assert [one.partition(" (")[0] for one in told] == list(missing)


def test_a_result_is_told_for_an_end_that_may_have_one() -> None:
    body = {"result": {"rows": 3}, "url": "/v1/results/1", "file": 17}
    for state, has_result in (("succeeded", True), ("expired", True), ("failed", False), ("running", False)):
        found = seen({"state": state, **body}, RESULT).result
        assert (found is not None) is has_result
        if found is not None:
            assert (found.url, found.result_id, found.inline) == ("https://jobs.example.test/v1/results/1", "17", {"rows": 3})
            assert found.has_inline


def test_an_inline_result_is_bounded() -> None:
    found = seen({"state": "succeeded", "result": "x" * 70_000, "url": "https://cdn.example.test/1"}, RESULT)
    assert found.result is not None
    assert (found.result.has_inline, found.result.inline, found.result.missing) == (False, None, ())
    assert "the inline result has more than 64 KiB and is not kept" in found.notes


# ---- step 12: times -----------------------------------------------------------------------------------------------------
TIMES = """error = "body.error"
started_at = "body.started"
ended_at = "body.ended"
expires_at = "body.expires"
updated_at = "body.updated"
"""


@pytest.mark.rule("C4", "B14")
@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ({"state": "succeeded", "started": "2026-11-29T11:00:00Z", "ended": "2026-11-29T11:30:00Z"}, "succeeded"),
        ({"state": "succeeded", "started": "2026-11-29T11:00:00Z", "ended": "2026-11-29T11:00:00Z"}, "succeeded"),
        ({"state": "succeeded", "started": "2026-11-29T11:00:00Z", "ended": "2026-11-29T10:59:59Z"}, "contradiction"),
        ({"state": "failed", "started": 1_795_953_600, "ended": 1_795_953_599}, "contradiction"),
        ({"state": "running", "expires": "2026-11-29T11:59:01Z"}, "waiting"),  # 59 s ago: inside the tolerance
        ({"state": "running", "expires": "2026-11-29T11:58:59Z"}, "contradiction"),  # 61 s ago
        ({"state": "succeeded", "expires": "2026-11-29T11:00:00Z"}, "succeeded"),
        ({"state": "running", "started": "2026-11-29T12:05:00Z"}, "waiting"),  # a start in the future is their clock
        ({"state": "running", "started": "yesterday"}, "waiting"),
    ],
)
def test_what_cannot_be_in_time_is_a_contradiction(body: dict[str, Any], verdict: str) -> None:
    assert seen(body, "", ('error = "body.error"\n', TIMES)).verdict == verdict


def test_the_provider_s_own_clock_measures_its_expiry() -> None:
    """Their clock is 2 h behind: the job has not expired there."""
    behind = (JSON, ("Date", "Sun, 29 Nov 2026 10:00:00 GMT"))
    body = {"state": "running", "expires": "2026-11-29T11:00:00Z"}
    assert seen(body, "", ('error = "body.error"\n', TIMES), headers=behind).verdict == "waiting"


def test_a_time_that_is_none_is_unknown_with_a_note() -> None:
    found = seen(
        {"state": "running", "started": "yesterday", "updated": "2026-11-29T11:00:00"}, "", ('error = "body.error"\n', TIMES)
    )
    assert found.started_at is None
    assert found.updated_at == datetime(2026, 11, 29, 11, tzinfo=UTC)
    assert found.notes == ("started_at 'yesterday' is no time and became unknown",)


# ---- step 13: hints and the next URL ------------------------------------------------------------------------------------
HINTS = """
[hints]
poll_after_seconds = "body.after_s"
poll_after_ms = "body.after_ms"
next_check_at = "body.next"
"""


@pytest.mark.rule("C5", "X2", "B18")
@pytest.mark.parametrize(
    ("body", "hint", "source", "rejected"),
    [
        ({"after_s": 5}, 5, "poll_after_seconds", None),
        ({"after_s": 0}, 0, "poll_after_seconds", None),  # now allowed
        ({"after_s": "4.5"}, 4.5, "poll_after_seconds", None),
        ({"after_ms": 4000}, 4, "poll_after_ms", None),
        ({"after_ms": "4000"}, 4, "poll_after_ms", None),
        ({"next": "2026-11-29T12:01:30Z"}, 90, "next_check_at", None),
        ({"next": 1_795_953_690}, 90, "next_check_at", None),
        ({"next": "2026-11-29T11:00:00Z"}, 0, "next_check_at", None),  # past: now allowed
        ({"after_s": 5, "after_ms": 9000, "next": "2026-11-29T12:00:07Z"}, 9, "poll_after_ms", None),  # the longest
        ({"after_s": None}, None, None, None),
        ({"after_s": -1}, None, None, "negative"),
        ({"after_ms": True}, None, None, "true or false is no number"),
        ({"after_ms": {"s": 4}}, None, None, "of the wrong type"),
        ({"after_s": "soon"}, None, None, "not a number"),
        ({"after_s": float("nan")}, None, None, "not finite"),
        ({"after_s": float("inf")}, None, None, "not finite"),
        ({"after_s": 10**300}, None, None, "out of range"),
        ({"next": "tomorrow"}, None, None, "not a time"),
        ({"next": -5}, None, None, "not a time"),
        ({"after_s": 1e14}, 315_360_000, "poll_after_seconds", None),  # cut to ten years
    ],
)
def test_a_hint_is_valid_or_rejected_with_its_reason(
    body: dict[str, Any], hint: float | None, source: str | None, rejected: str | None
) -> None:
    """Case RA-13."""
    found = seen({"state": "running", **body}, HINTS)
    assert found.verdict == "waiting"
    assert (found.hint_s, found.hint_source) == (hint, source)
    assert [one.why for one in found.rejected] == ([] if rejected is None else [rejected])


def test_hints_of_an_ended_job_are_nobody_s() -> None:
    assert seen({"state": "succeeded", "after_s": 5}, HINTS).hint_s is None


@given(st.one_of(st.text(max_size=30), st.floats(), st.integers(), st.booleans(), st.lists(st.integers(), max_size=2)))
def test_no_hint_raises_and_every_wait_is_finite(value: Any) -> None:
    for key in ("after_s", "after_ms", "next"):
        found = seen({"state": "running", key: value}, HINTS)
        assert found.verdict == "waiting"
        assert found.hint_s is None or 0 <= found.hint_s <= 315_360_000
        assert (found.hint_s is None) is (len(found.rejected) == 1)


@pytest.mark.rule("C6")
@pytest.mark.parametrize(
    ("location", "status_url", "is_noted"),
    [
        ("/v1/ops/2", "https://jobs.example.test/v1/ops/2", False),
        ("https://jobs.example.test/v1/ops/2", "https://jobs.example.test/v1/ops/2", False),
        ("https://evil.example.test/v1/ops/2", None, True),  # the old one stays
        (None, None, False),
    ],
)
def test_the_next_status_url_is_taken_from_an_allowed_host_only(
    location: str | None, status_url: str | None, is_noted: bool
) -> None:
    headers = (JSON, DATE) if location is None else (JSON, DATE, ("Location", location))
    found = seen({"state": "running"}, "", ('error = "body.error"', 'next_url = "headers.location"'), headers=headers)
    assert found.verdict == "waiting"
    assert found.status_url == status_url
    assert bool(found.notes) is is_noted


# ---- words --------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        ("plain text", None, "plain text"),
        ({"code": "quota", "message": "too much"}, "quota", "too much"),
        ({"code": 8, "message": "quota"}, "8", "quota"),
        ([{"message": "a"}, {"message": "b"}], None, "a; b"),
        (["a", "b"], None, "a; b"),
        ({"errors": [{"code": "x", "detail": "d"}]}, "x", "d"),
        ({"error": {"type": "T", "message": "m"}}, "T", "m"),
        ({"a": 1}, None, '{"a": 1}'),
        (17, "17", ""),
        (True, None, ""),
        ("x" * 5_000, None, "x" * 2_000),
    ],
)
def test_an_error_of_any_shape_is_readable(error: Any, code: str | None, text: str) -> None:
    """Case ST-13."""
    found = seen({"state": "failed", "error": error})
    assert found.verdict == "failed"
    assert found.error == ProviderError(code=code, text=text)


@pytest.mark.parametrize("error", [None, "", [], {}, False])
def test_no_error_is_no_reason_given(error: Any) -> None:
    found = seen({"state": "failed", "error": error})
    assert (found.verdict, found.error) == ("failed", None)


@pytest.mark.rule("U3")
def test_control_characters_stay_data_and_half_characters_are_replaced() -> None:
    found = seen({"state": "failed", "error": "\x1b[31mred\u202e \ud800"})
    assert found.error is not None
    assert found.error.text == "\x1b[31mred\u202e \ufffd"


@pytest.mark.parametrize(
    ("value", "most", "progress"),
    [
        (10, 100, 0.1),
        ("39.0", 100, 0.39),
        (0.4, 1, 0.4),
        (250, 100, 1.0),
        (-5, 100, None),
        (True, 100, None),
        ("half", 100, None),
        (0, 100, 0.0),
    ],
)
def test_progress_is_a_share_of_one_or_unknown(value: Any, most: float, progress: float | None) -> None:
    found = seen({"state": "running", "progress": value}, "", ('error = "body.error"', f"progress_max = {most}"))
    assert found.progress == progress
    assert bool(found.notes) is (progress is None)


def test_the_provider_s_request_id_is_kept() -> None:
    found = seen({"state": "running"}, headers=(JSON, ("X-Request-Id", "r-1")))
    assert found.request_id == "r-1"
    assert observe(demo(), answer(500, None, (("X-Amzn-RequestId", "r-2"),)), OURS).request_id == "r-2"
