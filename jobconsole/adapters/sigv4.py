"""AWS Signature Version 4, as far as a request with headers and a whole body needs it.

Only this file knows the algorithm (AWS: "Create a signed AWS API request"). Pure: the time and the credential are
arguments. `http_credential.py` calls it for contracts with `scheme = "aws-sigv4"`.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote

ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNED = frozenset({"content-type", "host", "range"})  # and every x-amz-*: what nothing on the way rewrites
_BLANKS = re.compile(r" +")


@dataclass(frozen=True, slots=True)
class AwsCredential:
    """An access key; its repr shows the public id only."""

    key_id: str
    secret: str = field(repr=False)
    session_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Signable:
    """One request as it will stand on the wire. `path` and `query` are raw, percent-encoded; `host` is the Host header."""

    method: str
    host: str
    path: str
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes


def credential(text: str) -> AwsCredential | None:
    """`KEY_ID:SECRET` or `KEY_ID:SECRET:SESSION_TOKEN`; None where the text is neither."""
    parts = text.split(":")
    return AwsCredential(*parts) if len(parts) in (2, 3) and all(parts) else None


def signed_headers(
    request: Signable, given: AwsCredential, *, service: str, region: str, at: datetime
) -> list[tuple[str, str]]:
    """The headers to add: `X-Amz-Date`, where needed `X-Amz-Security-Token` and `X-Amz-Content-Sha256`, `Authorization`."""
    stamp = at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(request.body).hexdigest()
    added = [("X-Amz-Date", stamp)]
    if given.session_token:
        added.append(("X-Amz-Security-Token", given.session_token))
    if service == "s3":
        added.append(("X-Amz-Content-Sha256", digest))
    names, block = _canonical_headers([("Host", request.host), *request.headers, *added])
    path = request.path or "/"
    canonical = "\n".join(
        (
            request.method,
            path if service == "s3" else quote(path, safe="/-._~"),  # every service but S3 encodes the sent path once more
            _canonical_query(request.query),
            block,
            names,
            digest,
        )
    )
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join((ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{given.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    shown = f"{ALGORITHM} Credential={given.key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return [*added, ("Authorization", shown)]


def _canonical_headers(headers: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """The names joined by `;`, and the lines `name:value`; several values of one name are joined by a comma."""
    values: dict[str, list[str]] = {}
    for name, value in headers:
        folded = name.lower()
        if folded in _SIGNED or folded.startswith("x-amz-"):
            values.setdefault(folded, []).append(_BLANKS.sub(" ", value.strip()))
    ordered = sorted(values)
    return ";".join(ordered), "".join(f"{name}:{','.join(values[name])}\n" for name in ordered)


def _canonical_query(query: str) -> str:
    """The raw pairs in the order of their code points, a missing `=` added."""
    pairs = [part.partition("=")[::2] for part in query.split("&") if part]
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))
