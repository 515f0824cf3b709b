"""Each empty, loading and error state of the command line says what to do next (U6)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from jobconsole.testing.server import SlowJobServer

from .conftest import Called, Shell
from .test_providers import CONTRACT

Submit = Callable[..., Called]
BEGIN = "jobconsole submit PROVIDER"
ALL = "jobconsole ls --all"
RUN = "start one with: jobconsole run"

pytestmark = pytest.mark.rule("U6")


@pytest.mark.parametrize(
    ("args", "code", "next_step"),
    [
        ([], 0, BEGIN),
        (["ls"], 0, BEGIN),
        (["ls", "--all"], 0, BEGIN),
        (["ls", "--phase", "failed"], 0, ALL),
        (["tui"], 0, BEGIN),
        (["inbox"], 0, "jobconsole ls"),
        (["audit"], 0, BEGIN),
        (["audit", "verify"], 1, "name another store with --home"),
        (["show", "nobody"], 1, ALL),
        (["why", "nobody"], 1, ALL),
        (["fetch", "nobody"], 1, ALL),
        (["wait", "nobody"], 1, ALL),
        (["audit", "nobody"], 1, ALL),
        (["decide", "nobody", "close"], 1, ALL),
        (["extend", "nobody"], 1, ALL),
        (["cancel", "nobody"], 1, ALL),
        (["--read-only", "run", "--once"], 4, "open it for writing"),
        (["--read-only", "submit", "play", "--param", "port=1"], 4, "open it for writing"),
        (["submit", "plya"], 2, "did you mean play?"),
        (["submit", "zzzzzz"], 2, "jobconsole providers"),
        (["submit", "play", "--deadline", "soon"], 2, "write digits and a unit"),
        (["submit", "play", "--json-body", "@/no/such/file"], 2, "No such file"),
        (["sbmit"], 2, "jobconsole --help"),
        (["ls", "--al"], 2, "--all"),
        (["wait"], 2, "jobconsole wait --help"),
    ],
    ids=lambda value: " ".join(value) or "alone" if isinstance(value, list) else None,
)
def test_an_empty_store_and_a_wrong_call_say_what_to_do(shell: Shell, args: list[str], code: int, next_step: str) -> None:
    ended = shell(*args)
    assert ended.code == code
    assert next_step in ended.err.splitlines()[-1]


@pytest.mark.slow_job_server(factor=20)
@pytest.mark.parametrize(
    ("args", "code", "next_step"),
    [
        (["ls"], 0, "1 operation needs a decision: jobconsole inbox"),
        (["wait", "spent"], 13, "answer with: jobconsole inbox"),
        (["inbox"], 0, "answer: jobconsole decide spent OPTION --revision 3"),
        (["show", "spent"], 0, "revision        3: jobconsole decide spent OPTION --revision 3"),
        (["why", "spent"], 0, "Next: a person decides (extend, "),
        (["fetch", "spent"], 4, "go on with: jobconsole inbox"),
        (["extend", "spent", "--checks", "99"], 4, "8"),
        (["decide", "spent", "approve_once"], 4, "no answer to request budget exhausted"),
        (["run", "--once"], 0, "1 operation needs a decision: jobconsole inbox"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_question_says_how_to_answer_it(shell: Shell, submit: Submit, args: list[str], code: int, next_step: str) -> None:
    submit("never-ends", "--id", "spent", "--requests", "1")
    assert shell("wait", "spent").code == 13
    ended = shell(*args)
    assert ended.code == code, ended.err
    assert next_step in ended.out + ended.err


@pytest.mark.slow_job_server(factor=20)
@pytest.mark.parametrize(
    ("args", "code", "next_step"),
    [
        (["ls"], 0, RUN),
        (["show", "never-ends"], 0, "jobconsole decide never-ends OPTION --revision"),
        (["why", "never-ends"], 0, "Next: the check at "),
        (["wait", "never-ends", "--timeout", "100ms"], 12, "wait on with: jobconsole wait never-ends"),
        (["fetch", "never-ends"], 4, "go on with: jobconsole wait never-ends"),
        (["--read-only", "wait", "never-ends", "--timeout", "100ms"], 12, RUN),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_under_way_says_who_must_go_on(
    shell: Shell, submit: Submit, args: list[str], code: int, next_step: str
) -> None:
    assert RUN in submit("never-ends").err
    ended = shell(*args)
    assert ended.code == code, ended.err
    assert next_step in ended.out + ended.err


@pytest.mark.slow_job_server(factor=20)
def test_when_all_has_ended_the_list_says_where_it_is(shell: Shell, submit: Submit) -> None:
    submit("quick", "--wait")
    assert shell("ls").err.splitlines()[-1] == "nothing waits; 1 operation ended: jobconsole ls --all"
    assert shell("inbox").err.splitlines()[-1] == "nothing needs you; 0 operations in flight: jobconsole ls"


@pytest.mark.parametrize("args", [["ls"], ["run", "--once"], ["submit", "play", "--param", "port=1"]], ids=" ".join)
def test_a_home_that_is_no_folder_says_so(shell: Shell, args: list[str]) -> None:
    shell.home.write_text("a file")
    ended = shell(*args)
    assert ended.code == 4
    assert ended.err.splitlines()[-1].endswith("name another folder with --home")


def test_a_damaged_store_says_where_to_look(shell: Shell, submit: Submit, slow_job_server: SlowJobServer) -> None:
    submit("never-ends")
    (segment,) = (shell.home / "journal").glob("*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b'"actor":"person:', b'"actor":"Person:', 1))
    for file in shell.home.glob("operations*.json"):
        file.unlink()
    assert "see jobconsole audit verify" in shell("ls").err.splitlines()[-1]
    assert "compare it with a copy" in shell("audit", "verify").err.splitlines()[-1]


@pytest.mark.parametrize(
    ("broken", "next_step"),
    [("[budget]", "budget"), ('waiting = ["queued", "running"]', "states")],
)
def test_a_contract_that_is_refused_names_file_key_and_mend(shell: Shell, tmp_path: Path, broken: str, next_step: str) -> None:
    file = tmp_path / "acme.toml"
    file.write_text(CONTRACT.replace(broken, broken.replace("budget", "budgte").replace("waiting", "wating")))
    ended = shell("provider", "check", str(file), "--json")
    assert ended.code == 1
    told = json.loads(ended.err.splitlines()[-1])["error"]["message"]
    assert "acme.toml" in told
    assert next_step in told


@pytest.mark.slow_job_server(factor=20)
def test_a_command_to_type_names_the_store_where_this_call_does(
    submit: Submit, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It works as it stands there: before the command or after it, with blanks in the folder's name, in data and beside it."""
    submit("never-ends", "--id", "spent", "--requests", "1")
    assert shell("wait", "spent").code == 13
    monkeypatch.delenv("JOBCONSOLE_HOME")
    home = shell.home.rename(shell.home.with_name("my store"))
    told = shell("--home", str(home), "show", "spent").out
    command = f"jobconsole --home '{home}' decide spent OPTION --revision 3"
    assert command in told
    assert f"1 operation needs a decision: jobconsole --home '{home}' inbox" in shell("ls", "--home", str(home)).err
    for_programs = json.loads(shell("--home", str(home), "--json", "show", "nobody").err)["error"]["message"]
    assert f"jobconsole --home '{home}' ls --all" in for_programs
    typed = shlex.split(command.replace("OPTION", "close --reason late"))
    assert shell(*typed[1:]).code == 0
    assert shell("--home", str(home), "show", "spent", "--json").json["phase"] == "abandoned"
