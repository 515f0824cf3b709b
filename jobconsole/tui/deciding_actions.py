"""The actions that ask about or change operations: options, extend, cancel, close, acknowledge, why, undo.

Only this file decides how these are called and which keys they have. Each acts on the ids and the revisions that the person
saw, where some are marked on all of those; `answering.py` asks, holds and decides.
"""

from __future__ import annotations

from jobconsole.tui.action import Act, Action, Call, Takes
from jobconsole.tui.dialogs.why import WhyDialog
from jobconsole.tui.screens.frame import main_screen


def _answer(option: str) -> Act:
    def act(call: Call) -> None:
        if len(call.subjects) > 1:
            call.app.answering.answer_many(call.subjects, option)
            return
        call.app.answering.answer(call.subject.operation_id, call.subject.revision, option, looks_first=True)

    return act


def _choose(call: Call) -> None:
    if len(call.subjects) > 1:
        call.app.answering.choose_many(call.subjects)
        return
    call.app.answering.choose(call.subject.operation_id, call.subject.revision)


def _why(call: Call) -> None:
    call.app.push_screen(WhyDialog(call.subject.operation_id, main_screen(call.app).moment(), call.argument))


def _undo(call: Call) -> None:
    call.app.answering.undo()


DECIDING_ACTIONS = (
    Action("operation.options", "Options", _choose, "x", "options",
           "What can be done to this operation, or to all that are marked, and why the rest cannot", needs_selection=True,
           for_many=True, takes=Takes.OPERATION, footer="Options"),
    Action("operation.extend", "Extend", _answer("extend"), "e", "extend",
           "Grant more time and checks, also to all that are marked; the cost is shown first", needs_selection=True,
           for_many=True, takes=Takes.OPERATION),
    Action("operation.cancel", "Cancel at the provider", _answer("cancel"), "c", "cancel",
           "Shows what the provider documents, also for all that are marked; can be undone for five seconds",
           needs_selection=True, for_many=True, takes=Takes.OPERATION),
    Action("operation.close", "Stop watching", _answer("close"), "X", "close",
           "Needs a reason; the job itself is not touched; also for all that are marked", needs_selection=True,
           for_many=True, takes=Takes.OPERATION),
    Action("operation.acknowledge", "Acknowledge", _answer("acknowledge"), "K", "acknowledge",
           "What ended and only asks to be seen, also for all that are marked", needs_selection=True, for_many=True,
           takes=Takes.OPERATION),
    Action("operation.why", "Why?", _why, "w", "why",
           "Why it was checked then, why not earlier, what comes next; or name a time: why 10:20:31", needs_selection=True,
           takes=Takes.TEXT, footer="Why"),
    Action("app.undo", "Undo", _undo, "u", "undo", "Gives up what is held and not decided yet"),
)  # fmt: skip
