"""Values in a contract that look like secrets (C13).

Only this file decides what looks like one. `contract_file.py` asks before anything else is read; no message repeats the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|keyring:[^/\s]+/\S+|file:\S.*")
REFERENCE_MEND = "write a reference: env:NAME, keyring:service/user or file:PATH"

_PROSE = frozenset({"docs", "title", "verified", "effect", "unlisted_source", "pattern", "when"})
_SHAPES = re.compile(
    r"\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgh[opsur]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeprs]-[\w-]{10,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bhf_[A-Za-z0-9]{20,}|\br8_[A-Za-z0-9]{20,}"
    r"|\bdapi[0-9a-f]{32}\b|\bshp(?:at|ss|ca|pa)_[0-9a-fA-F]{20,}|\bwhsec_[\w+/=-]{16,}|\bSG\.[\w-]{16,}\.[\w-]{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\b(?:Bearer|Basic|Token)\s+[A-Za-z0-9._~+/=-]{12,}"
    r"|://[^/\s:@{}]+:[^/\s@{}]+@"
    r"|[?&](?:api[-_]?key|key|token|access[-_]?token|auth|secret|sig|signature|password)=[^{&\s'\"]{6,}",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"(?:^|[-_])(?:authorization|cookie|api[-_]?key|access[-_]?key|(?:auth|access|session|security)[-_]?token|token|secret"
    r"|secret[-_]?key|client[-_]?secret|password|passwd|credentials?)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z0-9+/=_-]{32,}")


def find(document: Mapping[str, Any]) -> str | None:
    """The key of the first value in a parsed contract that looks like a secret, such as `provider.headers.X-Key`; or None."""
    for path, value in _texts(document, ""):
        key = path.rpartition(".")[2]
        if _is_named_like_one(path, key) and value.strip() and "{" not in value and not REFERENCE.fullmatch(value):
            return path
        if _SHAPES.search(value) or (key not in _PROSE and _is_random(value)):
            return path
    return None


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _texts(inner, f"{path}[{place}]")


def _is_named_like_one(path: str, key: str) -> bool:
    """Names tell only where a contract writes headers and bodies; elsewhere keys are the format's own."""
    return (".headers." in path or ".body." in path) and bool(_NAMES.search(key))


def _is_random(value: str) -> bool:
    """A long run that mixes capitals, small letters and digits: a key, no word."""
    return any(
        re.search(r"[A-Z]", run) and re.search(r"[a-z]", run) and len(re.findall(r"[0-9]", run)) >= 4
        for run in _WORD.findall(value)
    )
