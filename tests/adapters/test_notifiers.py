"""Messages by Apprise over real HTTP: what arrives, what is said of a channel that fails, and that no secret is told (C13)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobconsole.adapters.notifiers import AppriseNotifier
from jobconsole.adapters.secrets import ReferenceSecrets
from jobconsole.core.telling.notice import Notice
from jobconsole.protocols import Sent
from tests.adapters.receiver import Receiver

NOTICE = Notice(
    "jobconsole: Q3 report needs a decision", ("why: <b>&amp;</b> :smile:", "answer: jobconsole decide op_1 OPTION \\n")
)
SECRET = "Zx9pW3rTq7Lm2KvB"  # in user, password, path and query of the URLs below


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


def notifier(tmp_path: Path, *urls: str, patience_s: float = 20.0) -> AppriseNotifier:
    """One that reads its URLs from files."""
    references = []
    for number, url in enumerate(urls):
        file = tmp_path / f"url-{number}"
        file.write_text(url + "\n")
        file.chmod(0o600)
        references.append(f"file:{file}")
    return AppriseNotifier(references, ReferenceSecrets(), patience_s=patience_s)


@pytest.mark.rule("A6")
async def test_a_message_arrives_as_it_was_written(tmp_path: Path, receiver: Receiver) -> None:
    """No markup, no emoji, no escape is made of it."""
    channels = notifier(tmp_path, receiver.url("hook"))
    assert (await channels.reach()).channels == ("json",)
    assert await channels.send(NOTICE) == [Sent("json", True)]
    (message,) = receiver.received
    assert (message["title"], message["message"]) == (NOTICE.title, NOTICE.text)
    assert receiver.paths == ["/hook"]


async def test_every_channel_is_tried_and_one_that_fails_costs_only_itself(tmp_path: Path, receiver: Receiver) -> None:
    channels = notifier(tmp_path, receiver.url("500"), receiver.url("hook"), "json://127.0.0.1:1/nobody")
    sent = await channels.send(NOTICE)
    assert [each.is_taken for each in sent] == [False, True, False]
    assert "500" in sent[0].detail
    assert "Connection error" in sent[2].detail


@pytest.mark.rule("C13")
@pytest.mark.parametrize(
    "url",
    [
        f"json://ana:{SECRET}@127.0.0.1:1/{SECRET}?+X-Token={SECRET}",
        f"json://{SECRET}/a",
        f"slack://{SECRET}/short/x",
        f"nosuchservice://{SECRET}/{SECRET}",
        f"{SECRET} is no url",
        f"mailto://ana:{SECRET}@127.0.0.1:1?to=b@example.org",
    ],
)
async def test_no_piece_of_a_url_is_told(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever a program logs, even in detail."""
    caplog.set_level(logging.DEBUG)
    channels = notifier(tmp_path, url, patience_s=8)
    reach, sent = await channels.reach(), await channels.send(NOTICE)
    assert not sent[0].is_taken
    assert sent[0].detail
    captured = capfd.readouterr()
    told = repr((channels, reach, sent)) + caplog.text + captured.out + captured.err
    assert SECRET.lower() not in told.lower()


