"""The Python face: `jobconsole.open()` for scripts and notebooks, `jobconsole.open_async()` for programs (SPEC 12).

Only this file decides what a Python caller can say. `AsyncConsole` puts SPEC 12's names over the engine's desk; `Console` hands
each call to it through a thread with an event loop: one implementation, two ways to wait for it.
"""

from __future__ import annotations

import contextlib
import getpass
import importlib
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jobconsole.audit import Audit
from jobconsole.console import Budget, Desk, Wish, is_settled, open_desk
from jobconsole.core.chain import Verification
from jobconsole.core.durations import parse_duration
from jobconsole.core.inbox import InboxItem
from jobconsole.core.operation import Operation
from jobconsole.core.outcome import Outcome, outcome
from jobconsole.engine.blocking import Portal

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")
INTERRUPTED = "Interrupting stops this wait, not the job: it goes on at the provider and stays watched while a worker runs."


class AsyncConsole:
    """A console for programs with an event loop. Build it with `jobconsole.open_async`; close it, or use `async with`."""

    def __init__(self, desk: Desk, close: Callable[[], Coroutine[Any, Any, None]], home: Path | None = None) -> None:
        self._desk, self._close = desk, close
        self.home = home
        self._working: contextlib.AsyncExitStack | None = None
        self._closing: list[Callable[[], Coroutine[Any, Any, None]]] = []

    @property
    def desk(self) -> Desk:
        """What this console is a face of, for front ends in the same process."""
        return self._desk

    def on_close(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Await `work()` when the console is closed, before the store is given up."""
        self._closing.append(work)

    async def submit(
        self,
        provider: str,
        *,
        json: Any = None,
        id: str | None = None,
        name: str | None = None,
        task: str | None = None,
        owner: str | None = None,
        params: Mapping[str, str] | None = None,
        budget: Budget | None = None,
        by: str | None = None,
    ) -> Operation:
        """Submit a job: the record is durable before the POST leaves. The same `id` and request return the same operation.

        `budget` asks for less than the contract, or for more as a person. Raises `UnknownProvider`, `ContractInvalid`,
        `InvalidValue`, `Refused`, `StoreError`; never because a job is slow.
        """
        wish = Wish(person(by), id, name, task, owner, dict(params or {}), budget or Budget())
        begun = await self._desk.submit(provider, json, wish=wish)
        return await self._desk.perform(begun.op.operation_id) if begun.is_new else begun.op

    async def track(
        self,
        provider: str,
        *,
        job_id: str | None = None,
        status_url: str | None = None,
        id: str | None = None,
        name: str | None = None,
        task: str | None = None,
        owner: str | None = None,
        params: Mapping[str, str] | None = None,
        budget: Budget | None = None,
        by: str | None = None,
    ) -> Operation:
        """Adopt a job that somebody else started; a second call returns the live operation (X9). Raises as `submit`."""
        wish = Wish(person(by), id, name, task, owner, dict(params or {}), budget or Budget())
        return (await self._desk.track(provider, job_id=job_id, status_url=status_url, wish=wish)).op

    async def start(self) -> None:
        """Run a worker in this process, unless one is alive on this store; a second call does nothing (X19)."""
        if self._working is None:
            self._working = contextlib.AsyncExitStack()
            await self._working.enter_async_context(self._desk.embedded_worker())

    async def stop(self) -> None:
        """Stop this process's worker within two seconds. Nothing is cancelled; another worker goes on."""
        working, self._working = self._working, None
        if working is not None:
            await working.aclose()

    async def wait(self, op: Operation | str, timeout: str | float | None = "10m") -> Outcome:
        """Wait until the operation has ended or needs a person, or `timeout` ("10m", seconds, None) is over.

        Never raises for a slow job: `outcome.done` says whether its end is known, `outcome.status` what it came to.
        """
        seconds = parse_duration(timeout).total_seconds() if isinstance(timeout, str) else timeout
        async with self._desk.embedded_worker() if self._working is None else contextlib.nullcontext():
            (found,) = await self._desk.wait([_id(op)], seconds)
        return outcome(found, is_waited_out=not is_settled(found))

    async def operation(self, op: Operation | str) -> Operation:
        """The operation as it is now. Raises `UnknownOperation`."""
        return await self._desk.get(_id(op))

    async def operations(self, phase: str | None = None, *, include_ended: bool = False) -> list[Operation]:
        """Operations, oldest first: in flight, of one phase, or all; what was archived long ago is among all."""
        return await self._desk.operations(include_ended=include_ended, include_archived=include_ended, phase=phase)

    async def providers(self) -> list[str]:
        """The names of all providers whose contracts can be read."""
        return list(self._desk.contracts.names())

    async def inbox(self) -> list[InboxItem]:
        """What needs a person: decisions and looks, oldest first (H2, H13)."""
        return await self._desk.inbox()

    async def options(self, op: Operation | str) -> list[str]:
        """The names of what a person may choose for this operation right now."""
        return [option.name for option in await self._desk.options(await self._desk.get(_id(op)))]

    async def decide(
        self, op: Operation | str, option: str, *, by: str | None = None, revision: int | None = None, **asked: Any
    ) -> Operation:
        """Choose one option: extend, cancel, close, ... `asked`: minutes, checks, failures, rate_limits, until_at, reason.

        `op` as a record binds the choice to the revision that was seen (H4). Raises `Refused`, which says what happened.
        """
        shown = op.revision if revision is None and isinstance(op, Operation) else revision
        return (await self._desk.decide(_id(op), option, by=person(by), revision=shown, **asked)).op

    async def assign(self, op: Operation | str, to: str | None, *, by: str | None = None) -> Operation:
        """Give an inbox item to a person, or to nobody with None (H7). A record binds it to who had it when it was read.

        Raises `Refused`, which says who was faster, `UnknownOperation`, `StoreError`.
        """
        seen = op if isinstance(op, Operation) else await self._desk.get(op)
        return await self._desk.assign(_id(op), to, by=person(by), shown=seen.attention.assigned_to)

    async def snooze(self, op: Operation | str, until: datetime | str | None, *, by: str | None = None) -> Operation:
        """Let an inbox item rest until a time, or for a duration ("2h"); None wakes it. Nothing is decided when the time comes.

        Raises `InvalidValue`, `Refused` (30 days at most), `UnknownOperation`, `StoreError`.
        """
        at = self._desk.clock.wall() + parse_duration(until) if isinstance(until, str) else until
        return await self._desk.snooze(_id(op), at, by=person(by))

    async def note(self, op: Operation | str, text: str, *, by: str | None = None) -> Operation:
        """Write something down about an operation for whoever looks at it next: 2,000 characters; the last 20 notes stay."""
        return await self._desk.note(_id(op), text, by=person(by))

    async def why(self, op: Operation | str, at: datetime | None = None) -> str:
        """Why it was checked then, why not earlier, what comes next, in plain words (U7)."""
        return await self._desk.why(_id(op), at)

    async def audit(self, op: Operation | str | None = None) -> Audit[Coroutine[Any, Any, Verification]]:
        """The audit of one operation, or of the whole store."""
        if op is None:
            return Audit(await self._desk.store.blocks(), self._desk.verify)
        operation_id = (await self._desk.get(_id(op))).operation_id
        return Audit((b"".join([line async for line in self._desk.events(operation_id)]),), self._desk.verify)

    async def to_frame(self, phase: str | None = None, *, include_ended: bool = True) -> pandas.DataFrame:
        """Operations as a typed DataFrame, oldest first: all, in flight, or of one phase; the same dtypes when it is empty."""
        from jobconsole.adapters.frames import operations_frame

        return operations_frame(await self.operations(phase, include_ended=include_ended))

    # ---- in a notebook --------------------------------------------------------------------------------------------------
    async def dashboard(self, *, theme: str | None = None, by: str | None = None) -> Any:
        """A live widget with tabs: operations, inbox, timeline, audit. `theme` is a file of `themes/`, by default the host's.

        `by` is who decides with its buttons. Raises `ImportError` without the extra `notebook`, `InvalidValue`, `StoreError`.
        """
        return (await _notebook().prepare(self, "dashboard", theme=theme, by=by))()

    async def table(self, *, theme: str | None = None, by: str | None = None) -> Any:
        """Operations as a live table widget: `.selected`, `.op`, `.df()`. Arguments and errors as in `dashboard`."""
        return (await _notebook().prepare(self, "table", theme=theme, by=by))()

    async def inbox_widget(self, *, theme: str | None = None, by: str | None = None) -> Any:
        """What needs a person, as a live widget. Arguments and errors as in `dashboard`."""
        return (await _notebook().prepare(self, "inbox", theme=theme, by=by))()

    async def timeline(self, op: Operation | str, *, theme: str | None = None, by: str | None = None) -> Any:
        """Requests, delays, Retry-After and states of one operation on a time axis. Raises `UnknownOperation` too."""
        return (await _notebook().prepare(self, "timeline", op=op, theme=theme, by=by))()

    async def progress(
        self, op: Operation | str, timeout: str | float | None = None, *, theme: str | None = None, by: str | None = None
    ) -> Any:
        """One operation in short; `await` the widget for its `Outcome`, at most `timeout`. Raises `UnknownOperation` too."""
        return (await _notebook().prepare(self, "progress", op=op, timeout=timeout, theme=theme, by=by))()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.home or 'the store of this user'}>"

    async def close(self) -> None:
        """Stop the worker and give up the store; nothing is cancelled."""
        while self._closing:
            await self._closing.pop()()
        await self.stop()
        await self._close()

    async def __aenter__(self) -> AsyncConsole:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


