"""The folder of a store: its fixed names, its creation, and whether a folder is ours at all (STORE 1).

Only this file creates a store and judges what it finds in a folder: an unfinished creation is finished, anything of ours that
does not fit together is refused, and nothing is ever taken for an empty store that is not one (S4).
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from jobconsole.adapters.journal import segment_path, segments
from jobconsole.adapters.sync import Sync, create, place_file, write_all
from jobconsole.core.command import Moment
from jobconsole.core.events import Kind
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import beginning, parse, timestamp
from jobconsole.core.keeping.transaction import Batch
from jobconsole.errors import StoreDamaged, StoreNewer

FORMAT: Final = 1
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MACHINE_ID = Path("/etc/machine-id")


class Identity(msgspec.Struct, frozen=True):
    """What `store.json` says: which store this is."""

    format: int
    store_id: str
    machine: str
    created_at: str
    first_segment: int = 1
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class Folder:
    """Paths of a store. Names are fixed; nothing is found by listing except segments, by verification."""

    home: Path

    @property
    def identity(self) -> Path:
        """Says that this is a store, and which."""
        return self.home / "store.json"

    @property
    def lock(self) -> Path:
        """The store's lock and its mark."""
        return self.home / "lock"

    @property
    def journal(self) -> Path:
        """Where the segments are."""
        return self.home / "journal"

    @property
    def checkpoint(self) -> Path:
        """All documents as plain TinyDB JSON."""
        return self.home / "operations.json"

    @property
    def checkpoint_before(self) -> Path:
        """The checkpoint before the last."""
        return self.home / "operations.prev.json"

    @property
    def anchors(self) -> Path:
        """The chain's heads, outside the log."""
        return self.home / "anchors.jsonl"

    @property
    def workers(self) -> Path:
        """Locks of living workers."""
        return self.home / "workers"

    @property
    def archive(self) -> Path:
        """Final documents of operations that ended long ago, one file a month."""
        return self.home / "archive"

    @property
    def quarantine(self) -> Path:
        """What was moved aside."""
        return self.home / "quarantine"

    def contract(self, digest: str) -> Path:
        """The kept copy of a contract. Raises `ValueError` where the digest is none: it becomes a file name."""
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"not a SHA-256: {digest!r}")
        return self.home / "contracts" / f"{digest}.toml"


def prepare(folder: Folder) -> tuple[str, ...]:
    """Make the folder, 0700; narrow one that is wider, and say so. Returns what is to be said."""
    folder.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = folder.home.stat().st_mode & 0o777
    if mode & 0o077:
        folder.home.chmod(0o700)
        return (f"the folder was open to others ({mode:o}); it is now 700",)
    return ()


def identify(folder: Folder) -> Identity | None:
    """Which store the folder holds; None where none was created yet, or a creation was not finished.

    Raises `StoreDamaged` and `StoreNewer`.
    """
    try:
        data = folder.identity.read_bytes()
    except FileNotFoundError:
        remains = _remains(folder)
        if not remains:
            return None
        if folder.identity.exists():  # somebody finished its creation just now
            return identify(folder)
        raise StoreDamaged(
            f"{folder.identity} is missing, but {remains[0].name} is there: this was a store. Nothing was changed. "
            f"Bring {folder.identity.name} back from a copy, or use another folder"
        ) from None
    try:
        identity = msgspec.json.decode(data, type=Identity)
    except msgspec.MsgspecError:
        raise StoreDamaged(
            f"{folder.identity} is damaged or not ours; nothing was changed. Move it back from a copy, or use another folder"
        ) from None
    if identity.format > FORMAT:
        raise StoreNewer(
            f"{folder.home} was written by a newer jobconsole (format {identity.format}, this one knows {FORMAT}); "
            "nothing was changed. Use the newer version"
        )
    if not any(path.stat().st_size for path in segments(folder.journal)):
        raise StoreDamaged(
            f"{folder.journal} is missing or empty although {folder.identity.name} names a store; "
            "nothing was changed. Bring the journal back from a copy"
        )
    return identity


def _remains(folder: Folder) -> list[Path]:
    """What shows that this was a store. An unfinished creation has at most the first event of segment 1."""
    named = (folder.checkpoint, folder.checkpoint_before, folder.anchors)
    found = [path for path in named if path.exists()] + segments(folder.journal)[1:]
    first = segment_path(folder.journal, 1)
    if first.exists() and first.read_bytes().count(b"\n") > 1:
        found.append(first)
    return found


def create_store(folder: Folder, sync: Sync, now: Moment, actor: str) -> Identity:
    """Create a store, or finish a creation that was interrupted. The caller holds the lock and knows that there is none."""
    for path in (folder.journal, folder.workers, folder.home / "contracts", folder.quarantine):
        path.mkdir(mode=0o700, exist_ok=True)
    first = segment_path(folder.journal, 1)
    store_id = _begun(first) or str(uuid.uuid4())
    if _begun(first) is None:
        fd = create(first)
        try:
            sync.truncate(fd, 0)
            write_all(sync, fd, _first_line(store_id, now, actor), 0)
            sync.sync(fd)
        finally:
            os.close(fd)
    sync.sync_folder(folder.journal)
    identity = Identity(FORMAT, store_id, machine(), timestamp(now.wall))
    place_file(sync, folder.identity, msgspec.json.encode(identity) + b"\n")
    return identity


def _begun(first: Path) -> str | None:
    """The store id in the first event of an unfinished creation."""
    try:
        data = first.read_bytes()
    except FileNotFoundError:
        return None
    if parse(data) is None:
        return None
    fields = msgspec.json.decode(data)
    return str(fields["store_id"]) if fields.get("kind") == Kind.STORE_CREATED else None


def _first_line(store_id: str, now: Moment, actor: str) -> bytes:
    batch = Batch(Documents(), beginning(store_id), now, lambda owner: False)
    return batch.note(Kind.STORE_CREATED, actor, format=FORMAT, store_id=store_id).lines[0]


def set_aside(folder: Folder, sync: Sync, path: Path, why: str, at: datetime) -> Path:
    """Move a file to `quarantine/`, with a `.why.json` beside it. Nothing is ever deleted."""
    stamp = timestamp(at).replace(":", "").replace("-", "")
    target = folder.quarantine / f"{stamp}-{path.name}"
    folder.quarantine.mkdir(mode=0o700, exist_ok=True)
    sync.replace(path, target)
    note = {"file": path.name, "why": why, "at": timestamp(at)}
    place_file(sync, target.with_name(f"{target.name}.why.json"), msgspec.json.encode(note) + b"\n")
    return target


def machine() -> str:
    """A digest of this machine's id; empty where it has none."""
    try:
        return hashlib.sha256(_MACHINE_ID.read_bytes().strip()).hexdigest()
    except OSError:
        return ""
