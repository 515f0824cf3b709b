"""Which operation a person means who types less than a whole id (SPEC U8: never a row, never a guess).

Only this file decides that. The engine's reader tries the whole id first; here an ending or a name counts where it fits one
operation, and is refused where it fits several.
"""

from __future__ import annotations

from collections.abc import Iterable

from jobconsole.core.operation import Operation
from jobconsole.errors import InvalidValue

SHORTEST_ENDING = 4  # characters
_MOST_NAMED = 5


def meant(text: str, operations: Iterable[Operation]) -> Operation | None:
    """The one operation whose id ends in `text`, or whose name it is; None where there is none.

    The case of letters does not matter, and an ending may stand as the dashboard shows it: `…8F3K2A`. Raises `InvalidValue`
    where several fit, with their ids.
    """
    wanted = text.strip().removeprefix("…").lower()
    if not wanted:
        return None
    known = list(operations)
    ending = [op for op in known if op.operation_id.lower().endswith(wanted)] if len(wanted) >= SHORTEST_ENDING else []
    fitting = ending or [op for op in known if (op.name or "").strip().lower() == wanted]
    if len(fitting) > 1:
        ids = ", ".join(op.operation_id for op in fitting[:_MOST_NAMED])
        more = f" and {len(fitting) - _MOST_NAMED:,} more" if len(fitting) > _MOST_NAMED else ""
        raise InvalidValue(f"{text[:40]!r} fits {len(fitting):,} operations: {ids}{more}; give the whole id of one")
    return fitting[0] if fitting else None
