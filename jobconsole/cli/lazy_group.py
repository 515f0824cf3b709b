"""A click group whose commands are imported only when they are chosen.

Only this file decides how a command gets from its entry in `main.COMMANDS` to click. Help and completion of the group read the
table: they import nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

from jobconsole.cli.invocation import global_options


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """Where a command is (`module:attribute`), and its one line in the help."""

    target: str
    summary: str


class LazyGroup(click.Group):
    """The top group, over a table name → entry."""

    def __init__(self, *, entries: Mapping[str, CommandEntry], **settings: Any) -> None:
        super().__init__(params=[*settings.pop("params", ()), *global_options(is_group=True)], **settings)
        self._entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table: what a newcomer needs first stands first."""
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module at its first use, and give the command the global options."""
        if cmd_name not in self.commands and cmd_name in self._entries:
            module, _, attribute = self._entries[cmd_name].target.partition(":")
            command: click.Command = getattr(importlib.import_module(module), attribute)
            _add_global_options(command)
            self.commands[cmd_name] = command
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown one, name those that are near it, which click looks for among the loaded ones."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=self._entries, ctx=error.ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table."""
        if self._entries:
            with formatter.section("Commands"):
                formatter.write_dl([(name, entry.summary) for name, entry in self._entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name from the table, and the group's own options."""
        names = [
            CompletionItem(name, help=entry.summary) for name, entry in self._entries.items() if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


def _add_global_options(command: click.Command) -> None:
    """Let the global options stand after the command too, however deep it is."""
    command.params.extend(global_options(is_group=False))
    if isinstance(command, click.Group):
        for child in command.commands.values():
            _add_global_options(child)
