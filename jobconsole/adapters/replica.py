"""What one handle knows of the store: documents, position in the journal, feed (STORE 3.1, 1.3).

Only this file brings documents and journal together: loading (checkpoint and tail, without the lock), looking (what others
wrote since), merging (what this handle made durable). It never writes to the journal and judges no unfinished end.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jobconsole.adapters import checkpoint, collector
from jobconsole.adapters.checkpoint import Checkpoint, CheckpointFault, Header
from jobconsole.adapters.feed import Feed
from jobconsole.adapters.journal import End, Journal, JournalMoved
from jobconsole.adapters.store_folder import Folder, Identity
from jobconsole.adapters.sync import Sync
from jobconsole.core.events import Key, Kind
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import Line, beginning
from jobconsole.core.keeping.transaction import Transaction
from jobconsole.errors import StoreDamaged
from jobconsole.protocols import Change


class Replica:
    """The live documents of one handle and how far they go."""

    def __init__(self, folder: Folder, identity: Identity, sync: Sync, *, is_read_only: bool) -> None:
        """Load the store. Raises `StoreDamaged` where no state can be made from what is there."""
        self.folder, self.identity, self._sync, self._is_read_only = folder, identity, sync, is_read_only
        self.documents = Documents()
        self.notes: list[str] = []
        self.strangers: list[tuple[Path, str]] = []  # checkpoint files that were not taken, with the reason
        self.mismatch = ""  # why journal and checkpoint do not fit together: damage
        self.is_migrated = False  # by a newer version: not to be written any more
        self.tail_bytes = 0
        self.tail_events = 0
        self.checkpoint_seq = 0
        self.checkpoint_bytes = 0
        self.checkpoint_at = identity.created_at
        self.journal = self._load()
        self.feed = Feed(self.end.head.seq)

    @property
    def end(self) -> End:
        """How far this handle has read."""
        return self.journal.end

    def look(self, *, is_strict: bool = False) -> None:
        """Merge what was written since, by whomever. `is_strict` also checks that what was read is still there."""
        try:
            self._read_on(is_strict=is_strict)
        except JournalMoved as why:
            self.journal.close()
            self.notes.append(f"read again from the beginning: {why}")
            self.documents = Documents()
            self.journal = self._load()
            self.feed.publish(Change(self.end.head.seq, reload=True))

    def merge(self, transactions: Sequence[Transaction]) -> None:
        """Merge and publish transactions of this handle that are durable; the journal's position has moved already."""
        for transaction in transactions:
            self._publish(transaction.head.seq, self.documents.merge_all(transaction.sets, transaction.operations))
            self.tail_bytes += transaction.size
            self.tail_events += len(transaction.lines)

    def checkpointed(self, header: Header) -> None:
        """A checkpoint is in place: the tail is what came after."""
        end = header.end
        self.checkpoint_seq, self.checkpoint_bytes, self.checkpoint_at = header.seq, header.size, header.at
        self.tail_events = self.end.head.seq - end.head.seq
        self.tail_bytes = self.end.offset - end.offset if self.end.segment == end.segment else self.end.offset

    # ---- inside -----------------------------------------------------------------------------------------------------
    def _read_on(self, *, is_strict: bool) -> None:
        before = self.end
        for transaction in self.journal.read_on(is_strict=is_strict):
            self._notice(transaction)
            about = (line.operation_id for line in transaction if line.operation_id is not None)
            self._publish(transaction[-1].seq, self.documents.merge_all((line.set for line in transaction), about))
        self.tail_events += self.end.head.seq - before.head.seq
        self.tail_bytes += self.end.offset - (before.offset if self.end.segment == before.segment else 0)

    def _notice(self, transaction: Sequence[Line]) -> None:
        """A migration met in the tail is one by a newer version: this one has never made one."""
        self.is_migrated = self.is_migrated or any(line.kind == Kind.STORE_MIGRATED for line in transaction)

    def _publish(self, seq: int, keys: tuple[Key, ...]) -> None:
        if keys:
            self.feed.publish(Change(seq, keys))

    def _load(self) -> Journal:
        """Documents from the newest checkpoint that fits the journal, else from the first segment; then the tail."""
        with collector.paused():
            return self._load_all()

    def _load_all(self) -> Journal:
        self.strangers.clear()
        self.mismatch = ""
        unfit: Checkpoint | None = None
        for path in (self.folder.checkpoint, self.folder.checkpoint_before):
            found = self._checkpoint(path)
            if found is None:
                continue
            try:
                journal = self._journal(found.header.end)
            except (JournalMoved, FileNotFoundError):
                unfit = unfit or found
                continue
            self.documents.load(found.tables)
            return self._compared(self._with_tail(journal, found), unfit)
        try:
            journal = self._journal(End(self.identity.first_segment, 0, beginning(self.identity.store_id)))
        except FileNotFoundError as missing:
            raise StoreDamaged(f"the first segment of the journal is missing: {missing.filename}") from None
        return self._compared(self._with_tail(journal, None), unfit)

    def _compared(self, journal: Journal, unfit: Checkpoint | None) -> Journal:
        """A checkpoint that speaks of more or of other events than the journal proves that some are missing or changed."""
        if unfit is not None:
            self.mismatch = (
                f"the checkpoint knows event {unfit.header.seq}, but the journal has another one or ends before, at "
                f"{journal.end.head.seq}: acknowledged events are missing or changed; what is shown is the checkpoint's state"
            )
            self.documents = Documents()
            self.documents.load(unfit.tables)
        return journal

    def _journal(self, end: End) -> Journal:
        return Journal(self.folder.journal, end, self._sync, is_read_only=self._is_read_only)

    def _with_tail(self, journal: Journal, found: Checkpoint | None) -> Journal:
        start = journal.end
        for transaction in journal.read_on():
            self._notice(transaction)
            for line in transaction:
                self.documents.merge(line.set)
        self.checkpoint_seq = found.header.seq if found else 0
        self.checkpoint_bytes = found.header.size if found else 0
        self.checkpoint_at = found.header.at if found else self.identity.created_at
        self.tail_events = journal.end.head.seq - start.head.seq
        self.tail_bytes = journal.end.offset - (start.offset if start.segment == journal.end.segment else 0)
        return journal

    def _checkpoint(self, path: Path) -> Checkpoint | None:
        try:
            return checkpoint.read(path, self.identity.store_id)
        except FileNotFoundError:
            return None
        except CheckpointFault as why:
            self.strangers.append((path, str(why)))
            self.notes.append(f"{path.name} was not used: {why}")
            return None
