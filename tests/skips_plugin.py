"""In CI a skipped test is a failed one, unless its reason is listed here.

Only this file decides which skips CI accepts. A test that cannot run proves nothing, and nobody reads the skips of a green run.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

LISTED_REASONS: dict[str, str] = {}
"""Reason of the skip, as the test words it → why CI may go without that test."""


def _is_unlisted(report: pytest.CollectReport | pytest.TestReport) -> bool:
    """Whether CI must not accept this report: a skip (an expected failure is none) whose reason nobody listed."""
    if os.environ.get("CI") != "true" or not report.skipped or hasattr(report, "wasxfail"):
        return False
    return _reason(report) not in LISTED_REASONS


def _reason(report: pytest.CollectReport | pytest.TestReport) -> str:
    """The words after `Skipped: `."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def _fail(report: pytest.CollectReport | pytest.TestReport) -> None:
    report.outcome = "failed"
    report.longrepr = f"skipped in CI, and the reason is not listed in {__name__}: {_reason(report)}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the unlisted skip of a test into its failure."""
    report = yield
    if _is_unlisted(report):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn the unlisted skip of a whole file into its failure."""
    report = yield
    if _is_unlisted(report):
        _fail(report)
    return report
