"""Where a request goes on the wire, and through which proxy.

Only this file decides about proxies. Which URL may be asked at all is decided by `core/contracts/hosts.py`; `http.py` makes
the origin from the URL as its library reads it and compares the two, so that no second parser can send a request elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.request import getproxies_environment

from jobconsole.core.contracts.hosts import is_loopback

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host (ASCII, lower case, IPv6 without brackets) and port: what one kept-alive connection may serve."""

    scheme: str
    host: str
    port: int

    @property
    def place(self) -> str:
        """`host` or `host:port`, the scheme's own port left out: as in `HttpRequest.auth_host`."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == _PORTS.get(self.scheme) else f"{shown}:{self.port}"


def origin(scheme: str, host: str, port: int | None) -> Origin:
    """The origin of a URL's parts; a missing port is the scheme's own."""
    return Origin(scheme, host.lower(), port if port is not None else _PORTS.get(scheme, 0))


def proxy_for(to: Origin) -> str | None:
    """The proxy that the environment names (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, in either case); never for loopback."""
    if is_loopback(to.host):
        return None
    proxies = getproxies_environment()
    named = proxies.get(to.scheme) or proxies.get("all")
    if not named or any(_is_exempt(entry.strip().lower(), to) for entry in proxies.get("no", "").split(",")):
        return None
    return named if "://" in named else f"http://{named}"


def _is_exempt(entry: str, to: Origin) -> bool:
    """Whether an entry of `NO_PROXY` covers the origin: `*`, or a host with everything below it, with or without a port."""
    if entry == "*":
        return True
    host, _, port = entry.removeprefix("*").removeprefix(".").partition(":")
    return bool(host) and port in ("", str(to.port)) and (to.host == host or to.host.endswith(f".{host}"))
