"""The magics: `%jobs`, `%job`, `%inbox`, `%audit`, `%wait`, `%%submit` (UX 1b).

Only this file decides what a magic accepts and shows. Each returns at once; what is shown is a widget, with a table beside it
for places without one. An operation is named as on the command line: by its id, the ending of its id, or its name. Errors are
one line, without a traceback.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, time
from functools import wraps
from typing import Any, NoReturn, TypeAlias

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from jobconsole.api import Console
from jobconsole.console import Budget
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import InvalidValue, JobconsoleError, UnknownOperation
from jobconsole.notebook.cell_body import cell_id, parse_body

Magic: TypeAlias = Callable[..., Any]
Args: TypeAlias = argparse.Namespace
MOST_LINES = 40  # of a story that is printed
OPERATION_HELP = "an operation's id, the ending of it, or its name"
FILTER_HELP = 'as in the dashboard: text  "two words"  !text  needs:you  state:failed  provider:x  name:x  age>2h  http:503'


class _Helped(Exception):
    """The help was printed; nothing else is to be done."""


class _Parser(argparse.ArgumentParser):
    """Raises where argparse would end the process, which here is the kernel."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}. {self.prog} --help tells more.")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _Helped


def _parser(name: str, told: str) -> _Parser:
    return _Parser(prog=name, description=told, formatter_class=argparse.RawDescriptionHelpFormatter)


def _jobs() -> _Parser:
    parser = _parser("%jobs", "Operations as a live table.")
    parser.add_argument("filter", nargs="*", help=FILTER_HELP)
    parser.add_argument("--phase", choices=[str(phase) for phase in Phase], help="one phase only")
    return parser


def _job() -> _Parser:
    parser = _parser("%job", "One operation, live: state, budgets, what may be chosen.")
    parser.add_argument("operation", help=OPERATION_HELP)
    parser.add_argument("--why", action="store_true", help="say why it was checked, why not earlier, what comes next")
    parser.add_argument("--at", help="the second that --why is about, such as 2026-11-30T10:20:05Z; today's as 10:20:05")
    parser.add_argument("--timeline", action="store_true", help="show its requests on a time axis")
    return parser


def _audit() -> _Parser:
    parser = _parser("%audit", "The audit as a story, the last lines of it.")
    parser.add_argument("operation", nargs="?", help=f"{OPERATION_HELP}; without one, the whole store")
    parser.add_argument("--lines", type=int, default=MOST_LINES, help=f"how many of the last lines ({MOST_LINES})")
    parser.add_argument("--verify", action="store_true", help="verify the chain of the whole store")
    return parser


def _wait() -> _Parser:
    parser = _parser("%wait", "Show one operation without blocking; `await` what it returns for the outcome.")
    parser.add_argument("operation", help=OPERATION_HELP)
    parser.add_argument("--timeout", help="how long an `await` of it lasts at most, such as 10m")
    return parser


def _submit() -> _Parser:
    parser = _parser("%%submit", "Submit the cell's body, JSON or YAML, once; running the cell again submits nothing again.")
    parser.add_argument("provider", help="a provider's name")
    parser.add_argument("--name", help="a name for people")
    parser.add_argument("--id", help="an operation id of your own, in place of one made from the cell's content")
    parser.add_argument("--again", action="store_true", help="submit anew, although this content was submitted before")
    parser.add_argument("--task", help="what the job belongs to")
    parser.add_argument("--owner", help="who looks after it")
    parser.add_argument("--deadline", help="a duration such as 40m")
    parser.add_argument("--requests", type=int, help="how many status requests at most")
    parser.add_argument("--transport-failures", type=int, help="how many failed deliveries at most")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the contract")
    return parser


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{error}: close the quotes") from None


