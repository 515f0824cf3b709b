"""Operations as a console hands them out: the record, and what can be done with it."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import jobconsole
from jobconsole.api import AsyncConsoleOperation, Console, ConsoleOperation
from jobconsole.core.operation import Operation, document
from jobconsole.errors import Refused
from jobconsole.testing.server import SlowJobServer
from tests.core.sample_facts import operation

pytestmark = pytest.mark.slow_job_server(factor=4)
METHODS = [name for name in vars(ConsoleOperation) if not name.startswith("_") and name != "of"]


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    with jobconsole.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def asking(console: Console, slow_job_server: SlowJobServer) -> ConsoleOperation:
    """An operation that has spent its one status request."""
    params, budget = {"port": str(slow_job_server.port)}, jobconsole.Budget(status_requests=1)
    op = console.submit("play", json={"scenario": "never-ends"}, name="trailer", params=params, budget=budget)
    assert op.wait(timeout="60s").status == "needs_decision"
    return op.refresh()


@pytest.mark.rule("H4", "H7", "U7", "L2")
def test_an_operation_asks_the_console_that_it_came_from(console: Console, asking: ConsoleOperation) -> None:
    assert asking.why() == console.why(asking)
    assert asking.why(asking.started_at) == console.why(asking, asking.started_at)
    assert asking.audit().story() == console.audit(asking).story()
    assert asking.options() == console.options(asking)
    assert asking.note("called the provider", by="ana").attention.notes[0].text == "called the provider"
    assert asking.assign("ana", by="ana").attention.assigned_to == "ana"
    assert asking.snooze("1h", by="ana").attention.snoozed_until is not None
    assert asking.decide("extend", checks=2, minutes=1, by="ana").max_status_requests == 3
    with pytest.raises(Refused, match="already answered by ana"):
        asking.decide("extend", by="ben")
    assert console.track("play", job_id="other", params=asking.params).refresh().is_tracked


def test_a_record_stays_what_it_was_and_refresh_gets_the_one_of_now(asking: ConsoleOperation) -> None:
    before = repr(asking)
    now = asking.decide("close", reason="not needed", by="ana")
    assert (repr(asking), now.phase, asking.refresh()) == (before, "abandoned", now)


def test_everything_that_hands_out_operations_hands_out_such(console: Console, asking: ConsoleOperation) -> None:
    again = console.submit("play", json={"scenario": "quick"}, params=asking.params, id="mine")
    for op in (again, console.operation("mine"), *console.operations(include_ended=True)):
        assert op.refresh().operation_id == op.operation_id
    assert console.table().op is None
    assert console.progress(asking).op.options() == asking.options()


def test_a_long_name_does_not_fill_the_screen() -> None:
    shown = repr(operation(name="n" * 10_000, last_known_state="s" * 10_000))
    assert shown.startswith(f"<Operation op-1 '{'n' * 59}…': waiting ('{'s' * 59}…'), 0 of 12 checks")


def test_it_is_equal_to_the_same_record_from_elsewhere_and_is_stored_and_shown_alike(console: Console) -> None:
    plain = operation(params={"port": "1"})
    held = ConsoleOperation.of(plain, console)
    assert held == plain
    assert plain == held
    assert held == ConsoleOperation.of(plain, console)
    assert held != ConsoleOperation.of(replace(plain, revision=7), console)
    assert held != plain.operation_id
    assert document(held) == document(plain)
    assert repr(held) == repr(plain)
    assert isinstance(held, Operation)


@pytest.mark.parametrize("kind", [ConsoleOperation, AsyncConsoleOperation])
def test_equal_records_are_one_member_of_a_set(console: Console, kind: Any) -> None:
    plain = operation(params={"port": "1"})
    held = {kind.of(plain, console), kind.of(plain, console), kind.of(replace(plain, revision=7), console)}
    assert len(held) == 2
    assert {kind.of(plain, console): "seen"}[kind.of(plain, console)] == "seen"
    assert kind.of(replace(plain, op_seq=99), console) not in held


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, replace], ids=["copy", "deepcopy", "replace"])
def test_a_copy_that_knows_no_console_says_whom_to_ask(console: Console, copied: type) -> None:
    held = ConsoleOperation.of(operation(), console)
    with pytest.raises(RuntimeError, match=r"knows no console; ask yours: console.operation\('op-1'\)"):
        copied(held).why()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_the_async_twins_too(name: str) -> None:
    assert hasattr(AsyncConsoleOperation, name)


async def test_the_twins_methods_are_awaited(tmp_path: Path, slow_job_server: SlowJobServer) -> None:
    async with await jobconsole.open_async(tmp_path / "store") as console:
        params = {"port": str(slow_job_server.port)}
        op = await console.submit("play", json={"scenario": "never-ends"}, params=params)
        assert (await op.wait(timeout=0.1)).status == "timed_out"
        assert await op.why()
        assert (await op.audit()).story()
        assert "close" in await op.options()
        assert (await op.note("called", by="ana")).attention.notes[0].by == "ana"
        closed = await op.decide("close", reason="not needed", by="ana")
        assert closed == await op.refresh()
        assert [each == closed for each in await console.operations(include_ended=True)] == [True]
        assert (await (await op.progress(timeout="1s"))).status == "abandoned"
        assert (await op.timeline()).op == closed


def test_ten_thousand_are_handed_out_in_less_than_a_second(console: Console) -> None:
    records = [operation(operation_id=f"op-{number}") for number in range(10_000)]
    began = time.process_time()
    held = [ConsoleOperation.of(op, console) for op in records]
    assert time.process_time() - began < 1
    assert held[-1] == records[-1]
