"""Opening a store from Python: exported as `jobconsole.open` and `jobconsole.open_async` (SPEC 12).

Only this file decides what an opened console consists of.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from jobconsole.api.async_console import AsyncConsole
from jobconsole.api.console import Console
from jobconsole.console import open_desk
from jobconsole.engine.blocking import Portal
from jobconsole.errors import InvalidValue


async def open_async(
    home: Path | str | None = None,
    *,
    providers: Sequence[Path | str] = (),
    read_only: bool = False,
    label: str = "python",
) -> AsyncConsole:
    """Open the store of this user, or the one in `home`, with contract files beside the known ones.

    Raises `InvalidValue`, `StoreError`.
    """
    if isinstance(providers, str | bytes | os.PathLike):
        raise InvalidValue(f"providers are several files; write providers=[{str(providers)!r}]")
    stack = contextlib.AsyncExitStack()
    folder = Path(home) if home is not None else None
    opened = open_desk(folder, label=label, is_read_only=read_only, provider_files=[Path(p) for p in providers])
    return AsyncConsole(await stack.enter_async_context(opened), stack.aclose, folder)


def open_console(
    home: Path | str | None = None,
    *,
    providers: Sequence[Path | str] = (),
    read_only: bool = False,
    label: str = "python",
) -> Console:
    """Like `open_async`, for callers that block. Exported as `jobconsole.open`."""
    portal = Portal()
    try:
        console = portal.call(open_async(home, providers=providers, read_only=read_only, label=label))
    except BaseException:
        portal.close()
        raise
    return Console(portal, console)
