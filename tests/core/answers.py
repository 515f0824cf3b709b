"""Contracts and answers as the tests of the judge write them: small, whole, at one fixed time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.contracts.file import load
from jobconsole.core.judging.answer import Answer

CONTRACTS = Path(__file__).with_name("contracts")
NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
DATE = ("Date", "Sun, 29 Nov 2026 12:00:00 GMT")
JSON = ("Content-Type", "application/json")
URL = "https://jobs.example.test/v1/jobs/job-1"

DEMO = """
contract = 1
[provider]
name = "demo"
title = "Demo"
base_url = "https://jobs.example.test/v1"
[submit]
request = "POST /jobs"
job_id = "body.id"
[status]
request = "GET /jobs/{job_id}"
read_only = true
job_id = "body.id"
state = "body.state"
progress = "body.progress"
error = "body.error"
[states]
waiting = ["queued", "running"]
succeeded = ["succeeded"]
failed = ["failed"]
cancelled = ["cancelled"]
expired = ["expired"]
[budget]
deadline = "1h"
status_requests = 20
transport_failures = 5
"""


def text(name: str) -> str:
    """The contract file `name` of these tests."""
    return (CONTRACTS / name).read_text(encoding="utf-8")


def demo(more: str = "", *edits: tuple[str, str]) -> Contract:
    """The demo contract, with `more` TOML at its end and (old, new) edits before that."""
    base = DEMO
    for old, new in edits:
        assert old in base, old
        base = base.replace(old, new)
    return load(base + more, "demo.toml")


def answer(status: int = 200, body: Any = None, headers: Sequence[tuple[str, str]] = (JSON, DATE), *, url: str = URL) -> Answer:
    """An answer that came at noon. `body`: bytes as they are, None is empty, all else is sent as JSON."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Answer(status, tuple(headers), content, url, NOON, 0)
