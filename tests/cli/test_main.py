"""How a call of the command line ends: exit code, one line on stderr, nothing but data on stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from jobconsole.cli.exits import Exit
from jobconsole.cli.lazy_group import CommandEntry
from jobconsole.cli.main import COMMANDS, group, main

MODULE = "tests.cli.probe_commands"
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def probes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table of commands holds the probes too."""
    for name in ("show", "fail", "many", "code"):
        monkeypatch.setitem(COMMANDS, f"probe-{name}", CommandEntry(f"{MODULE}:{name}", f"Probe {name}."))
    yield
    for name in [name for name in group.commands if name.startswith("probe-")]:
        del group.commands[name]
    sys.modules.pop(MODULE, None)


def run(*args: str, stdout: int = subprocess.PIPE, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Call the program, which has the command `show`, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *args],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        timeout=300,
        check=False,
    )


PROGRAM = f"""
import sys
from jobconsole.cli.exits import Exit
from jobconsole.cli.lazy_group import CommandEntry
from jobconsole.cli.main import COMMANDS, main
COMMANDS["show"] = CommandEntry("{MODULE}:show", "")
sys.exit(main())
"""


@pytest.mark.rule("X26")
@pytest.mark.parametrize(
    ("args", "exit_code", "line"),
    [
        (["--version"], 0, ""),
        (["probe-code"], 13, ""),
        (["--jsn"], 2, "jobconsole: No such option '--jsn'. Did you mean '--json'? Try 'jobconsole --help'."),
        (["submt"], 2, "jobconsole: No such command 'submt'. Did you mean 'submit'? Try 'jobconsole --help'."),
        (["nothing"], 2, "jobconsole: No such command 'nothing'. Try 'jobconsole --help'."),
        (["probe-show", "--rows", "x"], 2, None),
        (["probe-fail"], 2, None),
        (["probe-fail", "store"], 3, "jobconsole: the store is locked by process 4711; try again"),
        (["probe-fail", "foreign"], 1, r"jobconsole: said \x1b]0;owned\x07\nand more"),
        (["probe-fail", "file"], 1, "jobconsole: /no/such/file: No such file or directory"),
        (["probe-fail", "interrupt"], 130, "jobconsole: interrupted"),
    ],
)
def test_a_call_ends_with_its_code_and_at_most_one_line(
    args: list[str], exit_code: int, line: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == exit_code
    told = capsys.readouterr().err
    assert told.count("\n") == (line != "")
    assert line is None or told.rstrip("\n") == line


@pytest.mark.rule("U5")
@pytest.mark.parametrize(
    ("args", "error"),
    [
        (
            ["--json", "probe-fail", "store"],
            {"code": "store_busy", "message": "the store is locked by process 4711; try again"},
        ),
        (
            ["probe-fail", "store", "--json"],
            {"code": "store_busy", "message": "the store is locked by process 4711; try again"},
        ),
        (["--jsn", "--json"], None),
        (["wait", "--json"], {"code": "usage", "message": "Missing argument 'OP...'. Try 'jobconsole wait --help'."}),
    ],
)
def test_with_json_an_error_is_an_object_on_stderr_and_stdout_stays_empty(
    args: list[str], error: dict[str, str] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    main(args)
    captured = capsys.readouterr()
    assert captured.out == ""
    told = json.loads(captured.err)
    assert told.keys() == {"error"}
    assert error is None or told["error"] == error


def test_a_defect_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        main(["probe-fail", "defect"])


@pytest.mark.rule("U5")
@pytest.mark.parametrize(
    "args",
    [
        ["--home", "/a", "--read-only", "--json", "probe-show"],
        ["probe-show", "--home", "/a", "--read-only", "--json"],
        ["--home", "/b", "probe-show", "--home", "/a", "--json", "--read-only"],  # the nearest one counts
    ],
)
def test_global_options_stand_before_or_after_the_command(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 0
    assert json.loads(capsys.readouterr().out) == {"home": "/a", "read_only": True}


def test_global_options_reach_commands_of_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe-many", "show", "--json"]) == 0
    assert capsys.readouterr().out == "True\n"


@pytest.mark.parametrize(("args", "home"), [([], "/env"), (["--home", "/a"], "/a")])
def test_the_environment_names_the_store_where_no_option_does(
    args: list[str], home: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JOBCONSOLE_HOME", "/env")
    main([*args, "probe-show", "--json"])
    assert json.loads(capsys.readouterr().out)["home"] == home


@pytest.mark.rule("U5")
def test_the_help_documents_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    documented = [int(line.split()[0]) for line in capsys.readouterr().out.splitlines() if line.strip()[:1].isdigit()]
    assert documented == sorted(Exit)


def test_help_and_completion_list_the_commands_without_importing_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--help"]) == 0
    assert "probe-show  Probe show." in capsys.readouterr().out
    monkeypatch.setenv("_JOBCONSOLE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "jobconsole probe-s")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert main([]) == 0
    assert capsys.readouterr().out == "plain,probe-show\n"
    assert MODULE not in sys.modules


def test_every_command_is_found_and_has_the_summary_that_the_table_says() -> None:
    context = click.Context(group)
    for name, entry in COMMANDS.items():
        command = group.get_command(context, name)
        assert command is not None, name
        if not name.startswith("probe-"):
            assert command.get_short_help_str(limit=200) == entry.summary, name


OUTPUTS = [["--help"], ["show", "--rows", "5"], ["show", "--rows", "50000"]]
"""Less and more than fits into a buffer: the failure comes at the end, or in the middle."""


@pytest.mark.rule("U5")
@pytest.mark.parametrize("args", OUTPUTS, ids=" ".join)
def test_a_closed_pipe_is_no_error(args: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run(*args, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("args", OUTPUTS, ids=" ".join)
def test_a_full_disk_under_stdout_is_an_error_in_one_line(args: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = run(*args, stdout=full.fileno())
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


def test_a_closed_stdout_does_no_harm() -> None:
    done = subprocess.run(
        ["bash", "-c", '"$0" -m jobconsole --version >&-', sys.executable],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_encoding_that_lacks_a_character_shows_its_escape() -> None:
    done = run("fäil", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 2
    assert r"f\xe4il" in done.stderr
