"""Cases of the way between us and the provider: redirects, bodies, connections, certificates (area polling/http)."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from jobconsole.core.vocabulary import Delivery, Phase, Reason
from tests.adapters.raw_server import Connection, RawServer
from tests.cases.case_file import Case, each, variants
from tests.cases.demo_contract import BASE_URL, HOST, Tables
from tests.cases.loopback import served, wire
from tests.cases.runner import Call, ended, played

WITH_TOKEN: Tables = {"auth": {"secret": "env:DEMO_TOKEN"}}
BY_URL: Tables = {
    "submit": {"job_id": None, "status_url": "headers.location"},
    "status": {"request": "GET {status_url}"},
    "cancel": {"request": "POST {status_url}/cancel"},
}


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    """The credential that must not show."""
    monkeypatch.setenv("DEMO_TOKEN", "tok-4711-secret")
    return "tok-4711-secret"


# ---- where the job is ----------------------------------------------------------------------------------------------------
RESOLVED = {
    "/v1/ops/job-1": "/v1/ops/job-1",
    "../ops/job-1": "/v1/tenants/ops/job-1",
    "//jobs.example.test/v1/ops/job-1": "/v1/ops/job-1",
    "?op=job-1": "/v1/tenants/7/jobs?op=job-1",
    "https://jobs.example.test/v1/ops/job-1#frag": "/v1/ops/job-1",
}


@pytest.mark.rule("C6")
@each("HT-01")
async def test_a_location_is_resolved_against_the_request_that_returned_it(case: Case) -> None:
    path = case.input["submit_url"].removeprefix(BASE_URL)
    tables = {**BY_URL, "submit": {**BY_URL["submit"], "request": f"POST {path}"}}
    async with played(case, tables) as stage:
        op = await stage.op()
        assert op.status_url == BASE_URL + RESOLVED[case.value]
        assert [call.url for call in stage.calls] == [case.input["submit_url"], op.status_url]
        assert op.phase is Phase.SUCCEEDED


@pytest.mark.rule("B10", "C6")
@each("HT-02")
async def test_a_redirect_to_another_origin_is_not_followed(case: Case) -> None:
    async with played(case, WITH_TOKEN) as stage:
        op = await stage.op()
        assert {call.url for call in stage.calls} == {f"{BASE_URL}/v1/jobs", f"{BASE_URL}/v1/jobs/job-1"}
        assert (op.transport_failures_used, op.phase) == (1, Phase.SUCCEEDED)
        refused, _ = await stage.events("check_answered")
        assert "a place that the contract does not allow" in refused["detail"]


@pytest.mark.rule("B10")
@each("HT-02")
async def test_redirects_to_another_origin_escalate_when_they_repeat(case: Case) -> None:
    steps = case.steps[:2]  # the redirect for ever
    async with played(case, {**WITH_TOKEN, "budget": {"transport_failures": 3}}, steps=steps) as stage:
        assert ended(await stage.op()) == (Phase.ESCALATED, Reason.TRANSPORT_FAILURES_EXHAUSTED)
        assert stage.count("poll") == 3
        assert all(HOST in call.url for call in stage.calls)


@pytest.mark.rule("C6", "B3")
@pytest.mark.parametrize("header", ["Authorization", "X-Api-Key", "Cookie"])
async def test_where_the_contract_allows_another_origin_no_credential_goes_there(
    header: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HT-02's second half, on real connections: the hop is counted, and its request carries none of the three."""
    case = variants("HT-02")[0]
    auth: dict[str, str] = dict(case.input["auth"])
    submit, redirect, done = case.steps
    monkeypatch.setenv("DEMO_TOKEN", auth[header].removeprefix("Bearer "))
    value = "Bearer {secret}" if header == "Authorization" else "{secret}"

    async def elsewhere(connection: Connection) -> None:
        await connection.request()
        await connection.send(wire(done))

    async with RawServer(elsewhere) as other:
        tables: Tables = {
            "provider": {"allowed_hosts": [other.place]},
            "auth": {"secret": "env:DEMO_TOKEN", "scheme": "raw", "header": header, "value": value},
        }
        redirects = {**redirect, "headers": [["Location", f"{other.url}/v1/jobs/job-1"]]}
        async with served(case, tables, steps=[submit, redirects]) as stage:
            op = await stage.until_settled()
            assert all(call.headers[header.lower()] == auth[header] for call in stage.calls)
            assert (len(stage.calls), len(other.requests)) == (2, 1)
    assert not any(secret in other.requests[0] for secret in ("T0K3N", "K3Y", "s=1"))
    assert (op.phase, op.status_requests_used) == (Phase.SUCCEEDED, 2)


