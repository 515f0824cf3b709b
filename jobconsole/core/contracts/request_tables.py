"""The tables of a contract that hold a request: submit, status, confirm, result, cancel, list, stream, and the webhook.

Only this file decides which names each kind of request can have values for. `contract_file.py` calls these readers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from datetime import timedelta
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

from jobconsole.core.contracts import secret_values, templates
from jobconsole.core.contracts.contract import (
    Cancel,
    Confirm,
    CountPaths,
    Idempotency,
    ListSpec,
    RequestTemplate,
    ResultSpec,
    Status,
    Submit,
)
from jobconsole.core.contracts.table import Table
from jobconsole.core.contracts.urls import check_known, check_names, check_target, is_json

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_JOB_NAMES = frozenset({"job_id", "status_url"})
_RESULT_NAMES = _JOB_NAMES | {"result_url", "result_id"}


def read_request(table: Table, names: Set[str]) -> RequestTemplate:
    """`request`, headers, body, encoding and accepted of one table. `names`: what its placeholders may be."""
    line = table.text("request")
    method, _, target = line.partition(" ")
    if method not in _METHODS or not target or " " in target.strip():
        table.refuse("request", f"{line[:80]!r} is no request", "write METHOD and path, such as GET /v1/jobs/{job_id}")
    encoding = cast(Literal["json", "form"], table.choice("encoding", ("json", "form"), "json"))
    return RequestTemplate(
        method=method,
        target=check_target(table, target.strip(), names),
        headers=read_headers(table, names),
        body=_body(table, encoding, names),
        encoding=encoding,
        accepted=_accepted(table),
    )


def read_headers(table: Table, names: Set[str]) -> Mapping[str, str]:
    """The `headers` of a table: ASCII names and values, with placeholders out of `names`."""
    headers = table.text_map("headers")
    for name, value in headers.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or re.search(r"[\x00-\x1f\x7f]|[^\x00-\x7f]", value):
            table.refuse(f"headers.{name}", "is no header", "write an ASCII name and value on one line")
        check_names(table, f"headers.{name}", value, names)
    return headers


def _body(table: Table, encoding: str, names: Set[str]) -> Mapping[str, Any] | None:
    body = table.table("body", keys="*")
    if body is None:
        return None
    if not is_json(body.values):
        table.refuse("body", "holds a date or a number that JSON has not", "write dates as texts in quotes")
    if encoding == "form" and any(isinstance(value, dict | list) for value in body.values.values()):
        table.refuse("body", "is nested, and a form is not", 'write flat keys, or encoding = "json"')
    check_known(table, "body", templates.names_within(dict(body.values)), names)
    return body.values


def _accepted(table: Table) -> frozenset[int] | None:
    if "accepted" not in table:
        return None
    codes = table.values["accepted"]
    is_list = isinstance(codes, list) and bool(codes)
    if not is_list or not all(isinstance(code, int) and not isinstance(code, bool) and 200 <= code <= 599 for code in codes):
        table.refuse("accepted", "is no list of status codes", "write such as accepted = [200, 202]")
    return frozenset(codes)


def read_submit(top: Table, params: Set[str]) -> Submit | None:
    """[submit]: how a job is started. Left out where jobs are only tracked."""
    table = top.table("submit")
    if table is None:
        return None
    submit = Submit(
        request=read_request(table, params),
        job_id=table.expression("job_id"),
        status_url=table.expression("status_url"),
        result_url=table.expression("result_url"),
        already=table.flag("already", False),
        estimated_seconds=table.expression("estimated_seconds"),
        idempotency=_idempotency(table),
    )
    if submit.job_id is None and submit.status_url is None:
        table.refuse("job_id", "neither job_id nor status_url is declared", 'say where the job is named: job_id = "body.id"')
    return submit


def _idempotency(table: Table) -> Idempotency | None:
    text = table.maybe_text("idempotency")
    if text is None:
        return None
    match = re.fullmatch(r"(header|body|query) ([A-Za-z0-9_.-]+)", text)
    if match is None:
        table.refuse("idempotency", f"is {text[:40]!r}", 'write the place and the name, such as "header Idempotency-Key"')
    return Idempotency(cast(Literal["header", "body", "query"], match[1]), match[2])


def read_status(table: Table, params: Set[str]) -> Status:
    """[status]: how the state is asked for and where it stands. `read_only` has no default (X15)."""
    return Status(
        request=read_request(table, params | _RESULT_NAMES),
        read_only=table.flag("read_only"),
        state=table.expression("state"),
        job_id=table.expression("job_id"),
        next_url=table.expression("next_url"),
        progress=table.expression("progress"),
        progress_max=table.number("progress_max", 100.0, least=1e-6),
        updated_at=table.expression("updated_at"),
        started_at=table.expression("started_at"),
        ended_at=table.expression("ended_at"),
        expires_at=table.expression("expires_at"),
        error=table.expression("error"),
        message=table.expression("message"),
        request_id=table.expression("request_id"),
        timeout=table.duration("timeout", timedelta(seconds=10)),
        max_bytes=table.integer("max_bytes", 1_000_000, least=100, most=100_000_000),
        timezone=_timezone(table),
    )


def _timezone(table: Table) -> str:
    name = table.text("timezone", "UTC")
    try:
        ZoneInfo(name)
    except (ValueError, LookupError, OSError):
        table.refuse("timezone", f"there is no time zone {name[:40]!r}", "write a name such as Europe/Berlin, or leave it out")
    return name


def read_confirm(top: Table, params: Set[str]) -> Confirm | None:
    """[confirm]: the second look that decides a success (X24)."""
    table = top.table("confirm")
    if table is None:
        return None
    return Confirm(
        request=read_request(table, params | _RESULT_NAMES),
        codes=table.codes(),
        state=table.expression("state"),
        rules=table.rules(),
    )


def read_result(top: Table, params: Set[str]) -> ResultSpec:
    """[result]: what a success must bring and where the result is."""
    table = top.table("result")
    if table is None:
        return ResultSpec()
    return ResultSpec(
        success_requires=table.expressions("success_requires"),
        lag=table.duration("lag", timedelta(seconds=60), is_zero_allowed=True),
        url=table.expression("url"),
        id=table.expression("id"),
        request=read_request(table, params | _RESULT_NAMES) if "request" in table else None,
        inline=table.expression("inline"),
        url_lifetime=table.maybe_duration("url_lifetime"),
        retention=table.maybe_duration("retention"),
        counts=_counts(table),
        errors_url=table.expression("errors_url"),
        schema=table.maybe_text("schema"),
    )


def _counts(table: Table) -> CountPaths | None:
    counts = table.table("counts")
    if counts is None:
        return None
    return CountPaths(
        total=counts.expression("total"),
        processed=counts.expression("processed"),
        succeeded=counts.expression("succeeded"),
        failed=counts.expression("failed"),
    )


def read_cancel(top: Table, params: Set[str]) -> Cancel | None:
    """[cancel]: only where documented, with its consequence in words (C9)."""
    table = top.table("cancel")
    return None if table is None else Cancel(read_request(table, params | _RESULT_NAMES), table.text("effect"))


def read_list(top: Table, params: Set[str]) -> ListSpec | None:
    """[list]: one request that shows many jobs."""
    table = top.table("list")
    if table is None:
        return None
    table.need("items")
    items = table.expression("items")
    assert items is not None
    return ListSpec(read_request(table, params), items, table.integer("max_items", 100, most=10_000))


def read_webhook(top: Table) -> Mapping[str, Any] | None:
    """[webhook]: checked, and kept as it stands."""
    table = top.table("webhook")
    if table is None:
        return None
    table.choice("scheme", ("standard-webhooks", "github", "stripe", "slack", "hmac-sha256"))
    secret = table.need("secret")
    references = secret if isinstance(secret, list) else [secret]
    is_reference = all(isinstance(one, str) and secret_values.REFERENCE.fullmatch(one) for one in references)
    if not is_reference or not 1 <= len(references) <= 2:
        table.refuse("secret", "is no reference to a credential", f"{secret_values.REFERENCE_MEND}, or two while rotating")
    table.expression("body")
    table.choice("trust", ("confirm", "final"), "confirm")
    table.duration("tolerance", timedelta(minutes=5))
    return table.values


def read_stream(top: Table, params: Set[str]) -> Mapping[str, Any] | None:
    """[stream]: checked, and kept as it stands."""
    table = top.table("stream")
    if table is None:
        return None
    read_request(table, params | _RESULT_NAMES)
    return table.values
