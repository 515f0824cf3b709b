"""What the notebook's tests share: a recording comm in place of a browser, and consoles over a store of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm
from playwright.sync_api import Browser, Page

import jobconsole
from jobconsole.api import Console
from jobconsole.testing.server import SlowJobServer
from tests.notebook.servers import chromium


class RecordingComm(BaseComm):
    """A comm that keeps what it is told to send."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.sent: list[dict[str, Any]] = []
        super().__init__(*args, **kwargs)

    def publish_msg(self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any) -> None:
        """In place of the wire."""
        self.sent.append({"type": msg_type, "data": data})


@dataclass(slots=True)
class Comms:
    """All comms that were opened."""

    made: list[RecordingComm] = field(default_factory=list)

    def create(self, *args: Any, **kwargs: Any) -> RecordingComm:
        """What `comm.create_comm` becomes."""
        self.made.append(RecordingComm(*args, **kwargs))
        return self.made[-1]


@pytest.fixture
def comms() -> Iterator[Comms]:
    """Comms that record, as long as the test runs: the seam that the package `comm` offers to kernels."""
    recording, usual = Comms(), comm.create_comm
    comm.create_comm = recording.create
    yield recording
    comm.create_comm = usual


@pytest.fixture
def console(tmp_path: Path, comms: Comms) -> Iterator[Console]:
    """A console whose widgets talk to recording comms."""
    with jobconsole.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def params(slow_job_server: SlowJobServer) -> dict[str, str]:
    """The contract's parameter for the play provider of this test."""
    return {"port": str(slow_job_server.port)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a file."""
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own for each test."""
    context = browser.new_context(viewport={"width": 1000, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


def told(widget: Any, kind: str | None = None) -> list[dict[str, Any]]:
    """The custom messages that a widget sent, of one type or all."""
    custom = [message["data"]["content"] for message in widget.comm.sent if message["data"].get("method") == "custom"]
    return [content for content in custom if kind is None or content["type"] == kind]


def state(widget: Any) -> dict[str, Any]:
    """The state with which a widget's comm was opened, its snapshot parsed."""
    opened: dict[str, Any] = widget.comm.sent[0]["data"]["state"]
    return {**opened, "snapshot": json.loads(opened["snapshot"])}


def click(widget: Any, **content: Any) -> None:
    """What the browser sends when something is clicked."""
    widget._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


def receive(widget: Any, **traits: Any) -> None:
    """What the browser sends when a trait is set."""
    widget._handle_msg({"content": {"data": {"method": "update", "state": traits, "buffer_paths": []}}, "buffers": []})
