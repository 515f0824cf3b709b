"""Workers are killed at any instant, again and again, over a real provider and a real store (S4, B3, STORE 9).

    JOBCONSOLE_KILLS=1000 JOBCONSOLE_KILL_SEED=1 pytest tests/kill

Three workers share one store while somebody submits and answers questions; each round one to three of the workers are killed,
at a random moment or while one of them holds the store's lock, and replaced. Then one worker is stopped until its leases have
ended, and comes back. At the end everything has ended or waits for a person, and what the provider has counted is compared with
what the store says.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from pathlib import Path

import pytest
from tinydb import TinyDB, where

from jobconsole.console import is_settled
from jobconsole.core.events import Kind
from jobconsole.core.vocabulary import Phase
from tests.kill.crew import Crew, crew, provider
from tests.kill.evidence import Evidence, gather, leases, unsettled

KILLS = int(os.environ.get("JOBCONSOLE_KILLS", "120"))
SEED = int(os.environ.get("JOBCONSOLE_KILL_SEED", "1"))
WORKERS = ("a", "b", "c")
LIVE = 80  # operations side by side
PATIENCE_S = 240  # for the rest, when the killing is over
STOP_S = 20  # a stop takes two seconds at most, on a machine that has nothing else to do and never stands still

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]

CONTRACT = """
contract = 1
[provider]
name = "{name}"
title = "The provider of the kill test"
base_url = "http://127.0.0.1:{port}"
account = "{name}"
[auth]
secret = "env:JOBCONSOLE_KILL_NAME"
[submit]
request = "POST {path}"
accepted = [202]
job_id = "body.id"
{idempotency}
[status]
request = "GET /jobs/{{job_id}}"
read_only = true
job_id = "body.id"
state = "body.state"
timeout = "2s"
[states]
waiting = ["running"]
succeeded = ["succeeded"]
partial = ["partial"]
failed = ["failed"]
cancelled = ["cancelled"]
[cancel]
request = "POST /jobs/{{job_id}}/cancel"
accepted = [202]
effect = "Stops the job."
[schedule]
base = "30ms"
factor = 1.5
max = "400ms"
[budget]
deadline = "10m"
status_requests = 40
transport_failures = 20
extension = {{ minutes = 1, checks = 5, failures = 3, times = 1 }}
"""


def write_contracts(home: Path, port: int) -> None:
    """One provider that documents an idempotency token, and one that does not."""
    folder = home / "providers"
    folder.mkdir(parents=True, mode=0o700)
    for name, path, idempotency in (
        ("kill-token", "/jobs", 'idempotency = "header Idempotency-Key"'),
        ("kill-once", "/once", ""),
    ):
        text = CONTRACT.format(name=name, port=port, path=path, idempotency=idempotency)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")


def kill_again_and_again(people: Crew, rng: random.Random) -> int:
    """The rounds; returns how often a stranger has searched the checkpoint meanwhile."""
    searches, killed = 0, 0
    while killed < KILLS:
        victims = rng.sample(WORKERS, rng.choices((1, 2, 3), weights=(45, 30, 25))[0])
        people.await_work(victims)
        time.sleep(rng.uniform(0, 0.4))
        if rng.random() < 0.4:
            people.await_lock(victims)
        dies_too = ["feeder"] if rng.random() < 0.1 else []
        people.kill([*victims, *dies_too])
        killed += len(victims)
        if rng.random() < 0.4:
            searches += search_as_a_stranger(people.home)
        for role in victims:
            people.start(role, "run")
        if dies_too:
            people.start("feeder", "feed", (str(SEED), str(LIVE)))
    return searches


def search_as_a_stranger(home: Path) -> bool:
    """Plain TinyDB opens the checkpoint and searches it, where there is one yet."""
    path = home / "operations.json"
    if not path.exists():
        return False
    with TinyDB(path, access_mode="r") as db:
        found = db.search(where("phase") == "waiting")
        assert all(document["operation_id"].startswith("kill-") for document in found)
        assert len(db) >= len(found)
    return True


def await_the_end(home: Path) -> None:
    """Return when everything has ended or waits for a person."""
    ends = time.monotonic() + PATIENCE_S
    while left := asyncio.run(unsettled(home)):
        assert time.monotonic() < ends, f"{len(left)} operations are neither ended nor a question: {left[:5]}"
        time.sleep(0.5)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """One run of the whole test, and everything that it left behind."""
    home = tmp_path_factory.mktemp("kill") / "home"
    with provider(SEED) as port:
        write_contracts(home, port)
        with crew(home) as people:
            people.start("feeder", "feed", (str(SEED), str(LIVE)))
            for role in WORKERS:
                people.start(role, "run")
            searches = kill_again_and_again(people, random.Random(SEED))
            people.await_work(WORKERS)
            people.stall("a", lambda pid: asyncio.run(leases(home, pid)), least=2)
            people.stop(["feeder"])
            await_the_end(home)
            stopped_s = people.stop(WORKERS)
            found = asyncio.run(gather(home, port, people.kills))
    print(f"\n{found}; {people.holding} of the dead still held the lock; {searches} searches by plain TinyDB")
    assert max(stopped_s.values()) < STOP_S, stopped_s
    assert search_as_a_stranger(home)
    return found


@pytest.mark.rule("B3", "B4", "S4")
def test_the_provider_never_saw_more_status_requests_than_were_counted(evidence: Evidence) -> None:
    assert {op.operation_id: seen for op, seen in evidence.seen() if seen > op.status_requests_used} == {}


@pytest.mark.rule("B3", "H9")
def test_the_provider_never_saw_more_status_requests_than_budget_and_grants_allow(evidence: Evidence) -> None:
    granted = {
        op.operation_id: op.max_status_requests
        for op in evidence.operations
        if op.max_status_requests != op.original.status_requests + op.granted.checks
    }
    assert granted == {}
    assert {op.operation_id: seen for op, seen in evidence.seen() if seen > op.max_status_requests} == {}
    assert [op.operation_id for op in evidence.operations if op.status_requests_used > op.max_status_requests] == []


@pytest.mark.rule("B17", "C10", "X10")
def test_no_operation_started_two_jobs(evidence: Evidence) -> None:
    assert {name: jobs for name, jobs in evidence.created.items() if len(jobs) > 1} == {}


@pytest.mark.rule("B17", "C10")
def test_without_a_documented_token_a_submission_was_sent_once(evidence: Evidence) -> None:
    once = [op.operation_id for op in evidence.operations if op.provider == "kill-once"]
    assert {name: evidence.posts[name] for name in once if evidence.posts[name] > 1} == {}


@pytest.mark.rule("S1")
def test_no_two_living_workers_asked_about_one_operation_at_the_same_time(evidence: Evidence) -> None:
    assert evidence.overlaps() == []


@pytest.mark.rule("S1")
def test_what_a_stalled_worker_brought_back_was_late(evidence: Evidence) -> None:
    """Its leases had ended and others had asked meanwhile: its answers are evidence and change nothing."""
    assert evidence.kinds[Kind.LATE_ANSWER] > 0


@pytest.mark.rule("S4", "S6")
def test_nothing_that_was_acknowledged_is_lost(evidence: Evidence) -> None:
    known = {op.operation_id for op in evidence.operations}
    assert evidence.begun - known == set()
    assert evidence.decided - evidence.logged_decisions == set()
    assert evidence.begun
    assert evidence.decided or KILLS < 100


@pytest.mark.rule("L3", "L7")
def test_the_chain_verifies_and_its_counters_fit_the_records(evidence: Evidence) -> None:
    assert evidence.verification.is_valid, evidence.verification.story


@pytest.mark.rule("S4")
def test_checkpoint_and_tail_are_what_the_whole_journal_says(evidence: Evidence) -> None:
    assert evidence.unlike_replay == []


@pytest.mark.rule("L6", "B15")
def test_every_operation_ended_or_is_a_question(evidence: Evidence) -> None:
    assert [op.operation_id for op in evidence.operations if not is_settled(op)] == []
    assert [op.operation_id for op in evidence.operations if op.phase is Phase.ESCALATED and op.escalation is None] == []
    assert len(evidence.kills) >= KILLS
