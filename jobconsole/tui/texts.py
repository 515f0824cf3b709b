"""What the dashboard says where there is nothing to show, or something is wrong: each says what to do next (SPEC U6).

Only this file decides these texts; all screens take them from here. Foreign text in them is made inert.
"""

from __future__ import annotations

from jobconsole.core.operation import Operation
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import counted
from jobconsole.tui.clipboard import Way

NO_OPERATIONS = "No operations yet. Try: jobconsole demo, or jobconsole submit PROVIDER"
NO_WORKER = "no worker is running: nothing is checked until one is: jobconsole run"
MOUSE_OFF = "mouse off: select text (m)"
NOT_HERE = "Nothing is selected."
NO_FILTER_HERE = "There is nothing to filter here."
TOO_FAST = "Too fast: this has only just opened or changed, or keys came in a burst. Look, then press again."
REASON_DROPPED = "Nothing was decided; the reason that was typed is dropped."


def name_of(op: Operation) -> str:
    """What a sentence calls an operation: its name, else its id."""
    return inert(op.name, 40) if op.name else op.operation_id


def no_match(filter_text: str, hidden: int) -> str:
    """The filter hides everything."""
    return f'No operation matches "{inert(filter_text, 60)}". esc clears the filter ({hidden:,} hidden).'


def reading(known: int | None = None) -> str:
    """The first picture is on its way; shown after 300 ms only."""
    return f"Reading {counted(known, 'operation')} from the store…" if known else "Reading the store…"


def too_small(width: int, height: int, least_width: int, least_height: int) -> str:
    """The terminal cannot hold the dashboard."""
    return f"Needs {least_width} × {least_height}, have {width} × {height}."


def paused(waiting: int) -> str:
    """Repainting is held."""
    return f"PAUSED · {counted(waiting, 'change')} waiting (p)"


def held(text: str, seconds: int, more: str) -> str:
    """What was confirmed waits, and can be undone: that stands first, because a narrow terminal cuts the end."""
    return f"in {seconds} s, u undoes: {inert(text, 120)}{more} · nothing sent yet"


def not_done(text: str) -> str:
    """The dashboard was left while an act could still be undone."""
    return f"Not done: {inert(text, 120)}. The dashboard was left while it could still be undone; nothing was sent."


def copied(what: str, way: Way) -> str:
    """What became of a copied text: no more is claimed than what is known (OSC 52 has no answer)."""
    told = {
        Way.DESKTOP: "copied",
        Way.TMUX: "copied to tmux's buffer, and sent on to its terminal",
        Way.TERMINAL: "sent to terminal (OSC 52); if it did not arrive, :copied shows it",
        Way.NONE: "cannot be copied from here: select it",
    }
    return f"{inert(what, 120)} {told[way]}"


def mouse(*, is_on: bool) -> str:
    """Who has the mouse now."""
    return (
        "The mouse works here again." if is_on else "The mouse is left to the terminal: select text as usual. m takes it back."
    )


def not_kept(what: str, why: str) -> str:
    """A setting that was chosen live holds for now only."""
    return f"The {what} is not kept for next time: {inert(why, 250)}"


def nobody_knows(command: str, nearest: list[str]) -> str:
    """A `:` command that is none."""
    return f":{inert(command, 40)} is no command. Nearest: {', '.join(nearest)}"


def takes_nothing(command: str, typed: str, *, on_cursor: bool) -> str:
    """Something stands behind a `:` command that knows of nothing there."""
    acts_on = " and acts on the operation under the cursor" if on_cursor else ""
    return f":{command} takes nothing behind it{acts_on}. Nothing was done with {inert(typed, 40)!r}."


def no_operation(command: str, typed: str) -> str:
    """Something stands behind a `:` command that is no operation."""
    return (
        f"No operation is {inert(typed, 40)!r}; nothing was done. Behind :{command} stands an id, its last characters or a "
        "whole name; or nothing, for what is marked or under the cursor."
    )


def no_place(typed: str) -> str:
    """Something stands behind `:jump` to which nobody can go."""
    return f"{inert(typed, 40)!r} is neither a number nor a time. Write 1042, 10:20:31 or 2h."


def no_theme(name: str, known: list[str]) -> str:
    """A theme that nobody has."""
    return f"There is no theme {inert(name, 40)!r}. There are: {', '.join(known)}"


def saved(path: str) -> str:
    """A file was written."""
    return f"Saved {inert(path, 300)}"


def no_room_for_pane(columns: int) -> str:
    """The side pane was asked for on a narrow terminal."""
    return f"The side pane needs {columns} columns. enter opens the operation."
