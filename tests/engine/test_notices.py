"""Telling people of inbox items: once per item whoever runs, together what comes together, never in quiet hours.

The manual clock begins at 2026-11-29 10:00 UTC. A message waits 2 s for what comes with it; the next one comes 30 s later.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from jobconsole.core.telling.notice import Notice
from jobconsole.core.telling.notify_settings import NotifySettings, notify_settings
from jobconsole.core.telling.story import story
from jobconsole.core.vocabulary import NoticeResult, Phase
from jobconsole.engine.notices import Notices
from jobconsole.protocols import Reach, Sent
from jobconsole.testing.clock import ManualClock
from tests.engine.stage import Stage, says

GATHERED = 2.0  # seconds
SETTINGS = NotifySettings(urls=("env:X",))


class Channel:
    """A channel that keeps what it is sent. `answer` is what becomes of a message; without one it hangs."""

    def __init__(self, name: str = "slack") -> None:
        self.name = name
        self.sent: list[Notice] = []
        self.answer: Sequence[Sent] | None = (Sent(name, True),)
        self.faults: tuple[str, ...] = ()

    async def reach(self) -> Reach:
        return Reach(() if self.faults else (self.name,), self.faults)

    async def send(self, notice: Notice) -> Sequence[Sent]:
        self.sent.append(notice)
        if self.answer is None:
            await asyncio.Event().wait()
        assert self.answer is not None
        return self.answer


@asynccontextmanager
async def telling(stage: Stage, channel: Channel, settings: NotifySettings = SETTINGS) -> AsyncIterator[Notices]:
    """One process that tells people, settled on its first look."""
    notices = Notices(stage.console, channel, settings, stage.console.actor)
    task = asyncio.create_task(notices.run())
    await turns()
    try:
        yield notices
    finally:
        notices.stop()
        await asyncio.wait_for(task, 60)


async def turns(number: int = 40) -> None:
    """Let everything run that can."""
    for _ in range(number):
        await asyncio.sleep(0)


async def passing(clock: ManualClock, seconds: float) -> None:
    """Let time pass in steps, as sleepers see it."""
    for _ in range(int(seconds)):
        clock.advance(1)
        await turns()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait, bounded, for what another task does."""
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110  (a condition of the part under test, within a bound)
            await asyncio.sleep(0.01)


async def ask(stage: Stage, *operation_ids: str, state: str = "odd") -> None:
    """Let these operations escalate, because of a state that nobody knows."""
    for operation_id in operation_ids:
        await stage.track(operation_id)
        await stage.look(operation_id)
        assert (await stage.op(operation_id)).phase is (Phase.ESCALATED if state == "odd" else Phase.FAILED)
    await turns()


async def told(stage: Stage, operation_id: str = "op-1") -> list[str]:
    """The story's lines about messages, without their times."""
    lines = story(await stage.events(operation_id))
    return [line[9:] for line in lines if "message" in line or "reached" in line]


def odd() -> Stage:
    return Stage(lambda _: says("odd"))


@pytest.mark.rule("A6", "H7")
async def test_an_escalation_is_told_of_once_and_the_story_says_so() -> None:
    stage, channel = odd(), Channel()
    async with telling(stage, channel):
        await ask(stage, "op-1")
        assert channel.sent == []
        await passing(stage.clock, GATHERED)
        await passing(stage.clock, 200)
    assert [notice.title for notice in channel.sent] == ["jobconsole: op-1 needs a decision"]
    assert await told(stage) == ["a message goes out by slack", "slack took the message"]
    assert (await stage.op()).attention.notice_result is NoticeResult.REACHED


@pytest.mark.rule("A6")
async def test_what_comes_within_a_moment_is_one_message_and_the_next_one_keeps_its_distance() -> None:
    stage, channel = odd(), Channel()
    async with telling(stage, channel):
        await ask(stage, "op-1", "op-2", "op-3")
        await passing(stage.clock, GATHERED)
        await ask(stage, "op-4")
        await passing(stage.clock, 20)
        assert len(channel.sent) == 1
        await passing(stage.clock, 12)
    assert [notice.title for notice in channel.sent] == [
        "jobconsole: 3 operations need a decision",
        "jobconsole: op-4 needs a decision",
    ]


