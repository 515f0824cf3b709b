"""Every theme that comes with jobconsole: readable, and its states told apart by any kind of colour vision (UX 5, U4)."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from coloraide import Color

from jobconsole.console import load_themes
from jobconsole.core.telling.theme import APART, Hue, Theme
from tests.tui.conftest import TestedDashboard, running, settled, text_of

THEMES = load_themes(Path("/nowhere"))
MEASURABLE = [theme for theme in THEMES.themes.values() if not theme.is_ansi]  # the terminal's own shades nobody knows
LEAST_CONTRAST = 4.5  # WCAG 2 AA
LEAST_DISTANCE = 12.0  # CIEDE2000
VISIONS = ("normal", "protan", "deutan", "tritan")


def seen(colour: str, vision: str) -> Color:
    """A colour as somebody with this kind of colour vision sees it."""
    made = Color(colour)
    return made if vision == "normal" else made.filter(vision).clip("srgb")


def test_all_of_them_load() -> None:
    """A dark and a light one, a pair for colour blindness, one of high contrast, one of 16 colours and ASCII."""
    assert THEMES.failures == ()
    assert set(THEMES.themes) == {
        "jobconsole-dark",
        "jobconsole-light",
        "colour-blind-dark",
        "colour-blind-light",
        "high-contrast",
        "ansi16",
    }
    assert {theme.is_dark for theme in MEASURABLE} == {True, False}
    assert THEMES.themes["ansi16"].is_ascii
    assert THEMES.themes["ansi16"].is_ansi


@pytest.mark.rule("U4")
@pytest.mark.parametrize("theme", MEASURABLE, ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", ["background", "surface", "panel"])
def test_every_text_and_hue_can_be_read_on_every_ground(theme: Theme, ground: str) -> None:
    """At least 4.5 to 1; seven where high contrast is promised, except on panels of it."""
    least = 7.0 if theme.name == "high-contrast" else LEAST_CONTRAST
    colours = {**{hue.value: theme.hues[hue] for hue in Hue}, **theme.palette}
    for name in ("background", "surface", "panel"):
        del colours[name]
    contrasts = {name: round(Color(colour).contrast(theme.palette[ground]), 2) for name, colour in colours.items()}
    assert {name: contrast for name, contrast in contrasts.items() if contrast < least} == {}


@pytest.mark.rule("U4")
@pytest.mark.parametrize("theme", MEASURABLE, ids=lambda theme: theme.name)
@pytest.mark.parametrize("vision", VISIONS)
def test_the_five_hues_stay_apart(theme: Theme, vision: str) -> None:
    """At least 12 in CIEDE2000 for each pair; 16 in the pair of themes that is made for it."""
    least = 16.0 if theme.name.startswith("colour-blind") else LEAST_DISTANCE
    distances = {
        (one.value, other.value): round(
            seen(theme.hues[one], vision).delta_e(seen(theme.hues[other], vision), method="2000"), 1
        )
        for one, other in combinations(APART, 2)
    }
    assert {pair: distance for pair, distance in distances.items() if distance < least} == {}


@pytest.mark.parametrize("name", ["jobconsole-dark", "jobconsole-light"])
def test_what_needs_a_person_has_a_warm_colour(name: str) -> None:
    """Orange to yellow, and so much of it that it is not taken for the colour of plain text."""
    colour = Color(THEMES.themes[name].hues[Hue.NEEDS_YOU]).convert("lch")
    assert 45 <= colour["hue"] <= 100
    assert colour["chroma"] >= 40


@pytest.mark.rule("U4")
@pytest.mark.parametrize("name", sorted(THEMES.themes))
async def test_state_is_told_by_a_sign_and_a_word_in_every_theme(dashboard: TestedDashboard, name: str) -> None:
    """Switched live, on the same row; what was drawn before is drawn anew."""
    await dashboard.track("job-1")
    await dashboard.check("job-1", {"state": "failed"})
    async with running(dashboard) as pilot:
        await settled(pilot)
        dashboard.run_command(f"theme {name}")
        await pilot.pause()
        line = next(line for line in text_of(dashboard) if "job-1" in line)
        sign = "x" if THEMES.themes[name].is_ascii else "✖"
        assert f"{sign} failed" in line
        if THEMES.themes[name].is_ascii:
            assert line.isascii()
        assert dashboard.theme == name
        assert dashboard.look.theme.name == name


async def test_a_theme_that_nobody_has_is_told_with_those_there_are(dashboard: TestedDashboard) -> None:
    """And the present one stays."""
    async with running(dashboard) as pilot:
        dashboard.run_command("theme mauve")
        await pilot.pause()
        (notice,) = dashboard._notifications
        assert "There is no theme 'mauve'. There are: ansi16, colour-blind-dark" in notice.message
        assert dashboard.theme == "jobconsole-dark"
        assert set(dashboard.available_themes) == set(THEMES.themes)
