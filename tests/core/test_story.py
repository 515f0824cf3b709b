"""The audit reads as a story: one line an event, in the words of SPEC X22."""

from __future__ import annotations

import pytest

from jobconsole.core.story import story
from tests.core.staged_wait import StagedWait


async def told(wait: StagedWait) -> list[str]:
    """The story of the one operation."""
    return list(story(await wait.events()))


@pytest.mark.rule("X22")
async def test_reads_as_the_specification_writes_it() -> None:
    """The four lines of X22, to the letter, from the events of the real commands."""
    wait = StagedWait()
    await wait.submit()
    wait.go("10:20:05")
    await wait.check(200, {"state": "queued"}, draw=0.45)  # 0.45 x 20 s = 9 s
    wait.go("10:20:31")
    await wait.check(503, headers={"Retry-After": "120"})
    for minute in range(30, 39):  # checks 3 to 11
        wait.go(f"10:{minute}:00")
        await wait.check(200, {"state": "running"}, draw=0.1)
    wait.go("10:58:00")
    await wait.check(200, {"state": "running"})  # check 12 of 12

    lines = await told(wait)

    assert lines[0] == "10:20:00 submitted job exp_71c, deadline 11:00:00, budget 12"
    assert lines[1] == "10:20:05 polled, state queued, next poll 10:20:14 from local backoff"
    assert lines[2] == "10:20:31 received 503, Retry-After 120, next poll 10:22:31 from provider guidance"
    assert lines[3] == "10:20:31 account acme-prod held until 10:22:31"
    assert lines[-1] == "10:58:00 polled, state running, request budget exhausted, escalated"
    assert len(lines) == 4 + 9 + 1
