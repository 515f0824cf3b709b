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

from jobconsole.api import arguments
from jobconsole.api.operations import AsyncConsoleOperation
from jobconsole.audit import Audit
from jobconsole.console import Budget, Desk, Wish, is_settled, login_person, telling_people
from jobconsole.core.actors import caller
from jobconsole.core.durations import parse_duration
from jobconsole.core.keeping.chain import Verification
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import InboxItem
from jobconsole.core.telling.naming import meant
from jobconsole.core.telling.outcome import Outcome, outcome
from jobconsole.core.vocabulary import known_phase
from jobconsole.errors import InvalidValue, UnknownOperation

if TYPE_CHECKING:
    import pandas

    from jobconsole.adapters.frames import Backend, Unit


class AsyncConsole:
    """A console for programs with an event loop. Build it with `jobconsole.open_async`; close it, or use `async with`.

    Calls that take an operation take its record or its whole id, and nothing that only looks like it: what a program acts on
    must be the same tomorrow (U8). `meant` finds the operation that a person names by less. A value of a wrong type raises
    `InvalidValue`.
    """

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
        provider, wish = arguments.provider_name(provider), _wish(by, id, name, task, owner, params, budget)
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
        """Adopt a job that somebody else started, by its id or its URL; a second call returns the live operation (X9).

        Raises as `submit`.
        """
        arguments.text("job_id", job_id)
        arguments.text("status_url", status_url)
        if (job_id is None) == (status_url is None):
            raise InvalidValue("track takes one of the two: job_id=... or status_url=...")
        provider, wish = arguments.provider_name(provider), _wish(by, id, name, task, owner, params, budget)
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

        Never raises for a slow job: `outcome.done` says whether its end is known, `outcome.status` what it came to. Raises
        `InvalidValue`, `UnknownOperation`, `StoreError`.
        """
        seconds, operation_id = arguments.seconds(timeout), await self._whole_id(op)
        async with self._desk.embedded_worker() if self._working is None else contextlib.nullcontext():
            (found,) = await self._desk.wait([operation_id], seconds)
        return outcome(found, is_waited_out=not is_settled(found))

    async def operation(self, op: Operation | str) -> AsyncConsoleOperation:
        """The operation as it is now, by its whole id. Raises `UnknownOperation`, which says which one may have been meant."""
        return self._handed(await self._desk.get(await self._whole_id(op)))

    async def meant(self, text: str) -> AsyncConsoleOperation:
        """The one operation that a person means by an id, the ending of an id (four characters or more), or a name.

        For what people type, as on the command line. Raises `InvalidValue` where several fit, with their ids,
        `UnknownOperation` where none does.
        """
        return self._handed(await self._desk.meant(arguments.named(text)))

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
        return [option.name for option in await self._desk.options(await self._desk.get(await self._whole_id(op)))]

    async def decide(
        self,
        op: Operation | str,
        option: str,
        *,
        by: str | None = None,
        revision: int | None = None,
        reason: str = "",
        minutes: int | None = None,
        checks: int | None = None,
        failures: int | None = None,
        rate_limits: int | None = None,
        until_at: datetime | None = None,
        job_id: str | None = None,
        credential: str | None = None,
    ) -> AsyncConsoleOperation:
        """Choose one option: extend, cancel, close, ...; what is left out is the option's own. `options` names the open ones.

        `op` as a record binds the choice to the revision that was seen (H4). `minutes`, `checks`, `failures`, `rate_limits` are
        what `extend` grants, `until_at` is when `pause` ends, `job_id` what `adopt` takes over, `credential` what
        `use_credential` names. Raises `InvalidValue`, `Refused`, which says what happened, `UnknownOperation`, `StoreError`.
        """
        shown = op.revision if revision is None and isinstance(op, Operation) else arguments.revision(revision)
        arguments.text("option", option)
        applied = await self._desk.decide(
            await self._whole_id(op),
            option,
            by=person(by),
            revision=shown,
            reason=reason,
            minutes=minutes,
            checks=checks,
            failures=failures,
            rate_limits=rate_limits,
            until_at=until_at,
            job_id=job_id,
            credential=credential,
        )
        return self._handed(applied.op)

    async def assign(self, op: Operation | str, to: str | None, *, by: str | None = None) -> AsyncConsoleOperation:
        """Give an inbox item to a person, or to nobody with None or "nobody" (H7).

        A record binds it to who had it when it was read. Raises `InvalidValue` where `to` is no person's name, `Refused`, which
        says who was faster, `UnknownOperation`, `StoreError`.
        """
        seen = op if isinstance(op, Operation) else await self._desk.get(await self._whole_id(op))
        shown = seen.attention.assigned_to
        return self._handed(await self._desk.assign(seen.operation_id, to, by=person(by), shown=shown))

    async def snooze(
        self, op: Operation | str, until: datetime | str | None, *, by: str | None = None
    ) -> AsyncConsoleOperation:
        """Let an inbox item rest until a time, or for a duration ("2h"); None wakes it. Nothing is decided when the time comes.

        Raises `InvalidValue`, `Refused` (30 days at most), `UnknownOperation`, `StoreError`.
        """
        at = self._desk.clock.wall() + parse_duration(until) if isinstance(until, str) else until
        return self._handed(await self._desk.snooze(await self._whole_id(op), at, by=person(by)))

    async def note(self, op: Operation | str, text: str, *, by: str | None = None) -> AsyncConsoleOperation:
        """Write something down about an operation for whoever looks at it next: 2,000 characters; the last 20 notes stay.

        Raises `InvalidValue`, `Refused`, `UnknownOperation`, `StoreError`.
        """
        return self._handed(await self._desk.note(await self._whole_id(op), text, by=person(by)))

    async def why(self, op: Operation | str, at: datetime | None = None) -> str:
        """Why it was checked then, why not earlier, what comes next, in plain words (U7)."""
        return await self._desk.why(await self._whole_id(op), at)

    async def audit(self, op: Operation | str | None = None) -> Audit[Coroutine[Any, Any, Verification]]:
        """The audit of one operation, or of the whole store."""
        if op is None:
            return Audit(await self._desk.store.blocks(), self._desk.verify)
        operation_id = await self._whole_id(op)
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

        Names and a provider's words are values as they came, also signs that a terminal acts on and such as turn the direction
        of reading: `frame["name"].map(ascii)` shows them harmless. As HTML a frame holds no markup of theirs. `unit` and
        `dtype_backend` as in `Audit.to_frame`. Raises `InvalidValue`.
        """
        from jobconsole.adapters.frames import operations_frame, with_dtypes

        frame = operations_frame(await self.records(phase, include_ended=include_ended))
        return with_dtypes(frame, unit, dtype_backend)

    async def records(self, phase: str | None = None, *, include_ended: bool = False) -> list[Operation]:
        """What `operations` hands out, as the core's values, which know no console."""
        wanted = None if phase is None else known_phase(phase)
        return await self._desk.operations(include_ended=include_ended, include_archived=include_ended, phase=wanted)

    async def _whole_id(self, op: Operation | str) -> str:
        """The record's id, or a whole id of this store: what only looks like one is never acted on (U8)."""
        operation_id = arguments.named(op)
        if isinstance(op, Operation) or await self._desk.store.get(operation_id) is not None:
            return operation_id
        shown = operation_id[:140]
        try:
            near = meant(operation_id, await self._desk.store.operations())
        except InvalidValue as several:
            raise UnknownOperation(f"no operation has the id {shown!r}: {several}") from None
        mend = "console.operations(include_ended=True) has all"
        if near is not None:
            mend = f"did you mean {near.operation_id!r}? What is less than an id, console.meant({shown!r}) finds"
        raise UnknownOperation(f"no operation has the id {shown!r}; {mend}")

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


def _wish(
    by: str | None,
    id: str | None,
    name: str | None,
    task: str | None,
    owner: str | None,
    params: Mapping[str, str] | None,
    budget: Budget | None,
) -> Wish:
    return Wish(person(by), id, name, task, owner, arguments.parameters(params), arguments.budget(budget))
