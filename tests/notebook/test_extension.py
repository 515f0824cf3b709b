"""`%load_ext jobconsole` in a real kernel that has no front end."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import jobconsole
from jobconsole.core.vocabulary import Phase
from jobconsole.testing.server import SlowJobServer
from tests.notebook.kernels import Kernel, kernel
from tests.quickest import quickest

pytestmark = [pytest.mark.slow, pytest.mark.slow_job_server(factor=4)]


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Kernel]:
    """A kernel with a fresh store."""
    with kernel(tmp_path / "store") as running:
        yield running


@pytest.fixture
def loaded(notebook: Kernel) -> Kernel:
    """The same with the extension."""
    assert not notebook.run("%load_ext jobconsole").error
    return notebook


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """One kernel with the extension for the tests that leave it as it was."""
    with kernel(tmp_path_factory.mktemp("idle") / "store") as running:
        running.run("%load_ext jobconsole")
        yield running


def submit(notebook: Kernel, server: SlowJobServer, scenario: str = "quick", more: str = "") -> str:
    """Run a `%%submit` cell; the operation's id."""
    ran = notebook.run(f'%%submit play --param port={server.port} {more}\n{{"scenario": "{scenario}"}}')
    assert not ran.error, ran.error
    shown = notebook.run("print(console.operations(include_ended=True)[-1])").text
    found = re.search(r"(cell_[0-9a-f]{20}|op_[0-9A-Z]{26})", shown)
    assert found
    return found[1]


def test_loading_says_one_line_and_loading_twice_nothing(notebook: Kernel) -> None:
    said = notebook.run("%load_ext jobconsole").text.strip()
    assert said.count("\n") == 0
    assert "%jobs" in said
    again = notebook.run("import jobconsole; jobconsole.load_ipython_extension(get_ipython()); get_ipython()")
    assert not again.error
    assert "%jobs" not in again.text


def test_loading_opens_no_store(loaded: Kernel, tmp_path: Path) -> None:
    assert not (tmp_path / "store").exists()


def test_unloading_leaves_nothing_behind(loaded: Kernel) -> None:
    loaded.run("%jobs")
    before = loaded.run("print('console' in dir())").text
    ran = loaded.run("%unload_ext jobconsole")
    assert (before.strip(), ran.error) == ("True", "")
    assert "not found" in loaded.run("%jobs").text + loaded.run("%jobs").error
    formatters = "get_ipython().display_formatter.formatters['text/html'].type_printers"
    assert loaded.run(f"print('console' in dir(), {formatters}.get(list))").text.strip() == "False None"
    assert loaded.run("print(get_ipython().input_transformers_cleanup)").text.count("jobconsole") == 0
    assert not loaded.run("%load_ext jobconsole\n%jobs").error


def test_every_magic_explains_itself(idle: Kernel) -> None:
    for magic in ("%jobs", "%job", "%inbox", "%audit", "%wait", "%%submit"):
        ran = idle.run(f"{magic} --help")
        assert f"usage: {magic}" in ran.text
        assert not ran.error
    assert "usage: %%submit" in idle.run("\n%%submit play -h\n{}").text
    assert "the cell body is empty" in idle.run("%%submit play").text


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%job", "the following arguments are required: operation"),
        ("%job op_nowhere", "no operation 'op_nowhere'"),
        ("%wait op_nowhere", "no operation 'op_nowhere'"),
        ("%audit op_nowhere", "no operation 'op_nowhere'"),
        ("%jobs age>xx", "'xx' is no duration"),
        ("%jobs stat:failed", "did you mean state:?"),
        ("%jobs --phase sleeping", "invalid choice"),
        ("%%submit plya\n{}", "play"),
        ("%%submit play\n{broken", "no"),
        ("%%submit play --param port\n{}", "NAME=VALUE"),
        ('%%submit play --name "x\n{}', "close the quotes"),
    ],
)
def test_what_is_wrong_is_one_line_and_no_traceback(idle: Kernel, cell: str, said: str) -> None:
    ran = idle.run(cell)
    assert said in ran.text + ran.error
    assert "Traceback" not in ran.text


