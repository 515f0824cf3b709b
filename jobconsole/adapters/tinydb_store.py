"""Opening the store of a folder (STORE 1): create or find it, load it without the lock, then look at its end under the lock.

Only this file turns a folder into a `FolderStore` (the TinyDB store of SPEC S3), or into the error that says why not. The
console calls it.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from jobconsole.adapters.folder_store import FolderStore, Means
from jobconsole.adapters.journal import SEGMENT_BYTES
from jobconsole.adapters.replica import Replica
from jobconsole.adapters.store_folder import Folder, Identity, create_store, identify, prepare
from jobconsole.adapters.store_lock import PATIENCE_S, StoreLock
from jobconsole.adapters.sync import Sync
from jobconsole.adapters.worker_locks import WorkerLocks
from jobconsole.core.command import Moment
from jobconsole.errors import StoreFull, StoreReadOnly
from jobconsole.protocols import Clock

__all__ = ["FolderStore", "open_store"]

READ_ONLY: Final = "it was opened read-only; open it for writing to change something"


async def open_store(
    home: Path,
    clock: Clock,
    *,
    label: str,
    read_only: bool = False,
    sync: Sync | None = None,
    segment_bytes: int = SEGMENT_BYTES,
    patience_s: float = PATIENCE_S,
) -> FolderStore:
    """Open the store in `home`, creating it where there is none. `label` names this kind of process to others.

    Read-only handles take no lock and see checkpoint and tail; a folder without a store is an empty store to them. A folder
    that cannot be written, or whose journal is damaged, opens read-only with the reason in `health()`. Raises `StoreDamaged`
    and `StoreNewer` where no state can be read, `StoreBusy`, `StoreFull`, `StoreReadOnly`.
    """
    folder, disk = Folder(home), sync or Sync()
    if read_only:
        return _reader(folder, clock, disk, label, READ_ONLY)
    try:
        said = prepare(folder)
        lock = StoreLock(folder.lock, patience_s=patience_s)
    except OSError as error:
        return _unwritable(folder, clock, disk, label, error)
    try:
        return await _writer(folder, clock, disk, label, lock, said, segment_bytes)
    except OSError as error:
        lock.close()
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(f"the disk is full: no store could be opened in {home}. Make room and try again") from error
        return _unwritable(folder, clock, disk, label, error)
    except BaseException:
        lock.close()
        raise


async def _writer(
    folder: Folder, clock: Clock, sync: Sync, label: str, lock: StoreLock, said: tuple[str, ...], segment_bytes: int
) -> FolderStore:
    from jobconsole.adapters.checkpointer import Checkpointer  # readers need neither
    from jobconsole.adapters.writer import Writer

    identity = await _identity(folder, clock, sync, label, lock)
    workers = WorkerLocks(folder.workers)
    replica = Replica(folder, identity, sync, is_read_only=False)
    replica.notes.extend(said)
    writer = Writer(replica, lock, clock, sync, label, workers, segment_bytes)
    await writer.open()
    checkpointer = Checkpointer(replica, writer, sync, clock)
    if not writer.stopped:
        checkpointer.set_aside_strangers()
    return FolderStore(folder, clock, sync, label, replica=replica, means=Means(lock, writer, checkpointer), why_not="")


async def _identity(folder: Folder, clock: Clock, sync: Sync, label: str, lock: StoreLock) -> Identity:
    """The store's identity; where none is there, created under the lock, so that two openers make one store."""
    if folder.identity.exists() and (identity := identify(folder)) is not None:
        return identity
    await lock.acquire()
    try:
        now = Moment(clock.wall(), clock.up_ms(), clock.boot_id)
        return identify(folder) or create_store(folder, sync, now, f"store:{label}")
    finally:
        lock.release()


def _reader(folder: Folder, clock: Clock, sync: Sync, label: str, why_not: str) -> FolderStore:
    try:
        identity = identify(folder)
    except (PermissionError, NotADirectoryError) as error:
        why = os.strerror(error.errno or errno.EACCES)
        raise StoreReadOnly(f"{folder.home} cannot be read: {why}; name another folder with --home") from error
    replica = Replica(folder, identity, sync, is_read_only=True) if identity is not None else None
    return FolderStore(folder, clock, sync, label, replica=replica, means=None, why_not=why_not)


def _unwritable(folder: Folder, clock: Clock, sync: Sync, label: str, error: OSError) -> FolderStore:
    why_not = f"the folder {folder.home} cannot be written ({os.strerror(error.errno or errno.EIO)})"
    if not folder.home.is_dir():
        raise StoreReadOnly(f"{why_not}; name another folder with --home") from error
    return _reader(folder, clock, sync, label, why_not)
