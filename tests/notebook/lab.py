"""A notebook in JupyterLab, or in Jupyter Notebook, driven through a page of a browser.

Only this file knows how cells are run and found there; `servers.py` starts what serves them.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from tests.notebook.servers import TOKEN

PATIENCE = 90_000  # ms
expect.set_options(timeout=60_000)
KERNEL_IS_IDLE = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
RUN_CELL = """number => {
  const app = window.jupyterapp;
  app.shell.currentWidget.content.activeCellIndex = number;
  app.commands.execute("notebook:run-cell");
}"""


def write_notebook(path: Path, cells: list[str]) -> None:
    """A notebook of code cells for this interpreter's kernel."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata={"kernelspec": kernel})  # type: ignore[no-untyped-call]
    nbformat.write(made, path)  # type: ignore[no-untyped-call]


class Notebook:
    """One notebook in one page. Cells count from 0."""

    def __init__(self, page: Page, address: str, name: str, *, at: str = "lab/tree") -> None:
        self.page, self.address, self.url = page, address, f"{address}/{at}/{name}?token={TOKEN}&reset"
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
        self.page.goto(self.url)
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