# ---- what the body says --------------------------------------------------------------------------------------------------
@pytest.mark.rule("B10")
@each("HT-05")
async def test_a_web_page_is_not_an_answer_and_keeps_the_last_good_state(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert ended(op) == (Phase.ESCALATED, Reason.TRANSPORT_FAILURES_EXHAUSTED)
        assert stage.count("poll") == 1 + case.settings["transport_failure_budget"]
        assert (op.last_known_state, op.progress_share) == ("running", 0.1)
        assert (op.transport_failures_in_a_row, op.max_transport_failures) == (3, 3)
        assert op.escalation is not None
        assert "web page" in op.escalation.detail
        assert not any("[red]" in line or "<title>" in line for line in await stage.lines())


@pytest.mark.rule("B10")
@each("HT-05")
async def test_a_good_answer_ends_the_row_of_failures(case: Case) -> None:
    submit, good, page = case.steps
    row = {**page, "repeat": 2}
    done = {**good, "body": {**good["body"], "state": "succeeded", "result": {"rows": 3}}}
    tables: Tables = {"budget": {"transport_failures": 9, "transport_failures_in_a_row": 3}}
    async with played(case, tables, steps=[submit, row, good, row, done]) as stage:
        op = await stage.op()
        assert op.phase is Phase.SUCCEEDED
        assert (op.transport_failures_used, op.transport_failures_in_a_row) == (4, 0)


@pytest.mark.rule("X1", "B10")
@each("HT-06")
async def test_an_empty_answer_is_progress_only_where_the_code_says_accepted(case: Case) -> None:
    async with served(case) as stage:
        op = await stage.until_settled()
        assert (op.phase, stage.count("poll")) == (Phase.SUCCEEDED, 2)
        assert op.transport_failures_used == (0 if case.values["$S"] == 202 else 1)


UTF8_MARK, UTF16, LATIN1, HALF_CHARACTER = (variant.value for variant in variants("HT-08"))


@pytest.mark.rule("X1", "B12")
@each("HT-08")
async def test_a_body_is_utf_8_and_never_guessed(case: Case) -> None:
    async with served(case) as stage:
        op = await stage.until_settled()
        if case.value in (UTF16, LATIN1):  # declared as JSON, complete, and none: the case counts it, X1 stops at once
            assert ended(op) == (Phase.ESCALATED, Reason.INTEGRATION_ERROR)
            assert (op.last_known_state, stage.count("poll")) == (None, 1)
        else:
            first, _ = await stage.events("check_answered")
            assert (first["job_state"], op.phase) == ("running", Phase.SUCCEEDED)
        for line in await stage.lines():
            assert "\\ud8" not in line.lower()


@pytest.mark.rule("X1", "B18")
@each("HT-09")
async def test_nan_and_infinity_become_unknown_and_are_kept_nowhere(case: Case) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is stored")

    async with played(case) as stage:
        assert (await stage.op()).phase is Phase.SUCCEEDED
        lines = await stage.lines()
        events = [json.loads(line, parse_constant=refuse) for line in lines]
        first = next(event["observation"] for event in events if event["kind"] == "check_answered")
        assert (first["state"], first.get("progress")) == ("running", None)
        assert any("NaN" in note for note in first["notes"])
        assert "Infinity" not in json.dumps([event.get("set") for event in events])


# ---- connections ---------------------------------------------------------------------------------------------------------
@pytest.mark.patient
@pytest.mark.rule("B10", "B2")
@each("HT-12")
async def test_one_request_has_a_limit_of_its_own_however_the_bytes_drip(case: Case) -> None:
    limit_s = case.settings["request_wall_s"]
    async with served(case, {"status": {"timeout": f"{limit_s}s"}}) as stage:
        async with asyncio.timeout(limit_s * 10):  # the whole drip would take longer
            op = await stage.until_settled()
        assert (op.phase, stage.count("poll"), op.transport_failures_used) == (Phase.SUCCEEDED, 2, 1)
        first, _ = await stage.events("check_answered")
        assert first["observation"]["delivery"] == Delivery.AMBIGUOUS
        async with asyncio.timeout(limit_s * 10):
            await stage.provider.was_cut.wait()


# The variant of HTTP/2 is left out: this transport speaks HTTP/1.1 only, so no GOAWAY can reach it.
NOT_SPOKEN = {"h2_goaway_last_stream_lower": "HTTP/2 is not spoken"}


@pytest.mark.rule("B10", "B3")
@each("HT-13", without=NOT_SPOKEN)
async def test_a_kept_alive_connection_that_died_is_repeated_once_and_counted(case: Case) -> None:
    async with served(case) as stage:
        op = await stage.until_settled()
        assert (op.phase, op.transport_failures_used) == (Phase.SUCCEEDED, 0)
        assert (stage.count("submit"), stage.count("poll")) == (1, 3)
        assert op.status_requests_used == 3
        assert len(await stage.events("check_reserved")) == 3


# ---- certificates --------------------------------------------------------------------------------------------------------
Trust = tuple[ssl.SSLContext, Callable[[str], None]]


@pytest.fixture
def trust(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Trust:
    """A server's context that verifies, and a function that replaces its certificate by one that does not."""
    authority, stranger = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    self_signed = tmp_path / "self.pem"
    stranger.private_key_pem.write_to_path(str(self_signed))
    stranger.cert_pem.write_to_path(str(self_signed), append=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def replace(fault: str) -> None:
        born, died = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 2, 1, tzinfo=UTC)
        match fault:
            case "tls_cert_expired":
                authority.issue_cert("127.0.0.1", not_before=born, not_after=died).configure_cert(context)
            case "tls_name_mismatch":
                authority.issue_cert(HOST).configure_cert(context)
            case "tls_self_signed":
                context.load_cert_chain(self_signed)

    return context, replace


@pytest.mark.rule("B10")
@each("HT-15", without={"connect_timeout": "no certificate is involved: the next test"})
async def test_a_certificate_that_does_not_verify_stops_at_once(case: Case, trust: Trust, token: str) -> None:
    context, break_trust = trust

    def after_submission(call: Call) -> None:
        if call.kind == "submit":
            break_trust(case.value)

    async with served(case, WITH_TOKEN, tls=context, on_request=after_submission) as stage:
        op = await stage.until_settled()
        assert ended(op) == (Phase.ESCALATED, Reason.INTEGRATION_ERROR)
        assert (op.status_requests_used, op.transport_failures_used, stage.count("poll")) == (1, 0, 0)
        assert op.escalation is not None
        assert stage.server.place in op.escalation.detail
        assert token not in "".join(await stage.lines())
        assert await stage.option_names() == {"pause", "cancel", "close"}  # none of them trusts what cannot be trusted


@pytest.mark.rule("B10")
@each("HT-15", without=dict.fromkeys(("tls_cert_expired", "tls_name_mismatch", "tls_self_signed"), "the test before"))
async def test_a_host_that_does_not_answer_is_tried_until_the_budget_is_spent(case: Case) -> None:
    async with played(case) as stage:
        op = await stage.op()
        assert ended(op) == (Phase.ESCALATED, Reason.TRANSPORT_FAILURES_EXHAUSTED)
        assert stage.count("poll") == case.settings["transport_failure_budget"]
        assert (op.last_known_state, op.delivery) == (None, Delivery.NONE)
