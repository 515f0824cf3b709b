"""The tutorials, run from top to bottom: `python tests/notebooks/run.py` renews the outputs that are saved with them.

    python tests/notebooks/run.py                every notebook
    python tests/notebooks/run.py quick_start    one of them

A notebook is read on a forge by people who never run it, so its outputs are saved, without what differs for no reason: the
times of execution, the kernel's version, live views of widgets (their picture stays).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def read(path: Path) -> Any:
    """The notebook in a file."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # nbformat has few types


def executed(path: Path, folder: Path, manager: AsyncKernelManager | None = None, seconds: int = 500) -> Any:
    """The notebook after a run in `folder`; raises `CellExecutionError` where a cell does. `seconds` are for one cell.

    `manager` starts the kernel, one on ports that are free now where there is none.
    """
    notebook = read(path)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    manager = manager or AsyncKernelManager(kernel_name="python3")
    client = NotebookClient(notebook, km=manager, timeout=seconds, resources={"metadata": {"path": str(folder)}})
    client.execute(cleanup_kc=True)
    return notebook


def plain(notebook: Any) -> Any:
    """The same notebook without what differs from run to run for no reason."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = _joined([output for output in cell.outputs if WIDGET_VIEW not in output.get("data", {})])
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Outputs with what was printed in one piece, however the kernel cut it."""
    made: list[Any] = []
    for output in outputs:
        if made and output.output_type == "stream" and made[-1].get("name") == output.name:
            made[-1].text += output.text
        else:
            made.append(output)
    return made


def main(names: list[str]) -> None:
    """Run and save the notebooks that are named, or all."""
    import tempfile

    for path in NOTEBOOKS:
        if names and path.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(plain(executed(path, Path(folder))), path)  # type: ignore[no-untyped-call]
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
