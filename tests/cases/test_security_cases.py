"""SE-01: ids that would reach another endpoint, job or header, from people and from providers (area security)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from jobconsole.core.contracts.requests import RequestValues, cancel_request, status_request
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.engine.submissions import Wish
from jobconsole.errors import InvalidValue
from jobconsole.testing.server import SlowJobServer
from tests.cases.case_file import case
from tests.cases.demo_contract import HOST, demo_contract
from tests.cases.runner import staged
from tests.cli.conftest import Shell

IDS: list[str] = case("SE-01").input["ids"]
STEPS = [{"on": "poll", "status": 200, "body": {"id": "job-1", "state": "running"}}]

BEYOND_HELP = {"../../../v1/me", "job-1#x", "job-1?force=1", "..", "", "job-1\nX-Evil: 1", "job\u0000"}
"""Ids that no encoding saves, or that hold what no id of a job holds: nothing is sent for them."""

COMMANDS = (["show"], ["cancel"], ["why"], ["wait"], ["fetch"], ["decide"])


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """The program on an empty store."""
    monkeypatch.setenv("JOBCONSOLE_HOME", str(tmp_path / "home"))
    shell = Shell(tmp_path / "home", capsys)
    yield shell
    shell.close()


@pytest.mark.rule("X18", "C6")
@pytest.mark.parametrize("own_id", IDS)
def test_no_request_leaves_for_an_id_that_is_no_known_job(shell: Shell, slow_job_server: SlowJobServer, own_id: str) -> None:
    """Whatever the command: it ends with an error that shows the id escaped, and the provider hears nothing."""
    for command in COMMANDS:
        args = [*command, "--", own_id, *(["close"] if command == ["decide"] else [])]
        ended = shell(*args)
        assert ended.code in (1, 2)
        assert ended.out == ""
        assert not any(sign in ended.err for sign in ("\x00", "\u202e", "\nX-Evil"))
    assert list(slow_job_server.log) == []


@pytest.mark.rule("C6")
@pytest.mark.parametrize("job_id", IDS)
async def test_an_id_goes_into_the_url_as_one_segment_or_not_at_all(job_id: str) -> None:
    """The status request and the cancel both name this job, or neither is built."""
    contract = demo_contract({})
    for build, ending in ((status_request, ""), (cancel_request, "/cancel")):
        values = RequestValues(job_id=job_id)
        if job_id in BEYOND_HELP:
            with pytest.raises(InvalidValue, match="nothing was sent"):
                build(contract, values)
            continue
        path = build(contract, values).url.removeprefix(f"https://{HOST}/v1/jobs/")
        segment = path.removesuffix(ending)
        assert not set(segment) & set("/?#\\ ")
        assert segment.isascii()
        assert unquote(segment) == job_id


@pytest.mark.rule("C6", "B12")
@pytest.mark.parametrize("job_id", sorted(BEYOND_HELP - {""}))
async def test_a_tracked_job_with_such_an_id_asks_a_person_and_sends_nothing(job_id: str) -> None:
    """The id is kept as it was given, so that a person sees what was wrong with it."""
    async with staged(case("SE-01"), steps=STEPS) as stage:
        wish = Wish(by="person:ana", operation_id="job-1")
        stage.operation_id = (await stage.console.track("demo", job_id=job_id, wish=wish)).op.operation_id
        op = await stage.until_settled()
        assert stage.calls == []
        assert op.provider_job_id == job_id
        assert op.phase is Phase.ESCALATED
        assert op.escalation is not None
        assert op.escalation.reason is Reason.INTEGRATION_ERROR


@pytest.mark.rule("U3")
@pytest.mark.parametrize("job_id", [each for each in IDS if each.strip()])
def test_odd_ids_of_a_provider_are_stored_as_they_are_and_shown_escaped(shell: Shell, job_id: str) -> None:
    """JSON gives the id exactly; for people nothing of it acts on a terminal, and look-alikes are told apart."""
    for own_id, job in (("odd", job_id), ("plain", "job-1")):
        assert shell("track", "play", "--param", "port=1", "--id", own_id, "--job-id", job).code == 0
    assert shell("show", "odd", "--json").json["provider_job_id"] == job_id
    shown, plain = shell("show", "odd").out, shell("show", "plain").out
    assert not any(sign in shown for sign in ("\x00", "\u202e", "\nX-Evil"))
    line = next(line for line in shown.splitlines() if line.strip().startswith("job "))
    assert line not in plain.splitlines()
