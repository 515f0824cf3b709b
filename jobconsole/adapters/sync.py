"""What the store does to the disk that can fail: one seam for writes, syncs and renames (STORE 3, 9).

Only this file calls the system for them. The folder store's parts use it; tests put one in that fails at a chosen step, or that
remembers what was synced and drops the rest.
"""

from __future__ import annotations

import os
from pathlib import Path

_data_sync = getattr(os, "fdatasync", os.fsync)


class Sync:
    """The real disk. Every method raises `OSError` as the system does."""

    def write(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write at `offset` and return how much was written: less than asked is possible."""
        return os.pwrite(fd, data, offset)

    def sync(self, fd: int) -> None:
        """Return when the file's data and size are durable."""
        _data_sync(fd)

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file."""
        os.ftruncate(fd, size)

    def sync_folder(self, path: Path) -> None:
        """Return when the folder's entries are durable."""
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def replace(self, source: Path, target: Path) -> None:
        """Give `source` the name `target` in one step."""
        os.replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name; an old file of that name goes."""
        target.unlink(missing_ok=True)
        os.link(source, target)

    def free_bytes(self, path: Path) -> int:
        """What an unprivileged process may still write."""
        stat = os.statvfs(path)
        return stat.f_bavail * stat.f_frsize


def create(path: Path) -> int:
    """Open a file for reading and writing, created if need be, 0600 whatever the umask is. The caller closes it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(fd).st_mode & 0o777 != 0o600:
            os.fchmod(fd, 0o600)
    except BaseException:
        os.close(fd)
        raise
    return fd


def place_file(sync: Sync, path: Path, data: bytes, *, rights: int = 0o600) -> None:
    """Put a whole file in place: temporary file, sync, rename, sync of the folder. Nobody ever sees half of it.

    `rights` are those of the file's mode, whatever the umask is.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    fd = create(part)
    try:
        try:
            sync.truncate(fd, 0)
            write_all(sync, fd, data, 0)
            os.fchmod(fd, rights)
            sync.sync(fd)
        finally:
            os.close(fd)
        sync.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync.sync_folder(path.parent)


def write_all(sync: Sync, fd: int, data: bytes, offset: int) -> None:
    """Write everything; short writes go on."""
    view = memoryview(data)
    while view:
        written = sync.write(fd, view, offset)
        view, offset = view[written:], offset + written
