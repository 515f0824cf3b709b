"""The Python face over a real provider and a real store: what scripts, notebooks and programs can say (SPEC 12)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import jobconsole
from jobconsole.api import Console
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import InvalidValue, Refused, UnknownOperation, UnknownProvider
from jobconsole.testing.server import SlowJobServer
from tests.quickest import quickest

pytestmark = pytest.mark.slow_job_server(factor=4)


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    with jobconsole.open(tmp_path / "store") as opened:
        yield opened


def params(server: SlowJobServer) -> dict[str, str]:
    return {"port": str(server.port)}


@pytest.mark.rule("X16", "A2")
def test_a_wait_returns_the_outcome_with_its_result(console: Console, slow_job_server: SlowJobServer) -> None:
    op = console.submit("play", json={"scenario": "slow"}, name="Q3 report", params=params(slow_job_server), by="ana")
    console.start()
    outcome = console.wait(op, timeout="60s")
    assert (outcome.status, outcome.done, bool(outcome)) == ("succeeded", True, True)
    assert outcome.result["scenario"] == "slow"
    assert console.operations() == []
    assert [each.phase for each in console.operations(include_ended=True)] == [Phase.SUCCEEDED]


def test_a_slow_job_is_never_an_exception(console: Console, slow_job_server: SlowJobServer) -> None:
    op = console.submit("play", json={"scenario": "never-ends"}, params=params(slow_job_server))
    outcome = console.wait(op, timeout=0.5)
    assert (outcome.status, outcome.done, bool(outcome)) == ("timed_out", False, False)
    assert "Do not report success" in outcome.message


@pytest.mark.rule("H4", "H5")
def test_a_record_binds_the_decision_to_the_revision_that_was_seen(console: Console, slow_job_server: SlowJobServer) -> None:
    budget = jobconsole.Budget(status_requests=1)
    op = console.submit("play", json={"scenario": "never-ends"}, params=params(slow_job_server), budget=budget)
    assert console.wait(op, timeout="60s").status == "needs_decision"
    shown = console.operation(op)
    assert [item.operation_id for item in console.inbox()] == [op.operation_id]
    assert "extend" in console.options(shown)
    extended = console.decide(shown, "extend", checks=2, minutes=1, reason="tax filing is due", by="ana")
    assert extended.max_status_requests == 3
    with pytest.raises(Refused, match="already answered by ana"):
        console.decide(shown, "extend", checks=2, by="ben")


@pytest.mark.rule("L1", "L3")
def test_the_audit_is_a_story_a_frame_and_a_proof(console: Console, slow_job_server: SlowJobServer) -> None:
    op = console.submit("play", json={"scenario": "quick"}, params=params(slow_job_server))
    console.wait(op, timeout="60s")
    audit = console.audit(op)
    assert "submitted job" in audit.story()
    frame = audit.to_frame()
    assert list(frame["kind"][:2]) == ["submitted", "action_requested"]
    assert len(frame) == len(audit)
    assert console.audit().verify().broken is None


@pytest.mark.rule("L2")
def test_the_frame_has_the_same_types_when_it_is_empty(console: Console, slow_job_server: SlowJobServer) -> None:
    from jobconsole.adapters.frames import audit_frame

    op = console.submit("play", json={"scenario": "quick"}, params=params(slow_job_server))
    full, empty = console.audit(op).to_frame(), audit_frame(())
    assert full.dtypes.astype(str).to_dict() == empty.dtypes.astype(str).to_dict()
    assert str(full.dtypes["at"]) == "datetime64[us, UTC]"
    assert str(full.dtypes["seq"]) == "Int64"
    assert full["phase"].cat.categories.tolist() == [str(phase) for phase in Phase]


def test_why_answers_for_now_and_for_a_past_second(console: Console, slow_job_server: SlowJobServer) -> None:
    op = console.submit("play", json={"scenario": "quick"}, params=params(slow_job_server))
    console.wait(op, timeout="60s")
    assert console.why(op)
    assert console.why(op, op.started_at)
    with pytest.raises(InvalidValue, match=r"has no time zone.*give a time zone"):
        console.why(op, op.started_at.replace(tzinfo=None))


def test_what_cannot_be_done_is_said_with_its_mend(console: Console, slow_job_server: SlowJobServer) -> None:
    with pytest.raises(UnknownProvider, match="play"):
        console.submit("plya")
    with pytest.raises(UnknownOperation):
        console.wait("op_unknown")
    with pytest.raises(InvalidValue):
        console.submit("play", json={}, params=params(slow_job_server), budget=jobconsole.Budget(deadline="soon"))
    for by, why in (
        ("worker:w1", "another kind of actor"),
        ("a\ud800", "printable"),
        ("", "printable"),
        ("nobody", "there is none"),
    ):
        with pytest.raises(InvalidValue, match=why):
            console.submit("play", json={}, params=params(slow_job_server), by=by)


def test_a_record_shows_itself_without_its_request(console: Console, slow_job_server: SlowJobServer) -> None:
    op = console.submit("play", json={"scenario": "quick", "token": "s3cret"}, params=params(slow_job_server), name="Q3")
    assert "s3cret" not in repr(op)
    assert "'Q3'" in repr(op)
    assert op.idempotency_token is not None
    assert op.idempotency_token not in repr(op)


async def test_the_async_twin_has_the_same_names(tmp_path: Path, slow_job_server: SlowJobServer) -> None:
    async with await jobconsole.open_async(tmp_path / "store") as console:
        op = await console.submit("play", json={"scenario": "quick"}, params=params(slow_job_server))
        await console.start()
        outcome = await console.wait(op, timeout="60s")
        assert outcome.status == "succeeded"
        assert (await (await console.audit()).verify()).broken is None


@pytest.mark.parametrize("name", [n for n in vars(Console) if not n.startswith("_")])
def test_every_name_of_the_console_is_the_twins_too(name: str) -> None:
    assert hasattr(jobconsole.AsyncConsole, name)


class Interrupter(threading.Thread):
    """Interrupts the main thread once that stands still within `Console.wait`; `sent` is when."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.sent = 0.0

    def run(self) -> None:
        """Look until it does, then interrupt."""
        while not is_waiting(threading.main_thread()):
            time.sleep(0.02)
        self.sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)


