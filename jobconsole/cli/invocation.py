"""What one call of the program was told by its global options (SPEC 11): the store, read-only, contract files, JSON.

Only this file decides which options are global. Each may stand before the command or after it; `main` makes one `Invocation`
per call, every command gets it with `@pass_invocation`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from jobconsole.cli.output import Output


@dataclass(slots=True)
class Invocation:
    """The global options of one call, filled in while click parses, and the streams to write to."""

    output: Output
    home: Path | None = None  # None: the store of this user
    is_read_only: bool = False
    provider_files: list[Path] = field(default_factory=list)
    as_json: bool = False


pass_invocation = click.make_pass_decorator(Invocation)


def global_options(*, is_group: bool) -> list[click.Option]:
    """The global options, anew for each command. Only the group's reads `JOBCONSOLE_HOME`: an option given there wins."""
    path = click.Path(path_type=Path)
    return [
        _option(
            "--home",
            _set_home,
            type=_Folder(path_type=Path),
            metavar="DIR",
            envvar="JOBCONSOLE_HOME" if is_group else None,
            help="Folder of the store. [env: JOBCONSOLE_HOME; default: this user's data folder]",
        ),
        _option("--read-only", _set_read_only, is_flag=True, help="Refuse everything that would change something."),
        _option(
            "--provider-file", _add_files, type=path, multiple=True, metavar="FILE", help="A provider contract to use too."
        ),
        _option("--json", _set_json, is_flag=True, help="Print JSON on stdout, and nothing else."),
    ]


def _option(name: str, keep: Callable[[click.Context, Invocation, Any], None], **settings: Any) -> click.Option:
    """An option that is kept in the invocation and not passed to the command."""

    def callback(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value:
            keep(context, context.ensure_object(Invocation), value)

    return click.Option([name], callback=callback, expose_value=False, **settings)


class _Folder(click.Path):
    """A folder by its name. An empty one is refused: it would be the current folder, and is an unset variable of a shell."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Raises `click.BadParameter`."""
        if value == "":
            self.fail("it names no folder: give one, or leave --home out for this user's store", param, ctx)
        return super().convert(value, param, ctx)


def _set_home(context: click.Context, invocation: Invocation, value: Path) -> None:
    """The environment names the store for the next command too; an option must be typed again."""
    invocation.home = value
    program = context.find_root().command
    if context.get_parameter_source("home") is ParameterSource.COMMANDLINE and isinstance(program, click.Group):
        invocation.output.carry(f"--home {shlex.quote(str(value))}", program.list_commands(context))


def _set_read_only(_context: click.Context, invocation: Invocation, value: bool) -> None:
    invocation.is_read_only = value


def _add_files(_context: click.Context, invocation: Invocation, value: tuple[Path, ...]) -> None:
    invocation.provider_files.extend(value)


def _set_json(_context: click.Context, invocation: Invocation, value: bool) -> None:
    invocation.as_json = value
