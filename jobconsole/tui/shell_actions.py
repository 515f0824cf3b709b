"""The actions of the dashboard's shell: moving between screens, filter, sort, marks, copying, times, themes, help, leaving.

Only this file decides how these are called. Actions that change an operation are not here.
"""

from __future__ import annotations

from jobconsole.tui import texts
from jobconsole.tui.action import Act, Action, Call, Takes
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.columns import BY_KEY
from jobconsole.tui.copying import copy_ids, copy_records, save_picture, show_copied
from jobconsole.tui.screens.frame import main_screen
from jobconsole.tui.screens.operations import OperationsScreen


def _go(mode: str) -> Act:
    return lambda call: call.app.go(mode)


def _open(call: Call) -> None:
    call.app.open_operation(call.subject.operation_id)


def _time(call: Call) -> None:
    """Cycle, or take the style that was named: `:tz utc`."""
    wanted = call.argument.strip().lower()
    if wanted and wanted not in list(TimeStyle):
        call.app.say(f"{wanted!r:.20} is no way to show times: age, local or utc", is_bad=True)
        return
    call.app.time_style = TimeStyle(wanted) if wanted else call.app.time_style.next
    call.app.say(f"Times are shown as {call.app.time_style}.")


def _pause(call: Call) -> None:
    call.app.feed.toggle_pause()


def _mouse(call: Call) -> None:
    call.app.say(texts.mouse(is_on=call.app.mouse.toggle()))
    main_screen(call.app).renew_status()


def _operations(call: Call) -> OperationsScreen | None:
    """The screen with the table, if it is in front."""
    screen = main_screen(call.app)
    if isinstance(screen, OperationsScreen):
        return screen
    call.app.say("That works on the operations: O leads there.")
    return None


def _mark(call: Call) -> None:
    if (screen := _operations(call)) is not None:
        screen.table.toggle_mark(call.subject.operation_id)


def _sort(call: Call) -> None:
    """By the next column, or by the one that was named: `:sort age`."""
    screen, wanted = _operations(call), call.argument.lower()
    if screen is None:
        return
    if not wanted:
        screen.table.sort_next()
    elif not screen.table.sort_named(wanted):
        call.app.say(f"There is no column {wanted!r:.30}: {', '.join(BY_KEY)}", is_bad=True)


def _reverse(call: Call) -> None:
    if (screen := _operations(call)) is not None:
        order = screen.table.order
        screen.table.sort_by(order.column, is_reversed=not order.is_reversed)


def _pane(call: Call) -> None:
    if (screen := _operations(call)) is not None:
        screen.toggle_pane()


OPEN = Action(
    "operation.open",
    "Open operation",
    _open,
    "enter,l",
    "open",
    "Budgets, story, requests and options of one operation",
    needs_selection=True,
    takes=Takes.OPERATION,
    footer="Open",
)
LEAVE = Action(
    "app.leave",
    "Quit",
    lambda call: call.app.leave(),
    "q",
    "quit",
    "Leaves from the operations, from elsewhere goes back; the jobs go on",
    footer="Quit",
)
SHELL_ACTIONS = (
    Action("go.operations", "Operations", _go("operations"), "O", "operations", "All operations of this store"),
    Action("go.inbox", "Inbox", _go("inbox"), "i", "inbox", "What needs a decision, and what to see", footer="Inbox"),
    Action("go.audit", "Audit", _go("audit"), "A", "audit", "Who did what, and when"),
    Action("go.providers", "Providers", _go("providers"), "P", "providers", "Contracts, accounts and their budgets"),
    Action("go.log", "Log", _go("log"), "L", "log", "What this program logged"),
    Action("view.filter", "Filter", lambda call: call.app.begin_filter(call.argument), "slash", "filter",
           "Show only what matches: text, !text, state:failed, provider:x, age>2h, needs:you", takes=Takes.TEXT,
           footer="Filter", is_priority=True),
    Action("operation.mark", "Mark", _mark, "space", "mark", "Mark or unmark the operation under the cursor",
           needs_selection=True),
    Action("view.sort", "Sort by the next column", _sort, "s", "sort", "Sort by another column, or by the one that is named",
           takes=Takes.TEXT),
    Action("view.reverse", "Reverse the order", _reverse, "S", "reverse", "Turn the order of the rows round"),
    Action("view.pane", "Side pane", _pane, "v", "pane", "Show or hide the pane beside a wide table"),
    Action("view.pause", "Pause repainting", _pause, "p", "pause", "Hold the picture still, or let it go on"),
    Action("view.time", "Show times as age, local or UTC", _time, "t", "tz", "Cycles; or name one: tz utc",
           takes=Takes.TEXT),
    Action("view.theme", "Theme", lambda call: call.app.themes.choose(call.argument), "", "theme",
           "Choose a theme, or take the one that is named", takes=Takes.TEXT),
    Action("operation.copy-id", "Copy id", copy_ids, "y", "copy", "The ids of the marked operations, else of this one",
           needs_selection=True, for_many=True, takes=Takes.OPERATION, footer="Copy id"),
    Action("operation.copy-json", "Copy JSON", copy_records, "Y", "copy-json", "The records as JSON",
           needs_selection=True, for_many=True, takes=Takes.OPERATION),
    Action("app.copied", "Show what was copied", show_copied, "", "copied",
           "To be selected with the terminal's own mouse, where no clipboard took it"),
    Action("view.mouse", "Mouse on or off", _mouse, "m", "mouse",
           "Off: the terminal's own selection works; shift and drag does in most terminals, too"),
    Action("app.command", "Command line", lambda call: call.app.begin_command(), "colon", "",
           "Type the name of an action", footer="Command", is_priority=True),
    Action("app.palette", "Command palette", lambda call: call.app.action_command_palette(), "ctrl+p", "palette",
           "Search all actions"),
    Action("app.help", "Help", lambda call: call.app.toggle_help(), "question_mark,f1", "help", "All keys that work here",
           footer="Help"),
    Action("app.screenshot", "Save screenshot", save_picture, "", "screenshot", "Writes this screen as an SVG file",
           takes=Takes.TEXT),
    Action("app.back", "Back", lambda call: call.app.back(), "escape,h", "back", "Clears the filter, then goes up"),
    Action("app.quit", "Quit at once", lambda call: call.app.exit(), "ctrl+q", "quit!",
           "Leaves from anywhere; the jobs go on", is_priority=True, is_everywhere=True),
)  # fmt: skip
