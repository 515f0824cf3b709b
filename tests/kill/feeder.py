"""Whoever uses the store beside the workers in the kill test: submits, tracks, and answers questions, until told to stop.

It writes down in HOME.acks what the store has acknowledged to it, one line each: `begun ID`, or `decided ID DECISION`. It is
forked by `nursery.py` and killed like the workers. What it does to an operation follows from the operation's name and the seed.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jobconsole.console import Budget, Desk, Wish, is_settled, open_desk
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import Refused

PERSON = "person:ana"
ROUNDS_PER_OPENING = 4  # then the store is closed and opened again, as short-lived commands do: each closing is a checkpoint
PAUSE_S = 0.2


@dataclass(slots=True)
class Feeder:
    """Keeps `live` operations unsettled."""

    home: Path
    seed: int
    live: int
    acks: int
    is_stopping: bool = False

    def acknowledged(self, line: str) -> None:
        """One write, which survives the death of this process."""
        os.write(self.acks, line.encode() + b"\n")

    async def run(self) -> None:
        """Until told to stop."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, setattr, self, "is_stopping", True)
        while not self.is_stopping:
            async with open_desk(self.home, label="feed") as console:
                for _ in range(ROUNDS_PER_OPENING):
                    await self._round(console)
                    if self.is_stopping:
                        return
                    await asyncio.sleep(PAUSE_S)

    async def _round(self, console: Desk) -> None:
        everything = await console.operations(include_ended=True)
        for op in everything:
            if op.phase is Phase.ESCALATED and not op.decided:
                await self._answer(console, op)
        missing = self.live - sum(not is_settled(op) for op in everything)
        first = len(everything)
        await asyncio.gather(*(self._begin(console, number) for number in range(first, first + max(0, missing))))

    async def _begin(self, console: Desk, number: int) -> None:
        """Submit most, track some; some of each with a small budget."""
        operation_id = f"kill-{number:05d}"
        rng = random.Random(f"{self.seed}/{operation_id}")
        budget = Budget(status_requests=rng.choice((None, None, 6, 12)))
        wish = Wish(PERSON, operation_id=operation_id, budget=budget)
        what = rng.choices(("kill-token", "kill-once", "track"), weights=(6, 2, 2))[0]
        if what == "track":
            await console.track("kill-token", job_id=f"t-{operation_id}", wish=wish)
        else:
            await console.submit(what, {"operation": operation_id}, wish=wish)
        self.acknowledged(f"begun {operation_id}")

    async def _answer(self, console: Desk, op: Operation) -> None:
        """A person's decision: extend, cancel or close, or leave the question to somebody else."""
        rng = random.Random(f"{self.seed}/{op.operation_id}/answer")
        names = {option.name for option in await console.options(op)}
        wanted = rng.choice(("extend", "extend", "cancel", "close", "nothing"))
        if wanted not in names:
            return
        decision_id = f"dec-{op.operation_id}"
        try:
            await console.decide(
                op.operation_id, wanted, by=PERSON, revision=op.revision, decision_id=decision_id, reason="the kill test"
            )
        except Refused:
            return  # it has changed since it was read
        self.acknowledged(f"decided {op.operation_id} {decision_id}")


def main(home: Path, arguments: Sequence[str]) -> int:
    """`arguments`: seed, operations to keep live."""
    acks = os.open(home.with_suffix(".acks"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    asyncio.run(Feeder(home, int(arguments[0]), int(arguments[1]), acks).run())
    return 0
