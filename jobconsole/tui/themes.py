"""Theme files as Textual themes (SPEC U4).

Only this file decides which Textual variable carries which colour of a theme. The app registers all of them when it starts;
`app.tcss` uses the variables, `Look` is for what is drawn line by line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES
from textual.theme import Theme as TextualTheme

from jobconsole.core.telling.theme import Hue, Theme
from jobconsole.core.vocabulary import Phase


def textual_theme(theme: Theme) -> TextualTheme:
    """The theme for Textual; each hue is the variable `$state-NAME`, with dashes."""
    colours = theme.palette
    on_colour = colours["background"] if not theme.is_ansi else "ansi_black"
    rule = colours["secondary"] if theme.is_ansi else _between(colours["background"], colours["secondary"], 0.35)
    return TextualTheme(
        name=theme.name,
        dark=theme.is_dark,
        ansi=theme.is_ansi,
        primary=colours["primary"],
        secondary=colours["secondary"],
        accent=colours["accent"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        success=colours["success"],
        warning=colours["warning"],
        error=colours["error"],
        variables={
            **(BUILTIN_THEMES["ansi-dark" if theme.is_dark else "ansi-light"].variables if theme.is_ansi else {}),
            **{f"state-{hue.replace('_', '-')}": theme.hues[hue] for hue in Hue},
            "quiet": theme.hues[Hue.QUEUED],
            "rule": rule,  # lines between panes: seen, and never in the way
            "scrollbar": "ansi_bright_black" if theme.is_ansi else rule,
            "scrollbar-hover": colours["secondary"],
            "scrollbar-background": colours["background"],
            "footer-key-foreground": colours["primary"],
            "footer-background": colours["panel"],
            "footer-description-foreground": theme.palette["foreground"],
            "block-cursor-background": colours["primary"],
            "block-cursor-foreground": on_colour,
            "input-cursor-background": theme.palette["accent"],
            "border": theme.palette["secondary"],
            "border-blurred": theme.palette["secondary"],
        },
    )


@dataclass(frozen=True)
class Look:
    """The styles of one theme for what is drawn line by line: rows, bars, header."""

    theme: Theme

    def phase(self, phase: Phase) -> Style:
        """The style of a phase's sign and word."""
        return self.phases[phase]

    @cached_property
    def phases(self) -> dict[Phase, Style]:
        """A style for each phase; what needs a person is bold too, and reversed where a dark hue alone would not stand out."""
        styles = {phase: Style(color=_rich(self.theme.hue(phase))) for phase in Phase}
        styles[Phase.ESCALATED] += Style(bold=True, reverse=not self.theme.is_dark)
        return styles

    @cached_property
    def text(self) -> Style:
        """Ordinary text."""
        return Style(color=_rich(self.theme.palette["foreground"]))

    @cached_property
    def quiet(self) -> Style:
        """Text that stands back: units, headings, what is over."""
        return Style(color=_rich(self.theme.hues[Hue.QUEUED]))

    @cached_property
    def accent(self) -> Style:
        """Text to look at."""
        return Style(color=_rich(self.theme.palette["primary"]))

    @cached_property
    def needs_you(self) -> Style:
        """What a person should do something about."""
        return Style(color=_rich(self.theme.hues[Hue.NEEDS_YOU]), bold=True)

    @cached_property
    def production(self) -> Style:
        """The word of a production store: like nothing else on the screen."""
        return Style(color=_rich(self.theme.palette["error"]), bold=True, reverse=True)

    @cached_property
    def done(self) -> Style:
        """What is well."""
        return Style(color=_rich(self.theme.hues[Hue.DONE]))

    @cached_property
    def warning(self) -> Style:
        """A budget that is nearly spent."""
        return Style(color=_rich(self.theme.palette["warning"]))

    @cached_property
    def row(self) -> Style:
        """The background of a row."""
        return Style(bgcolor=_rich(self.theme.palette["background"]))

    @cached_property
    def cursor(self) -> Style:
        """The background of the row under the cursor; without shades of its own, the row is reversed."""
        if self.theme.is_ansi:
            return Style(reverse=True)
        return Style(bgcolor=_rich(_between(self.theme.palette["background"], self.theme.palette["primary"], 0.2)))

    @cached_property
    def cursor_blurred(self) -> Style:
        """The same while the focus is elsewhere."""
        if self.theme.is_ansi:
            return Style(bold=True, underline=True)
        return Style(bgcolor=_rich(self.theme.palette["panel"]))


def _rich(colour: str) -> str:
    """A theme's colour as Rich names it."""
    return colour.removeprefix("ansi_") if colour.startswith("ansi_") else colour


def _between(start: str, end: str, share: float) -> str:
    return Color.parse(start).blend(Color.parse(end), share).hex6
