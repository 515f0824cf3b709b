"""Whether a request may go to a URL's host, and whether the credential goes with it.

Only this file decides about hosts on the sending side (SPEC C6, B10). `http.py` calls it with the parts of the URL as they
will be used on the wire, so that no second parser can read the URL differently.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.request import getproxies_environment

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request goes: scheme, host in ASCII lower case, port."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """`host:port`, the port always there; an IPv6 address in brackets."""
        return f"{_bracketed(self.host)}:{self.port}"


def origin(scheme: str, host: str, port: int | None) -> Origin:
    """The origin of a URL's parts; a missing port is the scheme's own."""
    return Origin(scheme, host.lower(), port if port is not None else _PORTS.get(scheme, 0))


def why_refused(to: Origin, auth_host: str, allowed_hosts: Iterable[str]) -> str:
    """Empty where the request may go there; else why not, as the rest of a sentence.

    An entry is `host`, `host:port` or `*.host` (every depth below, not `host` itself); without a port it means the scheme's
    own port. Plain http is for this machine only.
    """
    if to.scheme not in _PORTS or not to.host:
        return "is no http or https URL"
    if to.scheme == "http" and not is_loopback(to.host):
        return "is plain http to another machine"
    if any(_matches(entry, to) for entry in (auth_host, *allowed_hosts) if entry):
        return ""
    return "is not among the contract's hosts (allowed_hosts)"


def gets_credential(to: Origin, auth_host: str) -> bool:
    """Whether this is base_url's own host and port: nothing else is shown the credential."""
    return bool(auth_host) and "*" not in auth_host and _matches(auth_host, to)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or address alone."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def proxy_for(to: Origin) -> str | None:
    """The proxy that the environment names for this origin (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`); never for loopback."""
    if is_loopback(to.host):
        return None
    proxies = getproxies_environment()
    named = proxies.get(to.scheme) or proxies.get("all")
    if not named or any(_is_exempt(entry.strip().lower(), to) for entry in proxies.get("no", "").split(",")):
        return None
    return named if "://" in named else f"http://{named}"


def _is_exempt(entry: str, to: Origin) -> bool:
    """Whether an entry of `NO_PROXY` covers the origin: `*`, or a host with everything below it, with or without a port."""
    host, port = _split(entry.removeprefix("*").removeprefix("."))
    if entry == "*":
        return True
    return bool(host) and port in (None, to.port) and (to.host == host or to.host.endswith(f".{host}"))


def _matches(entry: str, to: Origin) -> bool:
    host, port = _split(entry.lower())
    if (port if port is not None else _PORTS[to.scheme]) != to.port:
        return False
    if host.startswith("*."):
        return to.host.endswith(host[1:]) and len(to.host) > len(host) - 1
    return host == to.host


def _split(entry: str) -> tuple[str, int | None]:
    """Host and port of an entry; an IPv6 address stands in brackets where a port follows."""
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        return host, _port(rest.removeprefix(":"))
    host, colon, rest = entry.partition(":")
    return (entry, None) if ":" in rest else (host, _port(rest) if colon else None)


def _port(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 5 else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
