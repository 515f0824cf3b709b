"""The demonstration, as a new user runs it: real HTTP, a real store, a question that is answered."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jobconsole.cli.demo import CAST


@pytest.mark.slow
@pytest.mark.rule("B1", "B15", "H1", "A7", "S6")
def test_every_job_of_the_demonstration_ends_as_its_scenario_says(tmp_path: Path) -> None:
    """Exit 0 and one row a job; the one that never ends was asked about, extended once, then cancelled."""
    home = tmp_path / "store"
    command = [sys.executable, "-m", "jobconsole", "--home", str(home), "--json", "demo", "--headless"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert len(rows) == len(CAST) == 12
    assert all(row["as_expected"] for row in rows.values())
    asked = rows["video transcode"]
    assert (asked["phase"], asked["answers"]) == ("cancelled", ["extend", "cancel"])
    assert (home / "operations.json").exists()
    assert "store: " in done.stderr
