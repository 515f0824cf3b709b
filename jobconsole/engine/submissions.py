"""From a caller's wish to a record: what is checked, what is made, before anything is written (X9, X14, X18).

Only this file decides which budget a caller gets and which ids and tokens an operation begins with. `desk.py` calls it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from ulid import ULID

from jobconsole.core.actors import PERSON, is_person
from jobconsole.core.commands.submission import NewOperation, Wanted
from jobconsole.core.contracts import endpoints, hosts
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.requests import (
    RequestValues,
    body_text,
    submit_fingerprint,
    submit_request,
    track_fingerprint,
)
from jobconsole.core.durations import parse_duration
from jobconsole.core.moments import aware
from jobconsole.core.operation import Operation
from jobconsole.errors import InvalidValue, Refused

OPERATION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
LONGEST_DEADLINE = timedelta(days=366)
MOST_REQUESTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Budget:
    """What one wait may use up; None takes the contract's (X14).

    `deadline` is a duration text such as "40m". A person may ask for more than the contract says, an agent never.
    """

    deadline: str | None = None
    status_requests: int | None = None
    transport_failures: int | None = None
    business_deadline_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller says of a new operation beside its budget. `by` is an actor: `person:NAME` or `agent:NAME/SESSION`."""

    by: str
    operation_id: str | None = None
    name: str | None = None
    task: str | None = None
    owner: str | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)


def new_operation_id() -> str:
    """`op_` + 26 characters that sort by time ("Details decided")."""
    return f"op_{ULID()}"


def submission(contract: Contract, wish: Wish, body: Any, now: datetime) -> NewOperation:
    """A new submission. Raises `InvalidValue`, `Refused`, `HostRefused`: nothing was written or sent."""
    values = RequestValues(params=endpoints.params_of(contract, wish.params))
    documented = contract.submit is not None and contract.submit.idempotency is not None
    token = uuid.uuid4().hex if documented else None
    submit_request(contract, values, body, token)  # what cannot be built is the caller's to mend now
    return NewOperation(
        **_common(contract, wish, now),
        fingerprint=submit_fingerprint(contract, values, body),
        request_body=body_text(body) if body is not None else "null",
        idempotency_token=token,
        action_id=f"act_{ULID()}",
    )


def adoption(
    contract: Contract, wish: Wish, now: datetime, *, job_id: str | None = None, status_url: str | None = None
) -> NewOperation:
    """Adopting a job that somebody else started: by its id or by its status URL (X9)."""
    if (job_id is None) == (status_url is None):
        raise InvalidValue("track needs either --job-id ID or --status-url URL")
    if job_id is not None and not job_id.strip():
        raise InvalidValue("the job id is empty; give the id that the provider answered")
    if status_url is not None:
        params = endpoints.params_of(contract, wish.params)
        own, allowed = endpoints.own_host(contract, params), endpoints.allowed_hosts(contract, params)
        status_url = hosts.check(status_url, own, allowed)
    return NewOperation(
        **_common(contract, wish, now),
        fingerprint=track_fingerprint(contract, job_id=job_id, status_url=status_url),
        job_id=job_id,
        status_url=status_url,
        is_tracked=True,
    )


def submission_again(contract: Contract, op: Operation, by: str, now: datetime) -> NewOperation | None:
    """The same request as a new operation with a new token, linked; None where the request is not kept (C10)."""
    if op.request_body is None:
        return None
    asked = op.original.deadline_at - op.started_at
    budget = Budget(
        deadline=f"{max(1, round(asked.total_seconds()))}s",
        status_requests=op.original.status_requests,
        transport_failures=op.original.transport_failures,
    )
    wish = Wish(by, name=op.name, task=op.task, owner=op.owner, params=op.params, budget=budget)
    new = submission(contract, wish, json.loads(op.request_body), now)
    return replace(new, resubmit_of=op.operation_id)


def _common(contract: Contract, wish: Wish, now: datetime) -> dict[str, Any]:
    for what, said in (("id", wish.operation_id), ("name", wish.name), ("task", wish.task), ("owner", wish.owner)):
        if not isinstance(said, str | None):
            raise InvalidValue(f"the {what} is a text, not {type(said).__name__}")
    operation_id = wish.operation_id or new_operation_id()
    if not OPERATION_ID.fullmatch(operation_id):
        raise InvalidValue("an operation id is 1-128 of letters, digits, '.', '_', '-', and begins with a letter or digit")
    person = wish.by.removeprefix(PERSON) if is_person(wish.by) else None
    return {
        "operation_id": operation_id,
        "contract": contract,
        "account_key": endpoints.account_key(contract, wish.params),
        "actor": wish.by,
        "budget": granted_budget(contract, wish.budget, wish.by, now),
        "name": wish.name,
        "task": wish.task,
        "owner": wish.owner or person or "nobody",
        "params": endpoints.params_of(contract, wish.params),
    }


def granted_budget(contract: Contract, asked: Budget, by: str, now: datetime) -> Wanted:
    """The budget of this wait: less than the contract's for anybody, more for a person, finite always (X14)."""
    spec = contract.budget
    length = parse_duration(asked.deadline) if asked.deadline is not None else spec.deadline
    requests = _count("requests", asked.status_requests, spec.status_requests)
    failures = _count("transport failures", asked.transport_failures, spec.transport_failures)
    least = contract.status.timeout + timedelta(seconds=1)
    if not least < length <= LONGEST_DEADLINE:
        raise InvalidValue(f"a deadline lies between {least.total_seconds():g}s (one request) and 366d")
    more = length > spec.deadline or requests > spec.status_requests or failures > spec.transport_failures
    if more and not is_person(by):
        raise Refused("not_a_person", "only a person may ask for more than the contract's budget")
    business = None
    if asked.business_deadline_at is not None:
        business = aware(asked.business_deadline_at, "the business deadline")
    if business is not None and business <= now:
        raise InvalidValue("the business deadline has passed already")
    return Wanted(length, requests, failures, spec.rate_limits, business)


def _count(what: str, asked: int | None, default: int) -> int:
    if asked is None:
        return default
    if type(asked) is not int or not 1 <= asked <= MOST_REQUESTS:
        raise InvalidValue(f"{what}: a whole number from 1 to {MOST_REQUESTS:,}")
    return asked
