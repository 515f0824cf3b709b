"""Who carries the question about a refused credential, and who is next (B11).

Only this file decides that. A refused credential holds every operation that uses it; one of them is escalated and asks.
`transitions.py` forgets a carrier that does not carry any more, so that the next answer or `inherit_denial` finds another one.
"""

from __future__ import annotations

from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import ActionState, Phase, Reason

CREDENTIAL_PERMITS = frozenset({"credential_mended", "use_credential"})
"""Permits whose one request may try a credential that was refused: a probe."""


def is_probe(op: Operation) -> bool:
    """Whether the operation's next read or submission may try a refused credential."""
    return op.permit is not None and op.permit.purpose in CREDENTIAL_PERMITS


def carries(op: Operation, credential: str) -> bool:
    """Whether this operation asks about `credential` ("" is the contract's own), or tries it because a person mended it."""
    if (op.credential or "") != credential or op.phase.is_terminal:
        return False
    return is_probe(op) or (op.escalation is not None and op.escalation.reason is Reason.AUTHORIZATION_DENIED)


def may_inherit(op: Operation) -> bool:
    """Whether the operation would send something, had its credential not been refused, and has no action in flight.

    That is also one that a person let go on, although it is escalated: its approved action or its one check waits as well.
    """
    actions = op.open_actions.values()
    if op.phase.is_terminal or any(action.state is ActionState.CLAIMED for action in actions):
        return False
    return op.phase is not Phase.ESCALATED or op.permit is not None or any(action.due_at for action in actions)