@pytest.mark.rule("A6", "S3")
async def test_two_processes_on_one_store_send_one_message() -> None:
    stage = odd()
    beside = stage.beside()
    one, other = Channel(), Channel()
    async with telling(stage, one), telling(beside, other):
        await ask(stage, "op-1", "op-2")
        await passing(stage.clock, 60)
    assert len(one.sent) + len(other.sent) == 1


@pytest.mark.rule("A6")
async def test_what_stood_there_before_the_start_is_told_of_and_not_again_after_the_next_start() -> None:
    stage, channel = odd(), Channel()
    await ask(stage, "op-1")
    for _ in range(2):
        async with telling(stage, channel):
            await passing(stage.clock, 40)
    assert len(channel.sent) == 1


@pytest.mark.rule("H10")
async def test_that_no_channel_took_the_message_is_a_record_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    stage, channel = odd(), Channel()
    channel.answer = (Sent("slack", False, "404 no such hook"),)
    async with telling(stage, channel):
        await ask(stage, "op-1")
        await passing(stage.clock, 200)
    assert len(channel.sent) == 1
    assert await told(stage) == ["a message goes out by slack", "nobody was reached by slack: slack: 404 no such hook"]
    last = (await stage.events())[-1]
    assert (last["kind"], last["change"], last["actor"].partition(":")[0]) == ("item_changed", "not_reached", "worker")
    assert "nobody was reached about 1 operation: slack: 404 no such hook" in caplog.messages


@pytest.mark.rule("H10")
async def test_one_channel_is_enough_and_the_other_ones_fault_is_kept() -> None:
    stage, channel = odd(), Channel()
    channel.answer = (Sent("slack", True), Sent("mailto", False, "refused"))
    async with telling(stage, channel):
        await ask(stage, "op-1")
        await passing(stage.clock, GATHERED)
    assert (await told(stage))[-1] == "slack took the message; mailto: refused"


@pytest.mark.rule("H10")
async def test_a_channel_that_gives_no_answer_is_not_said_to_have_reached_nobody() -> None:
    stage, channel = odd(), Channel()
    channel.answer = (Sent("slack", None, "no answer within 20 s"), Sent("mailto", False, "refused"))
    async with telling(stage, channel):
        await ask(stage, "op-1")
        await passing(stage.clock, GATHERED)
    assert (await told(stage))[-1] == (
        "nobody knows whether the message went out, and it is not sent again: slack: no answer within 20 s; mailto: refused"
    )


async def test_a_process_without_a_channel_leaves_the_item_to_one_that_has_one(caplog: pytest.LogCaptureFixture) -> None:
    stage, without, with_one = odd(), Channel(), Channel()
    without.faults = ("notify.urls: env:X: is not set; export X and start again",)
    beside = stage.beside()
    async with telling(stage, without):
        await ask(stage, "op-1")
        await passing(stage.clock, 200)
        assert await told(stage) == []
        async with telling(beside, with_one):
            await passing(stage.clock, GATHERED)
    assert len(with_one.sent) == 1
    assert [record.getMessage() for record in caplog.records] == list(without.faults)


async def test_a_channel_that_becomes_readable_is_used_within_two_minutes() -> None:
    stage, channel = odd(), Channel()
    channel.faults = ("notify.urls: env:X: is not set",)
    async with telling(stage, channel):
        await ask(stage, "op-1")
        await passing(stage.clock, 10)
        channel.faults = ()
        await passing(stage.clock, 120)
    assert len(channel.sent) == 1


