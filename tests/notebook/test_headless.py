"""Notebooks that run without a front end, and what they look like as HTML (case NB-04, UX 1b)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from jobconsole.testing.server import SlowJobServer
from tests.cases.case_file import case
from tests.notebook.kernels import KERNEL_PATH
from tests.notebook.test_still import Reader
from tests.ports import kernel_ports

pytestmark = [pytest.mark.slow, pytest.mark.slow_job_server(factor=8)]

TEXTS = [*case("NB-04").input["texts"], "\u202egnp.exe"]
CELLS = (
    "import json, jobconsole\nconsole = jobconsole.open()\nconsole.start()",
    """for number, text in enumerate({texts}):
    job = {{"scenario": "never-ends", "seed": number}}
    console.submit("play", json=job, name=text, task=text, params={params}, budget=jobconsole.Budget(status_requests=1))""",
    "import time\nwhile len(console.inbox()) < {count}: time.sleep(0.1)",
    "console.table()",
    "console.dashboard()",
    "console.timeline(console.operations(include_ended=True)[0])",
    "%load_ext jobconsole",
    "console.operations(include_ended=True)",
    "console.inbox()",
)


@pytest.fixture
def executed(tmp_path: Path, slow_job_server: SlowJobServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A notebook that nbclient ran from top to bottom."""
    monkeypatch.setenv("JOBCONSOLE_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("PYTHONPATH", KERNEL_PATH)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    values = {"texts": json.dumps(TEXTS), "count": len(TEXTS), "params": json.dumps({"port": str(slow_job_server.port)})}
    sources = [cell.format(**values) if "{" in cell else cell for cell in CELLS]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})  # type: ignore[no-untyped-call]
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
    manager = AsyncKernelManager(kernel_name="python3", cache_ports=False, **kernel_ports())
    NotebookClient(notebook, km=manager, timeout=500).execute(cleanup_kc=True)
    return notebook


@pytest.mark.rule("U3")
def test_a_notebook_runs_to_its_end_and_its_export_is_literal(executed: Any) -> None:
    outputs = [cell.outputs for cell in executed.cells]
    tables = [output for output in outputs[3] if "text/html" in output.get("data", {})]
    assert len(tables) == 1
    assert "as of" in tables[0]["data"]["text/plain"]
    assert not [output for cell in outputs for output in cell if output.output_type == "error"]

    page, _ = HTMLExporter().from_notebook_node(executed)  # type: ignore[no-untyped-call]
    shown = Reader(page)
    for text in TEXTS[:-1]:
        assert shown.text.count(text) >= 4, text
    assert "marquee" not in shown.tags
    assert "onerror" not in shown.attributes
    assert "\u202e" not in page.split("<main", 1)[-1].replace(json.dumps(TEXTS), "")
    state = json.dumps(executed.metadata.get("widgets", {}))
    assert "</script" not in state.replace("\\u003c", "")
