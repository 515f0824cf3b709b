"""Which operation a person means who types less than a whole id (SPEC U8: never a row, never a guess).

Only this file decides that. The engine's reader asks the store for the whole id first, which finds an archived operation too;
here an ending of the id or a whole name counts where it fits one operation, and is refused where it fits several.
"""

from __future__ import annotations

from collections.abc import Iterable

from jobconsole.core.operation import Operation
from jobconsole.errors import InvalidValue

SHORTEST_ENDING = 4  # characters
_CUT = "…"  # before an ending, as the dashboard shows it
_MOST_NAMED = 5


def meant(text: str, operations: Iterable[Operation]) -> Operation | None:
    """The one operation whose id ends in `text`, or whose name it is; None where there is none.

    A whole id, letter by letter, is that operation's, whatever else fits. Of all other fits none is stronger: the name of one
    operation and the ending of another's id are two answers. The case of letters does not matter then, and an ending may stand
    as the dashboard shows it: `…8F3K2A`. Raises `InvalidValue` where several fit, with their ids.
    """
    typed, known = text.strip(), list(operations)
    for op in known:
        if op.operation_id == typed:
            return op
    fitting = [op for op in known if _ends_so(op, typed) or _is_named_so(op, typed)]
    if len(fitting) > 1:
        shown = ", ".join(
            f"{op.operation_id} by its name" if _is_named_so(op, typed) else op.operation_id for op in fitting[:_MOST_NAMED]
        )
        more = f" and {len(fitting) - _MOST_NAMED:,} more" if len(fitting) > _MOST_NAMED else ""
        raise InvalidValue(f"{text[:40]!r} fits {len(fitting):,} operations: {shown}{more}; give the whole id of one")
    return fitting[0] if fitting else None


def _ends_so(op: Operation, typed: str) -> bool:
    ending = typed.removeprefix(_CUT).lower()
    return len(ending) >= SHORTEST_ENDING and op.operation_id.lower().endswith(ending)


def _is_named_so(op: Operation, typed: str) -> bool:
    return typed != "" and (op.name or "").strip().lower() == typed.lower()
