"""The archive's files: one a month, appended to, read only when somebody asks (STORE 1.3).

Only this file decides their names and lines. A line is an `Archived` as JSON, its id first, so that one search through the
bytes finds it; the last line of an id counts. Reading keeps no index: a handle that never asks pays nothing.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import msgspec

from jobconsole.adapters.sync import Sync, create, place_file, write_all
from jobconsole.core.keeping.archive import Archived

_NAME = "[0-9][0-9][0-9][0-9]-[0-9][0-9].jsonl"


class Archive:
    """The months of one store."""

    def __init__(self, folder: Path, sync: Sync) -> None:
        self.folder, self._sync = folder, sync

    # ---- writing ----------------------------------------------------------------------------------------------------
    def append(self, taken: Sequence[Archived]) -> None:
        """Write each to the month in which it ended, durable when this returns. Raises `OSError`."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for month, those in groupby(sorted(taken, key=_month), key=_month):
            path = self.folder / f"{month}.jsonl"
            is_new = not path.exists()
            fd = create(path)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)  # two processes may archive at once; dropped with the descriptor
                size = os.fstat(fd).st_size
                is_whole = size == 0 or os.pread(fd, 1, size - 1) == b"\n"
                write_all(self._sync, fd, (b"" if is_whole else b"\n") + _lines(those), size)
                self._sync.sync(fd)
            finally:
                os.close(fd)
            if is_new:
                self._sync.sync_folder(self.folder)
                self._sync.sync_folder(self.folder.parent)

    def put(self, month: str, content: Iterable[Archived]) -> None:
        """Put a whole month in place."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        place_file(self._sync, self.folder / f"{month}.jsonl", _lines(content))

    # ---- reading ----------------------------------------------------------------------------------------------------
    def months(self) -> list[Path]:
        """The files, oldest month first; none where nothing was archived."""
        return sorted(self.folder.glob(_NAME))

    def get(self, operation_id: str) -> Archived | None:
        """The last line of this id, or None."""
        needle = b'{"operation_id":' + msgspec.json.encode(operation_id) + b","
        for path in reversed(self.months()):
            with _mapped(path) as data:
                at = data.rfind(needle)
                while at >= 0:
                    if (at == 0 or data[at - 1 : at] == b"\n") and (found := _parsed(_line_around(data, at))):
                        return found
                    at = data.rfind(needle, 0, at)
        return None

    def of_job(self, provider: str, account: str, job_id: str) -> list[Archived]:
        """The operations of one external job, oldest first."""
        needle = b'"provider_job_id":' + msgspec.json.encode(job_id)
        found: dict[str, Archived] = {}
        for path in self.months():
            with _mapped(path) as data:
                at = data.find(needle)
                while at >= 0:
                    archived = _parsed(_line_around(data, at))
                    if archived is not None and archived.job == (provider, account, job_id):
                        found[archived.operation_id] = archived
                    at = data.find(needle, at + len(needle))
        return sorted(found.values(), key=lambda archived: int(archived.key))

    def all(self) -> Iterator[Archived]:
        """Everything, month by month, each id once with its last line."""
        for path in self.months():
            with path.open("rb") as file:
                read = {found.operation_id: found for line in file if (found := _parsed(line)) is not None}
            yield from read.values()

    def requests_used(self) -> dict[str, int]:
        """The counter of status requests of everything archived."""
        return {each.operation_id: int(each.document.get("status_requests_used") or 0) for each in self.all()}


def _month(archived: Archived) -> str:
    return archived.month


def _lines(content: Iterable[Archived]) -> bytes:
    return b"".join(msgspec.json.encode(archived) + b"\n" for archived in content)


_decoder = msgspec.json.Decoder(Archived)


def _parsed(line: bytes) -> Archived | None:
    """The line's content; None where a crash left only a part of it."""
    try:
        return _decoder.decode(line)
    except msgspec.MsgspecError:
        return None


def _line_around(data: mmap.mmap | bytes, at: int) -> bytes:
    begins, ends = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
    return data[begins : ends if ends >= 0 else len(data)]


@contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap | bytes]:
    """The file's bytes as they are now, not copied."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data
