"""How people are told that something needs them: `[notify]` of `config.toml` (UX 1a, notifications).

Only this file decides what the table means. What cannot be used is told in one sentence that names file, key and mend, and the
rest is taken: a typing error silences nobody. The console reads it for whoever tells people.

    [notify]
    bell = true                                # in the dashboard: the terminal's bell
    desktop = true                             # in the dashboard: a message of the terminal to the desktop
    urls = ["env:JOBCONSOLE_NOTIFY_URL"]       # Slack, mail, ntfy, ...: each holds one URL of Apprise
    quiet_hours = "22:00-07:00"
    zone = "Europe/Berlin"
    looks = false                              # also what only asks to be seen
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from jobconsole.core.contracts.secret_values import REFERENCE, REFERENCE_MEND
from jobconsole.core.telling.quiet_hours import QuietHours, parse_quiet_hours
from jobconsole.core.telling.terminal_text import inert

_KEYS = ("bell", "desktop", "urls", "quiet_hours", "zone", "looks")
_LONGEST = 60  # characters of a text that is repeated


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """What was asked for, and what is wrong with the rest. `urls` are references (SPEC C13), never URLs."""

    bell: bool = False
    desktop: bool = False
    urls: tuple[str, ...] = ()
    quiet_hours: QuietHours | None = None
    looks: bool = False
    faults: tuple[str, ...] = ()


def notify_settings(tables: Mapping[str, Any]) -> NotifySettings:
    """The settings out of the file's tables. No fault repeats a value that may hold a secret."""
    faults: list[str] = []
    table = tables.get("notify", {})
    if not isinstance(table, Mapping):
        return NotifySettings(faults=("config.toml: notify is no table; write [notify]",))
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            mend = f"did you mean {near[0]}?" if near else f"known are {', '.join(_KEYS)}"
            faults.append(f"config.toml: notify.{inert(key, _LONGEST)} is not known; {mend}")
    return NotifySettings(
        bell=_switch(table, "bell", faults),
        desktop=_switch(table, "desktop", faults),
        urls=_references(table, faults),
        quiet_hours=_quiet_hours(table, faults),
        looks=_switch(table, "looks", faults),
        faults=tuple(faults),
    )


def _switch(table: Mapping[str, Any], key: str, faults: list[str]) -> bool:
    wanted = table.get(key, False)
    if isinstance(wanted, bool):
        return wanted
    faults.append(f"config.toml: notify.{key} is neither true nor false; write {key} = true")
    return False


def _references(table: Mapping[str, Any], faults: list[str]) -> tuple[str, ...]:
    """A URL of Apprise holds its credential, so none may stand in the file (C13)."""
    wanted = table.get("urls", [])
    if not isinstance(wanted, list):
        faults.append('config.toml: notify.urls is no list; write urls = ["env:JOBCONSOLE_NOTIFY_URL"]')
        return ()
    kept = []
    for place, reference in enumerate(wanted):
        if isinstance(reference, str) and REFERENCE.fullmatch(reference):
            kept.append(reference)
        else:
            said = "is no reference, and a URL holds a secret" if isinstance(reference, str) else "is no text"
            faults.append(f"config.toml: notify.urls[{place}] {said}; {REFERENCE_MEND}, and keep the URL there")
    return tuple(dict.fromkeys(kept))


def _quiet_hours(table: Mapping[str, Any], faults: list[str]) -> QuietHours | None:
    wanted, zone = table.get("quiet_hours"), table.get("zone")
    known = _zone(zone)
    if zone is not None and known is None:
        shown = f"no time zone {inert(zone, _LONGEST)!r}" if isinstance(zone, str) else "no such time zone"
        faults.append(f"config.toml: notify.zone: there is {shown}, so no hour is quiet; write a name such as Europe/Berlin")
    if wanted is None:
        return None
    hours = parse_quiet_hours(wanted, known or ZoneInfo("UTC")) if isinstance(wanted, str) else None
    if hours is None:
        faults.append('config.toml: notify.quiet_hours cannot be read, so no hour is quiet; write quiet_hours = "22:00-07:00"')
        return None
    if known is None:
        if zone is None:
            faults.append('config.toml: notify.zone is missing, so no hour is quiet; write zone = "Europe/Berlin", or "UTC"')
        return None
    return hours


def _zone(name: object) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if isinstance(name, str) and name else None
    except (ValueError, LookupError, OSError):
        return None
