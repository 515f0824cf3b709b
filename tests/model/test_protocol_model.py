"""The ownership protocol holds in every interleaving of two workers, and each wrong variant of it is caught (STORE 8)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODEL = Path(__file__).with_name("protocol_model.py")
QUICK = """import gc, runpy, sys
gc.disable()  # millions of small tuples, none of them in a cycle: looking for one takes a fifth of the time
sys.argv = [sys.argv[1], "quick"]
runpy.run_path(sys.argv[0], run_name="__main__")"""


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.rule("S1", "S4", "B3", "B4", "A1")
def test_the_quick_mode_finds_no_violation_and_catches_every_wrong_variant() -> None:
    """The model exits 0 only when every right configuration holds and every wrong one is caught."""
    done = subprocess.run([sys.executable, "-c", QUICK, str(MODEL)], capture_output=True, text=True, timeout=1_700, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "BROKEN" not in done.stdout
    assert "NOT CAUGHT" not in done.stdout
