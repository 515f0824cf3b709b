"""A contract file: TOML text to a `Contract`, or the one error that names file, key and mend (SPEC 2, CONTRACT.md).

Only this file and its parts decide whether a contract is valid: `contract_requests.py` reads the tables that hold requests,
`contract_checks.py` decides what must hold between tables. The catalogue, the engine (for kept copies) and `provider check`
call `load`.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Set
from datetime import timedelta
from typing import Any, Literal, cast

from jobconsole.core.contracts import secret_values, toml_text
from jobconsole.core.contracts.coherence import check_between_tables
from jobconsole.core.contracts.contract import (
    AccountLimits,
    Auth,
    BudgetSpec,
    Contract,
    Extension,
    Hints,
    HttpCodes,
    NotFound,
    Param,
    Schedule,
)
from jobconsole.core.contracts.request_tables import (
    read_cancel,
    read_confirm,
    read_headers,
    read_list,
    read_result,
    read_status,
    read_stream,
    read_submit,
    read_webhook,
)
from jobconsole.core.contracts.states import read_states
from jobconsole.core.contracts.table import Table
from jobconsole.core.contracts.urls import BUILT_IN_NAMES, check_base_url, check_host_pattern, check_link, check_names
from jobconsole.errors import ContractInvalid

FORMAT = 1
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

_MOST_BASES = 5


def load(text: str, source: str, bases: Mapping[str, str] | None = None) -> Contract:
    """The contract that `text` describes. `source` is the file's name for messages, `bases` maps names that it may extend to
    their texts.

    With `extends`, the contract's own text is the merged one, so that a kept copy stands alone (X13); its digest is the
    SHA-256 of that text. Raises `ContractInvalid`.
    """
    document = _parse(text, source)
    if "extends" in document:
        document = _extend(document, source, bases or {}, ())
        text = toml_text.dump(document)
    return _read(document, source, text)


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:  # a number of too many digits is a bare ValueError
        problem = " ".join(str(error).split())[:200] or "nested too deeply"
        raise ContractInvalid(source, "", f"is no TOML: {problem}", "see toml.io for the syntax") from None


def _extend(document: dict[str, Any], source: str, bases: Mapping[str, str], seen: tuple[str, ...]) -> dict[str, Any]:
    """The tables of the base, replaced one by one by those of the file; of [provider] and [auth] single keys are enough."""
    if "extends" not in document:
        return document
    name = Table(source, "", document).text("extends")
    if name not in bases:
        known = ", ".join(sorted(bases)) or "none"
        raise ContractInvalid(source, "extends", f"there is no contract {name[:60]!r}", f"known: {known}")
    if name in seen or len(seen) >= _MOST_BASES:
        raise ContractInvalid(source, "extends", "goes round in a circle", "let the base stand alone")
    base = _extend(_parse(bases[name], name), name, bases, (*seen, name))
    merged = {**base, **{key: value for key, value in document.items() if key != "extends"}}
    for key in ("provider", "auth"):
        if isinstance(base.get(key), dict) and isinstance(document.get(key), dict):
            merged[key] = {**base[key], **document[key]}
    return merged


def _read(document: dict[str, Any], source: str, text: str) -> Contract:
    top = Table(source, "", document)
    if top.integer("contract", least=0) != FORMAT:
        top.refuse("contract", "is another format", f"this version reads contract = {FORMAT}")
    if secret := secret_values.find(document):
        raise ContractInvalid(source, secret, "looks like a secret", f"{secret_values.REFERENCE_MEND}, in [auth]")
    params = _read_params(top)
    provider, status, budget = (_section(top, key) for key in ("provider", "status", "budget"))
    base_url = check_base_url(provider, set(params))
    contract = Contract(
        name=_name(provider),
        title=provider.text("title"),
        base_url=base_url,
        account=provider.text("account", "default"),
        status=read_status(status, set(params)),
        states=read_states(top),
        budget=_read_budget(budget),
        digest=hashlib.sha256(text.encode()).hexdigest(),
        source=source,
        text=text,
        allowed_hosts=tuple(check_host_pattern(provider, place, set(params)) for place in provider.texts("allowed_hosts")),
        docs=check_link(provider, "docs") or "",
        console_url=check_link(provider, "console_url", {*params, "job_id"}),
        verified=provider.text("verified", "unknown"),
        headers=read_headers(provider, set(params)),
        limits=_read_limits(top),
        auth=_read_auth(top, set(params)),
        params=params,
        submit=read_submit(top, set(params)),
        rules=top.rules(),
        http=_read_http(top),
        confirm=read_confirm(top, set(params)),
        hints=_read_hints(top),
        result=read_result(top, set(params)),
        cancel=read_cancel(top, set(params)),
        list=read_list(top, set(params)),
        schedule=_read_schedule(top),
        webhook=read_webhook(top),
        stream=read_stream(top, set(params)),
    )
    check_between_tables(top, contract)
    return contract


def _section(top: Table, key: str) -> Table:
    top.need(key)
    section = top.table(key)
    assert section is not None
    return section


def _name(provider: Table) -> str:
    name = provider.text("name")
    if not NAME.fullmatch(name) or len(name) > 64:
        provider.refuse("name", f"is {name[:64]!r}", "write lower-case letters, digits and dashes, such as acme-exports")
    return name


def _read_params(top: Table) -> dict[str, Param]:
    params = top.table("params", keys="*")
    return {name: _read_param(params, name) for name in params.values} if params else {}


def _read_param(params: Table, name: str) -> Param:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in BUILT_IN_NAMES:
        params.refuse(name, "is no name for a param", "write letters, digits and underscores, and none of the built-in names")
    table = params.table(name, keys="params.*")
    assert table is not None
    pattern, default = table.text("pattern"), table.maybe_text("default")
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        table.refuse("pattern", f"is no regular expression: {error}", "mend it; in single quotes nothing needs escaping")
    if default is not None and not compiled.fullmatch(default):
        table.refuse("default", "does not match the pattern", f"write a value that matches {pattern}")
    return Param(pattern, default)


def _read_limits(top: Table) -> AccountLimits:
    limits = top.table("limits")
    if limits is None:
        return AccountLimits()
    return AccountLimits(
        max_concurrent=limits.integer("max_concurrent") if "max_concurrent" in limits else None,
        per_minute=limits.number("per_minute", least=0.001) if "per_minute" in limits else None,
    )


def _read_auth(top: Table, params: Set[str]) -> Auth:
    auth = top.table("auth")
    if auth is None:
        return Auth()
    scheme = cast(
        Literal["bearer", "basic", "raw", "aws-sigv4"], auth.choice("scheme", ("bearer", "basic", "raw", "aws-sigv4"), "bearer")
    )
    for key in ("header", "value") if scheme == "raw" else ("service", "region") if scheme == "aws-sigv4" else ():
        auth.need(key)
    header, value = auth.text("header", "Authorization"), auth.text("value", "Bearer {secret}")
    if "{secret}" not in value:
        auth.refuse("value", "does not say where the secret goes", "write {secret} in it, such as value = 'Bearer {secret}'")
    if scheme != "raw" and (header.lower(), value) != ("authorization", "Bearer {secret}"):
        auth.refuse("scheme", f"{scheme} has a header and value of its own", 'write scheme = "raw", or leave both out')
    if "region" in auth:
        check_names(auth, "region", auth.text("region"), params)
    actions, others = auth.text_map("actions"), auth.texts("others")
    for key, reference in (("secret", auth.maybe_text("secret")), *(("actions", r) for r in actions.values())):
        _check_reference(auth, key, reference)
    for reference in others:
        _check_reference(auth, "others", reference)
    return Auth(
        secret=auth.text("secret"),
        scheme=scheme,
        header=header,
        value=value,
        service=auth.maybe_text("service"),
        region=auth.maybe_text("region"),
        rotates=auth.flag("rotates", False),
        approval=cast(Literal["session", "each_call"], auth.choice("approval", ("session", "each_call"), "session")),
        actions=actions,
        others=others,
    )


def _check_reference(auth: Table, key: str, reference: str | None) -> None:
    if reference is not None and not secret_values.REFERENCE.fullmatch(reference):
        auth.refuse(key, "is no reference to a credential", secret_values.REFERENCE_MEND)


def _read_http(top: Table) -> HttpCodes:
    http = top.table("http")
    if http is None:
        return HttpCodes()
    not_found = http.table("not_found")
    return HttpCodes(
        codes=http.codes(),
        not_found=NotFound()
        if not_found is None
        else NotFound(
            grace=not_found.duration("grace", timedelta(0), is_zero_allowed=True),
            in_a_row=not_found.integer("in_a_row", 3),
            expired_after=not_found.maybe_duration("expired_after", is_zero_allowed=True),
        ),
    )


def _read_hints(top: Table) -> Hints:
    hints = top.table("hints")
    if hints is None:
        return Hints()
    shortest = hints.duration("min_interval", timedelta(0), is_zero_allowed=True)
    longest = hints.maybe_duration("max_interval")
    if longest is not None and longest < shortest:
        hints.refuse("max_interval", "is shorter than min_interval", "write a longer one, or leave one of them out")
    return Hints(
        poll_after_seconds=hints.expression("poll_after_seconds"),
        poll_after_ms=hints.expression("poll_after_ms"),
        next_check_at=hints.expression("next_check_at"),
        min_interval=shortest,
        max_interval=longest,
    )


def _read_schedule(top: Table) -> Schedule:
    schedule, default = top.table("schedule"), Schedule()
    if schedule is None:
        return default
    base, longest = schedule.duration("base", default.base), schedule.duration("max", default.max)
    if longest < base:
        schedule.refuse("max", "is shorter than base", "write a longer max or a shorter base")
    return Schedule(
        kind=cast(Literal["backoff", "adaptive"], schedule.choice("kind", ("backoff", "adaptive"), "backoff")),
        base=base,
        factor=schedule.number("factor", default.factor, least=1, most=100),
        max=longest,
        jitter=_jitter(schedule, default.jitter),
        spread=schedule.flag("spread", False),
        stalled_after=schedule.maybe_duration("stalled_after"),
    )


def _jitter(schedule: Table, default: tuple[float, float]) -> tuple[float, float]:
    match schedule.values.get("jitter", list(default)):
        case [int() | float() as low, int() | float() as high] if 0 <= low <= high <= 1 and high > 0:
            return float(low), float(high)
    schedule.refuse("jitter", "is no range of shares", "write two numbers from 0 to 1, such as [0.5, 1.0]")


def _read_budget(budget: Table) -> BudgetSpec:
    failures = budget.integer("transport_failures")
    return BudgetSpec(
        deadline=budget.duration("deadline"),
        status_requests=budget.integer("status_requests"),
        transport_failures=failures,
        transport_failures_in_a_row=budget.integer("transport_failures_in_a_row", failures),
        rate_limits=budget.integer("rate_limits", 3),
        extension=_read_extension(budget.table("extension")),
    )


def _read_extension(extension: Table | None) -> Extension:
    default = Extension()
    if extension is None:
        return default
    return Extension(
        minutes=extension.integer("minutes", default.minutes, least=0, most=525_600),
        checks=extension.integer("checks", default.checks, least=0),
        failures=extension.integer("failures", default.failures, least=0),
        rate_limits=extension.integer("rate_limits", default.rate_limits, least=0),
        times=extension.integer("times", default.times, least=0),
    )
