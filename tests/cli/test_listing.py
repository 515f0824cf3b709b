"""`ls` and `jobconsole` alone: what they show, where they end, and that looking creates nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jobconsole.testing.server import SlowJobServer

from .conftest import Called, Shell

Submit = Callable[..., Called]


@pytest.mark.rule("U6", "S6")
@pytest.mark.parametrize("args", [["ls"], ["ls", "--all"], [], ["inbox"]], ids=lambda args: " ".join(args) or "alone")
def test_a_store_that_is_not_there_lists_nothing_says_what_to_do_and_is_not_created(shell: Shell, args: list[str]) -> None:
    looked = shell(*args)
    assert (looked.code, looked.out) == (0, "")
    assert looked.err
    assert not shell.home.exists()


def test_an_empty_list_is_an_empty_array_in_json(shell: Shell) -> None:
    assert shell("ls", "--json").json == []
    assert shell("inbox", "--json").json == []


@pytest.mark.slow_job_server(factor=20)
def test_a_list_shows_one_phase_or_what_has_not_ended_or_all(shell: Shell, submit: Submit) -> None:
    submit("quick", "--wait")
    submit("slow")
    assert [view["operation_id"] for view in shell("ls", "--json").json] == ["slow"]
    assert [view["operation_id"] for view in shell("ls", "--all", "--json").json] == ["quick", "slow"]
    assert [view["operation_id"] for view in shell("ls", "--phase", "succeeded", "--json").json] == ["quick"]
    assert shell("ls", "--phase", "done").code == 2


@pytest.mark.slow_job_server(factor=20)
@pytest.mark.rule("U5", "X19")
def test_the_live_listing_tells_each_change_and_ends_by_itself(shell: Shell, submit: Submit) -> None:
    submit("slow")
    submit("never-ends", "--requests", "1")
    live = shell.finish(shell.start(TERM="dumb"))
    assert live.code == 0
    assert "\x1b" not in live.out
    told = [line for line in live.out.splitlines() if line[2:3] == ":"]
    assert any("slow succeeded" in line for line in told)
    assert any("never-ends escalated" in line for line in told)


@pytest.mark.slow_job_server(factor=20)
def test_a_reader_that_closes_early_ends_the_live_listing_quietly(shell: Shell, submit: Submit) -> None:
    submit("slow")
    live = shell.start()
    assert live.stdout is not None
    assert live.stdout.readline().startswith("OPERATION")
    live.stdout.close()
    assert live.wait(60) == 0
    assert live.stderr is not None
    assert "Traceback" not in live.stderr.read()


@pytest.mark.rule("U3")
@pytest.mark.slow_job_server(
    script=[
        {"on": "poll", "body": {"id": "PLACE", "state": "running", "message": "\x1b[2J\x1b]0;owned\x07 \u202eevil"}},
    ]
)
def test_text_of_a_provider_cannot_act_on_the_terminal(shell: Shell, slow_job_server: SlowJobServer) -> None:
    track = ["track", "play", "--job-id", "PLACE", "--param", f"port={slow_job_server.port}", "--name", "\x1b[31mred\x9b0m"]
    assert shell(*track, "--id", "foreign").code == 0
    shell("run", "--once")
    for args in (["ls"], ["show", "foreign"], ["inbox"], ["why", "foreign"], ["audit", "foreign"], ["ls", "--json"]):
        shown = shell(*args)
        text = (shown.out + shown.err).replace("\n", "")
        assert text.isprintable(), args
    assert r"\x1b[2J" in shell("show", "foreign").out
