"""Whether a store that is open still lies where it was opened: somebody may delete or move its folder meanwhile.

Only this file decides that. What is open can be read and written on: the kernel keeps deleted files for whoever holds them, but
nobody else will ever find there what is written. `Writer` asks before each batch, `FolderStore` for whoever looks.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from jobconsole.adapters.replica import Replica
from jobconsole.adapters.store_lock import StoreLock
from jobconsole.errors import StoreError


def absence(replica: Replica, lock: StoreLock | None) -> str:
    """What happened to the folder of an open handle, in words; empty while the store is there. A handle that reads has no lock.

    A segment that was closed may be moved away by a person (STORE 1.3); the one that is written to may not. Other processes may
    have closed ours since the last look, so a missing one is read to its end first.
    """
    if not _has_journal(replica):
        with contextlib.suppress(StoreError, OSError):  # what cannot be read on is not there
            replica.look()
    if _has_journal(replica) and (lock is None or _leads_to(lock.path, lock.number)):
        return ""
    return (
        f"the store was deleted, moved or replaced while it was open: {replica.folder.home}. "
        "Nothing is checked or written any more; put the folder back, or begin a new store, and start again"
    )


def _has_journal(replica: Replica) -> bool:
    journal = replica.journal
    return journal.is_segment_closed or _leads_to(journal.path, journal.number)


def _leads_to(path: Path, number: int | None) -> bool:
    """Whether the path still names the file that is open under this descriptor; of one that was given up nothing is said."""
    if number is None:
        return True
    try:
        return os.path.samestat(os.stat(path), os.fstat(number))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # a folder that cannot be looked into says nothing
        return True
