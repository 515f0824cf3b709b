"""What an import loads, seen by an interpreter that has loaded nothing else: no front end carries the weight of another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {"httpx", "httpx2", "textual", "pandas", "numpy", "ipywidgets", "anywidget", "IPython", "mcp", "uvicorn", "apprise"}

RUN = """
import runpy, sys
sys.argv = ["jobconsole", *sys.argv[1:]]
try:
    runpy.run_module("jobconsole", run_name="__main__", alter_sys=True)
except SystemExit as end:
    code = end.code
print("\\n" + " ".join(sys.modules))
sys.exit(code)
"""


def loaded(code: str, *args: str) -> set[str]:
    """Top-level packages that a fresh interpreter has loaded after `code`, whose last line of output names its modules."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return {module.partition(".")[0] for module in done.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize("module", ["jobconsole", "jobconsole.core", "jobconsole.cli.main", "jobconsole.testing.plugin"])
def test_importing_the_package_loads_nothing_heavy(module: str) -> None:
    assert not loaded(f"import {module}, sys; print(*sys.modules)") & HEAVY


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["ls"], []], ids=lambda args: " ".join(args) or "alone")
def test_a_small_command_starts_without_anything_heavy(args: list[str], tmp_path: Path) -> None:
    assert not loaded(RUN, "--home", str(tmp_path), *args) & HEAVY


def test_a_listing_loads_nothing_that_sends_judges_or_writes(tmp_path: Path) -> None:
    """It is what any program does first (S6); a store with operations in it changes nothing about that."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, "--home", str(tmp_path), "ls"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = set(done.stdout.splitlines()[-1].split())
    assert "jobconsole.engine.reading" in modules
    for name in ("engine.desk", "engine.poll", "engine.worker", "core.contract", "core.observation", "adapters.writer"):
        assert f"jobconsole.{name}" not in modules
    assert not {"tinydb", "jmespath", "platformdirs", "ulid"} & modules
