"""jobconsole: bounded waiting for work that runs at somebody else's service.

Importing this package loads neither textual nor pandas nor ipywidgets nor httpx: names are looked up when they are used (SPEC
12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "AsyncConsole",
    "Budget",
    "Console",
    "JobconsoleError",
    "Outcome",
    "open",
    "open_async",
    "read_audit",
    "read_operations",
    "write_frame",
]

if TYPE_CHECKING:
    from jobconsole.adapters.frames import read_audit, read_operations, write_frame
    from jobconsole.api import AsyncConsole, Console, open_async
    from jobconsole.api import open_console as open
    from jobconsole.core.telling.outcome import Outcome
    from jobconsole.engine.submissions import Budget
    from jobconsole.errors import JobconsoleError

_HOMES = {
    "AsyncConsole": ("jobconsole.api", "AsyncConsole"),
    "Budget": ("jobconsole.engine.submissions", "Budget"),
    "Console": ("jobconsole.api", "Console"),
    "JobconsoleError": ("jobconsole.errors", "JobconsoleError"),
    "Outcome": ("jobconsole.core.telling.outcome", "Outcome"),
    "load_ipython_extension": ("jobconsole.notebook.extension", "load_ipython_extension"),
    "open": ("jobconsole.api", "open_console"),
    "open_async": ("jobconsole.api", "open_async"),
    "read_audit": ("jobconsole.adapters.frames", "read_audit"),
    "read_operations": ("jobconsole.adapters.frames", "read_operations"),
    "unload_ipython_extension": ("jobconsole.notebook.extension", "unload_ipython_extension"),
    "write_frame": ("jobconsole.adapters.frames", "write_frame"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'jobconsole' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