@pytest.mark.rule("A6")
async def test_in_quiet_hours_nothing_is_claimed_and_what_is_still_open_is_one_message_at_their_end() -> None:
    """09:00-10:30: op-1 is answered before they end, op-2 and op-3 are open then."""
    stage, channel = odd(), Channel()
    quiet = notify_settings({"notify": {"urls": ["env:X"], "quiet_hours": "09:00-10:30", "zone": "UTC"}})
    async with telling(stage, channel, quiet):
        await ask(stage, "op-1", "op-2", "op-3")
        await stage.console.decide("op-1", "close", by="person:ana", reason="gone")
        left = stage.clock.wall().replace(hour=10, minute=30, second=0, microsecond=0) - stage.clock.wall()
        await passing(stage.clock, left.total_seconds() - 1)
        assert channel.sent == []
        assert (await stage.op("op-2")).attention.notified_at is None
        await passing(stage.clock, 1 + GATHERED)
    (notice,) = channel.sent
    assert notice.title == "jobconsole: 2 operations need a decision"
    assert "op-1" not in notice.text


@pytest.mark.rule("H7")
async def test_a_snoozed_item_is_told_of_when_it_stands_up_again() -> None:
    stage, channel = odd(), Channel()
    await ask(stage, "op-1")
    await stage.console.snooze("op-1", stage.clock.wall().replace(minute=30, second=0, microsecond=0), by="person:ana")
    async with telling(stage, channel):
        while stage.clock.wall().minute < 30:
            assert channel.sent == []
            await passing(stage.clock, 10)
        await passing(stage.clock, GATHERED)
    assert len(channel.sent) == 1


@pytest.mark.rule("H13")
@pytest.mark.parametrize(("looks", "messages"), [(False, 0), (True, 1)])
async def test_looks_are_told_of_only_where_they_are_asked_for(looks: bool, messages: int) -> None:
    stage, channel = Stage(lambda _: says("failed")), Channel()
    async with telling(stage, channel, replace(SETTINGS, looks=looks)):
        await ask(stage, "op-1", state="failed")
        await passing(stage.clock, 40)
    assert len(channel.sent) == messages


@pytest.mark.rule("H10")
async def test_stopped_while_a_message_is_on_its_way_it_says_that_nobody_knows() -> None:
    stage, channel = odd(), Channel()
    channel.answer = None
    async with telling(stage, channel):
        await ask(stage, "op-1")
        stage.clock.advance(GATHERED)
        await until(lambda: bool(channel.sent))
    assert (await told(stage))[-1] == (
        "nobody knows whether the message went out, and it is not sent again: its sender was stopped before it knew"
    )


@pytest.mark.rule("A6", "H10")
async def test_a_process_that_died_between_claim_and_message_loses_it_and_the_next_one_says_so() -> None:
    """The first process is cancelled outright, as a kill would end it: nothing of it runs any more."""
    stage, hanging, channel = odd(), Channel(), Channel()
    hanging.answer = None
    dying = asyncio.create_task(Notices(stage.console, hanging, SETTINGS, "worker:dead").run())
    await ask(stage, "op-1")
    stage.clock.advance(GATHERED)
    await until(lambda: bool(hanging.sent))
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    assert await told(stage) == ["a message goes out by slack"]
    async with telling(stage, channel):
        await passing(stage.clock, 125)
    assert channel.sent == []
    assert (await told(stage))[1:] == [
        "nobody knows whether the message went out, and it is not sent again: whoever sent it ended before it knew"
    ]


async def test_a_process_that_ends_by_itself_tells_before_it_goes() -> None:
    stage, channel = odd(), Channel()
    async with telling(stage, channel) as notices:
        await ask(stage, "op-1")
        await notices.tell_now()
        assert len(channel.sent) == 1
        await passing(stage.clock, 60)
    assert len(channel.sent) == 1


@pytest.mark.rule("H6")
async def test_a_message_changes_no_revision_so_that_a_choice_about_to_be_made_stays_good() -> None:
    stage, channel = odd(), Channel()
    await ask(stage, "op-1")
    shown = (await stage.op()).revision
    async with telling(stage, channel):
        await passing(stage.clock, GATHERED)
    assert len(channel.sent) == 1
    await stage.console.decide("op-1", "close", by="person:ana", revision=shown, reason="seen")
