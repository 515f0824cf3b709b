"""How tests of choices for several operations get there: operations that wait, all marked, a question that is answered."""

from __future__ import annotations

from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.tui.dialogs.many import ManyDialog
from tests.tui.conftest import TestedDashboard, pass_time, settled, until
from tests.tui.test_operations_table import table_of


async def tracked(app: TestedDashboard, count: int, *, failed: tuple[int, ...] = ()) -> list[str]:
    """So many operations that wait; those of these numbers have failed."""
    ids = [f"acme-{number:02}" for number in range(1, count + 1)]
    for number, operation_id in enumerate(ids, start=1):
        await app.track(operation_id)
        await app.check(operation_id, {"state": "failed" if number in failed else "running"})
    return ids


async def marked(pilot: Pilot[None], key: str) -> ManyDialog:
    """Mark everything, press the key, and let the quiet time pass."""
    app = pilot.app
    assert isinstance(app, TestedDashboard)
    await settled(pilot)
    table_of(app).marked = set(app.feed.operations)
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, ManyDialog))
    await pilot.pause()
    await pass_time(pilot, 1)
    dialog = app.screen
    assert isinstance(dialog, ManyDialog)
    return dialog


async def confirmed(pilot: Pilot[None], **fields: str) -> None:
    """Fill the fields, let the quiet time pass, and press the key that confirms."""
    app = pilot.app
    assert isinstance(app, TestedDashboard)
    for field, text in fields.items():
        app.screen.query_one(f"#{field}", Input).value = text
    await pilot.pause()
    await pass_time(pilot, 1)
    await pilot.press("ctrl+s")
    await pilot.pause()
