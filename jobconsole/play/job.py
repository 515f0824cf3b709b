"""What the play provider's scenarios see and say: a job, and one reply, as values.

Only this file decides what a reply can be, faults of the connection included. `scenarios.py` and `script.py` make replies,
`book.py` keeps the jobs, `server.py` puts replies on the wire. Durations are provider seconds unless a name says `real`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any


class FaultKind(StrEnum):
    """What can go wrong with a connection instead of, or while, answering."""

    CLOSED_ON_REUSE = "closed_on_reuse"  # closes a kept-alive connection without an answer; a fresh one is answered
    RESET_BEFORE_RESPONSE = "reset_before_response"  # reads the request, then resets the connection
    READ_TIMEOUT = "read_timeout"  # reads the request, never answers
    DRIP = "drip"  # sends the answer a few bytes at a time
    TRUNCATE = "truncate"  # announces more bytes than it sends, then closes


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault by name. `drip` sends `bytes` bytes every `every_s`; `truncate` cuts the body to `bytes`, or, where that is
    None, sends all of it (so that it still parses) and announces more."""

    kind: FaultKind
    bytes: int | None = None
    every_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `body` is a JSON value, or `bytes` that are sent as they are; `retry_after_s` becomes a header in whole
    real seconds, rounded up."""

    status: int = 200
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    fault: Fault | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One submitted job. `factor` is provider seconds per real second; `settings` is the JSON that it was submitted with."""

    job_id: str
    scenario: str
    seed: int
    submitted_s: float  # on the provider's clock
    submitted_at: datetime
    factor: float
    duration_s: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    cancelled_after_s: float | None = None  # how old the job was when its cancel was accepted

    def at(self, elapsed_s: float) -> str:
        """The wall clock time (RFC 3339, UTC) at which the job is `elapsed_s` old."""
        at = self.submitted_at.astimezone(UTC) + timedelta(seconds=elapsed_s / self.factor)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def real(self, seconds: float) -> float:
        """Provider seconds as real seconds: what a client with an ordinary clock must be told."""
        return seconds / self.factor


def whole_real_seconds(seconds: float, factor: float) -> int:
    """Provider seconds as the whole real seconds of a Retry-After header, rounded up (RFC 9110 10.2.3)."""
    return math.ceil(seconds / factor)
