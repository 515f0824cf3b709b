"""Contracts for tests of the core: one small file, of which a test replaces or adds single tables.

Only this file decides what an ordinary contract of these tests says; `sample(budget="...")` changes one table of it.
"""

from __future__ import annotations

from functools import lru_cache

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.file import load

TABLES = {
    "provider": """
        name = "acme"
        title = "ACME jobs"
        base_url = "https://api.acme.example"
        account = "acme-prod"
        docs = "https://docs.acme.example/jobs"
        verified = "made up for tests"
    """,
    "auth": 'secret = "env:ACME_KEY"',
    "submit": """
        request = "POST /v1/jobs"
        job_id = "body.id"
    """,
    "status": """
        request = "GET /v1/jobs/{job_id}"
        read_only = true
        state = "body.state"
        progress = "body.progress"
        error = "body.error"
    """,
    "states": """
        waiting = ["queued", "running"]
        succeeded = ["done"]
        partial = ["done_with_errors"]
        failed = ["failed"]
        cancelled = ["cancelled"]
        expired = ["expired"]
        needs_human = ["awaiting_review"]
        no_outcome = ["skipped"]
    """,
    "budget": """
        deadline = "40m"
        status_requests = 12
        transport_failures = 3
    """,
}
"""Defaults that matter to the arithmetic: timeout 10 s, backoff 5 s / 2 / 120 s / [0.5, 1.0], rate_limits 3, extension 15
minutes and 4 checks and 1 failure and 1 rate limit, once; no bucket, no hints, no cancel, no idempotency token."""

CANCEL = 'request = "POST /v1/jobs/{job_id}/cancel"\neffect = "Stops the job; partial output is lost."'
CONFIRM = 'request = "GET /v1/jobs/{job_id}/result"\ncodes = { 200 = "succeeded", 422 = "failed", 504 = "body" }'
WITH_TOKEN = 'request = "POST /v1/jobs"\njob_id = "body.id"\nidempotency = "header Idempotency-Key"'
CHARGED = 'request = "GET /v1/jobs/{job_id}"\nread_only = false\nstate = "body.state"'


def budget(deadline: str = "40m", requests: int = 12, failures: int = 3, **more: str | int) -> str:
    """The text of a [budget]."""
    lines = [f'deadline = "{deadline}"', f"status_requests = {requests}", f"transport_failures = {failures}"]
    return "\n".join(lines + [f"{key} = {value}" for key, value in more.items()])


def sample(**tables: str | None) -> Contract:
    """The ordinary contract with these tables in place of its own; None leaves one out."""
    return _loaded(tuple(sorted((TABLES | tables).items())))


@lru_cache
def _loaded(tables: tuple[tuple[str, str | None], ...]) -> Contract:
    texts = [f"[{name}]\n{text}" for name, text in tables if text is not None]
    return load("\n".join(["contract = 1", *texts]), "sample.toml")
