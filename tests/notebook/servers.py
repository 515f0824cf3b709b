"""Real Jupyter servers on loopback, and the distribution's Chromium to look at them.

Only this file decides how the browser tests start them. A server has a folder, a token and settings of its own, and nothing
outside the test's folder is read or written. A browser that is missing is a skip with its reason.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.ports import free_port

KERNELS_WITHOUT_PORTS = "--KernelManager.transport=ipc"  # a port that a server finds free may be taken when its kernel comes
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
NO_NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


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
    with _jupyter(folder, "jupyterlab", environment) as address:
        yield address


@contextmanager
def notebook_server(folder: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """The address of a Jupyter Notebook that serves `folder`."""
    with _jupyter(folder, "notebook", environment) as address:
        yield address


@contextmanager
def voila_server(notebook: Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """The address of a Voilà that serves one notebook."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "voila", "--no-browser", f"--port={port}", "--Voila.ip=127.0.0.1", KERNELS_WITHOUT_PORTS),
        "--VoilaConfiguration.extension_denylist=@jupyter-notebook/lab-extension",  # it needs the application that it is of
        notebook.name,
    ]
    with _running(notebook.parent, command, f"http://127.0.0.1:{port}", "/voila/static/voila.js", environment) as address:
        yield address


@contextmanager
def _jupyter(folder: Path, module: str, environment: dict[str, str] | None) -> Iterator[str]:
    port, settings = free_port(), folder / ".jupyter" / "settings"
    command = [
        *(sys.executable, "-m", module, "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}", "--ServerApp.port_retries=0"),
        *("--expose-app-in-browser", "--LabApp.extension_manager=readonly", "--ServerApp.terminals_enabled=False"),
        *(f"--LabApp.app_settings_dir={settings}", KERNELS_WITHOUT_PORTS),
    ]
    settings.mkdir(parents=True)
    (settings / "overrides.json").write_text(json.dumps(NO_NEWS), encoding="utf-8")
    with _running(folder, command, f"http://127.0.0.1:{port}", f"/api/status?token={TOKEN}", environment) as address:
        yield address


@contextmanager
def _running(folder: Path, command: list[str], address: str, ready: str, environment: dict[str, str] | None) -> Iterator[str]:
    """A server in `folder` from its first answer to the path `ready` on."""
    own = {f"JUPYTER_{name}_DIR": str(folder / ".jupyter" / name.lower()) for name in ("CONFIG", "DATA")}
    own |= {"IPYTHONDIR": str(folder / ".ipython"), "JUPYTERLAB_SETTINGS_DIR": str(folder / ".jupyter" / "user")}
    with TemporaryDirectory(prefix="jc-") as runtime, (folder / "server.log").open("wb") as log:
        own["JUPYTER_RUNTIME_DIR"] = runtime  # holds the kernels' sockets, whose paths must be short
        environ = {**os.environ, **own, **(environment or {})}
        with subprocess.Popen(command, cwd=folder, env=environ, stdout=log, stderr=log) as server:
            try:
                _await_answer(f"{address}{ready}", server)
                yield address
            finally:
                server.terminate()
                try:
                    server.wait(timeout=3)
                except subprocess.TimeoutExpired:  # a thread of its own may keep it from ending; its kernels end with it
                    server.kill()


def _await_answer(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 150
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < until:
        assert server.poll() is None, "the server ended"
        try:
            with direct.open(url, timeout=30):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the server did not answer within two and a half minutes")
