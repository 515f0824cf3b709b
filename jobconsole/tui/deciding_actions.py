"""The actions that ask about or change an operation: options, extend, cancel, close, why, undo.

Only this file decides how these are called and which keys they have. Each acts on the id and the revision that the person saw;
`answering.py` asks, holds and decides.
"""

from __future__ import annotations

from jobconsole.tui.action import Act, Action, Call
from jobconsole.tui.dialogs.why import WhyDialog


def _answer(option: str) -> Act:
    def act(call: Call) -> None:
        call.app.answering.answer(call.subject.operation_id, call.subject.revision, option, looks_first=True)

    return act


def _choose(call: Call) -> None:
    call.app.answering.choose(call.subject.operation_id, call.subject.revision)


def _why(call: Call) -> None:
    call.app.push_screen(WhyDialog(call.subject.operation_id, call.app.main_screen.moment(), call.argument))


def _undo(call: Call) -> None:
    call.app.answering.undo()


DECIDING_ACTIONS = (
    Action("operation.options", "Options", _choose, "x", "options",
           "What can be done to this operation, and why the rest cannot", needs_selection=True, footer="Options"),
    Action("operation.extend", "Extend", _answer("extend"), "e", "extend",
           "Grant more time and checks; the cost is shown first", needs_selection=True),
    Action("operation.cancel", "Cancel at the provider", _answer("cancel"), "c", "cancel",
           "Shows what the provider documents; can be undone for five seconds", needs_selection=True),
    Action("operation.close", "Stop watching", _answer("close"), "X", "close",
           "Needs a reason; the job itself is not touched", needs_selection=True),
    Action("operation.why", "Why?", _why, "w", "why",
           "Why it was checked then, why not earlier, what comes next; or name a time: why 10:20:31", needs_selection=True,
           footer="Why"),
    Action("app.undo", "Undo", _undo, "u", "undo", "Gives up what is held and not decided yet"),
)  # fmt: skip
