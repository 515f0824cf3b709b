"""The requests of a contract as values, complete but for the credential, which the transport adds (C13).

Only this file decides what is sent: URL, headers, body, idempotency token. The engine calls it with what the record knows of
the job. Every URL is checked against the contract's hosts here, before anything else could be (C6).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode, urlunsplit

from jobconsole.core.contracts import hosts, templates
from jobconsole.core.contracts.contract import Auth, Contract, RequestTemplate, Submit
from jobconsole.core.contracts.endpoints import allowed_hosts, base_url, params_of
from jobconsole.core.contracts.http_request import HttpRequest
from jobconsole.errors import InvalidValue

LARGEST_BODY = 128 * 1024  # bytes that the record keeps for `replay_submit` ("Details decided")

_FRESH = (("Cache-Control", "no-cache"),)  # a status answer must not come from a cache (B19)


@dataclass(frozen=True, slots=True)
class RequestValues:
    """What the record knows of one job. `credential` is another reference that a person switched to."""

    job_id: str | None = None
    status_url: str | None = None
    result_url: str | None = None
    result_id: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    credential: str | None = None


def submit_request(contract: Contract, values: RequestValues, body: Any, token: str | None) -> HttpRequest:
    """The request that starts a job: the caller's JSON over the contract's body, the token where the contract documents it.

    Raises `InvalidValue` (a param or a body that cannot be sent), `HostRefused`. A contract without [submit] is the caller's
    fault: `InvalidValue`.
    """
    submit, job = _submit_of(contract), _job(contract, values)
    content = _merged(submit.request, body, job.names)
    headers: tuple[tuple[str, str], ...] = ()
    url = job.url(submit.request)
    place = submit.idempotency
    if place is not None and token is not None:
        if place.place == "header":
            headers = ((place.name, token),)
        elif place.place == "query":
            url += f"{'&' if '?' in url else '?'}{quote(place.name, safe='')}={quote(token, safe='')}"
        elif content is None or isinstance(content, dict):
            content = {**(content or {}), place.name: token}
        else:
            raise InvalidValue(f"{contract.name} puts its token into the body; give the body as a JSON object")
    return _request(job, submit.request, url, content, headers)


def status_request(contract: Contract, values: RequestValues) -> HttpRequest:
    """The request that asks for a job's state, and for a fresh answer (B19). Raises `InvalidValue`, `HostRefused`."""
    return _plain(contract, contract.status.request, values, _FRESH)


def confirm_request(contract: Contract, values: RequestValues) -> HttpRequest:
    """The second look at a success (X24). Raises `InvalidValue` (also where the contract has none), `HostRefused`."""
    if contract.confirm is None:
        raise InvalidValue(f"{contract.name} has no [confirm]")
    return _plain(contract, contract.confirm.request, values, _FRESH)


def result_request(contract: Contract, values: RequestValues) -> HttpRequest:
    """The request that fetches a result: the contract's, else its URL. Raises `InvalidValue`, `HostRefused`."""
    return _plain(contract, contract.result.request or RequestTemplate("GET", "{result_url}"), values)


def cancel_request(contract: Contract, values: RequestValues) -> HttpRequest:
    """The request that asks the provider to cancel, with the credential that the contract names for it (C9).

    Raises `InvalidValue` (also where cancel is not documented), `HostRefused`.
    """
    if contract.cancel is None:
        raise InvalidValue(f"{contract.name} documents no cancel")
    credential = values.credential or contract.auth.actions.get("cancel")
    return _plain(contract, contract.cancel.request, replace(values, credential=credential))


def submit_url(contract: Contract, values: RequestValues) -> str:
    """The URL that a submission goes to, without its token. Raises `InvalidValue`, `HostRefused`."""
    submit = _submit_of(contract)
    return _job(contract, values).url(submit.request)


def submit_fingerprint(contract: Contract, values: RequestValues, body: Any) -> str:
    """SHA-256 (hex) of provider, account, method, URL and canonical body: equal submissions have equal ones (X9)."""
    request, job = _submit_of(contract).request, _job(contract, values)
    return _fingerprint(
        provider=contract.name,
        account=contract.account,
        method=request.method,
        url=job.url(request),
        body=_merged(request, body, job.names),
    )


def track_fingerprint(contract: Contract, *, job_id: str | None = None, status_url: str | None = None) -> str:
    """SHA-256 (hex) of provider, account and job id, or URL where that is all there is (X9, "Details decided")."""
    named = {"job_id": job_id} if job_id is not None else {"status_url": status_url}
    return _fingerprint(provider=contract.name, account=contract.account, **named)


def body_text(body: Any) -> str | None:
    """The caller's body as canonical JSON, for the record; None without one.

    Raises `InvalidValue` where it is no JSON or larger than 128 KiB.
    """
    if body is None:
        return None
    text = _canonical(body)
    if len(text.encode()) > LARGEST_BODY:
        raise InvalidValue(f"the body has more than {LARGEST_BODY // 1024} KiB; give the provider a reference to its data")
    return text


