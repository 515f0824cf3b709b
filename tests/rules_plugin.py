"""`@pytest.mark.rule("B4")` and `pytest --rules`: which tests prove which rule of the specification.

Only this file decides what a rule mark may name; the rules themselves stand in `rules.toml`. `--rules` collects, prints the
table and runs nothing. A mark that names no rule stops every run: a typo would otherwise prove nothing in silence.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

RULES_FILE = Path(__file__).with_name("rules.toml")
_PROOFS = pytest.StashKey[Mapping[str, list[str]]]()


def load_rules() -> dict[str, str]:
    """Rule id → its sentence, in the order of the specification."""
    sections = tomllib.loads(RULES_FILE.read_text(encoding="utf-8"))
    return {rule: sentence for section in sections.values() for rule, sentence in section.items()}


def proofs(items: Iterable[pytest.Item], rules: Iterable[str]) -> dict[str, list[str]]:
    """Rule id → the tests that name it, each test once however many parameters it has.

    Raises `pytest.UsageError` where a mark names no rule, or one that does not exist.
    """
    found: dict[str, list[str]] = {rule: [] for rule in rules}
    wrong: list[str] = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        for mark in item.iter_markers("rule"):
            wrong += [f"{test}: unknown rule {rule!r}" for rule in mark.args if rule not in found]
            if not mark.args:
                wrong.append(f"{test}: a rule mark without a rule")
            for rule in mark.args:
                if rule in found and test not in found[rule]:
                    found[rule].append(test)
    if wrong:
        raise pytest.UsageError("\n".join(dict.fromkeys(wrong)) + f"\nthe rules stand in {RULES_FILE.name}")
    return found


def table(found: Mapping[str, list[str]], rules: Mapping[str, str]) -> str:
    """The table rule → tests as text; a rule that no test names is marked `UNPROVED`."""
    lines: list[str] = []
    for rule, sentence in rules.items():
        tests = found[rule]
        lines.append(f"{rule:<4} {_count(len(tests)):<9} {sentence}")
        lines += [f"{'':14} {test}" for test in tests]
    unproved = [rule for rule in rules if not found[rule]]
    lines.append(f"\n{len(rules) - len(unproved)} of {len(rules)} rules proved; unproved: {' '.join(unproved) or 'none'}")
    return "\n".join(lines)


def _count(tests: int) -> str:
    return f"{tests} test{'s' * (tests > 1)}" if tests else "UNPROVED"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--rules`."""
    parser.addoption("--rules", action="store_true", help="print which tests prove which rule, and run nothing")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Read the marks before `-m` and `-k` deselect anything: a rule is proved by what exists, not by what this run picks."""
    config.stash[_PROOFS] = proofs(items, load_rules())


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Print the table in place of running, where it was asked for and everything could be collected."""
    if not session.config.getoption("--rules") or session.testsfailed:
        return None
    if _PROOFS not in session.config.stash:
        raise pytest.UsageError("--rules collects in this process: leave -n out")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    assert reporter is not None
    reporter.write_line("")
    reporter.write_line(table(session.config.stash[_PROOFS], load_rules()))
    return True
