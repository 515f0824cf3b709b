"""A stalled job is told from a slow one: by its contract, or by what is usual for its account (H12)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.cli.telling import state_text
from jobconsole.core.contracts.file import load
from jobconsole.core.deciding.account import Account
from jobconsole.core.deciding.stall import remembered, stalled_since
from jobconsole.core.operation import Operation, deadline
from jobconsole.core.telling.views import operation_view
from jobconsole.core.telling.why import why
from jobconsole.core.vocabulary import Phase
from tests.core.staged_wait import CONTRACT, StagedWait, at, contract
from tests.store.made import START, made

WITHOUT_WORD = load(CONTRACT.replace('stalled_after = "10m"\n', ""), "acme-exports.toml")


async def finish(wait: StagedWait, number: int, silence: timedelta, end: str = "succeeded") -> Operation:
    """One job that shows "running", nothing else for as long as `silence`, and then its end."""
    wait.operation_id = f"op_{number}"
    await wait.submit(job_id=f"exp_{number}", action_id=f"act_{number}")
    wait.clock.advance(timedelta(seconds=5))
    await wait.check(200, {"state": "running"}, draw=0.5)
    wait.clock.advance(silence)
    await wait.check(200, {"state": end, "result": 1})
    return await wait.op()


async def running(wait: StagedWait, number: int = 9) -> Operation:
    """One more job, seen running just now."""
    wait.operation_id = f"op_{number}"
    await wait.submit(job_id=f"exp_{number}", action_id=f"act_{number}")
    wait.clock.advance(timedelta(seconds=5))
    await wait.check(200, {"state": "running"}, draw=0.5)
    return await wait.op()


@pytest.mark.rule("H12")
@pytest.mark.parametrize(
    ("silences", "allowed"),
    [
        ([], None),
        ([60, 60, 60, 60], None),  # four finished jobs say nothing yet
        ([60, 60, 60, 60, 60], 120),  # 2 x 60
        ([20, 90, 30, 40, 60], 180),  # 2 x the longest
    ],
)
async def test_without_a_word_of_the_contract_twice_the_longest_silence_of_five_jobs_counts(
    silences: list[int], allowed: int | None
) -> None:
    wait = StagedWait(WITHOUT_WORD)
    for number, seconds in enumerate(silences, start=1):
        await finish(wait, number, timedelta(seconds=seconds))
    op = await running(wait)
    assert op.state_since is not None
    assert op.stalls_at == (None if allowed is None else op.state_since + timedelta(seconds=allowed))


@pytest.mark.rule("H12")
async def test_the_contracts_word_goes_before_what_is_usual() -> None:
    """`stalled_after` is 10 minutes, five jobs were silent for a minute each."""
    wait = StagedWait(contract())
    for number in range(1, 6):
        await finish(wait, number, timedelta(minutes=1))
    op = await running(wait)
    assert op.state_since is not None
    assert op.stalls_at == op.state_since + timedelta(minutes=10)


@pytest.mark.rule("H12")
async def test_a_job_that_hangs_while_others_finish_is_told_by_them() -> None:
    """It was seen when nothing was usual yet; the next check knows more."""
    wait = StagedWait(WITHOUT_WORD)
    assert (await running(wait)).stalls_at is None
    for number in range(1, 6):
        await finish(wait, number, timedelta(seconds=30))
    wait.operation_id = "op_9"
    await wait.check(200, {"state": "running"}, draw=0.5)
    op = await wait.op()
    assert op.state_since is not None
    assert op.stalls_at == op.state_since + timedelta(seconds=60)
    assert stalled_since(op, wait.clock.wall()) == op.state_since  # 5 x 35 s have passed


@pytest.mark.rule("H12")
@pytest.mark.parametrize(
    ("answer", "is_stalled"),
    [
        ({"state": "running", "progress": 10}, True),
        ({"state": "running", "progress": 11}, False),
        ({"state": "queued", "progress": 10}, False),
    ],
)
async def test_progress_is_a_sign_of_life_and_so_is_another_state(answer: dict[str, object], is_stalled: bool) -> None:
    wait = StagedWait()
    await wait.submit()
    wait.go("10:20:05")
    await wait.check(200, {"state": "running", "progress": 10}, draw=0.5)
    wait.go("10:30:06")
    await wait.check(200, answer, draw=0.5)
    assert (stalled_since(await wait.op(), wait.clock.wall()) is not None) is is_stalled


@pytest.mark.rule("H12", "B16")
async def test_a_stalled_job_keeps_its_limits_its_plan_and_its_phase() -> None:
    """The record before the flag and after it is the same; nothing is written for it."""
    wait = StagedWait()
    await wait.submit()
    wait.go("10:20:05")
    await wait.check(200, {"state": "running"}, draw=0.5)
    wait.go("10:30:06")
    await wait.check(200, {"state": "running"}, draw=0.5)
    before, lines = await wait.op(), len(await wait.events())
    shown = operation_view(await wait.op(), wait.clock.wall(), None, wait.contract)
    assert shown["stalled"]
    assert await wait.op() == before
    assert len(await wait.events()) == lines
    assert (before.phase, deadline(before), before.max_status_requests) == (Phase.WAITING, at("11:00:00"), 12)


@pytest.mark.rule("H12")
async def test_a_silence_while_a_person_was_waited_for_teaches_nothing() -> None:
    """Its budget was spent, nobody looked for half an hour: that is not the provider's pace."""
    wait = StagedWait(load(CONTRACT.replace("status_requests = 12", "status_requests = 1"), "acme-exports.toml"))
    await wait.submit()
    wait.go("10:20:05")
    await wait.check(200, {"state": "running"}, draw=0.5)
    wait.go("10:50:00")
    await wait.decide("extend", minutes=15, checks=4)
    await wait.check(200, {"state": "succeeded", "result": 1})
    assert (await wait.op()).phase is Phase.SUCCEEDED
    assert (await wait.account()).silences_ms == ()


