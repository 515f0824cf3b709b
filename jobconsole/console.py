"""The composition root: the one file that knows every adapter (STYLE).

Only this file decides which store, transport, secrets and catalogue a console is built from. Front ends call `open_async`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import platformdirs

from jobconsole.adapters.catalogue import Catalogue
from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.settings_file import read_settings_file
from jobconsole.adapters.theme_files import LoadedThemes, built_in_folders, load_theme_files
from jobconsole.adapters.tinydb_store import open_store
from jobconsole.core.contract import Contract
from jobconsole.engine.broker import Broker
from jobconsole.engine.broker import Changed as BrokerNews
from jobconsole.engine.face import AsyncConsole, is_settled
from jobconsole.engine.submissions import Budget, Wish
from jobconsole.protocols import Clock, Transport

__all__ = [
    "AsyncConsole",
    "Broker",
    "BrokerNews",
    "Budget",
    "Desk",
    "LoadedThemes",
    "Wish",
    "home_folder",
    "is_settled",
    "load_settings",
    "load_themes",
    "open_async",
    "open_desk",
    "require_credential",
    "write_audit",
]


def home_folder(home: Path | None = None) -> Path:
    """The store's folder: what was given, else JOBCONSOLE_HOME, else the platform's data folder (SPEC 11)."""
    if home is not None:
        return home
    named = os.environ.get("JOBCONSOLE_HOME")
    return Path(named) if named else Path(platformdirs.user_data_dir("jobconsole", appauthor=False))


@asynccontextmanager
async def open_async(
    home: Path | None = None, *, label: str, is_read_only: bool = False, provider_files: Sequence[Path] = ()
) -> AsyncIterator[AsyncConsole]:
    """An `AsyncConsole` over the store in `home`, closed at the end. `label` says what kind of process this is.

    Opening for writing books the deadlines that passed meanwhile (X19). Raises `StoreError`.
    """
    folder = home_folder(home)
    clock = SystemClock()
    store = await open_store(folder, clock, label=label, read_only=is_read_only)
    catalogue = Catalogue(folder / "providers", provider_files)
    console = AsyncConsole(store, catalogue, lambda: _transport(clock), clock, label)
    try:
        if not is_read_only:
            await console.book_deadlines()
        yield console
    finally:
        await console.close()


def load_themes(home: Path | None = None) -> LoadedThemes:
    """The themes that come with jobconsole, then those of the store's folder `themes/`; what cannot be used is told (U4)."""
    return load_theme_files((*built_in_folders(), home_folder(home) / "themes"))


def load_settings(home: Path | None = None) -> Mapping[str, Any]:
    """The tables of `config.toml` in the store's folder. Raises `InvalidValue` where it is not TOML."""
    return read_settings_file(home_folder(home))


def require_credential(contract: Contract) -> None:
    """Read the contract's reference once and forget the value: a caller hears of a missing one before anything is written.

    Raises `SecretMissing`.
    """
    if contract.auth.secret is not None:
        from jobconsole.adapters.secrets import ReferenceSecrets

        ReferenceSecrets().read(contract.auth.secret)


def write_audit(blocks: Iterable[bytes], target: Path, form: str) -> None:
    """Write stored lines as a typed table; `form` is parquet, csv or xlsx. Raises `InvalidValue`, `AuditBroken`, `OSError`."""
    from jobconsole.adapters.frames import audit_frame_of_blocks, write_frame

    write_frame(audit_frame_of_blocks(blocks), target, form)


def _transport(clock: Clock) -> Transport:
    """Loaded when the first request leaves: listing what waits needs no HTTP client."""
    from jobconsole.adapters.http import HttpTransport
    from jobconsole.adapters.secrets import ReferenceSecrets

    return HttpTransport(ReferenceSecrets(), clock)


Desk = AsyncConsole
open_desk = open_async