@pytest.mark.rule("C13")
async def test_a_request_that_arrives_leaves_no_trace_of_its_url_in_the_log(
    tmp_path: Path, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert (await notifier(tmp_path, receiver.url(SECRET)).send(NOTICE))[0].is_taken
    assert receiver.paths == [f"/{SECRET}"]
    assert SECRET not in caplog.text


@pytest.mark.parametrize("url", ["not a url", "nosuchservice://host/x", "slack://nope"])
async def test_a_url_that_apprise_does_not_understand_is_said(url: str, tmp_path: Path) -> None:
    (sent,) = await notifier(tmp_path, url).send(NOTICE)
    assert (sent.is_taken, sent.detail) == (False, "Apprise does not understand the URL; see its documentation of this service")


async def test_a_channel_that_hangs_is_waited_for_so_long_and_the_program_goes_on(tmp_path: Path, receiver: Receiver) -> None:
    """The channel that works has the same patience to answer in: a machine that stands still may need more of it."""
    works: Sent | None = None
    for patience_s in (0.5, 4, 16):
        started = time.monotonic()
        channels = notifier(tmp_path, receiver.url("hang") + "?rto=120", receiver.url("hook"), patience_s=patience_s)
        hangs, works = await channels.send(NOTICE)
        assert hangs == Sent("json", None, f"no answer within {patience_s:g} s")
        assert time.monotonic() - started < patience_s + 60
        if works == Sent("json", True):
            return
    pytest.fail(f"the channel that works did not take the message: {works}")


@pytest.mark.rule("A6")
@pytest.mark.parametrize(
    ("path", "is_taken"),
    [("hang?rto=0.2", None), ("lost", None), ("500", False), ("404", False)],
    ids=["its answer is late", "its answer is lost", "it failed", "it is not there"],
)
async def test_a_message_that_arrived_without_an_answer_is_unknown(
    path: str, is_taken: bool | None, tmp_path: Path, receiver: Receiver
) -> None:
    """The service has it, and may have told people; only its no is a no."""
    (sent,) = await notifier(tmp_path, receiver.url(path)).send(NOTICE)
    assert await asyncio.to_thread(receiver.arrived.wait, 60)
    assert len(receiver.received) == 1
    assert sent.is_taken is is_taken
    assert sent.detail.startswith("it may have been taken: ") is (is_taken is None)


async def test_a_slow_service_is_waited_for_as_long_as_the_patience_lasts(tmp_path: Path, receiver: Receiver) -> None:
    """Not for the four seconds that Apprise would wait."""
    started = time.monotonic()
    (sent,) = await notifier(tmp_path, receiver.url("hang"), patience_s=5).send(NOTICE)
    assert sent == Sent("json", None, "no answer within 5 s")
    assert 5 <= time.monotonic() - started < 65


@pytest.mark.parametrize(
    ("url", "is_taken"),
    [
        ("json://127.0.0.1:1/a", False),
        ("json://no-such-host.invalid/a", False),
        ("mailto://ana:secret@example.org:1/b@example.org?smtp=127.0.0.1&mode=insecure", False),
        ("ntfy://127.0.0.1:1/one/two", None),
    ],
    ids=["nobody listens", "no such name", "no mail server", "two targets"],
)
async def test_where_no_way_leads_to_a_service_nobody_has_the_message(url: str, is_taken: bool | None, tmp_path: Path) -> None:
    """Of several targets behind one URL that is not known: Apprise says only that not all took it."""
    (sent,) = await notifier(tmp_path, url).send(NOTICE)
    assert sent.is_taken is is_taken
    assert "onnection error" in sent.detail


async def test_the_loop_runs_on_while_a_channel_is_asked(tmp_path: Path, receiver: Receiver) -> None:
    sending = asyncio.create_task(notifier(tmp_path, receiver.url("hang"), patience_s=60).send(NOTICE))
    turns = 0
    while not receiver.arrived.is_set():
        await asyncio.sleep(0.01)
        turns += 1
        assert turns < 6_000
    assert not sending.done()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)


async def test_a_reference_that_points_nowhere_is_named_with_the_mend_and_costs_only_itself(
    tmp_path: Path, receiver: Receiver
) -> None:
    file = tmp_path / "url"
    file.write_text(receiver.url())
    file.chmod(0o600)
    channels = AppriseNotifier(["env:JOBCONSOLE_NOT_SET_HERE", f"file:{file}"], ReferenceSecrets())
    reach = await channels.reach()
    assert reach.channels == ("json",)
    assert reach.faults == (
        "notify.urls: env:JOBCONSOLE_NOT_SET_HERE: is not set; export JOBCONSOLE_NOT_SET_HERE and start again",
    )
    assert [each.is_taken for each in await channels.send(NOTICE)] == [True]