class Console:
    """A console that blocks: for scripts and notebooks. Build it with `jobconsole.open`; close it, or use `with`.

    Every method is `AsyncConsole`'s, waited for. Ctrl+C ends a wait within a second; the job goes on.
    """

    def __init__(self, portal: Portal, console: AsyncConsole) -> None:
        self._portal, self._console = portal, console

    def submit(self, provider: str, **asked: Any) -> Operation:
        """`AsyncConsole.submit`, waited for."""
        return self._portal.call(self._console.submit(provider, **asked))

    def track(self, provider: str, **asked: Any) -> Operation:
        """`AsyncConsole.track`, waited for."""
        return self._portal.call(self._console.track(provider, **asked))

    def start(self) -> None:
        """Run a worker in a background thread of this process, unless one is alive on this store (X19)."""
        self._portal.call(self._console.start())

    def stop(self) -> None:
        """Stop this process's worker; nothing is cancelled."""
        self._portal.call(self._console.stop())

    def wait(self, op: Operation | str, timeout: str | float | None = "10m") -> Outcome:
        """`AsyncConsole.wait`, waited for. Interrupting it stops the wait, not the job; in a kernel that is said beforehand."""
        if _is_in_kernel() and not is_settled(self.operation(op)):
            print(_notebook().BLOCKING, flush=True)
        try:
            return self._portal.call(self._console.wait(op, timeout))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{INTERRUPTED} Last seen: {self.operation(op)!r}") from None

    def operation(self, op: Operation | str) -> Operation:
        """`AsyncConsole.operation`, waited for."""
        return self._portal.call(self._console.operation(op))

    def operations(self, phase: str | None = None, *, include_ended: bool = False) -> list[Operation]:
        """`AsyncConsole.operations`, waited for."""
        return self._portal.call(self._console.operations(phase, include_ended=include_ended))

    def providers(self) -> list[str]:
        """`AsyncConsole.providers`, waited for."""
        return self._portal.call(self._console.providers())

    def inbox(self) -> list[InboxItem]:
        """`AsyncConsole.inbox`, waited for."""
        return self._portal.call(self._console.inbox())

    def options(self, op: Operation | str) -> list[str]:
        """`AsyncConsole.options`, waited for."""
        return self._portal.call(self._console.options(op))

    def decide(self, op: Operation | str, option: str, **asked: Any) -> Operation:
        """`AsyncConsole.decide`, waited for."""
        return self._portal.call(self._console.decide(op, option, **asked))

    def assign(self, op: Operation | str, to: str | None, *, by: str | None = None) -> Operation:
        """`AsyncConsole.assign`, waited for."""
        return self._portal.call(self._console.assign(op, to, by=by))

    def snooze(self, op: Operation | str, until: datetime | str | None, *, by: str | None = None) -> Operation:
        """`AsyncConsole.snooze`, waited for."""
        return self._portal.call(self._console.snooze(op, until, by=by))

    def note(self, op: Operation | str, text: str, *, by: str | None = None) -> Operation:
        """`AsyncConsole.note`, waited for."""
        return self._portal.call(self._console.note(op, text, by=by))

    def why(self, op: Operation | str, at: datetime | None = None) -> str:
        """`AsyncConsole.why`, waited for."""
        return self._portal.call(self._console.why(op, at))

    def audit(self, op: Operation | str | None = None) -> Audit[Verification]:
        """`AsyncConsole.audit`, waited for."""
        audit = self._portal.call(self._console.audit(op))
        return Audit(audit.blocks, lambda: self._portal.call(audit.verify()))

    def to_frame(self, phase: str | None = None, *, include_ended: bool = True) -> pandas.DataFrame:
        """`AsyncConsole.to_frame`, waited for."""
        return self._portal.call(self._console.to_frame(phase, include_ended=include_ended))

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

    def _widget(self, kind: str, asked: Mapping[str, Any]) -> Any:
        """The store is read in the console's loop, the widget made in the thread that shows it."""
        return self._portal.call(_notebook().prepare(self._console, kind, **asked))()

    def __repr__(self) -> str:
        return f"<Console of {self._console.home or 'the store of this user'}>"

    def close(self) -> None:
        """Stop the worker, give up the store, end the thread; nothing is cancelled."""
        self._portal.call(self._console.close())
        self._portal.close()

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


async def open_async(
    home: Path | str | None = None,
    *,
    providers: Sequence[Path | str] = (),
    read_only: bool = False,
    label: str = "python",
) -> AsyncConsole:
    """Open the store of this user, or the one in `home`, with contract files beside the known ones. Raises `StoreError`."""
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


def person(by: str | None) -> str:
    """An actor: a plain name is a person's; without one, the login name's (X20)."""
    if by is not None:
        return by if ":" in by else f"person:{by}"
    with contextlib.suppress(Exception):  # no login name, as in a container: the record says so
        return f"person:{getpass.getuser()}"
    return "person:unknown"


def _notebook() -> Any:
    """The front end above this layer, looked up by its name when a widget is asked for: nothing here depends on it."""
    return importlib.import_module("jobconsole.notebook")


def _is_in_kernel() -> bool:
    """Whether this process is a notebook's kernel, in which a blocking call keeps buttons from working."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _id(op: Operation | str) -> str:
    return op.operation_id if isinstance(op, Operation) else op
