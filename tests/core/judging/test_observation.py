"""One answer judged, step by step: the order of evaluation of CONTRACT.md."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.judging.answer import CallError, Envelope, Known, Observation
from jobconsole.core.judging.observation import observe, unseen
from jobconsole.core.vocabulary import Delivery, StateClass
from jobconsole.errors import CertificateFault, HostRefused, PeerClosedIdle, TransportFault
from tests.core.answers import DATE, JSON, answer, demo

OURS = Known(job_id="job-1")
PAGE = b"<!DOCTYPE html><html><title>Sign in</title><b>[red]x[/red]</b></html>"
RUNNING = {"id": "job-1", "state": "running"}


def seen(
    status: int = 200, body: Any = None, headers: Any = (JSON, DATE), more: str = "", *edits: tuple[str, str]
) -> Observation:
    return observe(demo(more, *edits), answer(status, body, headers), OURS)


# ---- step 1: delivery ---------------------------------------------------------------------------------------------------
@pytest.mark.rule("B10", "X1")
@pytest.mark.parametrize(
    ("status", "content_type", "body", "verdict"),
    [
        (200, "text/html; charset=utf-8", PAGE, "delivery_failure"),
        (200, "application/json", PAGE, "delivery_failure"),  # HT-05: a page is a page whatever it calls itself
        (200, "application/json", b"\xef\xbb\xbf  " + PAGE, "delivery_failure"),
        (200, "text/html", b"it works", "delivery_failure"),
        (200, "application/xml", b"<?xml version='1.0'?><a/>", "delivery_failure"),
        (200, "text/plain", b"ok", "delivery_failure"),
        (200, "", b"ok", "delivery_failure"),
        (200, "application/json", b"{oops", "integration_error"),
        (200, "application/problem+json; charset=utf-8", b"oops", "integration_error"),
        (200, "application/json", b'{"state": "running"', "integration_error"),
        (200, "application/json", b'{"state": "running"} x', "integration_error"),
        (200, "application/json", b"[" * 100_000, "integration_error"),
        (200, "application/json; charset=klingon", b'{"state": "running"}', "integration_error"),
        (200, "text/plain", b'{"id": "job-1", "state": "running"}', "waiting"),  # it is JSON
        (200, "application/json; charset=iso-8859-1", b'{"state": "running", "m": "caf\xe9"}', "waiting"),
        (404, "text/html", PAGE, "delivery_failure"),  # a proxy's page is no word about the job
        (502, "text/html", PAGE, "delivery_failure"),
        (500, "application/json", b"oops", "delivery_failure"),  # LC-07
        (429, "text/html", PAGE, "rate_limited"),  # the code says it, whatever came with it
        (401, "text/html", PAGE, "authorization_denied"),
        (403, "text/plain", b"Forbidden", "authorization_denied"),
    ],
)
def test_bytes_that_are_no_answer_of_the_api_are_not_a_state(status: int, content_type: str, body: bytes, verdict: str) -> None:
    found = seen(status, body, (("Content-Type", content_type),))
    assert found.verdict == verdict
    assert found.detail or verdict == "waiting"


@pytest.mark.rule("B12", "X1")
@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        ("77u/eyJpZCI6ICJqb2ItMSIsICJzdGF0ZSI6ICJydW5uaW5nIiwgInByb2dyZXNzIjogMTB9", "waiting"),  # UTF-8 mark
        (
            "//57ACIAaQBkACIAOgAgACIAagBvAGIALQAxACIALAAgACIAcwB0AGEAdABlACIAOgAgACIAcgB1AG4AbgBpAG4AZwAiACwAIAAiAHAAcgBvAGcAcgBlAHMAcwAiADoAIAAxADAAfQA=",
            "integration_error",
        ),  # UTF-16
        ("eyJpZCI6ICJqb2ItMSIsICJzdGF0ZSI6ICJydW5uaW5nIiwgIm1lc3NhZ2UiOiAiY2Fm6SJ9", "integration_error"),  # Latin-1
        ("eyJpZCI6ImpvYi0xIiwic3RhdGUiOiJydW5uaW5nIiwibWVzc2FnZSI6Ilx1ZDgwMCBoYWxmIn0=", "waiting"),  # half a character
    ],
)
def test_bytes_in_another_encoding_are_never_guessed(content: str, verdict: str) -> None:
    """Case HT-08."""
    found = observe(
        demo("", ('error = "body.error"', 'error = "body.error"\nmessage = "body.message"')),
        answer(200, base64.b64decode(content)),
        OURS,
    )
    assert found.verdict == verdict
    assert found.message in (None, "\ufffd half")


@pytest.mark.rule("X1", "B18")
def test_numbers_that_are_no_json_make_only_themselves_unknown() -> None:
    """Case HT-09."""
    found = seen(200, b'{"id":"job-1","state":"running","progress":NaN,"eta_s":Infinity,"x":1e999,"y":' + b"9" * 5_000 + b"}")
    assert (found.verdict, found.progress) == ("waiting", None)
    assert "NaN, which is no JSON, became unknown" in found.notes
    json.dumps({"notes": found.notes, "progress": found.progress}, allow_nan=False)


def test_a_key_that_is_there_twice_with_two_values_is_unknown() -> None:
    assert seen(200, b'{"id":"job-1","state":"running","state":"succeeded"}').verdict == "integration_error"
    assert seen(200, b'{"id":"job-1","state":"running","state":"running"}').verdict == "waiting"


@pytest.mark.rule("X1")
@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (202, b"", "waiting"),
        (202, b"null", "waiting"),
        (204, b"", "delivery_failure"),
        (200, b"", "delivery_failure"),
        (200, b"null", "delivery_failure"),
        (200, b"   ", "delivery_failure"),
        (200, b"{}", "integration_error"),
    ],
)
def test_an_empty_answer_says_nothing_but_under_202(status: int, body: bytes, verdict: str) -> None:
    """Case HT-06."""
    assert seen(status, body).verdict == verdict
    assert seen(204, b"", (), '\n[http]\ncodes = { 204 = "succeeded" }\n').verdict == "succeeded"


# ---- step 3: the code ---------------------------------------------------------------------------------------------------
@pytest.mark.rule("B8", "B10", "B11", "B12", "C7")
@pytest.mark.parametrize(
    ("codes", "verdict"),
    [
        ((401, 403, 407), "authorization_denied"),
        ((404, 410), "not_found"),
        ((429,), "rate_limited"),
        ((408, 421, 425, 500, 502, 503, 504, 599), "delivery_failure"),
        ((301, 302, 303, 307, 308), "delivery_failure"),  # a redirect that was not followed
        ((300, 304, 400, 402, 409, 418, 422, 451), "integration_error"),
    ],
)
def test_a_code_beside_2xx_is_never_a_state(codes: tuple[int, ...], verdict: str) -> None:
    for code in codes:
        found = seen(code, {"id": "job-1", "state": "succeeded", "error": {"message": "why"}})
        assert (code, found.verdict, found.state) == (code, verdict, None)
        assert found.detail.startswith(f"HTTP {code}")
        assert found.error is None  # the words are about the call, not about the job


@pytest.mark.rule("C2")
@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (303, PAGE, "succeeded"),  # the body of a listed 3xx is ignored
        (422, {"error": "no"}, "failed"),
        (202, {"id": "job-1"}, "waiting"),
        (202, {"id": "job-1", "state": "succeeded"}, "succeeded"),  # a state in the body counts more
        (400, {"id": "job-1", "state": "failed"}, "failed"),
        (400, {"id": "job-1"}, "integration_error"),  # "body": the body must say
        (404, {"error": "gone"}, "not_found"),
        (422, PAGE, "delivery_failure"),
    ],
)
def test_a_listed_code_counts_where_the_body_names_no_state(status: int, body: Any, verdict: str) -> None:
    codes = '\n[http]\ncodes = { 202 = "waiting", 303 = "succeeded", 422 = "failed", 400 = "body", 404 = "body" }\n'
    assert seen(status, body, (JSON,), codes).verdict == verdict


# ---- step 4: whose job --------------------------------------------------------------------------------------------------
@pytest.mark.rule("C4")
@pytest.mark.parametrize(
    ("named", "known", "is_ours"),
    [
        ("job-1", "job-1", True),
        ("job-2", "job-1", False),
        (7, "7", True),
        (7.5, "7", False),
        (None, "job-1", True),
        ("JOB-1", "job-1", False),
    ],
)
def test_an_answer_about_another_job_is_a_contradiction(named: Any, known: str, is_ours: bool) -> None:
    found = observe(
        demo(), answer(200, {"id": named, "state": "succeeded", "progress": 50, "error": "theirs"}), Known(job_id=known)
    )
    assert (found.verdict == "succeeded") is is_ours
    if not is_ours:
        assert (found.verdict, found.state, found.progress, found.error) == ("contradiction", None, None, None)


# ---- step 5: the class --------------------------------------------------------------------------------------------------
@pytest.mark.rule("C1")
@pytest.mark.parametrize("state", ["Succeeded", "SUCCEEDED", " succeeded ", "succeeded\n", "\tsUcCeEdEd"])
def test_case_and_outer_blanks_do_not_count_and_the_spelling_is_kept(state: str) -> None:
    """Case ST-01."""
    found = seen(200, {"id": "job-1", "state": state})
    assert (found.verdict, found.state) == ("succeeded", state.strip())


@pytest.mark.rule("C1")
@pytest.mark.parametrize("state", ["FIN\u0130SHED", "fin\u0131shed", "\u212aeep"])
def test_only_ascii_letters_fold(state: str) -> None:
    """A Turkish i and a Kelvin sign are letters of their own, whatever the locale."""
    more = ('cancelled = ["cancelled"]', 'cancelled = ["finished", "keep"]')
    assert seen(200, {"state": state}, (JSON,), "", more).verdict == "unknown"
    assert seen(200, {"state": "FINISHED"}, (JSON,), "", more).verdict == "cancelled"


@pytest.mark.rule("C1", "B12")
@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        *(("aborted", "unknown"), ("succeeded2", "unknown"), ("success", "unknown"), (0, "unknown"), (True, "unknown")),
        *(([], "integration_error"), ({"a": 1}, "integration_error"), (None, "integration_error"), ("  ", "integration_error")),
    ],
)
def test_what_is_in_no_class_is_never_guessed(state: Any, verdict: str) -> None:
    found = seen(200, {"id": "job-1", "state": state})
    assert found.verdict == verdict


def test_integers_and_booleans_are_states_too() -> None:
    table = ('succeeded = ["succeeded"]', 'succeeded = [10, true, "3.0x"]')
    for state in (10, "10", 10.0, True, "TRUE"):
        assert seen(200, {"state": state}, (JSON,), "", table).verdict == "succeeded"


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ("done/ok", "succeeded"),
        ("done/late/x", "expired"),
        ("done/other", "failed"),
        ("run", "unknown"),
        ("running: 5 of 9", "waiting"),
    ],
)
def test_exact_comes_before_pattern_and_longer_before_shorter(state: str, verdict: str) -> None:
    table = (
        ('waiting = ["queued", "running"]', 'waiting = ["running*"]'),
        ('succeeded = ["succeeded"]', 'succeeded = ["done/ok"]'),
        ('failed = ["failed"]', 'failed = ["done/*"]'),
        ('expired = ["expired"]', 'expired = ["done/*/*"]'),
    )
    assert seen(200, {"state": state}, (JSON,), "", *table).verdict == verdict


@pytest.mark.rule("X25")
def test_an_open_vocabulary_logs_each_new_word() -> None:
    table = (
        "cancelled = [",
        'unlisted = "waiting"\nunlisted_source = "the manual, page 3"\nunknown = ["UNSPECIFIED"]\ncancelled = [',
    )
    found = seen(200, {"state": "Provisioning"}, (JSON,), "", table)
    assert found.verdict == "waiting"
    assert found.notes == ("drift: 'Provisioning' is not in the table and is taken for waiting",)
    assert seen(200, {"state": "unspecified"}, (JSON,), "", table).verdict == "unknown"


@pytest.mark.parametrize(
    ("beside", "is_end"),
    [
        ({}, False),
        ({"error": {"message": "interrupted"}}, True),
        ({"progress": 100}, True),
        ({"progress": 50}, False),
        ({"error": []}, False),
    ],
)
def test_evidence_of_an_end_beside_an_unknown_state_is_told(beside: dict[str, Any], is_end: bool) -> None:
    """Case ST-02."""
    assert seen(200, {"id": "job-1", "state": "aborted", **beside}).is_state_end is is_end


# ---- steps 6 and 7: rules -----------------------------------------------------------------------------------------------
RULES = """
[[rules]]
when = "body.errors[?code == 'THROTTLED']"
is = "rate_limited"
[[rules]]
when = "class == 'succeeded' && body.error"
is = "contradiction"
[[rules]]
when = "class == `null` && body.name"
is = "waiting"
[[rules]]
when = "body.broken"
is = "failed"
"""


@pytest.mark.rule("C2", "C4")
@pytest.mark.parametrize(
    ("body", "verdict", "detail"),
    [
        ({"state": "running", "errors": [{"code": "THROTTLED"}]}, "rate_limited", "rule: body.errors[?code == 'THROTTLED']"),
        ({"state": "succeeded", "error": "late"}, "contradiction", "rule: class == 'succeeded' && body.error"),
        ({"state": "succeeded", "error": ""}, "succeeded", ""),
        ({"name": "op"}, "waiting", "rule: class == `null` && body.name"),
        ({"state": "running", "broken": 0}, "integration_error", "the rule body.broken came out as a number; compare it"),
        ({"state": "running", "broken": True}, "failed", "rule: body.broken"),
        ({"other": 1}, "integration_error", "the answer has no state"),
    ],
)
def test_the_first_true_rule_replaces_the_class(body: dict[str, Any], verdict: str, detail: str) -> None:
    found = seen(200, body, (JSON,), RULES)
    assert (found.verdict, found.detail) == (verdict, detail)


# ---- delivery -----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("B10")
def test_delivery_and_job_state_are_two_facts() -> None:
    assert seen(200, RUNNING).delivery == Delivery.ANSWERED
    assert seen(404, {"error": "x"}).delivery == Delivery.ANSWERED
    assert seen(200, PAGE).delivery == Delivery.NONE
    assert seen(504, None).delivery == Delivery.AMBIGUOUS
    assert seen(200, RUNNING).call_error is None
    assert seen(200, PAGE).state_class is None
    assert seen(200, RUNNING).state_class is StateClass.WAITING


@pytest.mark.rule("B10")
@pytest.mark.parametrize(
    ("fault", "verdict", "delivery"),
    [
        (TransportFault("refused", "nobody listens", is_ambiguous=False), "delivery_failure", "none"),
        (TransportFault("timeout", "timed out", is_ambiguous=True), "delivery_failure", "ambiguous"),
        (PeerClosedIdle("reset", "closed", is_ambiguous=False), "delivery_failure", "none"),
        (HostRefused("elsewhere.example is not allowed"), "delivery_failure", "none"),
        (CertificateFault("expired"), "integration_error", "none"),
    ],
)
def test_no_answer_is_no_state(fault: Any, verdict: str, delivery: str) -> None:
    found = unseen(fault)
    assert (found.verdict, found.delivery, found.state) == (verdict, delivery, None)
    assert found.is_certificate_fault is isinstance(fault, CertificateFault)
    assert found.detail == str(fault)
    assert found.http_status is None


def test_an_item_of_a_list_is_judged_like_an_answer() -> None:
    item = Envelope(200, {}, {"id": "job-1", "state": "succeeded"})
    assert observe(demo(), item, OURS).verdict == "succeeded"


@pytest.mark.rule("B12", "B18")
@given(
    st.integers(200, 599),
    st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=5),
    st.binary(max_size=30),
)
def test_no_answer_at_all_raises(status: int, value: Any, content: bytes) -> None:
    body = dict.fromkeys(("id", "state", "progress", "error", "result"), value)
    contract = demo(
        '\n[result]\nsuccess_requires = ["body.result"]\ninline = "body.result"\nurl = "body.error"\n'
        'counts = { failed = "body.progress" }\n'
    )
    for sent in (json.dumps(body).encode(), content):
        found = observe(contract, answer(status, sent), OURS)
        assert found.verdict in {*StateClass, *CallError}
        assert found.progress is None or 0 <= found.progress <= 1
