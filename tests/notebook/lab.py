"""A real JupyterLab on loopback, and a notebook in it driven through a headless Chromium.

Only this file decides how the browser tests start both. The server has a folder, a token and settings of its own, and nothing
outside the test's folder is read or written. A browser that is missing is a skip with its reason.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TOKEN = "a-token-of-this-test"
PATIENCE = 40_000  # ms
expect.set_options(timeout=20_000)
NO_NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
KERNEL_IS_IDLE = "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
RUN_CELL = """number => {
  const app = window.jupyterapp;
  app.shell.currentWidget.content.activeCellIndex = number;
  app.commands.execute("notebook:run-cell");
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The distribution's Chromium, with a fresh profile."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@contextmanager
def lab_server(folder: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """The address of a JupyterLab that serves `folder`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(folder / ".jupyter" / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    own |= {"IPYTHONDIR": str(folder / ".ipython"), "JUPYTERLAB_SETTINGS_DIR": str(folder / ".jupyter" / "user")}
    settings = folder / ".jupyter" / "settings"
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}", "--ServerApp.port_retries=0"),
        *("--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly", "--ServerApp.terminals_enabled=False"),
        f"--LabApp.app_settings_dir={settings}",
    ]
    settings.mkdir(parents=True)
    (settings / "overrides.json").write_text(json.dumps(NO_NEWS), encoding="utf-8")
    with (folder / "lab.log").open("wb") as log:
        environ = {**os.environ, **own, **(environment or {})}
        with subprocess.Popen(command, cwd=folder, env=environ, stdout=log, stderr=log) as server:
            try:
                address = f"http://127.0.0.1:{port}"
                _await_answer(f"{address}/api/status?token={TOKEN}", server)
                yield address
            finally:
                server.terminate()


def _await_answer(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < until:
        assert server.poll() is None, "JupyterLab ended"
        try:
            with direct.open(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("JupyterLab did not answer within a minute")


def write_notebook(path: Path, cells: list[str]) -> None:
    """A notebook of code cells for this interpreter's kernel."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata={"kernelspec": kernel})  # type: ignore[no-untyped-call]
    nbformat.write(made, path)  # type: ignore[no-untyped-call]


class Notebook:
    """One notebook in one page. Cells count from 0."""

    def __init__(self, page: Page, address: str, name: str) -> None:
        self.page, self.address, self.name = page, address, name
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("console", self._note)
        page.on("request", lambda request: self.requests.append(request.url))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def open(self) -> None:
        """Load the page, and wait for the kernel."""
        self.page.goto(f"{self.address}/lab/tree/{self.name}?token={TOKEN}&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_function(KERNEL_IS_IDLE)

    def cell(self, number: int) -> Locator:
        """A cell."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)

    def output(self, number: int) -> Locator:
        """A cell's outputs."""
        return self.cell(number).locator(".jp-OutputArea")

    def run(self, number: int, *, wait: bool = True) -> None:
        """Run a cell; `wait` until it has ended."""
        self.page.evaluate(RUN_CELL, number)
        if wait:
            self.wait(number)

    def wait(self, number: int) -> None:
        """Wait until a cell has ended."""
        prompt = self.cell(number).locator(".jp-InputPrompt").first
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=PATIENCE)

    def widget(self, number: int) -> Locator:
        """The widget in a cell's output."""
        return self.output(number).locator(".jobconsole")

    def text(self, number: int) -> str:
        """A cell's printed output."""
        return self.output(number).inner_text()

    def theme(self, name: str) -> None:
        """Choose a theme of JupyterLab."""
        self.page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', { theme: name })", name)
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)

    def restart_kernel(self) -> None:
        """Restart without asking."""
        self.page.evaluate("() => { window.jupyterapp.commands.execute('kernelmenu:restart'); }")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()

    def save(self) -> None:
        """Save the notebook's file."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def outside(self) -> list[str]:
        """Requests that went anywhere but to the server."""
        own = (self.address, self.address.replace("http", "ws"), "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(own)]
