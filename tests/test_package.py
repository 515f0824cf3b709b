"""What the installed package consists of: the wheel has the data that the checkout has."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a wheel of this checkout."""
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=500)
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_theme(wheel_names: set[str]) -> None:
    themes = {f"jobconsole/themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")}
    assert themes
    assert themes <= wheel_names


def test_the_wheel_holds_every_contract_and_the_marker_of_a_typed_package(wheel_names: set[str]) -> None:
    data = {path.relative_to(ROOT).as_posix() for path in (ROOT / "jobconsole").rglob("*.toml")}
    assert data | {"jobconsole/py.typed"} <= wheel_names


def test_the_wheel_holds_nothing_else(wheel_names: set[str]) -> None:
    assert {name.partition("/")[0].partition("-")[0] for name in wheel_names} == {"jobconsole"}
