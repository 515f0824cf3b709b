"""The one point where text that may hold a credential becomes text that may be shown.

Only this file decides what counts as secret in a text. The transport sends every error text through `redact`; whoever makes
a text of an exception, a URL or a header elsewhere calls it too. It errs on the side of hiding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "***"
SHORTEST_SECRET = 4  # characters; shorter known values would mask ordinary words and protect nothing

_NAME = (
    r"(?<![\w.-])([\w.-]*(?:token|secret|passw(?:or)?d|pwd|api[_-]?key|access[_-]?key|signature|credential|session|jwt)[\w.-]*"
    r"|sig|auth|key)"
)
_USERINFO = re.compile(r"(?<=://)[^/\s@?#]+@")
_HEADER = re.compile(
    r"\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token)(['\"]?\s*[:=,]\s*)[^\r\n]+", re.IGNORECASE
)
_SCHEME = re.compile(r"\b(bearer|basic|aws4-hmac-sha256|token(?=\s\S{16}))(\s+)[^\s,;'\"<>)]+", re.IGNORECASE)
_QUOTED = re.compile(_NAME + r"(['\"]\s*:\s*['\"])[^'\"]*", re.IGNORECASE)
_PARAMETER = re.compile(_NAME + r"(=)[^&\s'\"#;,<>)\]}]+", re.IGNORECASE)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` with every credential masked by `***`.

    Masked are the given values, userinfo in URLs, the values of authorization and cookie headers to the end of their line,
    what follows a scheme word such as `Bearer`, and the values of parameters and JSON fields with names such as `token`,
    `api_key` or `X-Amz-Signature`. Names, hosts and paths stay, so that the text still helps.
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    text = _USERINFO.sub(f"{MASK}@", text)
    for pattern in (_HEADER, _SCHEME, _QUOTED, _PARAMETER):
        text = pattern.sub(rf"\1\2{MASK}", text)
    return text
