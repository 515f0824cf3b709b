"""What `%load_ext jobconsole` does and `%unload_ext jobconsole` undoes: magics, completion, tables for records, one worker.

Only this file decides which console the magics use: the one named `console` in the notebook, else the user's own store, opened
when it is first needed, given that name, and closed with the kernel. Its worker runs once in a kernel, and only where no other
one is alive (X19): a second kernel is harmless.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

import jobconsole
from jobconsole.api import Console
from jobconsole.core.operation import Operation
from jobconsole.core.telling.inbox import InboxItem
from jobconsole.core.telling.outcome import Outcome
from jobconsole.errors import JobconsoleError
from jobconsole.notebook import still, texts
from jobconsole.notebook.magics import JobconsoleMagics

NAME = "console"
WITH_OPERATIONS = ("job", "audit", "wait")
MAGICS = {"line": (*WITH_OPERATIONS, "jobs", "inbox"), "cell": ("submit",)}
SAID = "jobconsole: %jobs, %job ID, %inbox, %audit, %wait ID, %%submit PROVIDER; --help after each tells more"

_LOADED: WeakKeyDictionary[Any, Extension] = WeakKeyDictionary()


class Extension:
    """What was added to one shell, so that it can be taken away again."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._own: Console | None = None

    # ---- the console ----------------------------------------------------------------------------------------------------
    def console(self) -> Console:
        """The notebook's console, or one of the user's store. Raises `StoreError`."""
        found = self._shell.user_ns.get(NAME)
        if isinstance(found, Console):
            return found
        if self._own is None:
            self._own = jobconsole.open(label="notebook")
            self._own.start()
            atexit.register(self.close)
            if found is None:
                self._shell.user_ns[NAME] = self._own
        return self._own

    def close(self) -> None:
        """Give up the console that was opened here; nothing is cancelled."""
        own, self._own = self._own, None
        if own is None:
            return
        atexit.unregister(self.close)
        if self._shell.user_ns.get(NAME) is own:
            del self._shell.user_ns[NAME]
        own.close()

    # ---- adding and taking away -----------------------------------------------------------------------------------------
    def load(self) -> None:
        """Add everything."""
        self._shell.register_magics(JobconsoleMagics(self._shell, self.console))
        self._shell.input_transformers_cleanup.append(with_body_for_help)
        for name in WITH_OPERATIONS:
            self._shell.set_hook("complete_command", self._operations, str_key=f"%{name}")
        self._shell.set_hook("complete_command", self._providers, str_key="%%submit")
        for kind, show in FORMATS.items():
            self._shell.display_formatter.formatters["text/html"].for_type(kind, show)

    def unload(self) -> None:
        """Take everything away."""
        self._shell.input_transformers_cleanup.remove(with_body_for_help)
        for cells, names in MAGICS.items():
            for name in names:
                self._shell.magics_manager.magics[cells].pop(name, None)
        hooks = self._shell.strdispatchers["complete_command"].strs
        for key in (*(f"%{name}" for name in WITH_OPERATIONS), "%%submit"):
            hooks.pop(key, None)
        for kind in FORMATS:
            self._shell.display_formatter.formatters["text/html"].pop(kind, None)
        self.close()

    # ---- completion: what cannot be read completes to nothing ------------------------------------------------------------
    def _operations(self, _shell: Any, event: Any) -> list[str]:
        with suppress(JobconsoleError):
            known = self.console().operations(include_ended=True)
            return [op.operation_id for op in reversed(known) if op.operation_id.startswith(event.symbol)][:200]
        return []

    def _providers(self, _shell: Any, event: Any) -> list[str]:
        with suppress(JobconsoleError):
            return [name for name in self.console().providers() if name.startswith(event.symbol)]
        return []


def with_body_for_help(lines: list[str]) -> list[str]:
    """A cell that only asks for the help of `%%submit` gets an empty line as body: IPython wants one."""
    asks = bool(lines) and lines[0].startswith("%%submit") and not {"--help", "-h"}.isdisjoint(lines[0].split())
    return [*lines, "\n"] if asks else lines


# ---- records as tables -------------------------------------------------------------------------------------------------------
def _now() -> datetime:
    return datetime.now(UTC)


def _operation_html(op: Operation) -> str:
    return still.operation_still(op, _now()).html


def _item_html(item: InboxItem) -> str:
    return still.items_still([item], _now(), empty=texts.NOTHING_ASKS).html


def _outcome_html(outcome: Outcome) -> str:
    return still.outcome_still(outcome).html


def _list_html(values: list[Any]) -> str | None:
    """A table for a list of operations or inbox items; any other list is shown as ever."""
    if values and all(isinstance(value, Operation) for value in values):
        return still.operations_still(values, _now(), empty="").html
    if values and all(isinstance(value, InboxItem) for value in values):
        return still.items_still(values, _now(), empty="").html
    return None


FORMATS: dict[type, Callable[[Any], str | None]] = {
    Operation: _operation_html,
    InboxItem: _item_html,
    Outcome: _outcome_html,
    list: _list_html,
}


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext jobconsole`. A second time changes nothing and says nothing."""
    if shell in _LOADED:
        return
    _LOADED[shell] = Extension(shell)
    _LOADED[shell].load()
    print(SAID)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext jobconsole`."""
    loaded = _LOADED.pop(shell, None)
    if loaded is not None:
        loaded.unload()
