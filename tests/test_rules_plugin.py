"""The rule table and the ban on silent skips: the marks are checked, and the table tells what nothing proves."""

from __future__ import annotations

import pytest

from tests.rules_plugin import load_rules

pytest_plugins = ("pytester",)

SECTIONS = {"C": 13, "B": 19, "S": 7, "A": 9, "H": 13, "G": 9, "P": 4, "L": 7, "U": 8, "X": 26}

BARE = ("-p", "no:asyncio", "-p", "no:textual-snapshot", "-p", "no:syrupy")
"""The child runs know nothing of this project's configuration, so they go without the plugin that wants some; and without those
for snapshots, which clear up after a run in this process as if it were the only one."""

MARKED = """
import pytest

@pytest.mark.rule("B7", "X2")
@pytest.mark.parametrize("n", [1, 2])
def test_waits(n): raise AssertionError("--rules must not run this")
"""

SKIPPED = """
import pytest

@pytest.mark.skip(reason="not today")
def test_skipped(): ...

@pytest.mark.xfail(strict=True)
def test_expected_failure(): raise AssertionError
"""


def test_every_rule_of_the_specification_is_listed_in_order() -> None:
    assert list(load_rules()) == [f"{letter}{n}" for letter, count in SECTIONS.items() for n in range(1, count + 1)]


def test_every_rule_is_one_sentence() -> None:
    assert all(sentence.endswith(".") and len(sentence) > 20 for sentence in load_rules().values())


def test_the_table_names_each_test_once_and_runs_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MARKED)
    result = pytester.runpytest_inprocess(*BARE, "-p", "tests.rules_plugin", "--rules")
    assert result.ret == pytest.ExitCode.OK
    lines = result.stdout.str().splitlines()
    assert len([line for line in lines if line.endswith("::test_waits")]) == 2, "once under B7, once under X2"
    result.stdout.fnmatch_lines(["B6 *UNPROVED*", "B7 *1 test *", f"2 of {len(load_rules())} rules proved; unproved: *B6 B8*"])


def test_deselected_tests_stand_in_the_table_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MARKED)
    result = pytester.runpytest_inprocess(*BARE, "-p", "tests.rules_plugin", "--rules", "-k", "1")
    result.stdout.fnmatch_lines(["B7 *1 test *"])


@pytest.mark.parametrize(("mark", "complaint"), [('"B20"', "unknown rule 'B20'"), ("", "a rule mark without a rule")])
def test_a_mark_that_names_no_rule_stops_the_run(pytester: pytest.Pytester, mark: str, complaint: str) -> None:
    pytester.makepyfile(f"import pytest\n@pytest.mark.rule({mark})\ndef test_it(): ...")
    result = pytester.runpytest_inprocess(*BARE, "-p", "tests.rules_plugin")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*test_it: {complaint}"])


@pytest.mark.parametrize(("ci", "outcome"), [("true", "errors"), ("", "skipped")])
def test_a_skip_fails_in_ci_only(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str, outcome: str) -> None:
    monkeypatch.setenv("CI", ci)
    pytester.makepyfile(SKIPPED)
    result = pytester.runpytest_inprocess(*BARE, "-p", "tests.skips_plugin")
    assert result.parseoutcomes() == {outcome: 1, "xfailed": 1}


def test_a_skipped_file_fails_in_ci(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile("import pytest\npytest.skip('no such part', allow_module_level=True)")
    result = pytester.runpytest_inprocess(*BARE, "-p", "tests.skips_plugin")
    result.assert_outcomes(errors=1)
