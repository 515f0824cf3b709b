"""URLs and templates in a contract file: which may stand there, and which names they may use.

Only this file decides that at load time; `hosts.py` decides about whole URLs when they are used, `templates.py` fills.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any

from jobconsole.core.contracts import hosts, templates
from jobconsole.core.contracts.table import Table

BUILT_IN_NAMES = frozenset({"job_id", "status_url", "result_url", "result_id", "secret"})
URL_NAMES = ("status_url", "result_url")

_PLACEHOLDER = r"\{\+?[A-Za-z_][A-Za-z0-9_]*\}"
_HOST = re.compile(rf"(?:[A-Za-z0-9.-]|{_PLACEHOLDER})+|\[[0-9a-fA-F:.]+\]")
_BASE = re.compile(r"(https?)://([^/?#]+)((?:/[^?#]*)?)")


def check_base_url(provider: Table, params: Set[str]) -> str:
    """[provider].base_url without a slash at its end: https, or http on loopback; a path is kept."""
    url = provider.text("base_url")
    parts = _BASE.fullmatch(url)
    if parts is None or re.search(r"[\s\\]", url):
        provider.refuse("base_url", "is no base URL", "write https://host or https://host/path, without query and fragment")
    scheme, place, _ = parts.groups()
    if "@" in place:
        provider.refuse("base_url", "names a user", "leave the user out; a credential is a reference in [auth]")
    host, port = split_place(place)
    if not _HOST.fullmatch(host) or not re.fullmatch(rf"(?::(?:[0-9]+|{_PLACEHOLDER}))?", port):
        provider.refuse("base_url", "has no usable host", "write https://host or https://host:port")
    if scheme == "http" and not hosts.is_loopback(host.strip("[]")):
        provider.refuse("base_url", "uses http", "write https; http is for loopback only")
    check_names(provider, "base_url", url, params)
    return url.rstrip("/")


def split_place(place: str) -> tuple[str, str]:
    """`host:port` as host and `:port`, either of which may be a placeholder; IPv6 stands in brackets."""
    match = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(:.*)?", place, re.DOTALL)
    return (match[1], match[2] or "") if match else (place, "")


def check_host_pattern(provider: Table, pattern: str, params: Set[str]) -> str:
    """One of allowed_hosts: host, host:port or *.host."""
    host, port = split_place(pattern.removeprefix("*."))
    if not _HOST.fullmatch(host) or not re.fullmatch(rf"(?::(?:[0-9]+|{_PLACEHOLDER}))?", port) or not host.strip("."):
        provider.refuse(
            "allowed_hosts", f"{pattern[:80]!r} is no host", "write cdn.example.com, or *.example.com for all below it"
        )
    check_names(provider, "allowed_hosts", pattern, params)
    return pattern.lower() if "{" not in pattern else pattern


def check_link(provider: Table, key: str, names: Set[str] = frozenset()) -> str | None:
    """A URL for people to open: http or https."""
    link = provider.maybe_text(key)
    if link is not None:
        if not re.fullmatch(r"https?://[^\s/]+\S*", link):
            provider.refuse(key, "is no URL", "write it with https://")
        check_names(provider, key, link, names)
    return link


def check_names(table: Table, key: str, template: str, names: Set[str]) -> None:
    """Refuse placeholders that have no such name, and stray braces."""
    check_known(table, key, templates.names(template), names)
    if templates.stray_brace(template):
        table.refuse(key, "has a brace that belongs to no placeholder", "write {name} or {+name}")


def check_known(table: Table, key: str, used: tuple[str, ...], names: Set[str]) -> None:
    """Refuse names that no request of this kind can have a value for."""
    for name in used:
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            table.refuse(key, f"{{{name}}} has no value here", f"known here: {known}; a param stands in [params.{name}]")


def check_target(table: Table, target: str, names: Set[str]) -> str:
    """The second word of `request`: a path below base_url, or {status_url} or {result_url} with a path behind it."""
    leading = re.match(r"\{(\w+)\}", target)
    if (leading is None or leading[1] not in URL_NAMES) and not target.startswith("/"):
        table.refuse("request", f"{target[:80]!r} is no path", "begin it with /, {status_url} or {result_url}")
    if "#" in target or "\\" in target or re.search(r"(?:^|/)\.\.?(?:/|\?|$)", target):
        table.refuse("request", "holds #, a backslash or a dot segment", "write the path as the provider documents it")
    rest = target[leading.end() :] if leading and leading[1] in URL_NAMES else target
    for name in templates.names(rest):
        if name in URL_NAMES:
            table.refuse("request", f"{{{name}}} is a whole URL", f"begin the request with it: GET {{{name}}}")
    check_names(table, "request", target, names)
    return target


def is_json(value: Any) -> bool:
    """Whether a TOML value is a JSON value too: no dates, no nan, no inf."""
    if isinstance(value, dict):
        return all(is_json(item) for item in value.values())
    if isinstance(value, list):
        return all(is_json(item) for item in value)
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    return isinstance(value, str | int)
