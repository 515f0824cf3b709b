"""One request as a value: what `requests.py` builds, the gate guards and a transport sends.

Only this file decides what a transport is told. It holds references to credentials, never a credential (C13).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Auth


def _no_auth() -> Auth:
    from jobconsole.core.contracts.contract import Auth  # `protocols.py` passes this module on to those who only look

    return Auth()


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, complete but for its credential, which the transport adds (C13).

    `timeout` is a total over connect, request and the whole answer. The credential goes only to `auth_host`.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    timeout: timedelta = timedelta(seconds=10)
    max_bytes: int = 1_000_000
    auth: Auth = field(default_factory=_no_auth)
    auth_host: str = ""  # host:port of base_url
    allowed_hosts: tuple[str, ...] = ()  # beside auth_host; *.x is every depth below x
