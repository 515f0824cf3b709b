"""The gate: the last check, directly before the first byte of a request (STORE 4).

Only this file decides, between a durable reservation and the wire, whether the request still may leave. One gate belongs to one
reservation and opens once. The transport calls it with the connection ready; its "no" sends nothing and stays counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from jobconsole.core.command import Moment
from jobconsole.core.commands.reservation import not_before_has_passed
from jobconsole.core.deciding.account import account, held_until, is_denied
from jobconsole.core.events import Table
from jobconsole.core.keeping.due import TERMINAL
from jobconsole.core.operation import NotBefore
from jobconsole.errors import Withheld
from jobconsole.protocols import Clock, Store


@dataclass(slots=True)
class RequestGate:
    """Own lease by the boot clock, deadline, the provider's minimum by both clocks, account hold and token as last seen (B2).

    `until_up` is the boot clock, in ms, up to which the request may leave; `token` is compared with the operation's lease, or
    with the claim of `action_id`.
    """

    clock: Clock
    store: Store
    operation_id: str
    account_key: str
    token: int
    until_up: int
    boot: str
    until_at: datetime
    not_before: NotBefore | None = None
    action_id: str | None = None
    credential: str | None = None
    ignores_denial: bool = False
    _is_used: bool = field(default=False, init=False)

    def __call__(self) -> None:
        """Open once, or raise `Withheld` with the reason."""
        if self._is_used:
            raise Withheld("already_used")
        self._is_used = True
        now = Moment(self.clock.wall(), self.clock.up_ms(), self.clock.boot_id)
        if now.boot != self.boot or now.up >= self.until_up:
            raise Withheld("lease_ending")
        if now.wall >= self.until_at:
            raise Withheld("deadline")
        if not not_before_has_passed(self.not_before, now):
            raise Withheld("provider_wait")
        if not self._is_mine():
            raise Withheld("lease_lost")
        doc = self.store.peek(Table.ACCOUNTS, self.account_key)
        if doc is not None and (doc.get("hold_until_at") or doc.get("denied")):
            acc = account(doc)
            if held_until(acc, now) is not None:
                raise Withheld("account_hold")
            if is_denied(acc, self.credential) and not self.ignores_denial:
                raise Withheld("account_denied")

    def _is_mine(self) -> bool:
        if self.action_id is not None:
            doc = self.store.peek(Table.ACTIONS, self.action_id)
            return doc is not None and doc.get("token") == self.token and doc.get("state") == "claimed"
        doc = self.store.peek(Table.OPERATIONS, self.operation_id)
        lease = doc.get("lease") if doc is not None and doc["phase"] not in TERMINAL else None
        return lease is not None and lease.get("token") == self.token
