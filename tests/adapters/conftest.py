"""Fixtures of the adapters' tests over HTTP: a clock, a transport on it, and a gate that counts."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from jobconsole.adapters.http import HttpTransport
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.errors import Withheld
from jobconsole.testing.clock import ManualClock


@dataclass
class CountingGate:
    """A gate that counts its calls and, where told a reason, says no."""

    refuses: str = ""
    calls: int = 0

    def __call__(self) -> None:
        self.calls += 1
        if self.refuses:
            raise Withheld(self.refuses)


@pytest.fixture
def clock() -> ManualClock:
    """A clock that moves only when a test says so."""
    return ManualClock()


@pytest.fixture
def gate() -> CountingGate:
    """An open gate."""
    return CountingGate()


@pytest.fixture
async def transport(clock: ManualClock) -> AsyncIterator[HttpTransport]:
    """The transport under test, with real credential references."""
    made = HttpTransport(ReferenceSecrets(), clock)
    yield made
    await made.close()


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> trustme.CA:
    """A certificate authority that this process trusts, in the way that people trust their company's: `SSL_CERT_FILE`."""
    made = trustme.CA()
    bundle = tmp_path / "authority.pem"
    made.cert_pem.write_to_path(str(bundle))
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    return made


@pytest.fixture
def serves(authority: trustme.CA) -> Callable[..., ssl.SSLContext]:
    """Makes a server's context for the given names; `not_after` makes an expired one, `by` takes another authority."""

    def make(*names: str, not_after: datetime | None = None, by: trustme.CA | None = None) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        born = datetime(2020, 1, 1, tzinfo=UTC) if not_after is not None else None
        (by or authority).issue_cert(*names, not_before=born, not_after=not_after).configure_cert(context)
        return context

    return make


@pytest.fixture
def trusted(serves: Callable[..., ssl.SSLContext]) -> ssl.SSLContext:
    """A server's context that verifies for this machine's address."""
    return serves("127.0.0.1")