def _taking(make: Callable[[], _Parser], split: Callable[[str], list[str]] = _split) -> Callable[[Magic], Magic]:
    """Hand the magic its parsed arguments; what jobconsole refuses is said in one line. Its help is its documentation."""

    def decorate(magic: Magic) -> Magic:
        @wraps(magic)
        def run(self: Any, line: str, *cell: str) -> Any:
            try:
                return magic(self, make().parse_args(split(line)), *cell)
            except _Helped:
                return None
            except JobconsoleError as error:
                raise UsageError(str(error)) from None
            except RuntimeError as error:
                if type(error) is not RuntimeError:
                    raise
                raise UsageError(str(error)) from None  # a console that is closed, or of another process, says so with this one

        run.__doc__ = make().format_help()
        return run

    return decorate


@magics_class
class JobconsoleMagics(Magics):
    """What `%load_ext jobconsole` adds. `console` is asked when a magic needs one."""

    def __init__(self, shell: Any, console: Callable[[], Console]) -> None:
        super().__init__(shell)
        self._console = console

    @line_magic
    @_taking(_jobs, str.split)  # quotes belong to the filter
    def jobs(self, args: Args) -> Any:
        """The live table, with the filter that was asked for."""
        table = self._console().table()
        table.filter(" ".join(args.filter), phase=args.phase or "")
        return table

    @line_magic
    @_taking(_job)
    def job(self, args: Args) -> Any:
        """One operation."""
        console = self._console()
        op = console.meant(args.operation)
        if args.why or args.at:
            print(console.why(op, _moment(args.at) if args.at else None))
            return None
        return console.timeline(op) if args.timeline else console.progress(op)

    @line_magic
    @_taking(lambda: _parser("%inbox", "What needs a person, live, with its options."))
    def inbox(self, args: Args) -> Any:
        """The live inbox."""
        return self._console().inbox_widget()

    @line_magic
    @_taking(_audit)
    def audit(self, args: Args) -> Any:
        """Print the end of the story, or verify."""
        console = self._console()
        audit = console.audit(console.meant(args.operation) if args.operation else None)
        if args.verify:
            return audit.verify()
        lines = audit.story().splitlines()
        shown = lines[-max(1, args.lines) :]
        if len(shown) < len(lines):
            print(f"… {len(lines) - len(shown):,} earlier lines: console.audit().story()")
        print("\n".join(shown) or "Nothing has happened yet.")
        return None

    @line_magic
    @_taking(_wait)
    def wait(self, args: Args) -> Any:
        """An awaitable widget."""
        console = self._console()
        return console.progress(console.meant(args.operation), args.timeout)

    @cell_magic
    @_taking(_submit)
    def submit(self, args: Args, cell: str) -> Any:
        """Submit, or show what was submitted by the same content before."""
        params, body, console = _params(args.param), parse_body(cell), self._console()
        own_id = args.id or (None if args.again else cell_id(args.provider, body, params))
        if own_id is not None and _is_known(console, own_id):
            print(f"Submitted before, and not again: {own_id}. For a new one: %%submit {args.provider} --again")
        op = console.submit(
            args.provider,
            json=body,
            id=own_id,
            name=args.name,
            task=args.task,
            owner=args.owner,
            params=params,
            budget=Budget(args.deadline, args.requests, args.transport_failures),
        )
        return console.progress(op)


def _moment(text: str) -> datetime:
    """A time of today, or a whole one; UTC where no zone is said."""
    try:
        if len(text) <= len("HH:MM:SS"):
            return datetime.combine(datetime.now(UTC).date(), time.fromisoformat(text), UTC)
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValue(f"{text[:40]!r} is no time; write 10:20:05 or 2026-11-30T10:20:05Z") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _is_known(console: Console, operation_id: str) -> bool:
    try:
        console.operation(operation_id)
    except UnknownOperation:
        return False
    return True


def _params(said: list[str]) -> dict[str, str]:
    for each in said:
        if not each.partition("=")[0] or "=" not in each:
            raise InvalidValue(f"--param {each[:60]!r} is not NAME=VALUE")
    return {name: value for name, _, value in (each.partition("=") for each in said)}
