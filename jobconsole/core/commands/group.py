"""One submission that started several jobs: one operation each, in one group (CONTRACT, submit.job_id).

Only this file decides how the others of a group are called and what they begin with. `action_answers.py` writes them down in
the transaction that learns of them; the engine names them in its scope beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from jobconsole.core.events import Draft, EventDraft, Kind
from jobconsole.core.operation import Operation

LONGEST_ID = 128  # characters of an operation id (X18)


def sibling_ids(operation_id: str, job_ids: Sequence[str]) -> tuple[str, ...]:
    """The operation ids of all jobs but the first: the first one's id with `.2`, `.3`, ..."""
    ids = []
    for number in range(2, len(job_ids) + 1):
        suffix = f".{number}"
        ids.append(operation_id[: LONGEST_ID - len(suffix)] + suffix)
    return tuple(ids)


def siblings(op: Operation, job_ids: Sequence[str], actor: str) -> list[EventDraft]:
    """The events that begin the other operations: each waits for its own job, with the whole budget of the submission."""
    events: list[EventDraft] = []
    for operation_id, job_id in zip(sibling_ids(op.operation_id, job_ids), job_ids[1:], strict=True):
        other = replace(
            op,
            operation_id=operation_id,
            provider_job_id=job_id,
            group=op.operation_id,
            open_actions={},
            decided=(),
            status_url=None,
            result_url=None,
            op_seq=0,
            revision=1,
        )
        draft = Draft(actor, other, is_new=True)
        draft.add(Kind.SUBMITTED, provider=other.provider, group=op.operation_id)
        events.extend(draft.events)
    return events
