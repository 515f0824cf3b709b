"""When a checkpoint is due, and writing it beside the work (STORE 1.3).

Only this file decides when the checkpoint is renewed. Every writing handle considers it after its commits; whoever gets
`checkpoint.lock` does it, the others skip. A stranger's file in the checkpoint's place is moved aside and said, never taken
over.
"""

from __future__ import annotations

import asyncio
import os
from datetime import datetime, timedelta
from typing import Final

from jobconsole.adapters import checkpoint
from jobconsole.adapters.anchors import write_anchor
from jobconsole.adapters.checkpoint import CheckpointFault, Header
from jobconsole.adapters.journal import End
from jobconsole.adapters.replica import Replica
from jobconsole.adapters.store_folder import set_aside
from jobconsole.adapters.sync import Sync
from jobconsole.adapters.writer import Writer
from jobconsole.core.keeping.line import timestamp
from jobconsole.errors import StoreUncertain
from jobconsole.protocols import Clock

TAIL_BYTES: Final = 8 * 1024 * 1024
TAIL_EVENTS: Final = 20_000
AGE: Final = timedelta(seconds=60)
AGE_LARGE: Final = timedelta(minutes=15)
LARGE_BYTES: Final = 4 * 1024 * 1024
"""A checkpoint of more is not rewritten every minute, nor at every close."""


class Checkpointer:
    """Renews one handle's view of the checkpoint, and the checkpoint itself."""

    def __init__(self, replica: Replica, writer: Writer, sync: Sync, clock: Clock) -> None:
        self._replica, self._writer, self._sync, self._clock = replica, writer, sync, clock
        self._running: asyncio.Task[None] | None = None
        self._not_before: datetime | None = None

    def consider(self) -> None:
        """Start a checkpoint where one is due; cheap where none is."""
        if self._is_due() and (self._running is None or self._running.done()):
            self._adopt()
            if self._is_due():
                self._running = asyncio.create_task(self.run(), name="jobconsole-checkpoint")

    async def finish(self) -> None:
        """At close: wait for a running one, and leave a fresh one behind unless that costs too much for too little."""
        if self._running is not None:
            await asyncio.shield(self._running)
        is_small = self._replica.checkpoint_bytes <= LARGE_BYTES
        if self._replica.tail_events and not self._writer.stopped and (is_small or self._is_due()):
            await self.run()

    async def run(self) -> None:
        """Write a checkpoint of what is known now. A failure is noted; the journal has everything."""
        replica = self._replica
        end, tables, at = replica.end, replica.documents.snapshot(), timestamp(self._clock.wall())
        segment = replica.journal.descriptor()
        try:
            header = await asyncio.to_thread(self._write, segment, end, tables, at)
        except StoreUncertain as error:
            self._writer.stop(str(error), StoreUncertain)
        except OSError as error:
            self._writer.say(f"no checkpoint was written: {error}")
            self._not_before = self._clock.wall() + AGE
        else:
            if header is not None:
                replica.checkpointed(header)
                self._writer.anchored_seq = max(self._writer.anchored_seq, header.seq)
            else:
                self._adopt()
                self._not_before = self._clock.wall() + timedelta(seconds=1)

    def set_aside_strangers(self) -> None:
        """Move away what lies in the checkpoint's place and is not ours (S4)."""
        for path, _ in list(self._replica.strangers):
            try:
                checkpoint.read(path, self._replica.identity.store_id)
            except FileNotFoundError:
                continue
            except CheckpointFault as why:
                moved = set_aside(self._replica.folder, self._sync, path, str(why), self._clock.wall())
                self._writer.say(
                    f"{path.name} was changed by another program or damaged ({why}); it was moved to {moved.parent.name}/"
                    f"{moved.name} and not taken over. Nothing is lost: the state comes from the journal"
                )
        self._replica.strangers.clear()

    # ---- inside -----------------------------------------------------------------------------------------------------
    def _is_due(self) -> bool:
        replica = self._replica
        if not replica.tail_events or self._writer.stopped:
            return False
        now = self._clock.wall()
        if self._not_before is not None and now < self._not_before:
            return False
        if replica.tail_bytes > TAIL_BYTES or replica.tail_events > TAIL_EVENTS:
            return True
        age = now - datetime.fromisoformat(replica.checkpoint_at)
        return age > (AGE_LARGE if replica.checkpoint_bytes > LARGE_BYTES else AGE)

    def _adopt(self) -> None:
        """Learn of a checkpoint that another process wrote meanwhile; notice a stranger's file."""
        path = self._replica.folder.checkpoint
        try:
            header = checkpoint.read_header(path, self._replica.identity.store_id)
        except FileNotFoundError:
            return
        except CheckpointFault as why:
            self._replica.strangers.append((path, str(why)))
            self.set_aside_strangers()
            return
        if self._replica.checkpoint_seq < header.seq <= self._replica.end.head.seq:
            self._replica.checkpointed(header)

    def _write(self, segment: int, end: End, tables: checkpoint.Tables, at: str) -> Header | None:
        """In a thread. The snapshot may contain another process's lines that are visible but not synced: sync them first."""
        replica = self._replica
        try:
            self._sync.sync(segment)
            self._sync.sync_folder(replica.folder.journal)
        except OSError as error:
            raise StoreUncertain(f"the disk failed while syncing the journal ({error}); look at the disk") from error
        finally:
            os.close(segment)
        header = checkpoint.write(replica.folder.checkpoint, self._sync, replica.identity.store_id, end, tables, at)
        if header is not None:
            write_anchor(replica.folder.anchors, end, at, header.sha256)
        return header
