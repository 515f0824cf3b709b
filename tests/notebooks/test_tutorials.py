"""The tutorials run from top to bottom, and show what they do to people who only look at the file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager

from tests.notebooks.run import NOTEBOOKS, WIDGET_VIEW, executed, plain, read
from tests.ports import kernel_ports

MACHINE = re.compile(r"/(?:home|root|tmp|private|Users|work|usr|opt)/|site-packages|ipykernel")
tutorials = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def shown(cell: Any) -> str:
    """All that a cell's outputs say."""
    texts = []
    for output in cell.get("outputs", []):
        texts.append(output.get("text", ""))
        texts += [text for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
    return "\n".join(texts)


@pytest.mark.slow
@tutorials
def test_the_tutorial_runs_from_top_to_bottom_and_its_saved_outputs_are_of_the_same_cells(path: Path, tmp_path: Path) -> None:
    """No cell fails, and nothing is written to stderr: no warning."""
    ran = plain(executed(path, tmp_path, AsyncKernelManager(kernel_name="python3", cache_ports=False, **kernel_ports())))
    complaints = [o.text for cell in ran.cells for o in cell.get("outputs", []) if o.get("name") == "stderr"]
    assert not complaints
    saved = read(path)
    assert [bool(shown(cell)) for cell in saved.cells] == [bool(shown(cell)) for cell in ran.cells]


@tutorials
def test_the_saved_file_is_tidy(path: Path) -> None:
    """Executed in order by kernel python3, without errors, machine paths, escapes of terminals or views that need a kernel."""
    saved = read(path)
    nbformat.validate(saved)
    assert saved.metadata["kernelspec"]["name"] == "python3"
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        assert not MACHINE.search(shown(cell)), cell.id
        assert "\x1b" not in shown(cell), cell.id
        assert all(o.output_type != "error" and WIDGET_VIEW not in o.get("data", {}) for o in cell.outputs), cell.id


@tutorials
def test_the_tutorial_begins_with_a_title_and_says_why_before_each_part(path: Path) -> None:
    saved = read(path)
    assert saved.cells[0].source.startswith("# ")
    headings = [cell.source for cell in saved.cells if cell.cell_type == "markdown" and cell.source.startswith("## ")]
    assert len(headings) >= 2
    assert sum(cell.cell_type == "markdown" for cell in saved.cells) >= 5