def _submit_of(contract: Contract) -> Submit:
    if contract.submit is None:
        raise InvalidValue(f"{contract.name} has no [submit]: its jobs are only tracked")
    return contract.submit


@dataclass(frozen=True, slots=True)
class _Job:
    """One job's values, put into the contract's places: what every template of a request is filled from."""

    contract: Contract
    params: Mapping[str, str]
    names: Mapping[str, str | None]
    credential: str | None
    base: str  # base_url, filled
    own: str  # its host and port: the only place that sees the credential
    allowed: tuple[str, ...]

    def url(self, template: RequestTemplate) -> str:
        """The whole URL: base_url and path, or the job's own URL with the path behind it put before its query."""
        for whole in ("status_url", "result_url"):
            placeholder = f"{{{whole}}}"
            if template.target.startswith(placeholder):
                rest = templates.fill_url(template.target.removeprefix(placeholder), self.names)
                parts = hosts.split(templates.fill_text(placeholder, self.names))
                path, _, query = rest.partition("?")
                both = "&".join(part for part in (parts.query, query) if part)
                url = urlunsplit(parts._replace(path=parts.path + path, query=both))
                break
        else:
            url = self.base + templates.fill_url(template.target, self.names)
        return hosts.check(url, self.own, self.allowed)

    def auth(self) -> Auth:
        """The contract's way to show who asks, with the person's choice of credential and the job's region."""
        auth = self.contract.auth
        if self.credential is not None:
            auth = replace(auth, secret=self.credential)
        return auth if auth.region is None else replace(auth, region=templates.fill_text(auth.region, self.params))


def _job(contract: Contract, values: RequestValues) -> _Job:
    params = params_of(contract, values.params)
    base = base_url(contract, params)
    known = {"job_id": values.job_id, "result_id": values.result_id}
    urls = {"status_url": values.status_url, "result_url": values.result_url}
    return _Job(
        contract=contract,
        params=params,
        names={**params, **known, **urls},
        credential=values.credential,
        base=base,
        own=hosts.host_port(base),
        allowed=allowed_hosts(contract, params),
    )


def _plain(
    contract: Contract, template: RequestTemplate, values: RequestValues, headers: tuple[tuple[str, str], ...] = ()
) -> HttpRequest:
    job = _job(contract, values)
    content = None if template.body is None else templates.fill_body(template.body, job.names)
    return _request(job, template, job.url(template), content, headers)


def _request(job: _Job, template: RequestTemplate, url: str, content: Any, more: tuple[tuple[str, str], ...]) -> HttpRequest:
    headers = {"accept": ("Accept", "application/json")}
    if content is not None:
        kind = "application/json" if template.encoding == "json" else "application/x-www-form-urlencoded"
        headers["content-type"] = ("Content-Type", kind)
    for name, value in (*job.contract.headers.items(), *template.headers.items()):
        headers[name.lower()] = (name, templates.fill_header(name, value, job.names))
    headers |= {name.lower(): (name, templates.fill_header(name, "{x}", {"x": value})) for name, value in more}
    return HttpRequest(
        method=template.method,
        url=url,
        headers=tuple(headers.values()),
        body=None if content is None else _encoded(content, template.encoding),
        timeout=job.contract.status.timeout,
        max_bytes=job.contract.status.max_bytes,
        auth=job.auth(),
        auth_host=job.own,
        allowed_hosts=job.allowed,
    )


def _merged(template: RequestTemplate, body: Any, names: Mapping[str, str | None]) -> Any:
    """The contract's body with the caller's JSON laid over its top level; what a caller writes is never a template."""
    own = None if template.body is None else templates.fill_body(template.body, names)
    if own is None or body is None:
        return own if body is None else body
    if not isinstance(body, Mapping):
        raise InvalidValue("the contract has a body of its own; give yours as a JSON object, to be laid over it")
    return {**own, **body}


def _encoded(content: Any, encoding: str) -> bytes:
    if encoding == "json":
        return _canonical(content, is_sorted=False).encode()
    if not isinstance(content, Mapping) or any(isinstance(value, Mapping | list | tuple) for value in content.values()):
        raise InvalidValue("this request is sent as a form; give its body as a flat JSON object")
    _canonical(content)
    return urlencode([(key, _form_text(value)) for key, value in content.items() if value is not None]).encode()


def _form_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _canonical(value: Any, *, is_sorted: bool = True) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=is_sorted, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue(f"the body is no JSON: {type(error).__name__}: {str(error)[:100]}") from None
    return text


def _fingerprint(**parts: Any) -> str:
    return hashlib.sha256(_canonical(parts).encode()).hexdigest()
