"""Contract files: what is read, and that everything wrong is refused with file, key and mend."""

from __future__ import annotations

import hashlib
import re
import tomllib
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.contracts.file import load
from jobconsole.core.contracts.keys import KEYS
from jobconsole.core.contracts.toml_text import dump
from jobconsole.core.vocabulary import StateClass
from jobconsole.errors import ContractInvalid
from tests.core.answers import text

SHORTEST, ALL_KEYS = text("shortest.toml"), text("all_keys.toml")


def refused(contract: str, bases: dict[str, str] | None = None) -> ContractInvalid:
    """The error that a contract is refused with."""
    with pytest.raises(ContractInvalid) as caught:
        load(contract, "acme.toml", bases)
    return caught.value


def edited(base: str, old: str, new: str) -> str:
    """`base` with one edit, which must hit."""
    assert base.count(old) >= 1, old
    return base.replace(old, new, 1)


@pytest.mark.rule("C1", "C2", "X14", "X15")
def test_the_shortest_contract_has_every_default() -> None:
    contract = load(SHORTEST, "acme-images.toml")
    assert (contract.name, contract.account, contract.base_url) == ("acme-images", "default", "https://api.acme.example")
    assert contract.states.exact["completed"] is StateClass.SUCCEEDED
    assert contract.status.read_only
    assert contract.status.timeout == timedelta(seconds=10)
    assert contract.status.max_bytes == 1_000_000
    assert (contract.schedule.base, contract.schedule.factor, contract.schedule.max) == (
        timedelta(seconds=5),
        2.0,
        timedelta(minutes=2),
    )
    assert contract.schedule.jitter == (0.5, 1.0)
    assert contract.result.lag == timedelta(seconds=60)
    assert contract.http.not_found.grace == timedelta(0)
    assert contract.http.not_found.in_a_row == 3
    assert contract.http.not_found.expired_after is None
    assert contract.budget.transport_failures_in_a_row == contract.budget.transport_failures == 5
    assert contract.budget.rate_limits == 3
    extension = contract.budget.extension
    assert (extension.minutes, extension.checks, extension.failures, extension.rate_limits, extension.times) == (15, 4, 1, 1, 1)
    assert contract.submit is not None
    assert contract.submit.request.accepts(299)
    assert not contract.submit.request.accepts(303)


@pytest.mark.rule("C1", "C5", "C7", "C9", "C12")
def test_every_documented_key_is_read() -> None:
    contract = load(ALL_KEYS, "acme-exports.toml")
    assert contract.limits.per_minute == 60
    assert contract.auth.actions == {"cancel": "env:ACME_ADMIN_TOKEN"}
    assert contract.params["region"].default == "eu-1"
    assert contract.submit is not None
    assert contract.submit.idempotency is not None
    assert (contract.submit.idempotency.place, contract.submit.idempotency.name) == ("header", "Idempotency-Key")
    assert contract.http.codes == {202: "waiting", 303: "succeeded", 422: "failed", 400: "body"}
    assert contract.http.not_found.expired_after == timedelta(hours=24)
    assert [rule.verdict for rule in contract.rules] == ["contradiction", "rate_limited"]
    assert contract.confirm is not None
    assert contract.confirm.codes[504] == "body"
    assert contract.hints.max_interval == timedelta(seconds=20)
    assert contract.result.counts is not None
    assert contract.cancel is not None
    assert contract.cancel.request.accepted == frozenset({200, 202, 204})
    assert contract.list is not None
    assert contract.schedule.stalled_after == timedelta(minutes=30)
    assert contract.webhook is not None
    assert contract.stream is not None


@pytest.mark.rule("X13")
def test_the_digest_is_that_of_the_files_bytes() -> None:
    assert load(SHORTEST, "a.toml").digest == hashlib.sha256(SHORTEST.encode()).hexdigest()
    assert load(SHORTEST, "a.toml").text == SHORTEST


TYPOS = [
    # the edit, the key that is named, what the mend says
    ("[limits]", "[limit]", "limit", "did you mean limits?"),
    ("base_url =", "base-url =", "provider.base-url", "did you mean base_url?"),
    ("read_only = true", "readonly = true", "status.readonly", "did you mean read_only?"),
    ("status_requests = 12", "status_request = 12", "budget.status_request", "did you mean status_requests?"),
    ("deadline = ", "Deadline = ", "budget.Deadline", "did you mean deadline?"),
    ('waiting = ["queued", "running"]', 'wating = ["queued"]', "states.wating", "did you mean waiting?"),
    ("succeeded = [", "success = [", "states.success", "did you mean succeeded?"),
    ("success_requires", "sucess_requires", "result.sucess_requires", "did you mean success_requires?"),
    ("idempotency =", "idempotent =", "submit.idempotent", "did you mean idempotency?"),
    ("poll_after_seconds =", "poll_after_secs =", "hints.poll_after_secs", "did you mean poll_after_seconds?"),
    ("factor = 2.0", "lag = '60s'", "schedule.lag", "lag belongs in [result]"),
    ("max_interval =", "stalled_after =", "hints.stalled_after", "stalled_after belongs in [schedule]"),
    ("times = 1 }", "time = 1 }", "budget.extension.time", "did you mean times?"),
    ("grace =", "graze =", "http.not_found.graze", "did you mean grace?"),
    ('is = "contradiction"', 'otherwise = "contradiction"', "rules[0].otherwise", "known here: is, when"),
    ("times = 1 }", "zzz = 1 }", "budget.extension.zzz", "known here: checks, failures, minutes, rate_limits, times"),
]


