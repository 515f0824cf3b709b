"""The analyses as plots, drawn with matplotlib, the extra `plots`: its pictures are plain PNG, which every forge, file viewer
and PDF shows from a saved notebook, where plotly needs a script to run.

Only this file draws. Each function takes what the analysis of its name returned, draws on `ax` or on a new figure, and returns
the axes, for the caller to go on with. State is never told by colour alone: bars and lines carry their names. Foreign text
stands in labels as plain text, never as math.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from jobconsole.errors import InvalidValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE: Final = (7.0, 3.0)  # inches
BLUE, GREY, YELLOW, RED, GREEN = "#1f6feb", "#8b949e", "#d29922", "#cf222e", "#2da44e"
_STANDING_COLOURS: Final = {"outcome": GREEN, "escalation": YELLOW, "under way": BLUE, "overdue": RED}
ZERO_WIDTH: Final = "\u200b"
MOST_LINES: Final = 12
MARGIN: Final = pd.Timedelta(hours=1)


def plot_outcomes(outcomes: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """How many operations stand where."""
    names = [f"{phase} ({standing})".replace("_", " ") for standing, phase in outcomes.index]
    colours = [_STANDING_COLOURS[standing] for standing, _ in outcomes.index]
    return _bars(names, outcomes["operations"], colours, "operations", ax)


def plot_requests(requests: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """How many operations needed how many status requests."""
    drawn = _axes(ax)
    counts = requests["requests"].value_counts().sort_index()
    drawn.bar(counts.index.astype(int), counts.to_numpy(dtype=int), color=BLUE)
    drawn.set_xlabel("status requests of an operation")
    drawn.set_ylabel("operations")
    _whole_numbers(drawn)
    return drawn


def plot_detection_delay(delays: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Which share of the jobs' ends was seen within how many seconds."""
    drawn = _axes(ax)
    for name, style, label in (("delay", "-", "by the provider's end time"), ("at_most", "--", "at most, by our clock")):
        seconds = delays[name].dropna().dt.total_seconds().sort_values()
        if len(seconds):
            shares = [(number + 1) / len(seconds) for number in range(len(seconds))]
            drawn.step(seconds, shares, style, where="post", label=label, color=BLUE if name == "delay" else GREY)
    drawn.set_xlabel("seconds until the end was seen")
    drawn.set_ylabel("share of the jobs")
    drawn.set_ylim(0, 1.05)
    if drawn.get_legend_handles_labels()[0]:
        drawn.legend(loc="lower right", frameon=False)
    return drawn


def plot_waiting(waiting: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """What the time went into, in seconds."""
    names = [_plain(key).replace("_", " ") for key in waiting.index]
    return _bars(names, waiting["waited"].dt.total_seconds().round(1), BLUE, "seconds, all operations together", ax)


def plot_provider_health(health: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """The share of good answers of each provider, from period to period."""
    drawn = _axes(ax)
    marks = "osv^D*PX"
    for number, (provider, rows) in enumerate(health.groupby(level="provider")):
        hours = rows.index.get_level_values("hour")
        label, mark = _literal(str(provider)), marks[number % len(marks)]
        drawn.plot(hours, rows["good_share"].to_numpy(dtype=float), marker=mark, label=label)
    drawn.set_ylabel("share of good answers")
    drawn.set_ylim(0, 1.05)
    if len(health):
        periods = health.index.get_level_values("hour")
        drawn.set_xlim(periods.min() - MARGIN, periods.max() + MARGIN)
        drawn.xaxis.set_major_formatter(_utc(drawn))
        drawn.legend(loc="lower left", frameon=False)
    return drawn


def plot_burn_down(left: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Requests left over the time since each operation began; of many operations, those that used the most."""
    drawn = _axes(ax)
    used = left.groupby("operation_id")["requests_left"].agg(lambda row: row.max() - row.min())
    for operation_id in used.sort_values(ascending=False, kind="stable").index[:MOST_LINES]:
        rows = left[left["operation_id"] == operation_id]
        seconds = rows["elapsed"].dt.total_seconds()
        drawn.step(seconds, rows["requests_left"].to_numpy(dtype=float), where="post", label=_literal(str(operation_id)))
    drawn.set_xlabel("seconds since the operation began")
    drawn.set_ylabel("status requests left")
    drawn.set_ylim(bottom=0)
    _whole_numbers(drawn)
    if len(used):
        drawn.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return drawn


# ---- inside ------------------------------------------------------------------------------------------------------------------
def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InvalidValue("plots need matplotlib, which is not installed: pip install 'jobconsole[plots]'") from None
    _, made = pyplot.subplots(figsize=SIZE, layout="constrained")
    return made


def _bars(names: list[str], values: Any, colours: Any, label: str, ax: Axes | None) -> Axes:
    """Horizontal bars, the first on top, each with its number."""
    drawn = _axes(ax)
    drawn.bar_label(drawn.barh([_literal(name) for name in names], values.to_numpy(dtype=float), color=colours), padding=3)
    drawn.invert_yaxis()
    drawn.set_xlabel(label)
    drawn.spines[["top", "right"]].set_visible(False)
    drawn.margins(x=0.1)
    return drawn


def _plain(key: Any) -> str:
    return ": ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _literal(text: str) -> str:
    """Text in which a dollar sign begins no formula, and which no legend hides because of its first character."""
    escaped = text.replace("$", r"\$")
    return f"{ZERO_WIDTH}{escaped}" if text.startswith("_") else escaped


def _utc(ax: Axes) -> Any:
    """Days and hours in UTC, which stands beside them."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(tz="UTC", maxticks=8)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.set_xlabel("UTC")
    return ConciseDateFormatter(locator, tz="UTC")  # type: ignore[no-untyped-call]


def _whole_numbers(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
