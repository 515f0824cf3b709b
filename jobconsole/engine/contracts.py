"""Which contract judges which operation (X13).

Only this file decides that: an operation is judged by the copy that it was started with, kept in the store under its digest;
new operations and `adopt_contract` take the file as the catalogue has it now. Called by everything in the engine.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from jobconsole.core.deciding.escalation import CONTRACT_MEND
from jobconsole.errors import ContractInvalid, UnknownProvider

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Contract
    from jobconsole.core.operation import Operation
    from jobconsole.protocols import Contracts, Store


class ContractBook:
    """Contracts by digest, each parsed once."""

    def __init__(self, store: Store, catalogue: Contracts) -> None:
        self._store, self._catalogue = store, catalogue
        self._by_digest: dict[str, Contract] = {}

    def current(self, provider: str) -> Contract:
        """The contract file of this provider as it is now. Raises `UnknownProvider` or `ContractInvalid`."""
        contract = self._catalogue.get(provider)
        return self._by_digest.setdefault(contract.digest, contract)

    def current_or_none(self, provider: str) -> Contract | None:
        """Like `current`; None where the file is gone or refused: what it says then cannot be adopted."""
        try:
            return self.current(provider)
        except (UnknownProvider, ContractInvalid):
            return None

    async def keep(self, contract: Contract) -> None:
        """Keep a copy in the store, durable before the operation that names it."""
        await self._store.keep_contract(contract.digest, contract.text)

    async def of(self, op: Operation) -> Contract:
        """The contract that judges this operation. Raises `ContractInvalid` where its copy is missing, changed or refused."""
        known = self._by_digest.get(op.contract)
        if known is not None:
            return known
        text = await self._store.contract_text(op.contract)
        if text is None or hashlib.sha256(text.encode()).hexdigest() != op.contract:
            current = self.current_or_none(op.provider)
            if current is None or current.digest != op.contract:
                state = "not in the store" if text is None else "damaged or changed in the store"
                problem = f"the contract that {op.operation_id} was started with is {state}"
                raise ContractInvalid(op.provider, "", problem, CONTRACT_MEND)
            return current
        from jobconsole.core.contracts.file import load  # heavy, and many callers never come here

        contract = load(text, f"contracts/{op.contract[:12]}.toml")
        self._by_digest[op.contract] = contract
        return contract
