"""What the shell offers after a TAB, from the local store only, and never an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import jobconsole
from jobconsole.cli.main import main

from .conftest import Called, Shell

Submit = Callable[..., Called]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], list[str]]:
    """What bash would offer for the last word of a line."""

    def offered(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_JOBCONSOLE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        capsys.readouterr()
        assert main([]) == 0
        monkeypatch.delenv("_JOBCONSOLE_COMPLETE")
        captured = capsys.readouterr()
        assert captured.err == ""
        return [each.partition(",")[2] for each in captured.out.splitlines() if each]

    return offered


@pytest.mark.slow_job_server(factor=20)
def test_ids_of_the_store_are_offered_and_providers(shell: Shell, submit: Submit, offered: Callable[[str], list[str]]) -> None:
    submit("quick", "--id", "report-1")
    submit("quick", "--id", "report-2", seed=1)
    submit("quick", "--id", "other", seed=2)
    home = f"--home {shell.home}"
    for command in ("show", "wait report-2", "decide", "extend", "cancel", "why", "fetch", "audit"):
        assert sorted(offered(f"jobconsole {home} {command} report")) == ["report-1", "report-2"]
    assert offered("jobconsole submit pla") == ["play"]
    assert offered(f"jobconsole {home} decide report-1 ext") == ["extend"]


@pytest.mark.rule("U3")
def test_a_name_is_shown_inert_and_offers_nothing_of_its_own(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """zsh reads kind, value and help line by line."""
    with jobconsole.open(shell.home) as console:
        console.track("play", job_id="job-1", id="op-1", name="a\nplain\nrm\x1b[31m" + "n" * 100, params={"port": "9"})
    monkeypatch.setenv("_JOBCONSOLE_COMPLETE", "zsh_complete")
    monkeypatch.setenv("COMP_WORDS", f"jobconsole --home {shell.home} show op")
    monkeypatch.setenv("COMP_CWORD", "4")
    assert main([]) == 0
    kind, value, told = capsys.readouterr().out.splitlines()
    assert (kind, value) == ("plain", "op-1")
    assert told.startswith(r"waiting a\nplain\nrm\x1b[31mnnn")
    assert len(told) < 80


def test_without_a_store_nothing_is_offered_and_nothing_created(shell: Shell, offered: Callable[[str], list[str]]) -> None:
    assert offered(f"jobconsole --home {shell.home} show x") == []
    assert not shell.home.exists()


def test_a_broken_store_offers_nothing(shell: Shell, offered: Callable[[str], list[str]]) -> None:
    shell.home.mkdir()
    (shell.home / "store.json").write_text("{")
    assert offered(f"jobconsole --home {shell.home} show x") == []
