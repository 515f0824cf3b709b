"""The command line's entry: which commands there are, and how a call ends.

Only this file decides what becomes of an error: one line on stderr and an exit code. A command is a click command in a module
of its own, imported when it is chosen; it returns an `Exit` or None, and raises. What is neither a `JobconsoleError` nor an
error of the operating system is a defect, and keeps its traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from jobconsole import __version__
from jobconsole.cli.exits import Exit, of_error
from jobconsole.cli.invocation import Invocation
from jobconsole.cli.lazy_group import CommandEntry, LazyGroup
from jobconsole.cli.output import Output
from jobconsole.errors import JobconsoleError

PROGRAM = "jobconsole"
_COMPLETE = "_JOBCONSOLE_COMPLETE"  # click's own name for it: `_JOBCONSOLE_COMPLETE=bash_source jobconsole`

_EXIT_CODES = """\b
Exit codes:
    0  done; of a wait: succeeded
    1  failure
    2  the call is wrong: an option, a value, a provider's name
    3  the store is locked, full or damaged
    4  refused: read-only, stale revision, cap reached
   10  the job failed
   11  completed with errors
   12  timed out: this wait, not the job
   13  a person must decide
   14  cancelled, expired, no outcome, or abandoned
  130  interrupted
Of several operations the first present of 13, 12, 10, 11, 14, 0."""

COMMANDS: dict[str, CommandEntry] = {
    "submit": CommandEntry("jobconsole.cli.submit:submit", "Submit a new job and keep its record."),
    "track": CommandEntry("jobconsole.cli.submit:track", "Adopt a job that somebody else started."),
    "run": CommandEntry("jobconsole.cli.worker:run", "Run a worker: check what is due, within its bounds."),
    "tui": CommandEntry("jobconsole.cli.launch:tui", "The dashboard; without a terminal, what waits, line by line."),
    "ls": CommandEntry("jobconsole.cli.listing:ls", "List operations that have not ended."),
    "show": CommandEntry("jobconsole.cli.show:show", "Show one operation's record."),
    "wait": CommandEntry("jobconsole.cli.wait:wait", "Wait until operations end or need a person."),
    "demo": CommandEntry("jobconsole.cli.demo:demo", "Jobs at a play provider: the dashboard, or a script that answers."),
    "inbox": CommandEntry("jobconsole.cli.inbox:inbox", "Show what needs a decision, and what to see; assign, snooze, note."),
    "decide": CommandEntry("jobconsole.cli.deciding:decide", "Choose one option of an operation."),
    "extend": CommandEntry("jobconsole.cli.deciding:extend", "Grant more time and checks, within the contract's bounds."),
    "cancel": CommandEntry("jobconsole.cli.deciding:cancel", "Cancel a job at its provider, where that is documented."),
    "why": CommandEntry("jobconsole.cli.explaining:why", "Explain any second of an operation's life."),
    "fetch": CommandEntry("jobconsole.cli.fetch:fetch", "Print the result of an operation, as JSON."),
    "audit": CommandEntry("jobconsole.cli.audit:audit", "Show or export the audit, or verify its chain."),
    "providers": CommandEntry("jobconsole.cli.providers:providers", "List the contracts, each with what its account spent."),
    "provider": CommandEntry("jobconsole.cli.providers:provider", "Show or check one provider contract."),
    "serve": CommandEntry("jobconsole.cli.launch:serve", "The dashboard in a browser, for whoever has the link."),
    "mock": CommandEntry("jobconsole.cli.mock:mock", "Run the play provider, to try things out."),
}


def _alone(context: click.Context) -> int | None:
    """`jobconsole` without a command: the dashboard on a terminal, else the live listing."""
    if context.invoked_subcommand is not None:
        return None
    from jobconsole.cli.launch import can_show, dashboard
    from jobconsole.cli.listing import live

    invocation = context.ensure_object(Invocation)
    return dashboard(invocation) if can_show(invocation) else live(invocation)


group = LazyGroup(
    name=PROGRAM,
    entries=COMMANDS,
    callback=click.pass_context(_alone),
    invoke_without_command=True,
    help="Wait, within bounds, for work that runs at somebody else's service. Without a command: the dashboard.",
    epilog=_EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
group = click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")(group)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code of the process (SPEC X26)."""
    args = list(sys.argv[1:] if argv is None else argv)
    invocation = Invocation(Output.of_process())
    try:
        code = _run(args, invocation)
    except click.UsageError as error:
        # A wrong option may stand before the --json that was not read any more.
        code = _tell_usage(error, invocation.output, as_json=invocation.as_json or "--json" in args)
    except (JobconsoleError, OSError, click.ClickException, click.Abort, KeyboardInterrupt) as error:
        code = _tell(error, invocation)
    return invocation.output.finish(code, as_json=invocation.as_json)


def _run(args: list[str], invocation: Invocation) -> int:
    """Complete a command line for the shell, or do what it says."""
    instruction = os.environ.get(_COMPLETE)
    if instruction:
        return shell_complete(group, {"obj": invocation}, PROGRAM, _COMPLETE, instruction)
    try:
        with group.make_context(PROGRAM, args, obj=invocation) as context:
            result = group.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    return result if isinstance(result, int) else Exit.OK


def _tell(error: BaseException, invocation: Invocation) -> int:
    """Say in one line what went wrong; the exit code."""
    output, as_json = invocation.output, invocation.as_json
    if isinstance(error, JobconsoleError):
        output.error(error.code, str(error), as_json=as_json)
        return of_error(error)
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        output.error("interrupted", str(error) or "interrupted", as_json=as_json)
        return Exit.INTERRUPTED
    if isinstance(error, click.ClickException):
        output.error("failure", error.format_message(), as_json=as_json)
        return error.exit_code
    if isinstance(error, BrokenPipeError) and not output.has_reader():
        return Exit.OK
    assert isinstance(error, OSError)
    place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
    output.error("os_error", f"{place}{error.strerror or error}", as_json=as_json)
    return Exit.FAILURE


def _tell_usage(error: click.UsageError, output: Output, *, as_json: bool) -> int:
    """Say how the call must look; a call without a command gets the whole help."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and not as_json:
        for line in error.format_message().splitlines():
            output.note(line)
        return Exit.USAGE
    where = error.ctx.command_path if error.ctx else PROGRAM
    what = "Missing command." if isinstance(error, click.exceptions.NoArgsIsHelpError) else error.format_message()
    stop = "" if what.endswith((".", "?", "!")) else "."
    output.error("usage", f"{what}{stop} Try '{where} --help'.", as_json=as_json)
    return Exit.USAGE
