"""What the person at the dashboard is told of: each item once, several together with one sound, quietly by night."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from textual.pilot import Pilot

from jobconsole.core.telling.notify_settings import NotifySettings
from jobconsole.core.telling.quiet_hours import parse_quiet_hours
from jobconsole.tui.notifying import desktop_sequence

from .conftest import TestedDashboard, running, settled


@pytest.fixture
def rings(dashboard: TestedDashboard, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that the bell rang; the bell is on."""
    heard: list[str] = []
    monkeypatch.setattr(dashboard, "bell", lambda: heard.append("ding"))
    dashboard.notifying.settings = NotifySettings(bell=True)
    return heard


async def tick(pilot: Pilot[None], app: TestedDashboard) -> list[str]:
    """Let a second pass; the toasts that it brought."""
    before = {each.identity for each in app._notifications}
    await settled(pilot)
    app.clock.advance(1)
    app.notifying.tick()
    await pilot.pause()
    return [each.message for each in app._notifications if each.identity not in before]


async def ask(app: TestedDashboard, name: str, title: str | None = None) -> None:
    """Let an operation need a person."""
    await app.track(name, title=title or name)
    await app.check(name, {"state": "odd"})


@pytest.mark.rule("H7")
async def test_a_new_escalation_is_told_of_once(dashboard: TestedDashboard, rings: list[str]) -> None:
    async with running(dashboard) as pilot:
        await ask(dashboard, "a", "Q3 report")
        assert await tick(pilot, dashboard) == [
            "Q3 report needs you: the provider named a state that its contract does not know"
        ]
        await dashboard.desk.note("a", "looking into it", by="person:ana")
        assert await tick(pilot, dashboard) == []
    assert rings == ["ding"]


async def test_what_was_there_at_the_start_is_no_news(dashboard: TestedDashboard, rings: list[str]) -> None:
    await ask(dashboard, "a")
    async with running(dashboard) as pilot:
        assert await tick(pilot, dashboard) == []
    assert rings == []


async def test_several_in_one_second_make_one_sound(dashboard: TestedDashboard, rings: list[str]) -> None:
    async with running(dashboard) as pilot:
        for name in ("a", "b", "c"):
            await ask(dashboard, name)
        assert await tick(pilot, dashboard) == ["3 operations need you"]
    assert rings == ["ding"]


async def test_an_operation_that_asks_again_is_told_of_again(dashboard: TestedDashboard, rings: list[str]) -> None:
    async with running(dashboard) as pilot:
        await ask(dashboard, "a")
        await tick(pilot, dashboard)
        dashboard.clock.advance(1)
        await dashboard.desk.decide("a", "pause", by="person:ana")
        await settled(pilot)
        dashboard.clock.advance(20 * 60)
        await dashboard.check("a", {"state": "odd"})
        assert len(await tick(pilot, dashboard)) == 1
    assert rings == ["ding", "ding"]


async def test_what_somebody_answered_within_the_second_is_not_told_of(dashboard: TestedDashboard, rings: list[str]) -> None:
    async with running(dashboard) as pilot:
        await ask(dashboard, "a")
        await dashboard.desk.decide("a", "close", by="person:ben", reason="seen")
        assert await tick(pilot, dashboard) == []
    assert rings == []


async def test_a_picture_that_is_held_still_still_rings(dashboard: TestedDashboard, rings: list[str]) -> None:
    async with running(dashboard) as pilot:
        dashboard.feed.toggle_pause()
        await ask(dashboard, "a")
        for _ in range(1_000):
            await pilot.pause(0.02)
            dashboard.clock.advance(1)
            dashboard.notifying.tick()
            if rings:
                break
        assert "a" not in dashboard.feed.operations
    assert rings == ["ding"]


async def test_in_quiet_hours_there_is_only_the_toast(dashboard: TestedDashboard, rings: list[str]) -> None:
    """It is 10:00 UTC."""
    dashboard.notifying.settings = NotifySettings(bell=True, quiet_hours=parse_quiet_hours("09:00-11:00", ZoneInfo("UTC")))
    async with running(dashboard) as pilot:
        await ask(dashboard, "a")
        assert len(await tick(pilot, dashboard)) == 1
    assert rings == []


@pytest.mark.rule("H13")
@pytest.mark.parametrize(("looks", "toasts"), [(False, 0), (True, 1)])
async def test_looks_are_told_of_where_they_are_asked_for(
    dashboard: TestedDashboard, rings: list[str], looks: bool, toasts: int
) -> None:
    dashboard.notifying.settings = NotifySettings(bell=True, looks=looks)
    async with running(dashboard) as pilot:
        await dashboard.track("a")
        await dashboard.check("a", {"state": "failed"})
        assert len(await tick(pilot, dashboard)) == toasts
    assert len(rings) == toasts


@pytest.mark.parametrize(
    ("environment", "sequence"),
    [
        ({"TERM": "xterm-kitty"}, "\x1b]9;jobconsole: a; b\x1b\\"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7800"}, "\x1b]777;notify;jobconsole;a, b\x1b\\"),
        ({"TERM": "foot"}, "\x1b]777;notify;jobconsole;a, b\x1b\\"),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x"}, "\x1bPtmux;\x1b\x1b]9;jobconsole: a; b\x1b\x1b\\\x1b\\"),
        ({"TERM": "linux"}, ""),
        ({"TERM": "screen", "STY": "1.x"}, ""),
        ({}, ""),
    ],
)
def test_each_terminal_is_asked_in_its_own_words(environment: dict[str, str], sequence: str) -> None:
    assert desktop_sequence("a; b", environment) == sequence


@pytest.mark.rule("U3")
@pytest.mark.parametrize("text", ["\x1b\\\x1b]0;owned\x07", "\x07\x9c\x1b[2J", "\u202egpj\n" * 100])
def test_a_name_cannot_end_the_sequence(text: str) -> None:
    sequence = desktop_sequence(text, {"TERM": "xterm"})
    assert sequence.endswith("\x1b\\")
    inner = sequence.removeprefix("\x1b]9;").removesuffix("\x1b\\")
    assert inner.isprintable()
    assert len(inner) < 140
