"""What only looks: everything that a front end may ask of a store without changing it.

Only this file answers that. Commands that list and show get a `Reader` and nothing more; `desk.py` adds what changes something.
What few questions need is imported when one of them is asked: listing what waits is the first thing that any program does (S6),
and it must not wait for the code that judges answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobconsole.core.deciding.account import Account, account
from jobconsole.core.events import Table
from jobconsole.core.operation import Operation, Option
from jobconsole.core.telling.views import View, operation_view
from jobconsole.engine.contracts import ContractBook
from jobconsole.errors import ContractInvalid, UnknownOperation
from jobconsole.protocols import Change, Clock, Contracts, Store, StoreHealth

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Contract
    from jobconsole.core.keeping.chain import Verification
    from jobconsole.core.telling.inbox import InboxItem


class Reader:
    """One store and its contracts, to look at. Build it with `jobconsole.console.open_reader`."""

    def __init__(self, store: Store, contracts: Contracts, clock: Clock) -> None:
        self.store, self.contracts, self.clock = store, contracts, clock
        self.book = ContractBook(store, contracts)
        self.own_worker_id = ""  # of the worker that this process may run; one that only looks runs none

    async def get(self, operation_id: str) -> Operation:
        """The operation as last seen. Raises `UnknownOperation`."""
        op = await self.store.get(operation_id)
        if op is None:
            raise UnknownOperation(f"no operation {operation_id[:140]!r} in this store; jobconsole ls --all shows all ids")
        return op

    async def meant(self, text: str) -> Operation:
        """The operation with this id, else the one live operation of which this is the name or the ending of the id.

        Raises `InvalidValue` where several fit, `UnknownOperation` where none does.
        """
        if (op := await self.store.get(text)) is not None:
            return op
        from jobconsole.core.telling.naming import meant

        return meant(text, await self.store.operations()) or await self.get(text)

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
        """The contract that judges this operation; None where it is lost: its copy is missing, changed or refused."""
        try:
            return await self.book.of(op)
        except ContractInvalid:
            return None

    async def options(self, op: Operation) -> tuple[Option, ...]:
        """What a person may choose for this operation right now (section 14)."""
        from jobconsole.core.commands.decisions import open_options

        return open_options(op, await self.contract_of(op), self.clock.wall(), self.new_digest(op.provider))

    async def views(self, operations: Sequence[Operation]) -> list[View]:
        """What every front end shows of these operations: each with its account's hold and its open options."""
        accounts, new_digests, now = await self.accounts(), self._new_digests(operations), self.clock.wall()
        views = []
        for op in operations:
            contract, account, digest = await self.contract_of(op), accounts.get(op.account_key), new_digests.get(op.provider)
            views.append(operation_view(op, now, account, contract, digest, is_contract_lost=contract is None))
        return views

    async def inbox(self) -> list[InboxItem]:
        """What needs a person's answer, then what somebody should see; the oldest of each first (H7, H13)."""
        asking = [op for op in await self.store.operations() if op.escalation is not None or op.look is not None]
        return await self.items(asking)

    async def items(self, asking: Sequence[Operation]) -> list[InboxItem]:
        """The inbox items of these operations, in the inbox's order."""
        from jobconsole.core.telling.inbox import inbox_items

        judging = {op.contract: await self.contract_of(op) for op in asking}
        return inbox_items(asking, self.clock.wall(), judging, self._new_digests(asking))

    def _new_digests(self, operations: Sequence[Operation]) -> dict[str, str]:
        """`new_digest` by provider, where there is one."""
        found = {provider: self.new_digest(provider) for provider in {op.provider for op in operations}}
        return {provider: digest for provider, digest in found.items() if digest is not None}

    def new_digest(self, provider: str) -> str | None:
        """The digest of the provider's contract file as it is now, where it can be read (X13)."""
        current = self.book.current_or_none(provider)
        return current.digest if current is not None else None

    def events(self, operation_id: str | None = None, after: int | None = None) -> AsyncIterator[bytes]:
        """The audit's stored lines, verbatim, in chain order; `after` is a `seq`."""
        return self.store.events(operation_id, after)

    async def last_seq(self) -> int:
        """The `seq` of the newest line as last seen; 0 in an empty store. Syncs nothing."""
        return self.store.cursor()

    async def why(self, operation_id: str, at: datetime | None = None) -> str:
        """Why it was checked then, why not earlier, what comes next, in plain words (U7).

        Raises `UnknownOperation`, `AuditBroken` where a line of it is no event.
        """
        from jobconsole.core.keeping.line import events
        from jobconsole.core.telling.why import why

        op = await self.get(operation_id)
        told = [*events([line async for line in self.events(operation_id)])]
        account_now = (await self.accounts()).get(op.account_key)
        contract, digest = await self.contract_of(op), self.new_digest(op.provider)
        return why(op, told, at, self.clock.wall(), account_now, contract, digest)

    async def verify(self) -> Verification:
        """Whether the audit's chain is whole, and what its anchors prove (L3, L7)."""
        return await self.store.verify()

    def changes(self) -> AsyncIterator[Change]:
        """Committed changes of all processes from now on, in commit order."""
        return self.store.changes()

    def health(self) -> StoreHealth:
        """Whether the store can be written, and which workers live."""
        return self.store.health()

    async def close(self) -> None:
        """Give up the store."""
        await self.store.close()
