"""The composition root: the one file that knows every adapter (STYLE).

Only this file decides which store, transport, secrets and catalogue a console is built from. Front ends call `open_desk`.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.tinydb_store import open_store
from jobconsole.engine.reading import Reader
from jobconsole.protocols import Clock, Contracts, Transport

if TYPE_CHECKING:
    from jobconsole.adapters.collector import settle as settle_collector
    from jobconsole.adapters.login import login_person
    from jobconsole.adapters.theme_files import LoadedThemes
    from jobconsole.core.contracts.contract import Contract
    from jobconsole.core.telling.notify_settings import NotifySettings
    from jobconsole.engine.broker import Broker
    from jobconsole.engine.broker import Changed as BrokerNews
    from jobconsole.engine.desk import Desk, is_settled
    from jobconsole.engine.notices import Notices
    from jobconsole.engine.submissions import Budget, Wish
    from jobconsole.errors import ContractInvalid
    from jobconsole.protocols import Notifier, Sent

log = logging.getLogger(__name__)
LAST_MESSAGE_S = 0.8  # for a message that is on its way when the process stops

__all__ = [
    "Broker",
    "BrokerNews",
    "Budget",
    "Desk",
    "LoadedThemes",
    "Reader",
    "Wish",
    "home_folder",
    "is_settled",
    "load_notify",
    "load_settings",
    "load_themes",
    "login_person",
    "open_desk",
    "open_reader",
    "require_credential",
    "save_setting",
    "send_trial_notice",
    "settle_collector",
    "telling_people",
    "write_audit",
]

_ELSEWHERE = {
    "Broker": ("jobconsole.engine.broker", "Broker"),
    "BrokerNews": ("jobconsole.engine.broker", "Changed"),
    "Budget": ("jobconsole.engine.submissions", "Budget"),
    "Desk": ("jobconsole.engine.desk", "Desk"),
    "LoadedThemes": ("jobconsole.adapters.theme_files", "LoadedThemes"),
    "settle_collector": ("jobconsole.adapters.collector", "settle"),
    "Wish": ("jobconsole.engine.submissions", "Wish"),
    "is_settled": ("jobconsole.engine.desk", "is_settled"),
    "login_person": ("jobconsole.adapters.login", "login_person"),
}
"""Names that this module passes on, loaded when somebody takes one: commands that only read take none of them."""


def __getattr__(name: str) -> Any:
    """A name of `_ELSEWHERE`."""
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _ELSEWHERE[name]
    return getattr(importlib.import_module(module), attribute)


def home_folder(home: Path | None = None) -> Path:
    """The store's folder: what was given, else JOBCONSOLE_HOME, else the platform's data folder (SPEC 11)."""
    if home is not None:
        return home
    named = os.environ.get("JOBCONSOLE_HOME")
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_data_dir("jobconsole", appauthor=False))


@asynccontextmanager
async def open_desk(
    home: Path | None = None, *, label: str, is_read_only: bool = False, provider_files: Sequence[Path] = ()
) -> AsyncIterator[Desk]:
    """A `Desk` over the store in `home`, closed at the end. `label` says what kind of process this is.

    Opening for writing books the deadlines that passed meanwhile (X19). Raises `StoreError`.
    """
    from jobconsole.engine.desk import Desk

    folder = home_folder(home)
    clock = SystemClock()
    store = await open_store(folder, clock, label=label, read_only=is_read_only)
    contracts = _LateCatalogue(folder / "providers", provider_files)
    desk = Desk(store, contracts, lambda: _transport(clock), clock, label)
    try:
        if not is_read_only:
            await desk.book_deadlines()
        yield desk
    finally:
        await desk.close()


@asynccontextmanager
async def open_reader(home: Path | None = None, *, label: str, provider_files: Sequence[Path] = ()) -> AsyncIterator[Reader]:
    """A `Reader` over the store in `home`: takes no lock, creates nothing, loads no code that sends. Raises `StoreError`."""
    folder, clock = home_folder(home), SystemClock()
    reader = Reader(
        await open_store(folder, clock, label=label, read_only=True),
        _LateCatalogue(folder / "providers", provider_files),
        clock,
    )
    try:
        yield reader
    finally:
        await reader.close()


class _LateCatalogue:
    """The catalogue (`protocols.Contracts`), loaded when somebody asks for a contract."""

    def __init__(self, home_providers: Path, files: Sequence[Path]) -> None:
        self._places = home_providers, files

    @cached_property
    def _catalogue(self) -> Contracts:
        from jobconsole.adapters.catalogue import Catalogue

        return Catalogue(*self._places)

    def get(self, name: str) -> Contract:
        """The contract of this provider."""
        return self._catalogue.get(name)

    def names(self) -> Sequence[str]:
        """All provider names, sorted."""
        return self._catalogue.names()

    def all(self) -> Sequence[Contract | ContractInvalid]:
        """Every contract, or why it was refused."""
        return self._catalogue.all()


def load_themes(home: Path | None = None) -> LoadedThemes:
    """The themes that come with jobconsole, then those of the store's folder `themes/`; what cannot be used is told (U4)."""
    from jobconsole.adapters.theme_files import built_in_folders, load_theme_files

    return load_theme_files((*built_in_folders(), home_folder(home) / "themes"))


