"""Which URL may be asked: scheme, host and port against the contract (C6).

Only this file decides what a usable URL is and which host a contract allows. `contract_file.py` checks base URLs by it,
`requests.py` every URL that a request would go to, `observation.py` the URLs that an answer brings.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from jobconsole.errors import HostRefused

_LONGEST = 8_000  # characters of a URL
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_BEFORE_PATH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")  # RFC 3986 3.2: the authority ends at the first of these
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")  # other alphabets only as punycode: no two spellings of one host
_DEFAULT_PORTS = {"https": 443, "http": 80}


def split(url: str) -> SplitResult:
    """The parts of an absolute https URL (http on loopback only), without its fragment.

    Raises `HostRefused` where it is none, names a user, or holds a character that clients read in different ways.
    """
    return _read(url)[0]


def host_port(url: str) -> str:
    """`host` or `host:port` of a URL, lower case, the scheme's own port left out. Raises `HostRefused`."""
    return _read(url)[1]


def _read(url: str) -> tuple[SplitResult, str]:
    """The parts of a URL, and its host and port; what lies before the path is the same in all URLs of a provider."""
    if len(url) > _LONGEST or _FORBIDDEN.search(url):
        raise HostRefused("the URL is too long or holds a blank, a backslash or a control character; nothing was sent")
    before = _BEFORE_PATH.match(url)
    origin, place = _origin(before[0] if before else "")
    path, _, query = url[len(before[0]) if before else 0 :].partition("#")[0].partition("?")
    return SplitResult(origin.scheme, origin.netloc, path, query, ""), place


@lru_cache(maxsize=1024)
def _origin(url: str) -> tuple[SplitResult, str]:
    """`_read` for what lies before the path: scheme, host and port."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise HostRefused("a URL does not parse; nothing was sent") from None
    if not host or not _HOST.fullmatch(host) or port == 0 or parts.scheme not in _DEFAULT_PORTS:
        raise HostRefused("a URL is no absolute https URL; nothing was sent")
    if "@" in parts.netloc:
        raise HostRefused(f"the URL on {host} names a user; nothing was sent")
    if parts.scheme == "http" and not is_loopback(host):
        raise HostRefused(f"{host} would be asked over http; only https is, beside loopback; nothing was sent")
    shown = f"[{host}]" if ":" in host else host
    return parts, shown if port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{shown}:{port}"


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine by its name or address alone."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_allowed(place: str, own: str, allowed: Iterable[str]) -> bool:
    """Whether `place` (host or host:port) is the contract's `own`, or one of `allowed`; `*.x` is every depth below x, not x."""
    return place == own or any(_matches(place, pattern.lower()) for pattern in allowed)


def check(url: str, own: str, allowed: Iterable[str]) -> str:
    """`url` without its fragment, if it may be asked. Raises `HostRefused`."""
    parts, place = _read(url)
    if not is_allowed(place, own, allowed):
        raise HostRefused(f"{place} is neither the contract's host nor in allowed_hosts; nothing was sent")
    return urlunsplit(parts)


def resolve(reference: str, against: str) -> str:
    """`reference` resolved against the URL of the request that brought it (RFC 9110 10.2.2), without its fragment.

    Raises `HostRefused` where the result is no usable URL. The host is not compared with the contract's.
    """
    reference = reference.strip(" \t")
    if not reference or _FORBIDDEN.search(reference):
        raise HostRefused("the URL is empty or holds a blank, a backslash or a control character; nothing was sent")
    try:
        return urlunsplit(split(urljoin(against, reference)))
    except ValueError:
        raise HostRefused("a URL does not parse; nothing was sent") from None


def _matches(place: str, pattern: str) -> bool:
    return place.endswith(pattern[1:]) if pattern.startswith("*.") else place == pattern