@pytest.mark.rule("U8")
def test_an_operation_is_named_as_on_the_command_line(loaded: Kernel) -> None:
    """By its id, the ending of it, or its name; what fits several is refused with their ids."""
    loaded.run("import jobconsole\nconsole = jobconsole.open()")
    for number, name in enumerate(("Q3 report", "trailer", "trailer")):
        ran = loaded.run(
            f"o = console.track('play', job_id='j{number}', id='op_ABC{number}8F3K', name='{name}', params={{'port': '9'}})"
        )
        assert not ran.error
    for named in ("op_ABC08F3K", "c08f3k", '"q3 report"'):
        assert "op_ABC08F3K" in loaded.run(f"%job {named}").html
        assert "op_ABC08F3K" in loaded.run(f"%wait {named}").html
        assert "Next:" in loaded.run(f"%job {named} --why").text
        assert "op_ABC" not in loaded.run(f"%audit {named}").text  # of one operation no line needs to say whose it is
    for magic in ("%job", "%wait", "%audit"):
        refused = loaded.run(f"{magic} trailer")
        assert "'trailer' fits 2 operations: op_ABC18F3K by its name, op_ABC28F3K by its name" in refused.text + refused.error


@pytest.mark.rule("U1")
def test_jobs_are_filtered_in_the_dashboards_language(loaded: Kernel) -> None:
    """Quotes keep their meaning: they are the filter's, not the shell's."""
    loaded.run("import jobconsole\nconsole = jobconsole.open()")
    for number, name in enumerate(("two words", "words two")):
        loaded.run(f"o = console.track('play', job_id='j{number}', id='op_{number}', name='{name}', params={{'port': '9'}})")
    for text in ('"two words"', 'name:"two words" !age>2h', "id:op_0 with:nobody --phase waiting"):
        shown = loaded.run(f"%jobs {text}").html
        assert ("op_0)" in shown, "op_1)" in shown) == (True, False), text


def test_magics_say_in_one_line_that_the_console_is_closed(loaded: Kernel) -> None:
    loaded.run("import jobconsole\nconsole = jobconsole.open()\nconsole.close()")
    for magic in ("%jobs", "%job op_1", "%inbox", "%audit", "%wait op_1", "%%submit play\n{}"):
        ran = loaded.run(magic)
        assert "UsageError: the console is closed; open another one with jobconsole.open()" in ran.text, magic
        assert (ran.text.strip().count("\n"), ran.error) == (0, ""), magic


