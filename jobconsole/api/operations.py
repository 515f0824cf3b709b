"""Operations as a console hands them out: the record, and what can be done with it (SPEC 12).

Only this file decides which of a console's methods an operation repeats. The record is the core's value as it was when it was
handed out: equal to any other with the same fields, stored and shown alike; every method asks the console that it came from.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, astuple

from jobconsole.audit import Audit
from jobconsole.core.keeping.chain import Verification
from jobconsole.core.operation import Operation
from jobconsole.core.telling.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from jobconsole.api.async_console import AsyncConsole
    from jobconsole.api.console import Console


class ConsoleOperation(Operation, frozen=True, kw_only=True, dict=True, gc=True):
    """An operation that a `Console` handed out. It does not change by itself: `refresh` gets the one of now.

    What a method raises is what the console's raises. A copy knows no console: `RuntimeError` says so.
    """

    @classmethod
    def of(cls, op: Operation, console: Console) -> ConsoleOperation:
        """The record as one of this console's; nested values are shared."""
        made = cls(**asdict(op))
        made.__dict__["console"] = console
        return made

    def __eq__(self, other: object) -> bool:
        """Whether both are records with the same fields, whoever handed them out."""
        return isinstance(other, Operation) and astuple(self) == astuple(other)

    def __hash__(self) -> int:
        """By id and revision: equal records have both in common, so that sets and keys are possible."""
        return hash((self.operation_id, self.revision))

    def wait(self, timeout: str | float | None = "10m") -> Outcome:
        """Block until it has ended or needs a person, or `timeout` ("10m", seconds, None) is over. Slow is no error."""
        return self._console.wait(self, timeout)

    def refresh(self) -> ConsoleOperation:
        """The operation as it is now."""
        return self._console.operation(self)

    def why(self, at: datetime | None = None) -> str:
        """Why it was checked then, why not earlier, what comes next, in plain words; for now without a time (U7)."""
        return self._console.why(self, at)

    def audit(self) -> Audit[Verification]:
        """Its audit: `.story()`, `.to_frame()`, `.to_file()`."""
        return self._console.audit(self)

    def options(self) -> list[str]:
        """The names of what a person may choose right now."""
        return self._console.options(self)

    def decide(self, option: str, *, by: str | None = None, **asked: Any) -> ConsoleOperation:
        """Choose one option, bound to the revision of this record: refused where something changed since (H4)."""
        return self._console.decide(self, option, by=by, **asked)

    def assign(self, to: str | None, *, by: str | None = None) -> ConsoleOperation:
        """Give its inbox item to a person, or to nobody with None; bound to who had it in this record (H7)."""
        return self._console.assign(self, to, by=by)

    def snooze(self, until: datetime | str | None, *, by: str | None = None) -> ConsoleOperation:
        """Let its inbox item rest until a time, or for a duration ("2h"); None wakes it (H7)."""
        return self._console.snooze(self, until, by=by)

    def note(self, text: str, *, by: str | None = None) -> ConsoleOperation:
        """Write something down about it for whoever looks at it next (H7)."""
        return self._console.note(self, text, by=by)

    def timeline(self, *, theme: str | None = None, by: str | None = None) -> Any:
        """A live widget: its requests, delays, Retry-After and states on a time axis. Needs the extra `notebook`."""
        return self._console.timeline(self, theme=theme, by=by)

    def progress(self, timeout: str | float | None = None, *, theme: str | None = None, by: str | None = None) -> Any:
        """A live widget of it in short; `await` the widget for the `Outcome`. The figure itself is `progress_share`."""
        return self._console.progress(self, timeout, theme=theme, by=by)

    @property
    def _console(self) -> Console:
        console: Console = _of_whom(self)
        return console


class AsyncConsoleOperation(Operation, frozen=True, kw_only=True, dict=True, gc=True):
    """An operation that an `AsyncConsole` handed out: `ConsoleOperation` with methods to be awaited."""

    @classmethod
    def of(cls, op: Operation, console: AsyncConsole) -> AsyncConsoleOperation:
        """The record as one of this console's; nested values are shared."""
        made = cls(**asdict(op))
        made.__dict__["console"] = console
        return made

    def __eq__(self, other: object) -> bool:
        """Whether both are records with the same fields, whoever handed them out."""
        return isinstance(other, Operation) and astuple(self) == astuple(other)

    def __hash__(self) -> int:
        """By id and revision: equal records have both in common, so that sets and keys are possible."""
        return hash((self.operation_id, self.revision))

    def wait(self, timeout: str | float | None = "10m") -> Coroutine[Any, Any, Outcome]:
        """`ConsoleOperation.wait`, to be awaited."""
        return self._console.wait(self, timeout)

    def refresh(self) -> Coroutine[Any, Any, AsyncConsoleOperation]:
        """`ConsoleOperation.refresh`, to be awaited."""
        return self._console.operation(self)

    def why(self, at: datetime | None = None) -> Coroutine[Any, Any, str]:
        """`ConsoleOperation.why`, to be awaited."""
        return self._console.why(self, at)

    def audit(self) -> Coroutine[Any, Any, Audit[Coroutine[Any, Any, Verification]]]:
        """`ConsoleOperation.audit`, to be awaited."""
        return self._console.audit(self)

    def options(self) -> Coroutine[Any, Any, list[str]]:
        """`ConsoleOperation.options`, to be awaited."""
        return self._console.options(self)

    def decide(self, option: str, *, by: str | None = None, **asked: Any) -> Coroutine[Any, Any, AsyncConsoleOperation]:
        """`ConsoleOperation.decide`, to be awaited."""
        return self._console.decide(self, option, by=by, **asked)

    def assign(self, to: str | None, *, by: str | None = None) -> Coroutine[Any, Any, AsyncConsoleOperation]:
        """`ConsoleOperation.assign`, to be awaited."""
        return self._console.assign(self, to, by=by)

    def snooze(self, until: datetime | str | None, *, by: str | None = None) -> Coroutine[Any, Any, AsyncConsoleOperation]:
        """`ConsoleOperation.snooze`, to be awaited."""
        return self._console.snooze(self, until, by=by)

    def note(self, text: str, *, by: str | None = None) -> Coroutine[Any, Any, AsyncConsoleOperation]:
        """`ConsoleOperation.note`, to be awaited."""
        return self._console.note(self, text, by=by)

    def timeline(self, *, theme: str | None = None, by: str | None = None) -> Coroutine[Any, Any, Any]:
        """`ConsoleOperation.timeline`, to be awaited."""
        return self._console.timeline(self, theme=theme, by=by)

    def progress(
        self, timeout: str | float | None = None, *, theme: str | None = None, by: str | None = None
    ) -> Coroutine[Any, Any, Any]:
        """`ConsoleOperation.progress`, to be awaited: twice for the outcome, once for the widget."""
        return self._console.progress(self, timeout, theme=theme, by=by)

    @property
    def _console(self) -> AsyncConsole:
        console: AsyncConsole = _of_whom(self)
        return console


def _of_whom(op: Operation) -> Any:
    """The console that handed it out. It is no field, so that it is neither compared nor stored nor shown."""
    try:
        return op.__dict__["console"]
    except KeyError:
        raise RuntimeError(
            f"this copy of {op.operation_id} knows no console; ask yours: console.operation({op.operation_id!r})"
        ) from None