def load_settings(home: Path | None = None) -> Mapping[str, Any]:
    """The tables of `config.toml` in the store's folder. Raises `InvalidValue` where it is not TOML."""
    from jobconsole.adapters.settings_file import read_settings_file

    return read_settings_file(home_folder(home))


def load_notify(home: Path | None = None) -> NotifySettings:
    """How people are told that something needs them; what cannot be used of it is among its faults, and raises nothing."""
    from jobconsole.core.telling.notify_settings import NotifySettings, notify_settings
    from jobconsole.errors import InvalidValue

    try:
        return notify_settings(load_settings(home))
    except InvalidValue as error:
        return NotifySettings(faults=(str(error),))


@asynccontextmanager
async def telling_people(desk: Desk, home: Path | None = None) -> AsyncIterator[Notices | None]:
    """Tell people of inbox items while inside, where `[notify]` names urls and the store can be written (SPEC A6).

    What is wrong with the settings is logged. A message on its way at the end gets a moment, then what became of it is not
    known. Hands out None where nobody is to be told.
    """
    settings = load_notify(home)
    for fault in settings.faults:
        log.warning("%s", fault)
    if not settings.urls or not desk.health().is_writable:
        yield None
        return
    from jobconsole.engine.notices import Notices

    notices = Notices(desk, _notifier(settings), settings, desk.actor)
    task = asyncio.create_task(notices.run())
    try:
        yield notices
    finally:
        notices.stop()
        await asyncio.wait({task}, timeout=LAST_MESSAGE_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def send_trial_notice(home: Path | None = None) -> tuple[Sequence[Sent], Sequence[str]]:
    """Send a test message by every channel of `[notify]`, quiet hours or not: what became of it, and what is wrong besides."""
    from jobconsole.core.telling.notice import trial_notice

    settings = load_notify(home)
    notifier = _notifier(settings)
    reach = await notifier.reach()
    sent = await notifier.send(trial_notice(SystemClock().wall())) if reach.channels else ()
    return sent, (*settings.faults, *(reach.faults if settings.urls else ()))


def _notifier(settings: NotifySettings) -> Notifier:
    from jobconsole.adapters.notifiers import AppriseNotifier
    from jobconsole.adapters.secrets import ReferenceSecrets

    return AppriseNotifier(settings.urls, ReferenceSecrets())


def save_setting(home: Path | None, table: str, key: str, value: str | bool) -> None:
    """Write one setting into `config.toml` in the store's folder. Raises `InvalidValue`: then the file is as it was."""
    from jobconsole.adapters.settings_file import write_setting

    write_setting(home_folder(home), table, key, value)


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
