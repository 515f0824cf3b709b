"""The same widgets where they are shown without JupyterLab: in Jupyter Notebook, and on a page of Voilà (U1, UX 1b)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Route, expect

import jobconsole
from jobconsole.testing.server import SlowJobServer
from tests.notebook.kernels import KERNEL_PATH
from tests.notebook.lab import Notebook, write_notebook
from tests.notebook.servers import notebook_server, voila_server

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.slow_job_server(factor=8),
]
ENVIRONMENT = {"PYTHONPATH": KERNEL_PATH}
PATIENCE = 60_000  # ms: a page of Voilà comes when its cells have run


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A notebook with a dashboard of an empty store."""
    opening = f"import jobconsole\nconsole = jobconsole.open({str(tmp_path / 'store')!r})\nconsole.start()"
    write_notebook(tmp_path / "page.ipynb", [opening, "console.dashboard()"])
    return tmp_path / "page.ipynb"


def see_a_job_of_another_process(widget: Locator, home: Path, server: SlowJobServer) -> None:
    """The widget is live: a job that is submitted here appears there, and ends."""
    expect(widget).to_contain_text("No operations yet. Try:", timeout=PATIENCE)
    with jobconsole.open(home) as console:
        console.submit("play", json={"scenario": "quick"}, name="Q3 report", params={"port": str(server.port)})
        expect(widget.locator("tr[data-id] .jc-open")).to_have_text("Q3 report")
        expect(widget.locator("tr[data-id] .jc-phase")).to_have_text(re.compile("succeeded"))
    expect(widget.locator(".jc-live")).to_contain_text("● live")


@pytest.mark.rule("U1", "U4")
def test_jupyter_notebook_shows_a_live_row_in_its_own_colours(
    browser: Browser, notebook: Path, slow_job_server: SlowJobServer
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    with notebook_server(notebook.parent, ENVIRONMENT) as address:
        made = Notebook(context.new_page(), address, notebook.name, at="notebooks")
        made.open()
        made.run(0)
        made.run(1)
        expect(made.widget(1)).to_have_attribute("data-scheme", "light")
        see_a_job_of_another_process(made.widget(1), notebook.parent / "store", slow_job_server)
        made.theme("JupyterLab Dark")
        expect(made.widget(1)).to_have_attribute("data-scheme", "dark")
        assert made.errors == []
        assert made.outside() == []
        context.close()


@pytest.mark.rule("U1")
def test_a_page_of_voila_shows_a_live_row_and_no_code(browser: Browser, notebook: Path, slow_job_server: SlowJobServer) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 700})
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: note(message, errors))
    answer_icon_font(page)
    with voila_server(notebook, ENVIRONMENT) as address:
        page.goto(address)
        see_a_job_of_another_process(page.locator(".jobconsole"), notebook.parent / "store", slow_job_server)
        expect(page.locator("[id^=jobconsole-]")).to_be_hidden()
        assert "jobconsole.open" not in page.content()
        assert errors == []
        context.close()


def answer_icon_font(page: Page) -> None:
    """Voilà's own template asks a network for icons, which no widget of ours has: here it gets none."""

    def answer(route: Route) -> None:
        route.fulfill(content_type="text/css", body="")

    page.route(re.compile(r"^https://.*fontawesome"), answer)


def note(message: ConsoleMessage, errors: list[str]) -> None:
    """Keep what the page complains about."""
    if message.type == "error":
        errors.append(message.text)
