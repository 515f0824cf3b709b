"""Messages to people from real processes: once, whatever dies meanwhile, and their URLs are told nowhere."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.adapters.receiver import Receiver
from tests.quickest import quickest

from .conftest import Called, Shell, eventually

Submit = Callable[..., Called]
SECRET = "Zx9pW3rTq7Lm2KvB"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


def configure(shell: Shell, tmp_path: Path, *urls: str, more: str = "") -> None:
    """Let the store's settings name these URLs, each in a file of its own outside the store."""
    references = []
    for number, url in enumerate(urls):
        file = tmp_path / f"notify-url-{number}"
        file.write_text(url)
        file.chmod(0o600)
        references.append(f'"file:{file}"')
    shell.home.mkdir(exist_ok=True)
    (shell.home / "config.toml").write_text(f"[notify]\nurls = [{', '.join(references)}]\n{more}")


def told(shell: Shell, operation_id: str = "never-ends") -> list[str]:
    """What the audit's story says of messages."""
    lines = shell("audit", operation_id).out.splitlines()
    return [re.sub(r"^[-0-9]* ?[:0-9]{8} ", "", line) for line in lines if "message" in line or "reached" in line]


# ---- a test message --------------------------------------------------------------------------------------------------------
@pytest.mark.rule("A6", "C13")
def test_a_test_message_goes_out_by_every_channel_and_names_each_by_its_scheme(
    shell: Shell, tmp_path: Path, receiver: Receiver
) -> None:
    configure(shell, tmp_path, receiver.url(SECRET), receiver.url(f"{SECRET}/500"))
    done = shell("inbox", "test-notice")
    assert done.code == 1
    assert done.out.splitlines()[0] == "json://…  went out"
    assert done.out.splitlines()[1].startswith("json://…  did not go out: Failed to send JSON")
    assert SECRET not in done.out + done.err
    assert [message["title"] for message in receiver.received] == ["jobconsole: a test message"] * 2


def test_a_test_message_is_sent_in_quiet_hours_too_because_somebody_asks_for_it(
    shell: Shell, tmp_path: Path, receiver: Receiver
) -> None:
    configure(shell, tmp_path, receiver.url(), more='quiet_hours = "00:00-23:59"\nzone = "UTC"\n')
    done = shell("inbox", "test-notice", "--json")
    assert (done.code, done.json) == (0, [{"channel": "json", "ok": True, "detail": ""}])


@pytest.mark.rule("C13")
@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ("", 2, "config.toml: notify.urls names no channel; write urls = "),
        (
            f'urls = ["slack://{SECRET}/b/c"]',
            2,
            "config.toml: notify.urls[0] is no reference, and a URL holds a secret; write a ref",
        ),
        ('urls = ["env:JOBCONSOLE_NOT_SET"]', 1, "env:JOBCONSOLE_NOT_SET: is not set; export JOBCONSOLE_NOT_SET"),
        ("urls = [", 2, "config.toml: is not TOML: "),
    ],
)
def test_settings_that_reach_nobody_are_said_with_their_mend(shell: Shell, settings: str, code: int, said: str) -> None:
    shell.home.mkdir(exist_ok=True)
    (shell.home / "config.toml").write_text(f"[notify]\n{settings}\n")
    done = shell("inbox", "test-notice")
    assert (done.code, said in done.err) == (code, True)
    assert SECRET not in done.out + done.err


@pytest.mark.rule("H11")
def test_read_only_nothing_is_sent(shell: Shell, tmp_path: Path, receiver: Receiver) -> None:
    configure(shell, tmp_path, receiver.url())
    assert shell("--read-only", "inbox", "test-notice").code == 4
    assert receiver.received == []


# ---- real workers ----------------------------------------------------------------------------------------------------------
@pytest.mark.rule("A6", "C13")
@pytest.mark.slow_job_server(factor=20)
def test_a_worker_tells_once_and_the_secret_is_in_no_file_of_the_store(
    shell: Shell, submit: Submit, tmp_path: Path, receiver: Receiver
) -> None:
    configure(shell, tmp_path, receiver.url(SECRET), receiver.url(f"{SECRET}/500"))
    submit("never-ends", "--requests", "1")
    ended = shell("run", "--until-idle")
    again = shell("run", "--until-idle")
    assert [message["title"] for message in receiver.received] == ["jobconsole: never-ends needs a decision"] * 2
    assert told(shell)[0] == "a message goes out by json"
    assert told(shell)[1].startswith("json took the message; json: Failed to send JSON")
    files = [path for path in shell.home.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    shown = "".join(shell(*call).out for call in (("show", "never-ends", "--json"), ("inbox", "--json"), ("audit",)))
    assert SECRET not in shown + ended.err + again.err


@pytest.mark.rule("A6", "S3")
@pytest.mark.slow
@pytest.mark.slow_job_server(factor=20)
def test_two_workers_on_one_store_tell_once(shell: Shell, submit: Submit, tmp_path: Path, receiver: Receiver) -> None:
    configure(shell, tmp_path, receiver.url())
    submit("never-ends", "--requests", "1")
    workers = [shell.start("run"), shell.start("run")]
    assert eventually(lambda: len(told(shell)) == 2)
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
        assert shell.finish(worker).code == 0
    assert len(receiver.received) == 1
    assert told(shell) == ["a message goes out by json", "json took the message"]


@pytest.mark.rule("A6", "H10", "S4")
@pytest.mark.slow
@pytest.mark.slow_job_server(factor=20)
def test_a_worker_killed_between_claim_and_answer_loses_at_most_that_message(
    shell: Shell, submit: Submit, tmp_path: Path, receiver: Receiver
) -> None:
    configure(shell, tmp_path, receiver.url("hang"))
    submit("never-ends", "--requests", "1")
    worker = shell.start("run")
    assert eventually(receiver.arrived.is_set)
    worker.kill()
    worker.communicate()
    assert told(shell) == ["a message goes out by json"]
    assert shell("run", "--until-idle").code == 0
    assert len(receiver.received) == 1
    assert shell("audit", "verify").code == 0


@pytest.mark.rule("H10")
@pytest.mark.slow
@pytest.mark.slow_job_server(factor=20)
def test_a_worker_that_is_stopped_meanwhile_ends_within_two_seconds_and_says_that_nobody_knows(
    shell: Shell, submit: Submit, tmp_path: Path, receiver: Receiver
) -> None:
    configure(shell, tmp_path, receiver.url("hang"))

    def took(number: int) -> float:
        operation_id = f"job-{number}"
        submit("never-ends", "--requests", "1", "--id", operation_id)
        receiver.arrived.clear()
        worker = shell.start("run")
        assert eventually(receiver.arrived.is_set)
        asked = time.monotonic()
        worker.send_signal(signal.SIGTERM)
        ended = shell.finish(worker)
        took_s = time.monotonic() - asked
        assert ended.code == 0
        assert told(shell, operation_id)[1].startswith("nobody knows whether the message went out, and it is not sent again")
        return took_s

    assert quickest(2, took) < 2


@pytest.mark.slow_job_server(factor=20)
def test_settings_that_are_wrong_are_said_and_the_worker_works(shell: Shell, submit: Submit) -> None:
    submit("quick")
    (shell.home / "config.toml").write_text(f'[notify]\nurls = ["slack://{SECRET}/b/c"]\nbel = true\n')
    done = shell("run", "--until-idle")
    assert done.code == 0
    assert "config.toml: notify.bel is not known; did you mean bell?" in done.err
    assert "config.toml: notify.urls[0] is no reference" in done.err
    assert SECRET not in done.err
    assert shell.phase("quick") == "succeeded"
