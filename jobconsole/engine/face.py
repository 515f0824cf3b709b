"""The engine's face: everything that a front end may ask for, over one store (SPEC 12).

Only this file turns a caller's wish into commands and says what became of it. `console.py` builds one from the adapters;
command line, dashboard, notebook and agents call nothing below it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
from ulid import ULID

from jobconsole.core.account import Account, account
from jobconsole.core.chain import Verification
from jobconsole.core.command import Command, CommandKind, R, Refusal, Scope
from jobconsole.core.commands.decisions import choose, open_options
from jobconsole.core.commands.effects import Applied, Choice
from jobconsole.core.commands.reservation import Reserve, book_deadline
from jobconsole.core.commands.submission import Begun, id_taken, submit, track
from jobconsole.core.contract import Contract
from jobconsole.core.events import Table
from jobconsole.core.inbox import InboxItem, inbox_items
from jobconsole.core.operation import Operation, Option, Phase, deadline
from jobconsole.core.views import View, operation_view
from jobconsole.core.why import why as explain
from jobconsole.core.wording import words
from jobconsole.engine.contracts import ContractBook
from jobconsole.engine.denials import pass_on_denial
from jobconsole.engine.poll import LEASE_MARGIN, Looker
from jobconsole.engine.submissions import Wish, adoption, submission, submission_again
from jobconsole.engine.worker import Worker
from jobconsole.errors import ContractInvalid, Refused, UnknownOperation
from jobconsole.protocols import Change, Clock, Contracts, Receipt, Store, StoreHealth, Transport, WorkerInfo


class AsyncConsole:
    """One store, its contracts and its worker, for one process. Build it with `jobconsole.console.open_async`."""

    def __init__(
        self, store: Store, contracts: Contracts, transport: Callable[[], Transport], clock: Clock, label: str
    ) -> None:
        self.store, self.contracts, self.clock = store, contracts, clock
        self.book = ContractBook(store, contracts)
        self._make_transport = transport
        self._transport: Transport | None = None
        self._label = label
        self.worker_info = self._new_worker()
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

    # ---- reading --------------------------------------------------------------------------------------------------------
    async def get(self, operation_id: str) -> Operation:
        """The operation as last seen. Raises `UnknownOperation`."""
        op = await self.store.get(operation_id)
        if op is None:
            raise UnknownOperation(f"no operation {operation_id[:140]!r} in this store; jobconsole ls --all shows all ids")
        return op

    async def operations(
        self, *, include_ended: bool = False, include_archived: bool = False, phase: str | None = None
    ) -> list[Operation]:
        """Operations, oldest first: those that have not ended (S6), all live ones, or those in one phase.

        `include_archived` puts what ended long ago before them; that reads the archive.
        """
        found = list(await self.store.operations() if include_ended or phase else await self.store.in_flight())
        if include_archived:
            found = [each.operation for each in await self.store.archive()] + found
        return [op for op in found if phase is None or op.phase == phase]

    async def accounts(self) -> dict[str, Account]:
        """Every account by its key: holds, quota, spending."""
        return {doc["account_key"]: account(doc) for doc in await self.store.documents(Table.ACCOUNTS)}

    async def actions(self, operation_id: str) -> list[Mapping[str, Any]]:
        """The records of this operation's actions, oldest first."""
        if (archived := await self.store.archived(operation_id)) is not None:
            return [*archived.actions.values()]
        return [doc for doc in await self.store.documents(Table.ACTIONS) if doc.get("operation_id") == operation_id]

    async def contract_of(self, op: Operation) -> Contract | None:
        """The contract that judges this operation; None where its copy is missing or refused."""
        try:
            return await self.book.of(op)
        except ContractInvalid:
            return None

    async def options(self, op: Operation) -> tuple[Option, ...]:
        """What a person may choose for this operation right now (section 14)."""
        contract = await self.book.of(op)
        current = self.book.current_or_none(op.provider)
        return open_options(op, contract, self.clock.wall(), current.digest if current else None)

    async def views(self, operations: Sequence[Operation]) -> list[View]:
        """What every front end shows of these operations: each with its account's hold and its open options."""
        accounts, new_digests, now = await self.accounts(), self._new_digests(operations), self.clock.wall()
        return [
            operation_view(op, now, accounts.get(op.account_key), await self.contract_of(op), new_digests.get(op.provider))
            for op in operations
        ]

    async def inbox(self) -> list[InboxItem]:
        """What needs a person's answer, then what somebody should see; the oldest of each first (H7, H13)."""
        asking = [op for op in await self.store.operations() if op.escalation is not None or op.look is not None]
        judging = {op.contract: await self.contract_of(op) for op in asking}
        contracts = {digest: contract for digest, contract in judging.items() if contract is not None}
        return inbox_items(asking, self.clock.wall(), contracts, self._new_digests(asking))

    def _new_digests(self, operations: Sequence[Operation]) -> dict[str, str]:
        """By provider, the digest of the contract file as it is now, where it can be read (X13)."""
        current = {provider: self.book.current_or_none(provider) for provider in {op.provider for op in operations}}
        return {provider: contract.digest for provider, contract in current.items() if contract is not None}

    def events(self, operation_id: str | None = None, after: int | None = None) -> AsyncIterator[bytes]:
        """The audit's stored lines, verbatim, in chain order; `after` is a `seq`."""
        return self.store.events(operation_id, after)

    async def last_seq(self) -> int:
        """The `seq` of the newest durable line; 0 in an empty store."""
        return max((head.seq for head in await self.store.heads()), default=0)

    async def why(self, operation_id: str, at: datetime | None = None) -> str:
        """Why it was checked then, why not earlier, what comes next, in plain words (U7). Raises `UnknownOperation`."""
        op = await self.get(operation_id)
        events = [msgspec.json.decode(line) async for line in self.events(operation_id)]
        account_now = (await self.accounts()).get(op.account_key)
        return explain(op, events, at, self.clock.wall(), account_now, await self.contract_of(op))

    async def rebuild_archive(self) -> int:
        """Make the archive of ended operations anew from the audit; returns how many operations the audit has archived."""
        return await self.store.rebuild_archive()

    async def verify(self) -> Verification:
        """Whether the audit's chain is whole, and what its anchors prove (L3, L7)."""
        return await self.store.verify()

    def changes(self) -> AsyncIterator[Change]:
        """Committed changes of all processes from now on, in commit order."""
        return self.store.changes()

    def health(self) -> StoreHealth:
        """Whether the store can be written, and which workers live."""
        return self.store.health()

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
        op = await self.get(operation_id)
        if await self.store.archived(operation_id) is not None:
            raise Refused("archived", f"{operation_id} ended as {words(op.phase)} and was archived; nothing is left to decide")
        contract = await self.book.of(op)
        current = self.book.current_or_none(op.provider)
        again = None
        if option == "submit_again":
            again = submission_again(current or contract, op, by, self.clock.wall())
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

    # ---- working and waiting --------------------------------------------------------------------------------------------
    def worker(self, *, max_concurrent: int = 64) -> Worker:
        """A worker of this process; `run` it, and `stop` it."""
        return Worker(self.store, self._looker(self.worker_info), self.book, self.clock, self.worker_info, max_concurrent)

    @contextlib.asynccontextmanager
    async def embedded_worker(self) -> AsyncIterator[None]:
        """A worker inside this process while inside, unless another one is alive; taken over if that one dies (X19)."""
        worker = self.worker()
        task = asyncio.create_task(self._embed(worker))
        try:
            yield
        finally:
            worker.stop()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _embed(self, worker: Worker) -> None:
        while any(w.worker_id != self.worker_info.worker_id for w in self.store.health().workers):
            await self.clock.sleep_until(self.clock.up_ms() + 1000)
        running = asyncio.create_task(worker.run())
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            worker.stop()
            await asyncio.gather(running, return_exceptions=True)
            raise

    async def wait(
        self, operation_ids: Sequence[str], timeout: float | None, on_change: Callable[[Operation], None] | None = None
    ) -> list[Operation]:
        """Block until each operation has ended or needs a person, or `timeout` seconds are over; the operations as they are."""
        for operation_id in operation_ids:
            await self.get(operation_id)
        seen: dict[str, int] = {}
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                changes = self.store.changes(after=0)  # begins at once: nothing falls between a look and the feed
                while not await self._all_settled(operation_ids, seen, on_change):
                    await anext(changes)
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
            contract = await self.contract_of(op)
            if contract is not None:
                ask = Reserve(op.operation_id, contract, self.actor, contract.status.timeout + LEASE_MARGIN)
                got = await self.store.transact(self._plain_scope(op), book_deadline(ask), kind="record")
                booked += isinstance(got, Receipt) and got.result is not None
        return booked

    # ---- the rest -------------------------------------------------------------------------------------------------------
    async def close(self) -> None:
        """Close the connections and the store."""
        if self._transport is not None:
            await self._transport.close()
        await self.store.close()

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
