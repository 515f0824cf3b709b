"""The analysts' notebook: widgets and magics over one console (SPEC U, UX 1b).

Only this file decides how a console gets its widgets. `jobconsole.api` calls `prepare` by name, because the console does not
know its front ends; `extension.py` is what `%load_ext jobconsole` loads. Nothing here is loaded by `import jobconsole`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from jobconsole.notebook.texts import BLOCKING, INSTALL

if TYPE_CHECKING:
    import pandas

    from jobconsole.api import AsyncConsole
    from jobconsole.core.operation import Operation
    from jobconsole.notebook.feed import Feed
    from jobconsole.notebook.live import Live

__all__ = ["BLOCKING", "prepare"]

_FEEDS: WeakKeyDictionary[AsyncConsole, asyncio.Future[Feed]] = WeakKeyDictionary()


async def prepare(
    console: AsyncConsole,
    kind: str,
    *,
    op: Any = None,
    timeout: str | float | None = None,
    by: str | None = None,
    theme: str | None = None,
    hand: Callable[[Operation], Operation],
) -> Callable[[], Live]:
    """All that a widget needs from the store; the function returned makes it, in the thread that will show it.

    `kind` is table, inbox, dashboard, timeline or progress; `hand` makes an operation one of the caller's console. Raises
    `ImportError` where anywidget is missing, `InvalidValue` for an unknown theme or a wrong type, `UnknownOperation`,
    `StoreError`.
    """
    try:
        from jobconsole.notebook import widgets
    except ModuleNotFoundError as missing:
        raise ImportError(f"{missing.name} is missing: {INSTALL}") from missing
    from jobconsole.api import arguments, person
    from jobconsole.console import load_themes
    from jobconsole.notebook.record import Record
    from jobconsole.notebook.tail import Tail
    from jobconsole.notebook.terms import palettes

    colours, decider, feed = palettes(load_themes(console.home), theme), person(by), await _feed(console)
    if kind == "inbox":
        return partial(widgets.Inbox, feed, colours, decider)
    if kind == "table":
        return partial(widgets.Table, feed, colours, decider, hand, _frame)
    if kind == "dashboard":
        tail = Tail()
        await tail.read(console.desk)
        return partial(widgets.Dashboard, feed, colours, decider, hand, _frame, tail)
    at_most = arguments.seconds(timeout)
    record = Record((await console.operation(op)).operation_id)
    await record.read(console.desk)
    made = {"timeline": widgets.Timeline, "progress": widgets.Progress}[kind]
    return partial(made, feed, colours, decider, hand, record, lambda: console.wait(record.operation_id, at_most))


def _frame(operations: Sequence[Operation]) -> pandas.DataFrame:
    """Loaded when a frame is asked for: a widget needs no pandas."""
    from jobconsole.adapters.frames import operations_frame

    return operations_frame(operations)


async def _feed(console: AsyncConsole) -> Feed:
    """The console's one feed, which ends with it."""
    from jobconsole.notebook.feed import Feed

    if console not in _FEEDS:
        opening = asyncio.ensure_future(Feed.open(console.desk))
        _FEEDS[console] = opening
        try:
            feed = await opening
        except BaseException:
            del _FEEDS[console]
            raise
        console.on_close(feed.close)
    return await _FEEDS[console]