@pytest.mark.rule("H12")
def test_an_account_remembers_its_last_twenty_finished_jobs() -> None:
    """What is usual changes with the provider; a failure is an end too, a cancel is not the provider's pace."""
    account = Account(account_key="a", account="a")
    for number in range(1, 26):
        end = Phase.SUCCEEDED if number % 2 else Phase.FAILED
        account = remembered(account, made(longest_silence_ms=number), end)
    for no_pace in (Phase.CANCELLED, Phase.ABANDONED, None):
        account = remembered(account, made(longest_silence_ms=99), no_pace)
    assert account.silences_ms == tuple(range(6, 26))


@pytest.mark.parametrize(
    ("phase", "minutes", "is_stalled"),
    [(Phase.WAITING, 9, False), (Phase.WAITING, 11, True), (Phase.ESCALATED, 11, False), (Phase.SUCCEEDED, 11, False)],
)
def test_only_what_waits_can_stall(phase: Phase, minutes: int, is_stalled: bool) -> None:
    now = START + timedelta(minutes=minutes)
    op = made(phase=phase, state_since=START, stalls_at=START + timedelta(minutes=10), observed_at=now)
    assert (stalled_since(op, now) is not None) is is_stalled


@pytest.mark.rule("H12", "U7")
async def test_lists_and_why_say_that_it_looks_stalled_once_somebody_looked() -> None:
    """While no worker runs nobody asks, and nothing is known of the job."""
    wait = StagedWait()
    await wait.submit()
    wait.go("10:20:05")
    await wait.check(200, {"state": "running", "progress": 40}, draw=0.5)
    wait.go("10:30:06")
    op, now = await wait.op(), wait.clock.wall()
    assert state_text(operation_view(op, now, None, None), now) == "running 40%, not checked since 10:20:05"
    assert "It looks stalled" not in why(op, await wait.events(), None, now, None, wait.contract)
    await wait.check(200, {"state": "running", "progress": 40}, draw=0.5)
    op = await wait.op()
    assert state_text(operation_view(op, now, None, None), now) == "running 40%, stalled"
    told = why(op, await wait.events(), None, now, None, wait.contract)
    assert "It looks stalled: no change of state or progress since 10:20:05; its bounds are as they were." in told