@pytest.mark.parametrize(("old", "new", "key", "mend"), TYPOS)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(old: str, new: str, key: str, mend: str) -> None:
    error = refused(edited(ALL_KEYS, old, new))
    assert (error.source, error.key) == ("acme.toml", key)
    assert error.problem == "unknown key"
    assert mend in error.mend
    assert str(error) == f"acme.toml: {key}: unknown key; {error.mend}"


VALUES = [
    ("contract = 1 ", "contract = 2 ", "contract", "this version reads contract = 1"),
    ('name = "acme-exports"', 'name = "Acme Exports"', "provider.name", "lower-case letters, digits and dashes"),
    ('title = "ACME report exports"', 'title = ""', "provider.title", "write a text, or leave the key out"),
    ('base_url = "https://{region}', 'base_url = "http://{region}', "provider.base_url", "http is for loopback only"),
    ('"https://{region}.acme.example/api"', '"https://u:pw@acme.example/api"', "provider.base_url", "write a reference"),
    ('"https://{region}.acme.example/api"', '"https://user@acme.example"', "provider.base_url", "leave the user out"),
    (
        '"https://{region}.acme.example/api"',
        '"https://acme.example/api?x=1"',
        "provider.base_url",
        "without query and fragment",
    ),
    ('"https://{region}.acme.example/api"', '"https://{regoin}.acme.example"', "provider.base_url", "known here: region"),
    ('["*.cdn.acme.example"]', '["https://cdn.acme.example"]', "provider.allowed_hosts", "cdn.example.com"),
    ('docs = "https://', 'docs = "see //', "provider.docs", "write it with https://"),
    ('secret = "env:ACME_TOKEN"', 'secret = "$ACME_TOKEN"', "auth.secret", "env:NAME, keyring:service/user or file:PATH"),
    ('scheme = "bearer"', 'scheme = "token"', "auth.scheme", "bearer, basic, raw, aws-sigv4"),
    ('scheme = "bearer"', 'scheme = "aws-sigv4"', "auth.service", "write service = ..."),
    ('header = "Authorization"', 'header = "X-Api-Key"', "auth.scheme", 'write scheme = "raw"'),
    ('value = "Bearer {secret}"', 'value = "Bearer"', "auth.value", "write {secret} in it"),
    ("rotates = false", 'rotates = "no"', "auth.rotates", "true or false, without quotes"),
    ('approval = "session"', 'approval = "never"', "auth.approval", "session, each_call"),
    ("pattern = '^[a-z]+-[0-9]$'", "pattern = '^[a-z+'", "params.region.pattern", "mend it"),
    ('default = "eu-1"', 'default = "Europe"', "params.region.default", "a value that matches"),
    ("[params.region]", "[params.job_id]", "params.job_id", "none of the built-in names"),
    ('request = "POST /v1/exports"', 'request = "/v1/exports"', "submit.request", "METHOD and path"),
    ('request = "POST /v1/exports"', 'request = "POST v1/exports"', "submit.request", "begin it with /"),
    ('request = "POST /v1/exports"', 'request = "POST /v1/{job_id}"', "submit.request", "known here: region"),
    ('request = "POST /v1/exports"', 'request = "POST /v1/../admin"', "submit.request", "as the provider documents it"),
    ('request = "POST /v1/exports"', 'request = "POST /v1/{region"', "submit.request", "{name} or {+name}"),
    ("accepted = [200, 201, 202]", "accepted = [20]", "submit.accepted", "accepted = [200, 202]"),
    ('encoding = "json"', 'encoding = "xml"', "submit.encoding", "json, form"),
    (
        'idempotency = "header Idempotency-Key"',
        'idempotency = "Idempotency-Key"',
        "submit.idempotency",
        "the place and the name",
    ),
    ("read_only = true", "read_only = 1", "status.read_only", "true or false"),
    ('state = "body.status"', 'state = "status"', "status.state", "body.status"),
    ('state = "body.status"', "state = 3", "status.state", "a text in quotes"),
    ('"body.error.message"', "\"body.error == 'x' && true\"", "status.error", "`true`"),
    ("progress_max = 100", "progress_max = 0", "status.progress_max", "write a number from"),
    ("progress_max = 100", "progress_max = nan", "status.progress_max", "write a number from"),
    ('timeout = "10s"', "timeout = 10", "status.timeout", "a duration in quotes"),
    ('timeout = "10s"', 'timeout = "ten"', "status.timeout", "such as 45s or 1h30m"),
    ('failed = ["failed"]', 'failed = ["Failed", " FAILED "]', "states.failed[1]", "also among failed"),
    ('failed = ["failed"]', 'failed = ["Running"]', "states.failed[0]", "also among waiting"),
    ('waiting = ["queued", "running"]', 'waiting = ["queued", "*"]', "states.waiting[1]", "unlisted with unlisted_source"),
    ('failed = ["failed"]', 'failed = ["f", 1.5]', "states.failed[1]", "a text, a whole number, true or false"),
    ('failed = ["failed"]', 'failed = "failed"', "states.failed", 'failed = ["..."]'),
    ('unknown = ["UNSPECIFIED"]', 'unlisted = "waiting"', "states.unlisted", "unlisted_source"),
    ('unknown = ["UNSPECIFIED"]', 'unlisted = "succeeded"', "states.unlisted", "unknown, waiting"),
    ('is = "contradiction"', 'is = "success"', "rules[0].is", "write one of waiting, succeeded"),
    ("when = \"class == 'succeeded' && body.error\"", 'when = "length(body.errors)"', "rules[0].when", "> `0`"),
    ("codes = { 202 =", "codes = { 2020 =", "http.codes.2020", "from 200 to 599"),
    ('303 = "succeeded"', '303 = "done"', "http.codes.303", "write one of"),
    ("in_a_row = 3", "in_a_row = 0", "http.not_found.in_a_row", "from 1 to"),
    ('max_interval = "20s"', 'max_interval = "500ms"', "hints.max_interval", "write a longer one"),
    ('effect = "Stops', '# effect = "Stops', "cancel.effect", "write effect = ..."),
    ('max = "120s"', 'max = "1s"', "schedule.max", "a longer max or a shorter base"),
    ("jitter = [0.5, 1.0]", "jitter = [1.0, 0.5]", "schedule.jitter", "[0.5, 1.0]"),
    ("factor = 2.0", "factor = 0.5", "schedule.factor", "from 1 to 100"),
    ("factor = 2.0", "factor = inf", "schedule.factor", "from 1 to 100"),
    ('deadline = "40m"', "", "budget.deadline", "write deadline = ..."),
    ("status_requests = 12", "", "budget.status_requests", "write status_requests = ..."),
    ("transport_failures = 3 ", "# ", "budget.transport_failures", "write transport_failures = ..."),
    ("read_only = true", "", "status.read_only", "write read_only = ..."),
    ('deadline = "40m"', 'deadline = "11s"', "budget.deadline", "more than 11s"),
    ("status_requests = 12", "status_requests = -1", "budget.status_requests", "from 1 to"),
    ('secret = "env:ACME_WEBHOOK_SECRET"', 'secret = ["env:A", "env:B", "env:C"]', "webhook.secret", "two while rotating"),
]


