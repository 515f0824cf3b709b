"""The console for programs with an event loop: SPEC 12's names over the engine's desk.

Only this file decides what a Python caller can say; `Console` repeats it for callers that block.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobconsole.api.operations import AsyncConsoleOperation
from jobconsole.audit import Audit
from jobconsole.console import Budget, Desk, Wish, is_settled, login_person, telling_people
from jobconsole.core.actors import caller
from jobconsole.core.durations import parse_duration
from jobconsole.core.keeping.chain import Verification
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import InboxItem
from jobconsole.core.telling.outcome import Outcome, outcome
from jobconsole.core.vocabulary import known_phase

if TYPE_CHECKING:
    import pandas

    from jobconsole.adapters.frames import Backend, Unit


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
    ) -> AsyncConsoleOperation:
        """Submit a job: the record is durable before the POST leaves. The same `id` and request return the same operation.

        `budget` asks for less than the contract, or for more as a person. Raises `UnknownProvider`, `ContractInvalid`,
        `InvalidValue`, `Refused`, `StoreError`; never because a job is slow.
        """
        wish = Wish(person(by), id, name, task, owner, dict(params or {}), budget or Budget())
        begun = await self._desk.submit(provider, json, wish=wish)
        return self._handed(await self._desk.perform(begun.op.operation_id) if begun.is_new else begun.op)

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
    ) -> AsyncConsoleOperation:
        """Adopt a job that somebody else started; a second call returns the live operation (X9). Raises as `submit`."""
        wish = Wish(person(by), id, name, task, owner, dict(params or {}), budget or Budget())
        return self._handed((await self._desk.track(provider, job_id=job_id, status_url=status_url, wish=wish)).op)

    async def start(self) -> None:
        """Run a worker in this process, unless one is alive on this store; a second call does nothing (X19).

        Where `[notify]` of config.toml says so, people are told meanwhile of what needs them.
        """
        if self._working is None:
            self._working = contextlib.AsyncExitStack()
            await self._working.enter_async_context(self._desk.embedded_worker())
            await self._working.enter_async_context(telling_people(self._desk, self.home))

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

    async def operation(self, op: Operation | str) -> AsyncConsoleOperation:
        """The operation as it is now. Raises `UnknownOperation`."""
        return self._handed(await self._desk.get(_id(op)))

    async def operations(self, phase: str | None = None, *, include_ended: bool = False) -> list[AsyncConsoleOperation]:
        """Operations, oldest first: in flight, of one phase, or all; what was archived long ago is among all.

        Raises `InvalidValue` where there is no such phase.
        """
        return [self._handed(op) for op in await self.records(phase, include_ended=include_ended)]

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
    ) -> AsyncConsoleOperation:
        """Choose one option: extend, cancel, close, ... `asked`: minutes, checks, failures, rate_limits, until_at, reason.

        `op` as a record binds the choice to the revision that was seen (H4). Raises `Refused`, which says what happened.
        """
        shown = op.revision if revision is None and isinstance(op, Operation) else revision
        return self._handed((await self._desk.decide(_id(op), option, by=person(by), revision=shown, **asked)).op)

    async def assign(self, op: Operation | str, to: str | None, *, by: str | None = None) -> AsyncConsoleOperation:
        """Give an inbox item to a person, or to nobody with None or "nobody" (H7).

        A record binds it to who had it when it was read. Raises `InvalidValue` where `to` is no person's name, `Refused`, which
        says who was faster, `UnknownOperation`, `StoreError`.
        """
        seen = op if isinstance(op, Operation) else await self._desk.get(op)
        return self._handed(await self._desk.assign(_id(op), to, by=person(by), shown=seen.attention.assigned_to))

    async def snooze(
        self, op: Operation | str, until: datetime | str | None, *, by: str | None = None
    ) -> AsyncConsoleOperation:
        """Let an inbox item rest until a time, or for a duration ("2h"); None wakes it. Nothing is decided when the time comes.

        Raises `InvalidValue`, `Refused` (30 days at most), `UnknownOperation`, `StoreError`.
        """
        at = self._desk.clock.wall() + parse_duration(until) if isinstance(until, str) else until
        return self._handed(await self._desk.snooze(_id(op), at, by=person(by)))

    async def note(self, op: Operation | str, text: str, *, by: str | None = None) -> AsyncConsoleOperation:
        """Write something down about an operation for whoever looks at it next: 2,000 characters; the last 20 notes stay.

        Raises `InvalidValue`, `Refused`, `UnknownOperation`, `StoreError`.
        """
        return self._handed(await self._desk.note(_id(op), text, by=person(by)))

    async def why(self, op: Operation | str, at: datetime | None = None) -> str:
        """Why it was checked then, why not earlier, what comes next, in plain words (U7)."""
        return await self._desk.why(_id(op), at)

    async def audit(self, op: Operation | str | None = None) -> Audit[Coroutine[Any, Any, Verification]]:
        """The audit of one operation, or of the whole store."""
        if op is None:
            return Audit(await self._desk.store.blocks(), self._desk.verify)
        operation_id = (await self._desk.get(_id(op))).operation_id
        return Audit((b"".join([line async for line in self._desk.events(operation_id)]),), self._desk.verify)

    async def to_frame(
        self,
        phase: str | None = None,
        *,
        include_ended: bool = True,
        unit: Unit = "us",
        dtype_backend: Backend = "numpy_nullable",
    ) -> pandas.DataFrame:
        """Operations as a typed DataFrame, oldest first: all, in flight, or of one phase; the same dtypes when it is empty.

        `unit` and `dtype_backend` as in `Audit.to_frame`. Raises `InvalidValue`.
        """
        from jobconsole.adapters.frames import operations_frame, with_dtypes

        frame = operations_frame(await self.records(phase, include_ended=include_ended))
        return with_dtypes(frame, unit, dtype_backend)

    async def records(self, phase: str | None = None, *, include_ended: bool = False) -> list[Operation]:
        """What `operations` hands out, as the core's values, which know no console."""
        wanted = None if phase is None else known_phase(phase)
        return await self._desk.operations(include_ended=include_ended, include_archived=include_ended, phase=wanted)

    def _handed(self, op: Operation) -> AsyncConsoleOperation:
        return AsyncConsoleOperation.of(op, self)

    # ---- in a notebook --------------------------------------------------------------------------------------------------
    async def dashboard(self, *, theme: str | None = None, by: str | None = None) -> Any:
        """A live widget with tabs: operations, inbox, timeline, audit. `theme` is a file of `themes/`, by default the host's.

        `by` is who decides with its buttons. Raises `ImportError` without the extra `notebook`, `InvalidValue`, `StoreError`.
        """
        return await self._widget("dashboard", theme=theme, by=by)

    async def table(self, *, theme: str | None = None, by: str | None = None) -> Any:
        """Operations as a live table widget: `.selected`, `.op`, `.df()`. Arguments and errors as in `dashboard`."""
        return await self._widget("table", theme=theme, by=by)

    async def inbox_widget(self, *, theme: str | None = None, by: str | None = None) -> Any:
        """What needs a person, as a live widget. Arguments and errors as in `dashboard`."""
        return await self._widget("inbox", theme=theme, by=by)

    async def timeline(self, op: Operation | str, *, theme: str | None = None, by: str | None = None) -> Any:
        """Requests, delays, Retry-After and states of one operation on a time axis. Raises `UnknownOperation` too."""
        return await self._widget("timeline", op=op, theme=theme, by=by)

    async def progress(
        self, op: Operation | str, timeout: str | float | None = None, *, theme: str | None = None, by: str | None = None
    ) -> Any:
        """One operation in short; `await` the widget for its `Outcome`, at most `timeout`. Raises `UnknownOperation` too."""
        return await self._widget("progress", op=op, timeout=timeout, theme=theme, by=by)

    async def _widget(self, kind: str, **asked: Any) -> Any:
        return (await notebook().prepare(self, kind, hand=self._handed, **asked))()

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


def person(by: str | None) -> str:
    """An actor: a plain name is a person's; without one, the login name's (X20). Raises `InvalidValue`."""
    return login_person() if by is None else caller(by)


def notebook() -> Any:
    """The front end above this layer, looked up by its name when a widget is asked for: nothing here depends on it."""
    return importlib.import_module("jobconsole.notebook")


def _id(op: Operation | str) -> str:
    return op.operation_id if isinstance(op, Operation) else op
