"""The Python face: `jobconsole.open()` for scripts and notebooks, `jobconsole.open_async()` for programs (SPEC 12).

`async_console.py` puts SPEC 12's names over the engine's desk; `console.py` hands each call to it through a thread with an
event loop: one implementation, two ways to wait for it. `operations.py` is what both hand out, `opening.py` opens them.
"""

from __future__ import annotations

from jobconsole.api.async_console import AsyncConsole, person
from jobconsole.api.console import Console
from jobconsole.api.opening import open_async, open_console
from jobconsole.api.operations import AsyncConsoleOperation, ConsoleOperation

__all__ = ["AsyncConsole", "AsyncConsoleOperation", "Console", "ConsoleOperation", "open_async", "open_console", "person"]
