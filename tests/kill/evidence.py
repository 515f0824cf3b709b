"""What a run of the kill test left behind, on both sides of the wire.

Only this file reads it: the provider's log, the store as a reader sees it, the journal line by line, and what was acknowledged
to the feeder.
"""

from __future__ import annotations

import itertools
import json
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from jobconsole.console import is_settled, open_desk
from jobconsole.core.events import Kind
from jobconsole.core.keeping.chain import Verification
from jobconsole.core.keeping.documents import ID_FIELDS, Documents
from jobconsole.core.keeping.line import parse
from jobconsole.core.operation import Operation


class Exchange(NamedTuple):
    """One status request as the provider saw it; times are of the monotonic clock."""

    job_id: str
    worker: str
    begun: float
    ended: float | None
    how: str

    def lasts_until(self, moment: float) -> bool:
        """Whether it was in flight at that later moment."""
        return self.ended is None or self.ended > moment


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is compared."""

    operations: Sequence[Operation]
    verification: Verification
    kinds: Counter[str]  # events by kind
    unlike_replay: Sequence[str]  # ids of documents that differ from a replay of the whole journal
    logged_decisions: set[str]
    begun: set[str]  # operations whose beginning was acknowledged
    decided: set[str]  # decisions that were acknowledged
    looks: Mapping[str, int]  # job id -> status requests seen
    posts: Mapping[str, int]  # operation -> submissions seen
    created: Mapping[str, Sequence[str]]  # operation -> jobs made
    exchanges: Sequence[Exchange]
    kills: Mapping[str, float]  # process -> when

    def __str__(self) -> str:
        used = sum(op.status_requests_used for op in self.operations)
        phases = dict(Counter(str(op.phase) for op in self.operations))
        return (
            f"{len(self.kills)} kills; {len(self.operations)} operations: {phases}; "
            f"{sum(self.looks.values())} status requests seen, {used} counted, "
            f"{sum(exchange.how == 'lost' for exchange in self.exchanges)} cut off; "
            f"{self.kinds.total()} events, {self.kinds[Kind.LEASE_LOST]} leases lost, "
            f"{self.kinds[Kind.LATE_ANSWER]} late answers, {self.kinds[Kind.STORE_REPAIRED]} torn ends cut; "
            f"{len(self.begun)} beginnings and {len(self.decided)} decisions acknowledged"
        )

    def seen(self) -> Iterator[tuple[Operation, int]]:
        """Each operation with the status requests that the provider saw for its jobs, also for one it never learned of."""
        for op in self.operations:
            jobs = {*self.created.get(op.operation_id, ())} | {op.provider_job_id}
            yield op, sum(self.looks.get(job, 0) for job in jobs if job is not None)

    def overlaps(self) -> list[tuple[Exchange, Exchange]]:
        """Pairs of requests about one job that were in flight together, unless the first one's worker was dead already."""
        by_job = defaultdict[str, list[Exchange]](list)
        for exchange in sorted(self.exchanges, key=lambda exchange: exchange.begun):
            by_job[exchange.job_id].append(exchange)
        pairs = [(first, second) for listed in by_job.values() for first, second in itertools.combinations(listed, 2)]
        return [
            (first, second) for first, second in pairs if first.lasts_until(second.begun) and self.lived(first, second.begun)
        ]

    def lived(self, exchange: Exchange, moment: float) -> bool:
        """Whether the worker of this request was alive at that moment."""
        return exchange.worker not in self.kills or self.kills[exchange.worker] >= moment


async def unsettled(home: Path) -> list[str]:
    """Operations that neither ended nor wait for a person."""
    async with open_desk(home, label="look", is_read_only=True) as console:
        return [op.operation_id for op in await console.operations(include_ended=True) if not is_settled(op)]


async def leases(home: Path, pid: int) -> int:
    """How many operations the worker in this process owns."""
    async with open_desk(home, label="look", is_read_only=True) as console:
        return sum(op.lease is not None and op.lease.owner.startswith(f"worker:{pid}-") for op in await console.operations())


async def gather(home: Path, port: int, kills: Mapping[str, float]) -> Evidence:
    """Read everything."""
    log = provider_log(port)
    acks = [line.split() for line in home.with_suffix(".acks").read_text(encoding="utf-8").splitlines()]
    async with open_desk(home, label="look", is_read_only=True) as console:
        replayed, kinds, decisions = Documents(), Counter[str](), set[str]()
        async for data in console.events():
            line = parse(data)
            assert line is not None
            kinds[line.kind] += 1
            replayed.merge(line.set)
            if line.kind == Kind.DECIDED:
                decisions.add(json.loads(data)["decision_id"])
        unlike = [
            f"{table} {document[name]}"
            for table, name in ID_FIELDS.items()
            for document in replayed.all(table)
            if document != await console.store.document(table, document[name])
        ]
        return Evidence(
            operations=await console.operations(include_ended=True),
            verification=await console.verify(),
            kinds=kinds,
            unlike_replay=unlike,
            logged_decisions=decisions,
            begun={ack[1] for ack in acks if ack[0] == "begun"},
            decided={ack[2] for ack in acks if ack[0] == "decided"},
            looks=log["looks"],
            posts=Counter(log["posts"]),
            created=log["created"],
            exchanges=[Exchange(*exchange) for exchange in log["exchanges"]],
            kills=kills,
        )


def provider_log(port: int) -> dict[str, Any]:
    """What the provider has counted."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"http://127.0.0.1:{port}/log", timeout=30) as answer:
        log: dict[str, Any] = json.load(answer)
        return log