def is_waiting(thread: threading.Thread) -> bool:
    """Whether the thread stands at a lock, called from a console's wait."""
    codes = [frame.f_code for frame, _ in traceback.walk_stack(sys._current_frames()[thread.ident or 0])]
    return codes[0].co_filename == threading.__file__ and Console.wait.__code__ in codes


def test_an_interrupt_ends_the_wait_within_a_second_and_not_the_job(console: Console, slow_job_server: SlowJobServer) -> None:
    patient = jobconsole.Budget(deadline="1h", status_requests=1000)
    op = console.submit("play", json={"scenario": "never-ends"}, params=params(slow_job_server), budget=patient)

    def took(_: int) -> float:
        interrupts = Interrupter()
        interrupts.start()
        with pytest.raises(KeyboardInterrupt, match="not the job"):
            console.wait(op, timeout="60s")
        ended = time.monotonic()
        interrupts.join()
        return ended - interrupts.sent

    assert quickest(1.0, took) < 1.0
    assert console.operation(op).phase is Phase.WAITING


@pytest.mark.rule("X19", "S1")
def test_a_worker_dies_with_its_process_and_another_one_goes_on(tmp_path: Path, slow_job_server: SlowJobServer) -> None:
    """A kernel is killed in the middle; nothing is cancelled, and the next process finishes the wait."""
    home = tmp_path / "store"
    script = (
        "import jobconsole, sys, time\n"
        f"console = jobconsole.open({str(home)!r})\n"
        "console.start()\n"
        f"op = console.submit('play', json={{'scenario': 'slow'}}, params={{'port': '{slow_job_server.port}'}})\n"
        "print(op.operation_id, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        operation_id = other.stdout.readline().strip()
        other.kill()
    with jobconsole.open(home) as console:
        outcome = console.wait(operation_id, timeout="60s")
    assert outcome.status == "succeeded"
    assert not [seen for seen in slow_job_server.log if seen.on == "cancel"]


def test_a_blocking_call_from_the_consoles_own_thread_is_refused(tmp_path: Path) -> None:
    from jobconsole.engine.blocking import Portal

    portal = Portal()

    async def inside() -> str:
        with pytest.raises(RuntimeError, match="wait for itself"):
            portal.call(asyncio.sleep(0))
        return "refused"

    assert portal.call(inside()) == "refused"
    portal.close()
    with pytest.raises(RuntimeError, match="the console is closed; open another one"):
        portal.call(asyncio.sleep(0))


def test_a_console_is_closed_once_however_often_and_by_however_many_threads(tmp_path: Path) -> None:
    console = jobconsole.open(tmp_path / "store")
    faults: list[BaseException] = []

    def close() -> None:
        try:
            console.close()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=close) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert not any(each.is_alive() for each in threads)
    console.close()
    assert faults == []
    with pytest.raises(RuntimeError, match="the console is closed; open another one"):
        console.operations()


@pytest.mark.rule("U6")
def test_a_phase_that_does_not_exist_is_refused_and_finds_not_nothing(console: Console) -> None:
    for ask in (console.operations, console.to_frame):
        with pytest.raises(InvalidValue, match="there is no phase 'fail'; there are submitting, waiting, escalated, succeeded"):
            ask("fail")
        assert len(ask("failed")) == 0
