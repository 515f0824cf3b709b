"""Bad input and a store in trouble: one line that says what is wrong and what to do, the exit code, nothing lost or begun."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jobconsole.testing.server import SlowJobServer

from .conftest import Called, Shell
from .test_providers import CONTRACT

Submit = Callable[..., Called]


@pytest.fixture
def bad_contract(tmp_path: Path) -> str:
    """A contract file with a typo."""
    file = tmp_path / "typo.toml"
    file.write_text(CONTRACT.replace("[budget]", "[budgte]"))
    return str(file)


@pytest.fixture
def locked_out(tmp_path: Path) -> str:
    """A contract whose secret is not there."""
    file = tmp_path / "locked-out.toml"
    file.write_text(CONTRACT.replace("[submit]", '[auth]\nsecret = "env:JOBCONSOLE_TEST_NO_SUCH_SECRET"\n[submit]'))
    return str(file)


@pytest.mark.rule("X26")
@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["submit", "plya"], 2, "there is no provider 'plya'; did you mean play?"),
        (["submit", "play", "--deadline", "40 minutes"], 2, "no duration; write digits and a unit"),
        (["submit", "play", "--deadline", "1s"], 2, "a deadline lies between 6s (one request) and 366d"),
        (["submit", "play", "--business-deadline", "tomorrow"], 2, "is no time; write RFC 3339"),
        (["submit", "play", "--requests", "0"], 2, "0 is not in the range x>=1"),
        (["submit", "play", "--param", "port"], 2, "is no pair; write NAME=VALUE"),
        (["submit", "play", "--param", "port=https"], 2, "port"),
        (["submit", "play", "--param", "prot=1"], 2, "prot"),
        (["submit", "play", "--id", "../up"], 2, "an operation id is 1-128 of letters"),
        (["submit", "play", "--json-body", "{"], 2, "--json-body is no JSON"),
        (["submit", "play", "--json-body", "NaN"], 2, "NaN is not JSON"),
        (["submit", "play", "--json-body", "[" * 100_000], 2, "nested too deeply"),
        (["submit", "play", "--json-body", "@/no/such/file"], 2, "No such file or directory"),
        (["submit", "play", "--by", ""], 2, "a person's name is 1-80 printable characters: --by NAME"),
        (["submit", "play", "--by", "agent:clever/1"], 2, "agent: names another kind of actor: --by NAME"),
        (["track", "play"], 2, "track needs either --job-id ID or --status-url URL"),
        (["track", "play", "--job-id", " "], 2, "the job id is empty"),
        (["wait", "no-such-op"], 1, "no operation 'no-such-op' in this store; jobconsole ls --all"),
        (["wait", "no-such-op", "--timeout", "5"], 2, "'5' is no duration"),
        (["wait"], 2, "Missing argument"),
        (["show", "../../etc/passwd"], 1, "no operation '../../etc/passwd' in this store"),
        (["decide", "no-such-op", "extend"], 1, "no operation 'no-such-op'"),
        (["cancel", "job-1\nX-Evil: 1"], 1, r"no operation 'job-1\nX-Evil: 1'"),
        (["why", "no-such-op", "--at", "noon"], 2, "'noon' is no time"),
        (["fetch", "no-such-op"], 1, "no operation 'no-such-op'"),
        (["run", "--once", "--until-idle"], 2, "two different ends"),
        (["provider", "show", "plya"], 2, "did you mean play?"),
        (["provider", "check", "play"], 2, "jobconsole provider show play"),
        (["provider", "check", "/no/such/file"], 1, "/no/such/file: No such file or directory"),
        (["ls", "--phase", "done"], 2, "'done' is not one of"),
    ],
)
def test_a_wrong_call_is_one_line_and_its_code_and_begins_nothing(shell: Shell, args: list[str], code: int, told: str) -> None:
    ended = shell(*args)
    assert (ended.code, ended.out) == (code, "")
    assert told in ended.err.splitlines()[-1]
    assert [line for line in ended.err.splitlines()[:-1] if not line.startswith("note: no store")] == []
    assert shell("ls", "--all", "--json").json == []


@pytest.mark.rule("C13")
def test_a_missing_secret_is_named_before_anything_is_written(shell: Shell, locked_out: str) -> None:
    for args in (["submit", "acme-images"], ["track", "acme-images", "--job-id", "1"]):
        ended = shell("--provider-file", locked_out, *args)
        assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
        assert "env:JOBCONSOLE_TEST_NO_SUCH_SECRET: is not set; export" in ended.err
    assert shell("ls", "--all", "--json").json == []


def test_a_contract_with_a_typo_names_file_key_and_mend(shell: Shell, bad_contract: str) -> None:
    for args in (["submit", "acme-images"], ["provider", "show", "acme-images"], ["provider", "check", bad_contract]):
        ended = shell("--provider-file", bad_contract, *args)
        assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
        assert f"{bad_contract}: budgte: unknown key; did you mean budget?" in ended.err
    listed = shell("--provider-file", bad_contract, "providers", "--json")
    assert listed.code == 0
    assert [each["error"]["code"] for each in listed.json if "error" in each] == ["contract_invalid"]


@pytest.mark.rule("U5")
def test_with_json_every_error_is_an_object(shell: Shell) -> None:
    ended = shell("submit", "plya", "--json")
    assert ended.out == ""
    assert json.loads(ended.err)["error"]["code"] == "unknown_provider"


@pytest.mark.rule("H11")
@pytest.mark.slow_job_server(factor=20)
def test_a_read_only_call_changes_nothing(shell: Shell, submit: Submit, slow_job_server: SlowJobServer) -> None:
    submit("slow")
    before = (shell.home / "journal" / "000000000001.jsonl").read_bytes()
    for args in (["submit", "play"], ["track", "play", "--job-id", "1"], ["extend", "slow"], ["run", "--once"]):
        ended = shell("--read-only", *args)
        assert (ended.code, ended.err.count("\n")) == (4, 1)
        assert "nothing can be written: it was opened read-only" in ended.err
    assert (shell.home / "journal" / "000000000001.jsonl").read_bytes() == before
    assert len(slow_job_server.log) == 1


@pytest.mark.parametrize("place", ["before", "behind"])
def test_an_empty_home_is_refused_as_the_current_folder_is_not_meant(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """As a shell writes it whose variable is not set: --home "$NOWHERE"."""
    monkeypatch.chdir(tmp_path)
    ended = shell(*(("--home", "", "ls") if place == "before" else ("ls", "--home", "")))
    assert (ended.code, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert "it names no folder: give one, or leave --home out for this user's store" in line
    assert list(tmp_path.iterdir()) == []


def test_an_empty_variable_counts_as_not_set(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store of this user, not the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JOBCONSOLE_HOME", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    assert shell("run", "--until-idle").code == 0
    assert not (tmp_path / "journal").exists()
    assert len(list(tmp_path.rglob("journal"))) == 1


@pytest.mark.parametrize("home", ["/proc/jobconsole", "/dev/null"])
def test_a_folder_that_cannot_be_written_is_named(shell: Shell, home: str) -> None:
    ended = shell("--home", home, "submit", "play")
    assert (ended.code, ended.out, ended.err.count("\n")) == (4, "", 1)
    assert f"the folder {home} cannot be written" in ended.err
    assert "name another folder with --home" in ended.err


@pytest.mark.rule("S4")
@pytest.mark.slow_job_server(factor=20)
def test_a_damaged_store_is_shown_as_far_as_it_is_whole_and_written_no_more(shell: Shell, submit: Submit) -> None:
    submit("quick", "--id", "first", "--wait")
    submit("quick", "--id", "second", "--wait")
    journal = shell.home / "journal" / "000000000001.jsonl"
    damaged = journal.read_bytes().replace(b'"operation_id":"second"', b'"operation_id":"zecond"', 1)
    journal.write_bytes(damaged)
    for file in shell.home.glob("operations*.json"):
        file.unlink()
    listed = shell("ls", "--all", "--json")
    assert (listed.code, [view["operation_id"] for view in listed.json]) == (3, ["first"])
    for args in (["submit", "play"], ["run", "--once"], ["show", "second"]):
        ended = shell(*args)
        assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
        assert "the store is damaged: event " in ended.err
        assert "audit verify" in ended.err
    assert journal.read_bytes() == damaged


@pytest.mark.slow
@pytest.mark.slow_job_server(factor=20)
def test_a_store_that_a_stopped_process_holds_is_said_and_can_still_be_read(shell: Shell, submit: Submit) -> None:
    submit("slow")
    holder = os.open(shell.home / "lock", os.O_RDWR)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        assert [view["operation_id"] for view in shell("ls", "--json").json] == ["slow"]
        ended = shell("submit", "play")
        assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
        assert "nothing was changed" in ended.err
    finally:
        os.close(holder)
    assert [view["operation_id"] for view in shell("ls", "--all", "--json").json] == ["slow"]
