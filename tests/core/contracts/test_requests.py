"""Requests of a contract: which URL, headers and body leave, and which values never enter one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.contracts import hosts, templates
from jobconsole.core.contracts.endpoints import account_key, params_of
from jobconsole.core.contracts.file import load
from jobconsole.core.contracts.requests import (
    RequestValues,
    body_text,
    cancel_request,
    confirm_request,
    result_request,
    status_request,
    submit_fingerprint,
    submit_request,
    submit_url,
    track_fingerprint,
)
from jobconsole.errors import HostRefused, InvalidValue
from tests.core.answers import demo, text

FULL = load(text("all_keys.toml"), "acme-exports.toml")
JOB = RequestValues(job_id="exp_71c", result_url="https://files.cdn.acme.example/x", params={"region": "eu-1"})


def test_a_submission_is_the_contracts_body_with_the_callers_json_over_it() -> None:
    request = submit_request(FULL, RequestValues(), {"quarter": 3, "output_format": "file"}, "tok-1")
    assert (request.method, request.url) == ("POST", "https://eu-1.acme.example/api/v1/exports")
    assert json.loads(request.body or b"") == {"output_format": "file", "quarter": 3}
    headers = dict(request.headers)
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Api-Version"] == "2026-01-01"
    assert headers["X-Amz-Target"] == "Service.Start"
    assert "Authorization" not in headers


@pytest.mark.rule("B17", "C10")
@pytest.mark.parametrize("place", ["header Idempotency-Key", "body ClientRequestToken", "query requestId"])
def test_the_token_goes_where_the_contract_documents_it(place: str) -> None:
    contract = demo("", ('job_id = "body.id"\n[status]', f'job_id = "body.id"\nidempotency = "{place}"\n[status]'))
    request = submit_request(contract, RequestValues(), {"a": 1}, "tok 1")
    body = json.loads(request.body or b"")
    found = {
        "header": dict(request.headers).get("Idempotency-Key"),
        "body": body.get("ClientRequestToken"),
        "query": "tok 1" if request.url.endswith("?requestId=tok%201") else None,
    }
    assert {name for name, value in found.items() if value == "tok 1"} == {place.split()[0]}


def test_without_a_documented_place_no_token_is_sent() -> None:
    request = submit_request(demo(), RequestValues(), {"a": 1}, "tok-1")
    assert b"tok-1" not in (request.body or b"")
    assert "tok-1" not in str(request.headers) + request.url


def test_a_form_is_sent_as_a_form() -> None:
    contract = demo("", ('request = "POST /jobs"', 'request = "POST /jobs"\nencoding = "form"'))
    request = submit_request(contract, RequestValues(), {"a b": "c&d", "on": True, "none": None}, None)
    assert request.body == b"a+b=c%26d&on=true"
    assert dict(request.headers)["Content-Type"] == "application/x-www-form-urlencoded"
    with pytest.raises(InvalidValue, match="flat JSON object"):
        submit_request(contract, RequestValues(), {"a": {"b": 1}}, None)


@pytest.mark.rule("B19")
def test_a_status_request_asks_for_a_fresh_answer() -> None:
    request = status_request(FULL, JOB)
    assert (request.method, request.url) == ("GET", "https://eu-1.acme.example/api/v1/exports/exp_71c")
    assert dict(request.headers)["Cache-Control"] == "no-cache"
    assert dict(confirm_request(FULL, JOB).headers)["Cache-Control"] == "no-cache"
    assert request.auth_host == "eu-1.acme.example"
    assert request.allowed_hosts == ("*.cdn.acme.example",)


@pytest.mark.rule("C9", "C13")
def test_cancel_uses_the_credential_that_the_contract_names_for_it() -> None:
    assert cancel_request(FULL, JOB).auth.secret == "env:ACME_ADMIN_TOKEN"
    assert status_request(FULL, JOB).auth.secret == "env:ACME_TOKEN"
    switched = RequestValues(job_id="x", credential="env:ACME_TOKEN_2")
    assert status_request(FULL, switched).auth.secret == cancel_request(FULL, switched).auth.secret == "env:ACME_TOKEN_2"
    with pytest.raises(InvalidValue, match="documents no cancel"):
        cancel_request(demo(), JOB)


def test_the_job_s_region_signs_the_request() -> None:
    contract = demo(
        '\n[auth]\nsecret = "env:A"\nscheme = "aws-sigv4"\nservice = "s"\nregion = "{region}"\n'
        '[params.region]\npattern = "[a-z0-9-]+"\n'
    )
    assert status_request(contract, RequestValues(job_id="j", params={"region": "eu-west-1"})).auth.region == "eu-west-1"


@pytest.mark.rule("C6")
@pytest.mark.parametrize(
    ("status_url", "target", "asked"),
    [
        ("https://jobs.example.test/op/1", "{status_url}", "https://jobs.example.test/op/1"),
        ("https://jobs.example.test/op/1#frag", "{status_url}", "https://jobs.example.test/op/1"),
        ("https://jobs.example.test/q/1/", "{status_url}api/json", "https://jobs.example.test/q/1/api/json"),
        ("https://jobs.example.test/q/1/?x=1", "{status_url}api/json?y=2", "https://jobs.example.test/q/1/api/json?x=1&y=2"),
        ("https://JOBS.example.test:443/op/1", "{status_url}", "https://JOBS.example.test:443/op/1"),
        ("https://a.b.cdn.example.test/op/1", "{status_url}", "https://a.b.cdn.example.test/op/1"),
    ],
)
def test_a_status_url_is_asked_as_it_came(status_url: str, target: str, asked: str) -> None:
    contract = demo(
        "",
        (
            'base_url = "https://jobs.example.test/v1"',
            'base_url = "https://jobs.example.test/v1"\nallowed_hosts = ["*.cdn.example.test"]',
        ),
        ('job_id = "body.id"\n[status]', 'job_id = "body.id"\nstatus_url = "headers.location"\n[status]'),
        ("GET /jobs/{job_id}", f"GET {target}"),
    )
    assert status_request(contract, RequestValues(status_url=status_url)).url == asked


@pytest.mark.rule("C6")
@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example.test/v1/jobs/job-1",
        "https://jobs.example.test:8443/v1/jobs/job-1",
        "https://jobs.example.test.evil.example.test/x",
        "https://evil-jobs.example.test/x",
        "https://example.test/x",
        "https://cdn.example.test/x",  # *.cdn.example.test is every depth below it, not it
        "https://evilcdn.example.test/x",
        "http://jobs.example.test/x",
        "ftp://jobs.example.test/x",
        "https://user:pw@jobs.example.test/x",
        "https://jobs.example.test@evil.example.test/x",
        "https://jobs.example.test\\@evil.example.test/x",
        "https://evil.example.test\\.jobs.example.test/x",
        "https://j\u043ebs.example.test/x",  # a Cyrillic letter
        "https://jobs.example.test:0/x",
        "https://jobs.example.test:99999/x",
        "https://[::1/x",
        "//jobs.example.test/x",
        "/v1/jobs/1",
        "javascript:alert(1)",
        "https://jobs.example.test/ x",
        "https://jobs.example.test/\r\nX-Evil: 1",
        "",
        "https://jobs.example.test/" + "a" * 9_000,
    ],
)
def test_a_url_elsewhere_is_refused_before_anything_is_sent(url: str) -> None:
    contract = demo(
        "",
        (
            'base_url = "https://jobs.example.test/v1"',
            'base_url = "https://jobs.example.test/v1"\nallowed_hosts = ["*.cdn.example.test"]',
        ),
        ('job_id = "body.id"\n[status]', 'job_id = "body.id"\nstatus_url = "headers.location"\n[status]'),
        ("GET /jobs/{job_id}", "GET {status_url}"),
    )
    with pytest.raises(HostRefused, match="nothing was sent"):
        status_request(contract, RequestValues(status_url=url))


def test_http_is_for_loopback_only() -> None:
    contract = demo(
        "",
        ("https://jobs.example.test/v1", "http://127.0.0.1:{port}"),
        ("[submit]", "[params.port]\npattern = '[0-9]+'\n[submit]"),
    )
    assert status_request(contract, RequestValues(job_id="1", params={"port": "8123"})).url == "http://127.0.0.1:8123/jobs/1"
    assert account_key(contract, {"port": "8123"}) == "default@127.0.0.1:8123"


@pytest.mark.rule("C6")
@pytest.mark.parametrize(
    ("location", "resolved"),
    [
        ("/v1/ops/job-1", "https://jobs.example.test/v1/ops/job-1"),
        ("../ops/job-1", "https://jobs.example.test/v1/tenants/ops/job-1"),
        ("//jobs.example.test/v1/ops/job-1", "https://jobs.example.test/v1/ops/job-1"),
        ("?op=job-1", "https://jobs.example.test/v1/tenants/7/jobs?op=job-1"),
        ("https://jobs.example.test/v1/ops/job-1#frag", "https://jobs.example.test/v1/ops/job-1"),
    ],
)
def test_a_relative_url_is_resolved_against_the_request_that_brought_it(location: str, resolved: str) -> None:
    """Case HT-01."""
    assert hosts.resolve(location, "https://jobs.example.test/v1/tenants/7/jobs") == resolved


# ---- values in templates ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("job_id", "segment"),
    [
        ("job-1/cancel", "job-1%2Fcancel"),
        ("%2e%2e", "%252e%252e"),
        ("a%2fb", "a%252fb"),
        ("job 1", "job%201"),
        ("\u202ejob-1", "%E2%80%AEjob-1"),
        ("gid://shop/1", "gid%3A%2F%2Fshop%2F1"),
        ("a..b", "a..b"),
    ],
)
def test_an_id_stays_one_segment_of_the_path(job_id: str, segment: str) -> None:
    """Case SE-01."""
    assert status_request(demo(), RequestValues(job_id=job_id)).url == f"https://jobs.example.test/v1/jobs/{segment}"


@pytest.mark.parametrize("template", ["/jobs/{x}", "/jobs/{+x}"])
@pytest.mark.parametrize(
    "value",
    [
        "../../../v1/me",
        "job-1#x",
        "job-1?force=1",
        "..",
        ".",
        "",
        "job-1\nX-Evil: 1",
        "job\x00",
        "a\\b",
        "a/../b",
        "\x85",
        "\ud800",
    ],
)
def test_what_encoding_cannot_save_is_refused(template: str, value: str) -> None:
    """Case SE-01."""
    with pytest.raises(InvalidValue, match="nothing was sent"):
        templates.fill_url(template, {"x": value})


def test_a_plus_keeps_the_slashes() -> None:
    assert templates.fill_url("/v1/{+x}:cancel", {"x": "projects/p/jobs/1"}) == "/v1/projects/p/jobs/1:cancel"


@given(st.text(max_size=40))
def test_no_value_leaves_its_place_in_a_url(value: str) -> None:
    try:
        filled = templates.fill_url("/jobs/{x}/status", {"x": value})
    except InvalidValue:
        return
    segments = filled.split("/")
    assert len(segments) == 4
    assert segments[2] not in ("", ".", "..")
    assert filled.isascii()
    assert not set(filled) & set("?#\\ \r\n")


@pytest.mark.parametrize("missing", ["job_id", "region"])
def test_a_placeholder_without_a_value_stops_before_the_request(missing: str) -> None:
    contract = demo("\n[params.region]\npattern = '.+'\n", ("GET /jobs/{job_id}", "GET /{region}/jobs/{job_id}"))
    params = {} if missing == "region" else {"region": "eu"}
    values = RequestValues(job_id=None if missing == "job_id" else "j", params=params)
    with pytest.raises(InvalidValue, match=f"{missing} has no value yet"):
        status_request(contract, values)


def test_placeholders_in_a_body_are_filled_inside_its_texts() -> None:
    contract = demo(
        '\n[cancel]\nrequest = "POST /graphql"\neffect = "stops"\n'
        '[cancel.body]\nquery = "{ stop(id: $id) { ok } }"\nvariables = { ids = ["{job_id}"] }\n'
    )
    body = json.loads(cancel_request(contract, RequestValues(job_id='a"b\\c')).body or b"")
    assert body == {"query": "{ stop(id: $id) { ok } }", "variables": {"ids": ['a"b\\c']}}


def test_what_a_caller_writes_is_never_a_template() -> None:
    request = submit_request(FULL, RequestValues(), {"text": "{region} {job_id}"}, None)
    assert json.loads(request.body or b"")["text"] == "{region} {job_id}"


@pytest.mark.parametrize(
    ("given_params", "why"),
    [({"regoin": "eu-1"}, "known: region"), ({"region": "EU"}, "does not match"), ({"region": "x" * 2_000}, "does not match")],
)
def test_params_are_checked_against_the_contract(given_params: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidValue, match=why):
        params_of(FULL, given_params)


def test_without_a_result_request_the_result_s_url_is_fetched() -> None:
    contract = demo('\n[result]\nurl = "body.url"\n')
    assert (
        result_request(contract, RequestValues(result_url="https://jobs.example.test/r/1")).url
        == "https://jobs.example.test/r/1"
    )
    with pytest.raises(HostRefused):
        result_request(contract, RequestValues(result_url="https://elsewhere.example/r/1"))


# ---- fingerprints -------------------------------------------------------------------------------------------------------
@pytest.mark.rule("X9")
def test_equal_submissions_have_equal_fingerprints() -> None:
    def of(body: Any, **params: str) -> str:
        return submit_fingerprint(FULL, RequestValues(params=params), body)

    assert of({"a": 1, "b": 2}) == of({"b": 2, "a": 1})
    assert of({"a": 1}) == of({"a": 1}, region="eu-1")  # the default, spelled out
    assert len({of({"a": 1}), of({"a": 2}), of({"a": "1"}), of({"a": 1}, region="us-2"), of(None)}) == 5
    assert len(of(None)) == 64


@pytest.mark.rule("X9", "C11")
def test_a_tracked_job_is_known_by_provider_account_and_id() -> None:
    other = load(text("all_keys.toml").replace('"acme-prod"', '"acme-test"'), "other.toml")
    assert track_fingerprint(FULL, job_id="1") == track_fingerprint(FULL, job_id="1")
    assert (
        len(
            {track_fingerprint(FULL, job_id="1"), track_fingerprint(other, job_id="1"), track_fingerprint(FULL, status_url="1")}
        )
        == 3
    )


def test_the_account_s_budget_is_shared_by_account_and_host() -> None:
    assert account_key(FULL) == "acme-prod@eu-1.acme.example"
    assert submit_url(FULL, RequestValues()) == "https://eu-1.acme.example/api/v1/exports"


@pytest.mark.parametrize("body", [{"x": "a" * 140_000}, {"x": float("nan")}, {"x": {1, 2}}, {"x": "\ud800"}])
def test_a_body_that_cannot_be_kept_is_refused(body: Any) -> None:
    with pytest.raises(InvalidValue, match="the body"):
        body_text(body)


def test_a_body_is_kept_as_canonical_json() -> None:
    assert body_text({"b": 1, "a": "ü"}) == '{"a":"ü","b":1}'
    assert body_text(None) is None
