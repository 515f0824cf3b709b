"""The actions about an inbox item beside answering it: claim, assign, snooze, note (SPEC H7).

Only this file decides how these are called and which keys they have. Those keys belong to the screens that show one item:
elsewhere they may have another meaning. `attending.py` does the work.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.binding import BindingType

from jobconsole.tui.action import Act, Action, Call, Takes
from jobconsole.tui.attending import Attending, attending


def _on_item(work: Callable[[Attending, str], None], *, is_item: bool = True) -> Act:
    def act(call: Call) -> None:
        found = attending(call.app, call.subject.operation_id, is_item=is_item)
        if found is not None:
            work(found, call.argument)

    return act


ATTENDING_ACTIONS = (
    Action("item.claim", "Claim", _on_item(lambda item, _: item.claim()), "a", "claim",
           "Take care of an inbox item yourself; once more gives it back", needs_selection=True, needs_item=True,
           takes=Takes.OPERATION, footer="Claim"),
    Action("item.assign", "Assign", _on_item(Attending.give), "A", "assign",
           "Give an inbox item to a person: assign ben, assign nobody", needs_selection=True, needs_item=True,
           takes=Takes.TEXT),
    Action("item.snooze", "Snooze", _on_item(Attending.rest), "H", "snooze",
           "Let an inbox item rest: snooze 2h; once more wakes it", needs_selection=True, needs_item=True,
           takes=Takes.TEXT, footer="Snooze"),
    Action("item.note", "Note", _on_item(Attending.note, is_item=False), "n", "note",
           "Write something down for whoever looks next: note TEXT", needs_selection=True, takes=Takes.TEXT, footer="Note"),
)  # fmt: skip

ATTENDING_BINDINGS: list[BindingType] = [action.binding for action in ATTENDING_ACTIONS]
"""The keys, for screens that show one item."""