@pytest.mark.rule("X18", "A1")
def test_running_a_submit_cell_again_submits_nothing_again(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    first = submit(loaded, slow_job_server)
    again = loaded.run(f'%%submit play --param port={slow_job_server.port}\n{{"scenario": "quick"}}')
    assert f"Submitted before, and not again: {first}" in again.text
    assert len([seen for seen in slow_job_server.log if seen.on == "submit"]) == 1
    assert submit(loaded, slow_job_server, more="--again") != first


def test_a_cell_can_await_the_outcome(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    operation_id = submit(loaded, slow_job_server)
    ran = loaded.run(f"w = %wait {operation_id} --timeout 20s\noutcome = await w\nprint(outcome.status)")
    assert ran.text.strip() == "succeeded"


def test_ids_and_providers_are_completed(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    operation_id = submit(loaded, slow_job_server)
    assert operation_id in loaded.complete(f"%job {operation_id[:6]}")
    assert operation_id in loaded.complete("%wait ")
    assert "play" in loaded.complete("%%submit pl")


def test_without_a_front_end_a_widget_is_one_text_table(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    operation_id = submit(loaded, slow_job_server)
    ran = loaded.run("%jobs")
    picture, live = ran.shown
    assert operation_id in picture["text/plain"]
    assert "as of" in picture["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in live
    assert operation_id not in live["text/plain"]


@pytest.mark.rule("U7")
def test_why_is_answered_for_now_and_for_a_second(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    operation_id = submit(loaded, slow_job_server, "never-ends")
    assert "Next:" in loaded.run(f"%job {operation_id} --why").text
    assert "the operation begins at" in loaded.run(f"%job {operation_id} --at 2026-01-01T10:00:00Z").text
    assert "is no time" in loaded.run(f"%job {operation_id} --at noon").text


def test_records_and_lists_are_tables(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    operation_id = submit(loaded, slow_job_server)
    assert "<table>" in loaded.run("console.operations(include_ended=True)").html
    assert "<table>" in loaded.run(f"console.operation('{operation_id}')").html
    assert not loaded.run("[1, 2]").html


def test_the_audit_is_printed_as_a_story(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    operation_id = submit(loaded, slow_job_server)
    assert "submitted job" in loaded.run(f"%audit {operation_id}").text
    assert "earlier lines" in loaded.run(f"console.wait('{operation_id}')\n%audit --lines 1").text


def test_a_console_of_the_notebook_is_the_one_that_is_used(loaded: Kernel, tmp_path: Path) -> None:
    ran = loaded.run(f"import jobconsole\nconsole = jobconsole.open({str(tmp_path / 'own')!r})\n%jobs")
    assert not ran.error
    assert (tmp_path / "own").exists()
    assert not (tmp_path / "store").exists()


@pytest.mark.rule("X19")
def test_two_kernels_share_one_worker_and_it_ends_with_them(tmp_path: Path, slow_job_server: SlowJobServer) -> None:
    home = tmp_path / "store"
    with kernel(home) as one, kernel(home) as other:
        for each in (one, other):
            assert not each.run("%load_ext jobconsole\n%jobs").error
        operation_id = submit(other, slow_job_server, "slow")
        assert "succeeded" in one.run(f"print(console.wait('{operation_id}', '60s').status)").text
    with jobconsole.open(home) as console:
        assert console.operation(operation_id).phase is Phase.SUCCEEDED
        assert console._console.desk.health().workers == ()


def interrupted(loaded: Kernel, code: str, said: str) -> tuple[float, str]:
    """Interrupt a cell that waits once it has `said` so: seconds until it ends, and its error."""
    cell = loaded.begin(code)
    begun = loaded.finish(cell, said=said)
    time.sleep(0.5)  # what it says comes just before its wait
    began = time.monotonic()
    loaded.interrupt()
    error = loaded.finish(cell, begun).error
    return time.monotonic() - began, error


def test_a_blocking_wait_says_what_interrupting_does_and_ends_within_a_second(
    loaded: Kernel, slow_job_server: SlowJobServer
) -> None:
    operation_id = submit(loaded, slow_job_server, "never-ends", "--deadline 1h --requests 1000")

    def took(_: int) -> float:
        waiting, said = f"console.wait('{operation_id}', '60s')", "Interrupting this cell stops the wait, not the job"
        took_s, error = interrupted(loaded, waiting, said)
        assert error.startswith("KeyboardInterrupt: Interrupting stops this wait, not the job")
        assert operation_id in error
        return took_s

    assert quickest(1.5, took) < 1.5
    assert "waiting" in loaded.run(f"print(console.operation('{operation_id}').phase)").text


def test_interrupting_an_awaiting_cell_ends_it_within_a_second(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    """The kernel only notices when its loop wakes, which nothing else would make it do."""
    operation_id = submit(loaded, slow_job_server, "never-ends", "--deadline 1h --requests 1000")

    def took(_: int) -> float:
        waiting = f"print('waits', flush=True)\nawait console.progress('{operation_id}')"
        took_s, error = interrupted(loaded, waiting, "waits")
        assert error.startswith("CancelledError")
        return took_s

    assert quickest(1.5, took) < 1.5
    assert "waiting" in loaded.run(f"print(console.operation('{operation_id}').phase)").text


@pytest.mark.rule("U8", "H4")
def test_clicks_that_waited_for_a_cell_are_judged_by_the_state_of_then(loaded: Kernel, slow_job_server: SlowJobServer) -> None:
    """Case NB-03: cancel is clicked five times during a blocking wait in which the job succeeds; no cancel goes out."""
    operation_id = submit(loaded, slow_job_server, "slow")
    widget = loaded.run(f"console.progress('{operation_id}')").widget()
    revision = int(loaded.run(f"print(console.operation('{operation_id}').revision)").text)
    cell = loaded.begin(f"import time\ntime.sleep(4)\nprint(console.wait('{operation_id}', '60s').status)")
    for _ in range(5):
        loaded.click(
            widget,
            {"type": "decide", "id": operation_id, "option": "cancel", "revision": revision, "decision_id": "dec_" + "1" * 32},
        )
    assert "succeeded" in loaded.finish(cell).text
    assert "succeeded" in loaded.run(f"time.sleep(1)\nprint(console.operation('{operation_id}').phase)").text
    assert not [seen for seen in slow_job_server.log if seen.on == "cancel"]
