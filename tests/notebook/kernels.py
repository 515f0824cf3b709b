"""A real kernel without a front end: cells are run, interrupted and completed, comms are watched and clicked.

Only this file decides how the tests speak to a kernel. Each kernel is a process of its own with a store of its own. To try
another ipykernel: `pip install --target DIR --no-deps ipykernel==6.31.0` and `KERNEL_PATH=DIR pytest tests/notebook`.
"""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.ports import kernel_ports

ROOT = Path(__file__).parents[2]
KERNEL_PATH = os.pathsep.join(filter(None, (os.environ.get("KERNEL_PATH"), str(ROOT))))
PATIENCE = 90.0


@dataclass(slots=True)
class Ran:
    """What running a cell came to."""

    text: str = ""  # printed, and the text/plain of what was shown
    html: str = ""
    error: str = ""
    shown: list[Mapping[str, Any]] = field(default_factory=list)  # bundles of what was displayed
    comms: list[Mapping[str, Any]] = field(default_factory=list)  # contents of comm_open

    def widget(self) -> str:
        """The comm of the one widget that was opened."""
        opened = [each for each in self.comms if "snapshot" in each["data"]["state"]]
        return str(opened[-1]["comm_id"])


class Kernel:
    """One running kernel and its client."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager, self.client = manager, client

    def begin(self, code: str) -> str:
        """Start running a cell; its message id."""
        return str(self.client.execute(code))

    def run(self, code: str) -> Ran:
        """Run a cell to its end."""
        return self.finish(self.begin(code))

    def finish(self, message_id: str, ran: Ran | None = None, *, said: str | None = None) -> Ran:
        """Collect what a cell tells until it has ended, or until it has `said` so; go on with what was collected before."""
        ran = ran or Ran()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "comm_open":
                ran.comms.append(content)
            if message["parent_header"].get("msg_id") != message_id:
                continue
            if kind == "stream":
                ran.text += content["text"]
                if said is not None and said in ran.text:
                    return ran
            elif kind in ("display_data", "execute_result"):
                ran.shown.append(content["data"])
                ran.text += f"{content['data'].get('text/plain', '')}\n"
                ran.html += content["data"].get("text/html", "")
            elif kind == "error":
                ran.error += f"{content['ename']}: {content['evalue']}"
            elif kind == "status" and content["execution_state"] == "idle":
                return ran
        raise TimeoutError("the cell did not end")

    def complete(self, code: str) -> list[str]:
        """What the kernel offers at the end of `code`."""
        reply = self.client.complete(code, len(code), reply=True, timeout=PATIENCE)
        return list(reply["content"]["matches"])

    def click(self, comm_id: str, content: Mapping[str, Any]) -> None:
        """Send a widget what a browser would."""
        data = {"comm_id": comm_id, "data": {"method": "custom", "content": dict(content)}}
        self.client.shell_channel.send(self.client.session.msg("comm_msg", data))

    def interrupt(self) -> None:
        """What the stop button does."""
        self.manager.interrupt_kernel()


@contextmanager
def kernel(home: Path, **environment: str) -> Iterator[Kernel]:
    """A kernel whose user has the store `home`."""
    manager = KernelManager(kernel_name="python3", cache_ports=False, **kernel_ports())
    own = {"JOBCONSOLE_HOME": str(home), "IPYTHONDIR": str(home.parent / "ipython"), "PYTHONPATH": KERNEL_PATH}
    manager.start_kernel(env={**os.environ, **own, **environment})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
