"""What leaves the dashboard by the clipboard or as a file, and what is said about it (UX: the honest copy toast).

Only this file decides what is copied; `clipboard.py` decides the way, and `texts.py` claims no more than what is known of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from jobconsole.core.telling.wording import counted
from jobconsole.errors import JobconsoleError
from jobconsole.tui import texts
from jobconsole.tui.action import Call
from jobconsole.tui.clipboard import Way
from jobconsole.tui.dialogs.select import SelectDialog
from jobconsole.tui.stage import Stage
from jobconsole.tui.subject import Subject

_CLOSED_AFTER = 0.2  # seconds until palette and entry line are gone from the picture


def copy_ids(call: Call) -> None:
    """The ids, one a line."""
    ids = [subject.operation_id for subject in call.subjects]
    copy_text(call.app, "\n".join(ids), ids[0] if len(ids) == 1 else counted(len(ids), "id"))


def copy_records(call: Call) -> None:
    """The records as JSON: one object, or an array of several."""
    call.app.run_worker(_copy_records(call.app, call.subjects), group="copying")


async def _copy_records(app: Stage, subjects: Sequence[Subject]) -> None:
    try:
        views = await app.desk.views([await app.desk.get(subject.operation_id) for subject in subjects])
    except JobconsoleError as error:
        app.say(str(error), is_bad=True)
        return
    text = json.dumps(views[0] if len(views) == 1 else views, indent=2, ensure_ascii=True)
    copy_text(app, text, f"The JSON of {counted(len(views), 'operation')}")


def copy_text(app: Stage, text: str, what: str) -> None:
    """Copy a text that is called `what`, and say what became of it; where nothing takes it, show it."""
    app.run_worker(_copy_text(app, text, what), group="copying")


async def _copy_text(app: Stage, text: str, what: str) -> None:
    way = await app.copier.copy(text)
    app.say(texts.copied(what, way))
    if way is Way.NONE:
        await app.push_screen(SelectDialog(text))


def show_copied(call: Call) -> None:
    """What was copied last, to be selected with the terminal's own mouse."""
    if call.app.copier.last:
        call.app.push_screen(SelectDialog(call.app.copier.last))
    else:
        call.app.say("Nothing has been copied yet: y copies the id.")


def save_picture(call: Call) -> None:
    """The screen as an SVG file in the folder where the program was started, or in the one that is named."""
    call.app.set_timer(_CLOSED_AFTER, lambda: _save_picture(call.app, call.argument.strip() or None))


def _save_picture(app: Stage, folder: str | None) -> None:
    try:
        app.say(texts.saved(app.save_screenshot(path=folder)))
    except OSError as error:
        app.say(f"The screenshot was not saved: {error.strerror or error}", is_bad=True)
