"""The engine's desk: everything that a front end may ask for, over one store (SPEC 12).

Only this file turns a caller's wish into commands and says what became of it; `reading.py` answers what only looks.
`console.py` builds one from the adapters; command line, dashboard, notebook and agents call nothing below it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ulid import ULID

from jobconsole.core.command import Command, CommandKind, R, Refusal, Scope
from jobconsole.core.commands.attending import assign, note, snooze
from jobconsole.core.commands.contract_loss import Loss, stop_without_contract
from jobconsole.core.commands.decisions import choose
from jobconsole.core.commands.effects import Applied, Choice
from jobconsole.core.commands.reservation import Deferred, Reserve, Stopped, book_deadline
from jobconsole.core.commands.submission import Begun, id_taken, submit, track
from jobconsole.core.operation import Operation, deadline
from jobconsole.core.telling.wording import words
from jobconsole.core.vocabulary import Phase
from jobconsole.engine.denials import pass_on_denial
from jobconsole.engine.poll import LEASE_MARGIN, Looker
from jobconsole.engine.reading import Reader
from jobconsole.engine.submissions import Wish, adoption, submission, submission_again
from jobconsole.engine.worker import Worker
from jobconsole.errors import ContractInvalid, JobconsoleError, Refused
from jobconsole.protocols import Clock, Contracts, Receipt, Store, Transport, WorkerInfo

log = logging.getLogger(__name__)
ANOTHER_LIVES_MS = 1000  # between two looks whether another process's worker is still alive
FALLEN_MS = 5000  # until a worker that fell is followed by another


class Desk(Reader):
    """One store, its contracts and its worker, for one process. Build it with `jobconsole.console.open_desk`."""

    def __init__(
        self, store: Store, contracts: Contracts, transport: Callable[[], Transport], clock: Clock, label: str
    ) -> None:
        super().__init__(store, contracts, clock)
        self._make_transport = transport
        self._transport: Transport | None = None
        self._label = label
        self.worker_info = self._new_worker()
        self.own_worker_id = self.worker_info.worker_id
        self.actor = f"worker:{self.worker_info.worker_id}"

    # ---- starting -------------------------------------------------------------------------------------------------------
    async def submit(self, provider: str, body: Any = None, *, wish: Wish) -> Begun:
        """Write a new submission down; `perform` or a worker sends it. The same id and request returns the same operation.

        Raises `UnknownProvider`, `ContractInvalid`, `InvalidValue`, `Refused`, `StoreError`: then nothing was written.
        """
        contract = self.book.current(provider)
        new = submission(contract, wish, body, self.clock.wall())
        if (ended := await self._ended(wish, new.fingerprint)) is not None:
            return ended
        await self.book.keep(contract)
        scope = Scope(
            operations=(new.operation_id,),
            accounts=(new.account_key,),
            actions=(new.action_id,),
            fingerprint=new.fingerprint,
            creating=True,
        )
        return await self._begun(await self._transact(scope, submit(new), "create"))

    async def track(self, provider: str, *, job_id: str | None = None, status_url: str | None = None, wish: Wish) -> Begun:
        """Adopt a job that somebody else started; a second `track` returns the live operation (X9). Raises as `submit`."""
        contract = self.book.current(provider)
        new = adoption(contract, wish, self.clock.wall(), job_id=job_id, status_url=status_url)
        if (ended := await self._ended(wish, new.fingerprint)) is not None:
            return ended
        await self.book.keep(contract)
        job = (contract.name, contract.account, job_id) if job_id is not None else None
        scope = Scope(
            operations=(new.operation_id,),
            accounts=(new.account_key,),
            job=job,
            fingerprint=new.fingerprint,
            creating=True,
        )
        return await self._begun(await self._transact(scope, track(new), "create"))

    async def _ended(self, wish: Wish, fingerprint: str) -> Begun | None:
        """The operation that had the caller's id and has ended, or its refusal (X18): commands do not see what was archived.

        As last seen is enough: nothing ends twice, and what lives now is archived days after its end at the earliest.
        """
        op = await self.store.get(wish.operation_id) if wish.operation_id is not None else None
        if op is None or not op.phase.is_terminal:
            return None
        if op.request_fingerprint != fingerprint:
            refusal = id_taken(op.operation_id)
            raise Refused(refusal.why, refusal.text)
        return Begun(op, False)

    async def _begun(self, begun: Begun) -> Begun:
        """A refusal of the account's credential that nobody carries is a question of the operation that begins now (B11)."""
        await pass_on_denial(self.store, self.book, begun.op.account_key, self.actor)
        return replace(begun, op=await self.get(begun.op.operation_id)) if begun.is_new else begun

    async def perform(self, operation_id: str) -> Operation:
        """Do what is due for this operation now, in this process: a submission need not wait for a worker."""
        worker = self._new_worker()  # a worker of its own: the embedded one may run beside it
        async with self.store.announce(worker):
            await self._looker(worker).look(operation_id)
        return await self.get(operation_id)

    # ---- deciding -------------------------------------------------------------------------------------------------------
    async def decide(
        self,
        operation_id: str,
        option: str,
        *,
        by: str,
        revision: int | None = None,
        decision_id: str | None = None,
        **asked: Any,
    ) -> Applied:
        """Apply one option once. `asked`: reason, minutes, checks, failures, rate_limits, until_at, job_id, credential.

        `revision` is the one that was shown (default: the one read now), `by` is `person:NAME`. Raises `Refused`, which says
        what happened instead, `UnknownOperation`, `StoreError`.
        """
        op = await self._live(operation_id)
        contract = await self.contract_of(op)
        current = self.book.current_or_none(op.provider)
        again, newest = None, current or contract
        if option == "submit_again" and newest is not None:
            again = submission_again(newest, op, by, self.clock.wall())
        if option in ("adopt_contract", "submit_again") and current is not None:
            await self.book.keep(current)
        choice = Choice(
            operation_id=operation_id,
            option=option,
            revision=op.revision if revision is None else revision,
            decision_id=decision_id or f"dec_{ULID()}",
            actor=by,
            contract=contract,
            action_id=f"act_{ULID()}",
            new_contract=current,
            again=again,
            **asked,
        )
        applied = await self._transact(self._scope(op, choice), choose(choice), "record")
        await pass_on_denial(self.store, self.book, op.account_key, self.actor)
        return applied

    def _scope(self, op: Operation, choice: Choice) -> Scope:
        actions = [opened.action_id for opened in op.open_actions.values()]
        operations, accounts = [op.operation_id], [op.account_key]
        if choice.again is not None:
            operations.append(choice.again.operation_id)
            accounts.append(choice.again.account_key)
            actions.append(choice.again.action_id)
        return Scope(
            operations=tuple(operations),
            accounts=tuple(dict.fromkeys(accounts)),
            actions=(*actions, choice.action_id),
            creating=choice.again is not None,
        )

    # ---- looking after the inbox ----------------------------------------------------------------------------------------
    async def assign(self, operation_id: str, to: str | None, *, by: str, shown: str | None) -> Operation:
        """Give the item to a person, or to nobody (H7); `shown` is who had it on the screen. Raises as `decide`."""
        return await self._attend(operation_id, assign(operation_id, by, to, shown=shown))

    async def snooze(self, operation_id: str, until: datetime | None, *, by: str) -> Operation:
        """Let the item rest until a time, at most 30 days from now; None wakes it. Raises as `decide`."""
        return await self._attend(operation_id, snooze(operation_id, by, until))

    async def note(self, operation_id: str, text: str, *, by: str) -> Operation:
        """Write something down about the operation, at most 2,000 characters. Raises as `decide`."""
        return await self._attend(operation_id, note(operation_id, by, text))

    async def _attend(self, operation_id: str, command: Command[Operation]) -> Operation:
        op = await self._live(operation_id)
        return await self._transact(self._plain_scope(op), command, "record")

    async def _live(self, operation_id: str) -> Operation:
        """The operation, where it can still change. Raises `Refused` where it was archived."""
        op = await self.get(operation_id)
        if await self.store.archived(operation_id) is not None:
            raise Refused("archived", f"{operation_id} ended as {words(op.phase)} and was archived; nothing is left to decide")
        return op

    # ---- working and waiting --------------------------------------------------------------------------------------------
    def worker(self, *, max_concurrent: int = 64) -> Worker:
        """A worker of this process; `run` it, and `stop` it."""
        return Worker(self.store, self._looker(self.worker_info), self.book, self.clock, self.worker_info, max_concurrent)

    @contextlib.asynccontextmanager
    async def embedded_worker(self) -> AsyncIterator[None]:
        """A worker inside this process while inside, unless another one is alive; taken over if that one dies (X19)."""
        task = asyncio.create_task(self._embed())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _embed(self) -> None:
        """Work whenever nobody else does. A worker that fell (a disk that was full) is said and followed by another."""
        while self.store.health().is_writable:
            if any(worker.worker_id != self.worker_info.worker_id for worker in self.store.health().workers):
                await self._pause(ANOTHER_LIVES_MS)
                continue
            worker = self.worker()
            running = asyncio.create_task(worker.run())
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError:
                worker.stop()
                await asyncio.gather(running, return_exceptions=True)
                raise
            except Exception as error:
                expected = isinstance(error, (JobconsoleError, OSError))
                log.error("the worker of this process fell: %s", error, exc_info=not expected)
                await self._pause(FALLEN_MS)

    async def _pause(self, pause_ms: int) -> None:
        await self.clock.sleep_until(self.clock.up_ms() + pause_ms)

    async def wait(
        self, operation_ids: Sequence[str], timeout: float | None, on_change: Callable[[Operation], None] | None = None
    ) -> list[Operation]:
        """Block until each operation has ended or needs a person, or `timeout` seconds are over; the operations as they are.

        Raises `UnknownOperation`, and `RuntimeError` where the console is closed meanwhile.
        """
        for operation_id in operation_ids:
            await self.get(operation_id)
        seen: dict[str, int] = {}
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                changes = self.store.changes(after=0)  # begins at once: nothing falls between a look and the feed
                is_over = False
                while not await self._all_settled(operation_ids, seen, on_change):
                    if is_over:
                        raise RuntimeError(
                            "the console was closed during this wait; the job goes on. To wait again, open another console, "
                            f"or run: jobconsole wait {' '.join(operation_ids)}"
                        )
                    is_over = await anext(changes, None) is None
        return [await self.get(operation_id) for operation_id in operation_ids]

    async def _all_settled(
        self, ids: Sequence[str], seen: dict[str, int], on_change: Callable[[Operation], None] | None
    ) -> bool:
        found = [await self.get(operation_id) for operation_id in ids]
        for op in found:
            if seen.get(op.operation_id) != op.op_seq:
                seen[op.operation_id] = op.op_seq
                if on_change is not None:
                    on_change(op)
        return all(is_settled(op) for op in found)

    async def book_deadlines(self) -> int:
        """Escalate what passed its deadline while nobody looked; sends nothing. Returns how many (X19)."""
        now, booked = self.clock.wall(), 0
        for op in await self.store.in_flight():
            if op.phase is Phase.ESCALATED or op.permit is not None or deadline(op) > now:
                continue
            got = await self.store.transact(self._plain_scope(op), await self._booking(op), kind="record")
            booked += isinstance(got, Receipt) and isinstance(got.result, Stopped)
        return booked

    async def _booking(self, op: Operation) -> Command[Stopped | Deferred | None]:
        """The command that books this operation's deadline, with its contract or without."""
        try:
            contract = await self.book.of(op)
        except ContractInvalid as lost:
            return stop_without_contract(Loss(op.operation_id, self.actor, str(lost), is_booking=True))
        return book_deadline(Reserve(op.operation_id, contract, self.actor, contract.status.timeout + LEASE_MARGIN))

    # ---- the rest -------------------------------------------------------------------------------------------------------
    async def rebuild_archive(self) -> int:
        """Make the archive of ended operations anew from the audit; returns how many operations the audit has archived."""
        return await self.store.rebuild_archive()

    async def close(self) -> None:
        """Close the connections and the store."""
        if self._transport is not None:
            await self._transport.close()
        await super().close()

    def _plain_scope(self, op: Operation) -> Scope:
        actions = tuple(opened.action_id for opened in op.open_actions.values())
        return Scope(operations=(op.operation_id,), accounts=(op.account_key,), actions=actions)

    def _new_worker(self) -> WorkerInfo:
        worker_id = f"{os.getpid()}-{str(ULID())[-6:].lower()}"
        return WorkerInfo(worker_id, self._label, os.getpid(), self.clock.wall())

    def _looker(self, worker: WorkerInfo) -> Looker:
        if self._transport is None:
            self._transport = self._make_transport()
        actor = f"worker:{worker.worker_id}"
        return Looker(self.store, self._transport, self.book, self.clock, actor, random.Random())

    async def _transact(self, scope: Scope, command: Command[R], kind: CommandKind) -> R:
        got = await self.store.transact(scope, command, kind=kind)
        if isinstance(got, Refusal):
            raise Refused(got.why, got.text)
        assert isinstance(got, Receipt)
        return got.result


def is_settled(op: Operation) -> bool:
    """Whether nothing more will happen to this operation by itself: it ended, or waits for a person."""
    if op.phase.is_terminal:
        return True
    return op.phase is Phase.ESCALATED and op.permit is None and not op.open_actions
