"""`[ui]`, `[profile]` and `[keys]` of `config.toml`, and that a theme chosen live is there the next time."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobconsole.console import load_settings
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.settings import Settings, read_settings
from jobconsole.tui.start import make_dashboard
from tests.tui.conftest import TestedDashboard, running, until


@pytest.mark.parametrize(
    ("tables", "fault"),
    [
        ({"keys": {"operation.extnd": "E"}}, "did you mean operation.extend"),
        ({"keys": {"operation.extend": 5}}, "needs a key"),
        ({"keys": {"operation.extend": "not a key"}}, "needs a key"),
        ({"keys": "j"}, "write [keys]"),
        ({"keys": {"operation.extend": "q"}}, "q is Extend, not Quit; Quit is :quit"),
        ({"keys": {"view.pause": "?"}}, "question_mark is Pause repainting, not Help; Help has f1"),
        ({"keys": {"list.down": "down,c"}}, "c is Down, not Cancel at the provider; Cancel at the provider is :cancel"),
        ({"keys": {"operation.extend": "j"}}, "j is Down, not Extend; Extend is :extend"),
        ({"keys": {"operation.extend": "E", "operation.cancel": "E"}}, "E is Extend, not Cancel at the provider"),
        (
            {"keys": {"operation.close": "enter"}},
            "enter is Stop watching in the table of operations and Open in other lists; Open has l",
        ),
        ({"keys": {"list.open": "e"}}, "e is Extend in the table of operations and Open in other lists"),
        ({"keys": {"list.down": "enter"}}, "enter is Down, not Open; Open has l"),
        (
            {"keys": {"operation.extend": "E", "operation.cancel": "E", "operation.close": "E"}},
            "E is Extend, not Cancel at the provider or Stop watching; "
            "Cancel at the provider is :cancel; Stop watching is :close",
        ),
        ({"keys": {"dialog.next": "escape"}}, "escape is dialog.next, not Back; Back has no key"),
        ({"bogus": {}}, "[bogus] is not known; known are [ui], [profile], [keys], [notify]"),
        ({"ui": {"theme": 1}}, "ui.theme is no text"),
        ({"ui": {"colour": "red"}}, "ui.colour is not known"),
        ({"ui": {"times": "mars"}}, "ui.times is 'mars'; write age, local or utc"),
        ({"ui": {"mouse": "off"}}, "ui.mouse is neither true nor false"),
        ({"profile": {"name": 1}}, "profile.name is no text"),
        ({"profile": {"prod": True}}, "profile.prod is not known; known are name, production"),
        ({"profile": {"production": "yes"}}, "profile.production is neither true, false nor a list of names"),
    ],
)
def test_a_setting_that_cannot_be_used_is_told_and_the_rest_is_taken(tables: dict[str, object], fault: str) -> None:
    """One sentence each, with the mend."""
    settings = read_settings({"ui": {"times": "utc"}} | tables)
    assert fault in settings.faults[0]
    assert len(settings.faults) == 1


@pytest.mark.parametrize(
    ("profile", "word", "is_production"),
    [
        ({}, "prod", True),
        ({}, "Production", True),
        ({}, "staging", False),
        ({"production": True}, "staging", True),
        ({"production": False}, "prod", False),
        ({"production": ["eu-west"]}, "eu-west", True),
        ({"production": ["eu-west"]}, "prod", False),
        ({"production": "yes"}, "staging", True),  # what was meant to protect is never read as no protection
    ],
)
def test_which_store_is_production(profile: dict[str, object], word: str, is_production: bool) -> None:
    """By its word, or because the file says so."""
    assert read_settings({"profile": profile}).is_production(word) is is_production


def test_opening_a_line_and_an_operation_may_share_a_key() -> None:
    """Both open what the cursor stands on."""
    assert read_settings({"keys": {"operation.open": "enter"}}).faults == ()


def test_bindings_that_change_their_keys_with_each_other_are_no_fault() -> None:
    """Each of them still has one."""
    assert read_settings({"keys": {"operation.extend": "c", "operation.cancel": "e"}, "notify": {}}).faults == ()


async def test_what_is_wrong_with_the_file_stands_in_the_log(dashboard: TestedDashboard) -> None:
    """A toast is gone after some seconds."""
    dashboard.faults = ("config.toml: [bogus] is not known",)
    async with running(dashboard):
        assert [line.text for line in dashboard.log_ring.lines] == ["config.toml: [bogus] is not known"]


def test_without_a_file_everything_is_as_usual() -> None:
    """Ages, a mouse, no name."""
    assert read_settings({}) == Settings()


async def test_the_dashboard_takes_what_the_file_says(dashboard: TestedDashboard, tmp_path: Path) -> None:
    """Theme, times, mouse and profile."""
    (tmp_path / "config.toml").write_text(
        '[ui]\ntheme = "high-contrast"\ntimes = "utc"\nmouse = false\n[profile]\nname = "eu"\nproduction = ["eu"]\n'
    )
    made = make_dashboard(dashboard.desk, tmp_path)
    assert (made.theme, made.time_style, made.mouse.is_on) == ("high-contrast", TimeStyle.UTC, False)
    assert (made.profile, made.is_production, made.faults) == ("eu", True, ())
    assert make_dashboard(dashboard.desk, tmp_path, profile="demo").is_production is False


async def test_without_animation_nothing_glides(dashboard: TestedDashboard, tmp_path: Path) -> None:
    """For slow lines, and for eyes that do not like it."""
    assert make_dashboard(dashboard.desk, tmp_path, is_animated=False).animation_level == "none"
    assert make_dashboard(dashboard.desk, tmp_path).animation_level == "full"


@pytest.mark.parametrize(
    ("text", "fault"),
    [("[ui\n", "is not TOML"), ('[ui]\ntheme = "mauve"\n', "config.toml: there is no theme 'mauve'")],
)
async def test_a_file_that_cannot_be_used_keeps_nobody_out(
    dashboard: TestedDashboard, tmp_path: Path, text: str, fault: str
) -> None:
    """The dashboard begins with what is usual, and says why."""
    (tmp_path / "config.toml").write_text(text)
    made = make_dashboard(dashboard.desk, tmp_path)
    assert any(fault in each for each in made.faults)


async def test_a_theme_chosen_live_is_kept_for_the_next_time(dashboard: TestedDashboard, tmp_path: Path) -> None:
    """By command, among the comments of the file; nothing is written before."""
    (tmp_path / "config.toml").write_text("# mine\n[keys]\n")
    kept = make_dashboard(dashboard.desk, tmp_path, theme="jobconsole-light").themes.keep
    dashboard.themes.keep = kept
    async with running(dashboard) as pilot:
        assert load_settings(tmp_path) == {"keys": {}}
        dashboard.run_command("theme colour-blind-dark")
        await until(pilot, lambda: "ui" in load_settings(tmp_path))
    assert (tmp_path / "config.toml").read_text().startswith("# mine\n[keys]\n")
    assert load_settings(tmp_path) == {"keys": {}, "ui": {"theme": "colour-blind-dark"}}
    assert make_dashboard(dashboard.desk, tmp_path).theme == "colour-blind-dark"


async def test_a_theme_that_cannot_be_kept_holds_for_now_and_that_is_said(dashboard: TestedDashboard, tmp_path: Path) -> None:
    """The file is not TOML: it is left alone."""
    (tmp_path / "config.toml").write_text("[ui\n")
    dashboard.themes.keep = make_dashboard(dashboard.desk, tmp_path).themes.keep
    async with running(dashboard) as pilot:
        dashboard.run_command("theme high-contrast")
        await until(pilot, lambda: any("The theme is not kept" in each.message for each in dashboard._notifications))
        assert dashboard.theme == "high-contrast"
    assert (tmp_path / "config.toml").read_text() == "[ui\n"


@pytest.mark.rule("H11")
async def test_a_read_only_dashboard_writes_no_settings(dashboard: TestedDashboard, tmp_path: Path) -> None:
    """Not even a theme."""
    store = dashboard.desk.store
    assert isinstance(store, MemoryStore)
    dashboard.desk.store = store.handle(is_read_only=True)
    dashboard.themes.keep = make_dashboard(dashboard.desk, tmp_path).themes.keep
    async with running(dashboard) as pilot:
        dashboard.run_command("theme high-contrast")
        await until(pilot, lambda: any("this dashboard is read-only" in each.message for each in dashboard._notifications))
    assert not (tmp_path / "config.toml").exists()


@pytest.mark.parametrize("is_production", [False, True])
async def test_the_word_of_a_production_store_stands_out(dashboard: TestedDashboard, is_production: bool) -> None:
    """It is reversed in the header, in a hue of its own."""
    dashboard.is_production = is_production
    async with running(dashboard) as pilot:
        await pilot.pause()
        (word,) = (segment for segment in dashboard.screen._compositor.render_strips()[0] if segment.text.strip() == "test")
        assert word.style is not None
        assert bool(word.style.reverse) is is_production
