"""How a credential becomes headers of one request, and whether it changed since it was last sent.

Only this file knows the schemes of `[auth]` (CONTRACT.md). `http.py` asks it at each request and drops the value afterwards;
what stays is a salted digest per reference, in memory (SPEC B11, C13).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
from datetime import datetime

from jobconsole.adapters import sigv4
from jobconsole.core.contracts.contract import Auth
from jobconsole.errors import InvalidValue, SecretMissing
from jobconsole.protocols import Secrets


class CredentialDesk:
    """Reads references and remembers, per reference, what was last sent, as a digest only."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._salt = os.urandom(32)
        self._last: dict[str, bytes] = {}

    async def read(self, reference: str) -> str:
        """The value behind a reference, now. A keyring may ask a person, so it does not hold the loop."""
        if reference.startswith("keyring:"):
            return await asyncio.to_thread(self._secrets.read, reference)
        return self._secrets.read(reference)

    def sent(self, reference: str, secret: str) -> None:
        """Remember that this value went out."""
        self._last[reference] = self._digest(secret)

    def has_changed(self, reference: str) -> bool:
        """Whether the reference now holds another value than the one last sent; False where none was sent or none is there."""
        last = self._last.get(reference)
        if last is None:
            return False
        try:
            return self._digest(self._secrets.read(reference)) != last
        except SecretMissing:
            return False

    def _digest(self, secret: str) -> bytes:
        return hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), key=self._salt).digest()


def credential_headers(auth: Auth, secret: str, request: sigv4.Signable, at: datetime) -> list[tuple[str, str]]:
    """The headers that show who asks. Raises `SecretMissing` where the value does not fit the scheme, without showing it."""
    if not secret.isascii() and auth.scheme != "basic":
        raise SecretMissing(f"{auth.secret}: holds characters that a header cannot carry; store the credential anew")
    if auth.scheme == "bearer":
        return [("Authorization", f"Bearer {secret}")]
    if auth.scheme == "basic":
        if ":" not in secret:
            raise SecretMissing(f"{auth.secret}: scheme basic needs user:password; store both, joined by a colon")
        return [("Authorization", "Basic " + base64.b64encode(secret.encode()).decode())]
    if auth.scheme == "raw":
        return [(auth.header, auth.value.replace("{secret}", secret))]
    given = sigv4.credential(secret)
    if given is None:
        raise SecretMissing(f"{auth.secret}: scheme aws-sigv4 needs KEY_ID:SECRET or KEY_ID:SECRET:SESSION_TOKEN")
    if not auth.service or not auth.region:
        raise InvalidValue("auth: scheme aws-sigv4 needs service and region; name both in [auth]")
    return sigv4.signed_headers(request, given, service=auth.service, region=auth.region, at=at)
