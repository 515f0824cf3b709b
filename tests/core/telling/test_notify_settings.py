"""`[notify]` of config.toml: what is right is taken, what is wrong is told with its mend, and no secret is repeated (C13)."""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.core.telling.notify_settings import NotifySettings, notify_settings

PASTED = "slack://T0AAAAAAA/B0BBBBBBB/cccccccccccccccccccccccc"


def read(**table: Any) -> NotifySettings:
    return notify_settings({"notify": table})


def test_nothing_is_on_where_nothing_is_asked_for() -> None:
    assert notify_settings({}) == NotifySettings()


def test_all_settings() -> None:
    urls = ["env:JOBCONSOLE_NOTIFY_URL", "file:/run/secrets/notify", "keyring:jobconsole/notify"]
    found = read(bell=True, desktop=True, urls=urls, quiet_hours="22:00-07:00", zone="Europe/Berlin", looks=True)
    assert (found.bell, found.desktop, found.looks, found.urls, found.faults) == (True, True, True, tuple(urls), ())
    assert found.quiet_hours is not None
    assert found.quiet_hours.zone.key == "Europe/Berlin"


@pytest.mark.rule("C13")
def test_a_pasted_url_is_refused_with_the_mend_and_is_not_repeated() -> None:
    found = read(urls=[PASTED, "env:OTHER"])
    assert found.urls == ("env:OTHER",)
    assert found.faults == (
        "config.toml: notify.urls[0] is no reference, and a URL holds a secret; write a reference: env:NAME, "
        "keyring:service/user or file:PATH, and keep the URL there",
    )
    assert "cccc" not in repr(found)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"bel": True}, "config.toml: notify.bel is not known; did you mean bell?"),
        ({"zzz": 1}, "config.toml: notify.zzz is not known; known are bell, desktop, urls, quiet_hours, zone, looks"),
        ({"bell": "yes"}, "config.toml: notify.bell is neither true nor false; write bell = true"),
        ({"urls": "env:X"}, 'config.toml: notify.urls is no list; write urls = ["env:JOBCONSOLE_NOTIFY_URL"]'),
        ({"urls": [7]}, "config.toml: notify.urls[0] is no text; write a reference"),
        (
            {"quiet_hours": "nights", "zone": "UTC"},
            "config.toml: notify.quiet_hours cannot be read, so no hour is quiet; write",
        ),
        ({"quiet_hours": 7, "zone": "UTC"}, "config.toml: notify.quiet_hours cannot be read"),
        ({"quiet_hours": "22:00-07:00"}, "config.toml: notify.zone is missing, so no hour is quiet; write zone"),
        ({"zone": "Europa/Berlin"}, "config.toml: notify.zone: there is no time zone 'Europa/Berlin', so no hour is quiet"),
        ({"zone": "../../etc/passwd"}, "config.toml: notify.zone: there is no time zone"),
        ({"zone": 7}, "config.toml: notify.zone: there is no such time zone"),
        ({"\x1b]0;x\x07": 1}, "config.toml: notify.\\x1b]0;x\\x07 is not known"),
    ],
)
def test_a_fault_names_the_file_the_key_and_the_mend_and_the_rest_is_taken(table: dict[str, Any], said: str) -> None:
    found = read(desktop=True, **table)
    assert [fault[: len(said)] for fault in found.faults] == [said]
    assert found.desktop


def test_a_table_that_is_none_is_said() -> None:
    assert notify_settings({"notify": 3}).faults == ("config.toml: notify is no table; write [notify]",)
