"""The widgets in a real JupyterLab, in a headless Chromium, with a real kernel, store and provider (U1, U8, UX 1b)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from jobconsole.play.job import Reply
from jobconsole.play.script import Script
from jobconsole.testing.server import SlowJobServer
from tests.cases.case_file import case
from tests.notebook.kernels import KERNEL_PATH
from tests.notebook.lab import Notebook, write_notebook
from tests.notebook.servers import lab_server

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.slow_job_server(factor=2),
]

OPEN = """import jobconsole
console = jobconsole.open({home!r})
console.start()
def submit(scenario, name, port={port}, **asked):
    return console.submit("play", json={{"scenario": scenario}}, name=name, params={{"port": str(port)}}, **asked)
one = jobconsole.Budget(status_requests=1)"""
Make = Callable[..., Notebook]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """One JupyterLab for all tests of this file, and its folder."""
    folder = tmp_path_factory.mktemp("lab")
    with lab_server(folder, {"PYTHONPATH": KERNEL_PATH}) as address:
        yield address, folder


@pytest.fixture
def notebook(browser: Browser, lab: tuple[str, Path], slow_job_server: SlowJobServer, tmp_path: Path) -> Iterator[Make]:
    """Makes and opens a notebook whose first cell has a console, `submit(scenario, name)`, and has been run."""
    address, folder = lab
    context = browser.new_context(viewport={"width": 1280, "height": 1400})
    name = f"{tmp_path.name}.ipynb"

    def make(*cells: str) -> Notebook:
        opening = OPEN.format(home=str(tmp_path / "store"), port=slow_job_server.port)
        write_notebook(folder / name, [opening, *cells])
        made = Notebook(context.new_page(), address, name)
        made.open()
        made.run(0)
        return made

    yield make
    context.close()


class Held(Script):
    """Whoever asks for a job hears what its scenario says, until `ends` is set: then it has succeeded."""

    def __init__(self) -> None:
        super().__init__(())
        self.ends = threading.Event()

    def reply(self, on: str, job_id: str, *, is_reused: bool) -> Reply | None:
        """The end of the job, once it has come."""
        if on != "poll" or not self.ends.is_set():
            return None
        return Reply(200, {"id": job_id, "state": "succeeded", "result": {"rows": 1}})


@pytest.mark.rule("U1")
def test_a_job_moves_in_its_table_while_another_cell_awaits(notebook: Make) -> None:
    held = Held()
    with SlowJobServer(factor=2, script=held) as provider:
        asked = f"budget=jobconsole.Budget(deadline='9m', status_requests=500), port={provider.port}"
        made = notebook(
            "console.table()",
            f'op = submit("never-ends", "Q3 report", {asked})',
            "outcome = await console.progress(op)",
            "print(outcome.status)",
        )
        watch_it_end(made, held)


def watch_it_end(made: Notebook, held: Held) -> None:
    """It is seen at work, while a cell awaits its end; then it ends."""
    made.run(1)
    expect(made.widget(1)).to_contain_text("No operations yet. Try:")
    made.run(2)
    made.run(3, wait=False)
    phase = made.widget(1).locator("tr[data-id] .jc-phase")
    expect(phase).to_have_text(re.compile("waiting"))
    expect(made.widget(1).locator("td.jc-cell-time")).to_contain_text("of 9 min")
    expect(made.cell(3).locator(".jp-InputPrompt").first).to_have_text("[*]:")
    held.ends.set()
    expect(phase).to_have_text(re.compile("succeeded"))
    made.wait(3)
    made.run(4)
    assert made.text(4).strip() == "succeeded"
    assert made.errors == []
    assert made.outside() == []


@pytest.mark.rule("H4", "U8")
def test_a_click_on_extend_takes_effect_exactly_once(notebook: Make) -> None:
    made = notebook('op = submit("never-ends", "trailer", budget=one)\nconsole.wait(op)', "console.dashboard(by='ana')", CHECK)
    made.run(1)
    made.run(2)
    made.widget(2).get_by_role("tab", name="Inbox").click()
    extend = made.widget(2).get_by_role("button", name="Extend once")
    extend.evaluate("each => { for (let n = 0; n < 5; n += 1) each.click(); }")
    expect(made.widget(2).locator(".jc-options .jc-click")).to_contain_text("✔ deadline")
    made.run(3)
    assert made.text(3).strip() == "1 ana"


@pytest.mark.rule("H7", "U8")
def test_a_click_on_claim_and_one_on_snooze_take_effect_exactly_once(notebook: Make) -> None:
    made = notebook(
        'op = submit("never-ends", "trailer", budget=one)\nconsole.wait(op)', "console.inbox_widget(by='ana')", CARED
    )
    made.run(1)
    made.run(2)
    claim, told = made.widget(2).locator("[data-care=claim]"), made.widget(2).locator(".jc-lines")
    claim.evaluate("each => { for (let n = 0; n < 5; n += 1) each.click(); }")
    expect(told).to_contain_text("with: ana")
    made.widget(2).locator("[data-care=snooze]").click()
    made.widget(2).get_by_role("button", name="2 hours").click()
    expect(made.widget(2).locator("h4", has_text="1 snoozed")).to_be_visible()
    made.run(3)
    assert made.text(3).strip() == "assigned snoozed"


CARED = """changed = console.audit(op).to_frame().query("kind == 'item_changed'")
print("assigned" if op.refresh().attention.assigned_to == "ana" else "", "snoozed" if len(changed) == 2 else len(changed))"""


CHECK = "now = console.operation(op)\nprint(now.granted.times, now.decided[-1].by)"


@pytest.mark.rule("U8")
def test_a_click_while_a_cell_runs_says_that_it_waits_and_then_the_truth(notebook: Make, tmp_path: Path) -> None:
    goes_on = tmp_path / "goes-on"
    made = notebook(
        'op = submit("never-ends", "trailer", budget=one)\nconsole.wait(op)',
        "console.inbox_widget(by='ana')",
        f"import os, time\nwhile not os.path.exists({str(goes_on)!r}): time.sleep(0.05)",
        CHECK,
    )
    made.run(1)
    made.run(2)
    made.run(3, wait=False)
    expect(made.cell(3).locator(".jp-InputPrompt").first).to_have_text("[*]:")
    made.widget(2).get_by_role("button", name="Extend once").click()
    note = made.widget(2).locator(".jc-options .jc-click")
    expect(note).to_contain_text("queued: kernel is busy")
    goes_on.touch()
    expect(note).to_contain_text("✔ deadline")
    made.wait(3)
    made.run(4)
    assert made.text(4).strip() == "1 ana"


def test_selection_and_keys_stay_in_the_widget(notebook: Make) -> None:
    made = notebook(
        'op = submit("never-ends", "trailer")', "t = console.table()\nt", "print(t.selected == [op.operation_id], t.op.name)"
    )
    made.run(1)
    made.run(2)
    row = made.widget(2).locator("tr[data-id]")
    row.focus()
    before = made.page.locator(".jp-Notebook .jp-CodeCell").count()
    for key in ("d", "d", "x", "a", "b", "m", " "):
        made.page.keyboard.press(key)
    assert made.page.locator(".jp-Notebook .jp-CodeCell").count() == before
    expect(row).to_have_attribute("aria-selected", "true")
    made.run(3)
    assert made.text(3).strip() == "True trailer"


def test_after_a_reload_the_widget_is_live_with_the_same_operations(notebook: Make) -> None:
    """Case NB-01 (a)."""
    made = notebook('op = submit("never-ends", "trailer")', "console.table()", 'new = submit("never-ends", "second")')
    made.run(1)
    made.run(2)
    ids = made.widget(2).locator("tr[data-id]").evaluate_all("rows => rows.map((each) => each.dataset.id)")
    made.save()
    made.open()
    expect(made.widget(2).locator("tr[data-id]")).to_have_count(1)
    assert made.widget(2).locator("tr[data-id]").evaluate_all("rows => rows.map((each) => each.dataset.id)") == ids
    expect(made.widget(2).locator(".jc-live")).to_contain_text("● live")
    made.run(3)
    expect(made.widget(2).locator("tr[data-id]")).to_have_count(2)


def test_after_a_restart_it_says_how_to_reconnect_and_the_picture_stays(notebook: Make, slow_job_server: SlowJobServer) -> None:
    """Case NB-01 (b): the view says that it is not connected; opened again, the picture tells job, state and moment."""
    made = notebook("console.table()", 'op = submit("never-ends", "trailer", id="report-1")', "console.progress(op)")
    made.run(2)
    made.run(1)
    made.run(3)
    expect(made.output(1).locator("[id^=jobconsole-]")).to_be_hidden()
    made.restart_kernel()
    expect(made.widget(1)).to_contain_text("Not connected. Run this cell again. Shown: state as of")
    made.save()
    made.open()
    expect(made.output(1)).to_contain_text("trailer (report-1)")
    expect(made.output(1)).to_contain_text("as of")
    expect(made.output(1)).to_contain_text("Run this cell again")
    made.run(0)
    made.run(2)
    made.run(1)
    expect(made.widget(1).locator(".jc-live")).to_contain_text("● live")
    assert len([seen for seen in slow_job_server.log if seen.on == "submit"]) == 1


@pytest.mark.rule("U3")
def test_foreign_text_is_literal_in_the_notebook(notebook: Make) -> None:
    """Case NB-04 in JupyterLab: the widget, the still picture, the table of a list."""
    texts = case("NB-04").input["texts"]
    made = notebook(
        f"texts = {texts!r}\nops = [submit('never-ends', text, task=text) for text in texts]\n%load_ext jobconsole",
        "console.table()",
        "console.operations()",
    )
    made.page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    for number in (1, 2, 3):
        made.run(number)
    expect(made.widget(2).locator("tr[data-id]")).to_have_count(len(texts))
    for text in texts:
        assert text in made.widget(2).inner_text()
        assert text in made.output(3).inner_text()
    assert made.output(2).locator("img, marquee, mjx-container").count() == 0
    assert made.output(3).locator("img, marquee, mjx-container").count() == 0
    assert made.outside() == []


@pytest.mark.rule("U4")
def test_it_wears_the_colours_of_the_lab(notebook: Make) -> None:
    made = notebook('op = submit("quick", "trailer")', "console.table()")
    made.run(1)
    made.run(2)
    expect(made.widget(2)).to_have_attribute("data-scheme", "light")
    made.theme("JupyterLab Dark")
    expect(made.widget(2)).to_have_attribute("data-scheme", "dark")
    expect(made.widget(2)).to_have_css("background-color", "rgb(17, 17, 17)")
