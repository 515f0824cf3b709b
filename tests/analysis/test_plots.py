"""The plots: each draws what its analysis returned, an empty one too, and takes foreign text literally."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from jobconsole import analysis
from tests.analysis.log import Log, at

PLOTS = {
    analysis.plot_outcomes: analysis.outcomes,
    analysis.plot_requests: analysis.requests_per_operation,
    analysis.plot_detection_delay: analysis.detection_delay,
    analysis.plot_waiting: analysis.waiting_by_reason,
    analysis.plot_provider_health: analysis.provider_health,
    analysis.plot_burn_down: analysis.burn_down,
}
each_plot = pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.__name__)


@pytest.fixture(autouse=True)
def canvas() -> Iterator[None]:
    """A canvas without a screen; figures are let go of."""
    mpl.use("agg")
    yield
    pyplot.close("all")


def some(provider: str = "acme", operation_id: str = "op") -> Log:
    """One operation that was submitted, checked and ended."""
    log = Log()
    log.submitted(operation_id, 0, provider)
    log.waiting("check_reserved", operation_id, 5, status_requests_used=1, lease_token=2)
    log.waiting(
        "check_answered", operation_id, 7, tx=4, status_requests_used=1, observation={"verdict": "succeeded", "ended_at": at(6)}
    )
    log.add("closed", operation_id, 7, phase="succeeded", status_requests_used=1, max_status_requests=12, deadline_at=at(600))
    return log


@each_plot
@pytest.mark.parametrize("log", [some(), Log()], ids=["some", "nothing"])
def test_a_plot_is_drawn_and_named_at_its_axes(plot: Callable[..., Any], log: Log) -> None:
    drawn = plot(PLOTS[plot](log.frame()))
    drawn.figure.canvas.draw()
    assert drawn.get_xlabel() or drawn.get_ylabel()


@each_plot
def test_a_plot_goes_into_the_axes_that_are_given(plot: Callable[..., Any]) -> None:
    _, ax = pyplot.subplots()
    assert plot(PLOTS[plot](some().frame()), ax=ax) is ax
    assert pyplot.get_fignums() == [1]


@pytest.mark.rule("U3")
@pytest.mark.parametrize("text", [r"$\frac{1}{0}$", "$unclosed", "<b>x</b>", "_hidden"])
def test_foreign_text_in_a_label_is_literal(text: str) -> None:
    """Neither math, which could fail to parse, nor markup; a leading underscore hides no line from the legend."""
    log = some(provider=text, operation_id=text)
    for plot in (analysis.plot_provider_health, analysis.plot_burn_down):
        drawn: Any = plot(PLOTS[plot](log.frame()))
        drawn.figure.canvas.draw()
        shown = [label.get_text() for label in drawn.get_legend().get_texts()]
        assert [each.replace(r"\$", "$").strip("\u200b") for each in shown] == [text]
