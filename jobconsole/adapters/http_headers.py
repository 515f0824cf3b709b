"""Which headers may go out, and one header's value in what came back.

Only this file decides what a header of ours may hold (RFC 9110 5). `http.py` asks it before the gate: what is refused here
would be refused by an HTTP library too, but only when the reservation is used up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jobconsole.errors import InvalidValue

NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110 5.1; methods are made of the same characters
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\u0100-\U0010ffff]*")  # RFC 9110 5.5: Latin-1, no control character but the tab
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect"}
    | {"accept-encoding", "proxy-authorization"}
)


def checked(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers without blanks around their values, none of which can end a line or speak for the transport.

    Raises `InvalidValue`, which names the header and not its value.
    """
    for name, value in headers:
        if not NAME.fullmatch(name):
            raise InvalidValue(f"header {name[:40]!r}: is no header name")
        if name.lower() in _OURS:
            raise InvalidValue(f"header {name}: is set by the transport; leave it out of the contract")
        if not _VALUE.fullmatch(value):
            raise InvalidValue(f"header {name}: its value holds characters that a header cannot carry")
    return [(name, value.strip(" \t")) for name, value in headers]


def value_of(headers: Sequence[tuple[str, str]], wanted: str) -> str:
    """The value of a header (its name in lower case), several of them joined by `, `; empty where there is none."""
    return ", ".join([value for name, value in headers if name.lower() == wanted])
