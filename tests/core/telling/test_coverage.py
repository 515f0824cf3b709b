"""How long checks last, with the arithmetic visible (X14)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from importlib.resources import files

import pytest

from jobconsole.core.contracts.contract import Contract, Hints, HttpCodes, NotFound, ResultSpec, Schedule
from jobconsole.core.contracts.file import load
from jobconsole.core.telling.coverage import coverage

PLAY = load((files("jobconsole.play") / "play.toml").read_text(encoding="utf-8"), "play.toml")


def seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


def with_schedule(base: float = 5, factor: float = 2.0, most: float = 120, spread: bool = False) -> Contract:
    """The play contract with the usual jitter, 50-100 %, whose mean is 75 %."""
    return replace(PLAY, schedule=Schedule("backoff", seconds(base), factor, seconds(most), spread=spread))


@pytest.mark.rule("X14")
@pytest.mark.parametrize(
    ("contract", "checks", "lasts"),
    [
        (with_schedule(), 1, 0.75 * 5),
        (with_schedule(), 4, 0.75 * (5 + 10 + 20 + 40)),
        (with_schedule(), 7, 0.75 * (5 + 10 + 20 + 40 + 80 + 120 + 120)),
        (with_schedule(factor=1.0), 10, 0.75 * 5 * 10),
        (with_schedule(base=120), 3, 0.75 * 120 * 3),
        (with_schedule(spread=True), 3, 3600),
        (replace(with_schedule(), hints=Hints(min_interval=seconds(30))), 4, 30 * 4),
        (replace(with_schedule(), hints=Hints(max_interval=seconds(3))), 4, 3 * 4),
    ],
)
def test_checks_last_for_the_sum_of_their_mean_delays(contract: Contract, checks: int, lasts: float) -> None:
    found = coverage(contract, seconds(3600), checks)
    assert found.checks_last == pytest.approx(seconds(lasts), abs=seconds(0.001))


@pytest.mark.rule("B18")
def test_no_number_of_checks_overflows() -> None:
    for factor in (1.0, 1.000001, 1e9):
        assert coverage(with_schedule(factor=factor), timedelta(days=366), 1_000_000).checks_last > timedelta(0)


@pytest.mark.rule("X14")
def test_what_ends_before_the_deadline_is_a_warning_each() -> None:
    short = replace(
        with_schedule(),
        result=ResultSpec(retention=seconds(60), url_lifetime=seconds(120)),
        http=HttpCodes(not_found=NotFound(expired_after=seconds(180))),
    )
    assert coverage(short, seconds(2400), 12).warnings == (
        "12 checks last about 12m26s of the 40m until the deadline; then a person is asked, unless the provider asks for "
        "longer waits",  # 0.75 x (5 + 10 + 20 + 40 + 80 + 7 x 120) = 746.25 s
        "the provider deletes the result after 1m, before the deadline of 40m",
        "the result's URL expires after 2m, before the deadline of 40m",
        "the provider forgets the job after 3m, before the deadline of 40m",
    )


@pytest.mark.rule("X14")
def test_a_budget_that_reaches_the_deadline_warns_of_nothing() -> None:
    assert coverage(with_schedule(), seconds(600), 60).warnings == ()
