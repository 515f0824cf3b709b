"""The console for callers that block: scripts, notebooks, the magics (SPEC 12).

Only this file decides how a call waits and what an interrupt of it means; what is asked is `AsyncConsole`'s.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobconsole.api.async_console import AsyncConsole, notebook
from jobconsole.api.operations import ConsoleOperation
from jobconsole.audit import Audit
from jobconsole.console import is_settled
from jobconsole.core.keeping.chain import Verification
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import InboxItem
from jobconsole.core.telling.outcome import Outcome
from jobconsole.engine.blocking import Portal

if TYPE_CHECKING:
    import pandas

INTERRUPTED = "Interrupting stops this wait, not the job: it goes on at the provider and stays watched while a worker runs."


class Console:
    """A console that blocks: for scripts and notebooks. Build it with `jobconsole.open`; close it, or use `with`.

    Every method is `AsyncConsole`'s, waited for, and may be called from any thread. Ctrl+C ends a wait within a second; the
    job goes on. A closed console, and one in a forked process, raises `RuntimeError`, which says what to do.
    """

    def __init__(self, portal: Portal, console: AsyncConsole) -> None:
        self._portal, self._console = portal, console

    def submit(self, provider: str, **asked: Any) -> ConsoleOperation:
        """`AsyncConsole.submit`, waited for."""
        return self._handed(self._portal.call(self._console.submit(provider, **asked)))

    def track(self, provider: str, **asked: Any) -> ConsoleOperation:
        """`AsyncConsole.track`, waited for."""
        return self._handed(self._portal.call(self._console.track(provider, **asked)))

    def start(self) -> None:
        """Run a worker in a background thread of this process, unless one is alive on this store (X19)."""
        self._portal.call(self._console.start())

    def stop(self) -> None:
        """Stop this process's worker; nothing is cancelled."""
        self._portal.call(self._console.stop())

    def wait(self, op: Operation | str, timeout: str | float | None = "10m") -> Outcome:
        """`AsyncConsole.wait`, waited for. Interrupting it stops the wait, not the job; in a kernel that is said beforehand."""
        if _is_in_kernel() and not is_settled(self.operation(op)):
            print(notebook().BLOCKING, flush=True)
        try:
            return self._portal.call(self._console.wait(op, timeout))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{INTERRUPTED} Last seen: {self.operation(op)!r}") from None

    def operation(self, op: Operation | str) -> ConsoleOperation:
        """`AsyncConsole.operation`, waited for."""
        return self._handed(self._portal.call(self._console.operation(op)))

    def meant(self, text: str) -> ConsoleOperation:
        """`AsyncConsole.meant`, waited for."""
        return self._handed(self._portal.call(self._console.meant(text)))

    def operations(self, phase: str | None = None, *, include_ended: bool = False) -> list[ConsoleOperation]:
        """`AsyncConsole.operations`, waited for."""
        return [self._handed(op) for op in self._portal.call(self._console.records(phase, include_ended=include_ended))]

    def providers(self) -> list[str]:
        """`AsyncConsole.providers`, waited for."""
        return self._portal.call(self._console.providers())

    def inbox(self) -> list[InboxItem]:
        """`AsyncConsole.inbox`, waited for."""
        return self._portal.call(self._console.inbox())

    def options(self, op: Operation | str) -> list[str]:
        """`AsyncConsole.options`, waited for."""
        return self._portal.call(self._console.options(op))

    def decide(self, op: Operation | str, option: str, **asked: Any) -> ConsoleOperation:
        """`AsyncConsole.decide`, waited for."""
        return self._handed(self._portal.call(self._console.decide(op, option, **asked)))

    def assign(self, op: Operation | str, to: str | None, *, by: str | None = None) -> ConsoleOperation:
        """`AsyncConsole.assign`, waited for."""
        return self._handed(self._portal.call(self._console.assign(op, to, by=by)))

    def snooze(self, op: Operation | str, until: datetime | str | None, *, by: str | None = None) -> ConsoleOperation:
        """`AsyncConsole.snooze`, waited for."""
        return self._handed(self._portal.call(self._console.snooze(op, until, by=by)))

    def note(self, op: Operation | str, text: str, *, by: str | None = None) -> ConsoleOperation:
        """`AsyncConsole.note`, waited for."""
        return self._handed(self._portal.call(self._console.note(op, text, by=by)))

    def why(self, op: Operation | str, at: datetime | None = None) -> str:
        """`AsyncConsole.why`, waited for."""
        return self._portal.call(self._console.why(op, at))

    def audit(self, op: Operation | str | None = None) -> Audit[Verification]:
        """`AsyncConsole.audit`, waited for."""
        audit = self._portal.call(self._console.audit(op))
        return Audit(audit.blocks, lambda: self._portal.call(audit.verify()))

    def to_frame(self, phase: str | None = None, **asked: Any) -> pandas.DataFrame:
        """`AsyncConsole.to_frame`, waited for."""
        return self._portal.call(self._console.to_frame(phase, **asked))

    def dashboard(self, **asked: Any) -> Any:
        """`AsyncConsole.dashboard`, for this thread."""
        return self._widget("dashboard", asked)

    def table(self, **asked: Any) -> Any:
        """`AsyncConsole.table`, for this thread."""
        return self._widget("table", asked)

    def inbox_widget(self, **asked: Any) -> Any:
        """`AsyncConsole.inbox_widget`, for this thread."""
        return self._widget("inbox", asked)

    def timeline(self, op: Operation | str, **asked: Any) -> Any:
        """`AsyncConsole.timeline`, for this thread."""
        return self._widget("timeline", {"op": op, **asked})

    def progress(self, op: Operation | str, timeout: str | float | None = None, **asked: Any) -> Any:
        """`AsyncConsole.progress`, for this thread: `await console.progress(op)` waits without blocking the kernel."""
        return self._widget("progress", {"op": op, "timeout": timeout, **asked})

    def _handed(self, op: Operation) -> ConsoleOperation:
        return ConsoleOperation.of(op, self)

    def _widget(self, kind: str, asked: Mapping[str, Any]) -> Any:
        """The store is read in the console's loop, the widget made in the thread that shows it."""
        return self._portal.call(notebook().prepare(self._console, kind, hand=self._handed, **asked))()

    def __repr__(self) -> str:
        return f"<Console of {self._console.home or 'the store of this user'}>"

    def close(self) -> None:
        """Stop the worker, give up the store, end the thread; nothing is cancelled at a provider.

        Any thread may close, as often as it likes: all return when it is done. Calls under way end with `RuntimeError`.
        """
        self._portal.close(self._console.close)

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _is_in_kernel() -> bool:
    """Whether this process is a notebook's kernel, in which a blocking call keeps buttons from working."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