@pytest.mark.rule("C1", "C13", "X14", "X15", "X25", "B18")
@pytest.mark.parametrize(("old", "new", "key", "mend"), VALUES)
def test_a_wrong_value_is_refused_with_its_mend(old: str, new: str, key: str, mend: str) -> None:
    error = refused(edited(ALL_KEYS, old, new))
    assert (error.source, error.key) == ("acme.toml", key)
    assert mend in error.mend


@pytest.mark.parametrize(
    ("edits", "key", "mend"),
    [
        ([('waiting = ["queued", "running"]', "")], "states.waiting", "waiting = ["),
        ([('succeeded = ["completed"]', ""), ('failed = ["failed"]', "")], "states", "how a job ends"),
        ([('job_id = "body.id"\n[status]', "[status]")], "submit.job_id", "where the job is named"),
        ([("/{job_id}", "/{job_id}/{result_id}")], "status.request", "in [result]"),
        ([("GET /v1/images/{job_id}", "GET {status_url}")], "status.request", "in [submit]"),
        ([('state = "body.state"', "")], "status.state", "nothing names the state"),
    ],
)
def test_tables_that_cannot_work_together_are_refused(edits: list[tuple[str, str]], key: str, mend: str) -> None:
    contract = SHORTEST
    for old, new in edits:
        contract = edited(contract, old, new)
    error = refused(contract)
    assert error.key == key
    assert mend in error.mend or mend in error.problem


