"""One submission that started several jobs becomes one operation each (CONTRACT, submit.job_id)."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from jobconsole.core.commands.group import sibling_ids
from jobconsole.core.contracts.file import load
from jobconsole.core.vocabulary import Phase
from jobconsole.engine.desk import Desk
from jobconsole.engine.submissions import Wish
from jobconsole.play.job import Reply
from jobconsole.testing.clock import ManualClock
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.testing.transport import ScriptedTransport

CONTRACT = """
contract = 1
[provider]
name = "group"
title = "Several at once"
base_url = "https://api.group.example"
account = "default"
verified = "for this test"
[submit]
request = "POST /jobs"
job_id = "body.ids"
[status]
request = "GET /jobs/{job_id}"
read_only = true
state = "body.state"
[states]
waiting = ["running"]
succeeded = ["done"]
[budget]
deadline = "10m"
status_requests = 5
transport_failures = 3
"""


class OneContract:
    """A catalogue of one."""

    def __init__(self) -> None:
        self._contract = load(CONTRACT, "group.toml")

    def get(self, name: str) -> object:
        return self._contract

    def names(self) -> list[str]:
        return ["group"]

    def all(self) -> list[object]:
        return [self._contract]


def test_the_others_are_called_after_the_first() -> None:
    assert sibling_ids("op_1", ["a", "b", "c"]) == ("op_1.2", "op_1.3")
    assert sibling_ids("op_1", ["a"]) == ()
    assert len(sibling_ids("x" * 128, ["a", "b"])[0]) == 128


@pytest.mark.rule("C6", "B1")
async def test_a_submission_that_names_three_jobs_begins_three_waits_in_one_group() -> None:
    """Each job has its own record, budget and checks; nothing is submitted a second time."""
    clock = ManualClock()
    answers = [Reply(202, body={"ids": ["j1", "j2", "j3"]})]
    transport = ScriptedTransport(answers, clock)
    desk = Desk(MemoryStore(clock), OneContract(), lambda: transport, clock, "test")  # type: ignore[arg-type]
    begun = await desk.submit("group", {"n": 3}, wish=Wish(by="person:ana", operation_id="batch"))
    await desk.perform(begun.op.operation_id)
    found = await desk.operations()
    assert [(op.operation_id, op.provider_job_id) for op in found] == [("batch", "j1"), ("batch.2", "j2"), ("batch.3", "j3")]
    assert {op.group for op in found} == {"batch"}
    assert all(op.phase is Phase.WAITING and op.status_requests_used == 0 for op in found)
    assert all(op.next_poll_at is not None for op in found)
    clock.advance(timedelta(seconds=10))
    assert len(await desk.store.due(clock.wall(), 10)) == 3
    assert (await desk.verify()).broken is None
    assert [json.loads(line)["kind"] for line in [line async for line in desk.events("batch.3")]] == ["submitted"]
