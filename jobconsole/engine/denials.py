"""Handing on an account's 401 escalation when the operation that carried it is gone (B11, "Details decided").

Only this file decides who gets it. The worker asks after each end, and the engine's face after each decision of a person.
"""

from __future__ import annotations

from jobconsole.core.commands.reservation import inherit_denial
from jobconsole.core.events import Table
from jobconsole.core.operation import Phase, deadline
from jobconsole.engine.contracts import ContractBook
from jobconsole.protocols import Scope, Store


async def pass_on_denial(store: Store, book: ContractBook, account_key: str, actor: str) -> None:
    """Escalate the account's next held operation, nearest deadline first, where nobody carries the refusal any more."""
    doc = store.peek(Table.ACCOUNTS, account_key)
    denied = (doc or {}).get("denied")
    if not denied or denied.get("operation_id"):
        return
    held = [op for op in await store.in_flight(account_key=account_key) if op.phase is not Phase.ESCALATED]
    for op in sorted(held, key=deadline):
        actions = tuple(opened.action_id for opened in op.open_actions.values())
        scope = Scope(operations=(op.operation_id,), accounts=(account_key,), actions=actions)
        contract = await book.of(op)
        got = await store.transact(scope, inherit_denial(op.operation_id, contract, actor), kind="record")
        if getattr(got, "result", None) is not None:
            return
