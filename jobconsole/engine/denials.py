"""Handing on the escalation of a refused credential when the operation that carried it is gone (B11, "Details decided").

Only this file decides when somebody else is asked. The worker asks after each look, when it starts, and now and then; the
engine's face asks after each decision of a person and for each operation that begins.
"""

from __future__ import annotations

from jobconsole.core.commands.reservation import inherit_denial
from jobconsole.core.deciding.account import Denied, account, is_denied
from jobconsole.core.denial import carries, may_inherit
from jobconsole.core.events import Table
from jobconsole.core.operation import deadline, operation
from jobconsole.engine.contracts import ContractBook
from jobconsole.errors import ContractInvalid
from jobconsole.protocols import Scope, Store


async def pass_on_denials(store: Store, book: ContractBook, actor: str) -> None:
    """`pass_on_denial` for every account: whoever should have done it may have died between."""
    for doc in await store.documents(Table.ACCOUNTS):
        await pass_on_denial(store, book, str(doc["account_key"]), actor)


async def pass_on_denial(store: Store, book: ContractBook, account_key: str, actor: str) -> None:
    """Escalate the next held operation, nearest deadline first, for each refused credential that nobody carries any more."""
    doc = store.peek(Table.ACCOUNTS, account_key)
    acc = account(doc) if doc is not None and doc.get("denied") else None
    if acc is None or acc.denied is None or _is_carried(store, acc.denied):
        return
    held = [op for op in await store.in_flight(account_key=account_key) if may_inherit(op) and is_denied(acc, op.credential)]
    for op in sorted(held, key=deadline):
        try:
            contract = await book.of(op)
        except ContractInvalid:
            continue  # its own looks say so; the question goes to the next
        actions = tuple(opened.action_id for opened in op.open_actions.values())
        carriers = tuple(filter(None, acc.denied.carriers.values()))
        scope = Scope(operations=(op.operation_id, *carriers), accounts=(account_key,), actions=actions)
        await store.transact(scope, inherit_denial(op.operation_id, contract, actor), kind="record")
        doc = store.peek(Table.ACCOUNTS, account_key)
        denied = account(doc).denied if doc is not None else None
        if denied is None or _is_carried(store, denied):
            return


def _is_carried(store: Store, denied: Denied) -> bool:
    """Whether every refused credential has an operation that asks about it, as last seen."""
    for credential, operation_id in denied.carriers.items():
        doc = store.peek(Table.OPERATIONS, operation_id) if operation_id is not None else None
        if doc is None or not carries(operation(doc), credential):
            return False
    return True