@pytest.mark.rule("C13")
@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('secret = "env:ACME_TOKEN"', 'secret = "sk-live-0123456789abcdefghij"', "auth.secret"),
        ('X-Api-Version = "2026-01-01"', 'X-Api-Key = "hunter2"', "provider.headers.X-Api-Key"),
        ('X-Api-Version = "2026-01-01"', 'Authorization = "whatever"', "provider.headers.Authorization"),
        ('output_format = "polling"', 'client_secret = "abc"', "submit.body.client_secret"),
        ('output_format = "polling"', 'x = "Bearer abcdefghijklmnop"', "submit.body.x"),
        ('output_format = "polling"', 'x = "-----BEGIN RSA PRIVATE KEY-----"', "submit.body.x"),
        ('output_format = "polling"', 'x = "AKIAABCDEFGHIJKLMNOP"', "submit.body.x"),
        ('output_format = "polling"', 'x = "aB3dE6fG9hJ2kL5mN8pQ1rS4tU7vW0xY"', "submit.body.x"),
        ("/v1/exports?limit=100", "/v1/exports?api_key=0123456789", "list.request"),
        ('verified = "2026', 'verified = "ghp_0123456789abcdefghijABCDEFGHIJ456789 2026', "provider.verified"),
    ],
)
def test_a_value_that_looks_like_a_secret_is_refused_and_never_repeated(old: str, new: str, key: str) -> None:
    error = refused(edited(ALL_KEYS, old, new))
    assert error.key == key
    assert "env:NAME, keyring:service/user or file:PATH" in error.mend
    pasted = re.split('["=]', new)[-1] or re.split('["=]', new)[-2]
    assert pasted not in str(error)


@pytest.mark.parametrize("bad", ["", "contract = ", "[provider", "a = 1\na = 2", "\x00"])
def test_what_is_no_toml_names_the_file(bad: str) -> None:
    error = refused(bad)
    assert str(error).startswith("acme.toml: ")


def test_a_byte_order_mark_is_no_error() -> None:
    assert load("\ufeff" + SHORTEST, "a.toml").name == "acme-images"


@given(st.text(max_size=80))
def test_no_text_at_all_raises_anything_else(contract: str) -> None:
    with pytest.raises(ContractInvalid):
        load(contract, "any.toml")


@given(
    st.sampled_from([(table, key) for table in ("submit", "status", "result", "budget") for key in sorted(KEYS[table])]),
    st.one_of(st.text(max_size=10), st.integers(), st.just([[]]), st.booleans()),
)
def test_no_value_of_a_known_key_raises_anything_else(place: tuple[str, str], value: object) -> None:
    table, key = place
    document = tomllib.loads(SHORTEST)
    document[table][key] = value
    refusal = None
    try:
        load(dump(document), "any.toml")
    except ContractInvalid as error:
        refusal = error
    assert refusal is None or (refusal.source == "any.toml" and refusal.mend)


# ---- extends ------------------------------------------------------------------------------------------------------------
OWN = """
extends = "acme-images"
[provider]
name = "my-images"
account = "mine"
[budget]
deadline = "2h"
status_requests = 9
transport_failures = 2
"""


@pytest.mark.rule("X13")
def test_a_contract_may_extend_another_and_its_copy_stands_alone() -> None:
    own = load(OWN, "own.toml", {"acme-images": SHORTEST})
    assert (own.name, own.account, own.base_url) == ("my-images", "mine", "https://api.acme.example")
    assert own.budget.deadline == timedelta(hours=2)
    assert own.states.exact["completed"] is StateClass.SUCCEEDED
    kept = load(own.text, "kept copy")
    assert kept.digest == own.digest == hashlib.sha256(own.text.encode()).hexdigest()
    assert kept.budget == own.budget


def test_a_changed_base_changes_the_digest() -> None:
    changed = edited(SHORTEST, '["queued", "running"]', '["queued"]')
    assert load(OWN, "own.toml", {"acme-images": SHORTEST}).digest != load(OWN, "own.toml", {"acme-images": changed}).digest


def test_the_merged_text_holds_the_same_values_as_the_file() -> None:
    own = load('extends = "acme-exports"\n', "own.toml", {"acme-exports": ALL_KEYS})
    assert tomllib.loads(own.text) == tomllib.loads(ALL_KEYS)


@pytest.mark.parametrize(
    ("bases", "mend"),
    [
        ({}, "known: none"),
        ({"other": SHORTEST}, "known: other"),
        ({"acme-images": 'extends = "acme-images"'}, "let the base stand alone"),
    ],
)
def test_a_base_that_is_missing_or_goes_round_is_refused(bases: dict[str, str], mend: str) -> None:
    error = refused(OWN, bases)
    assert error.key == "extends"
    assert mend in error.mend
