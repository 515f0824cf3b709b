"""Moving ended operations from the live documents to the archive, and making the archive anew (STORE 1.3).

Only this file decides the order: durable in the archive first, then removed by an `archived` event each. `FolderStore.maintain`
calls it; two processes may do so at once, and then one of them finds nothing left to remove.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from jobconsole.adapters.archive import Archive
from jobconsole.adapters.journal import End, stored_lines
from jobconsole.adapters.store_folder import Folder, set_aside
from jobconsole.adapters.sync import Sync
from jobconsole.adapters.writer import Writer
from jobconsole.core.command import Scope
from jobconsole.core.keeping.archive import Archived, archive, replayed, ripe
from jobconsole.core.keeping.line import Line, parse
from jobconsole.protocols import Clock, Retention


async def archive_ended(writer: Writer, into: Archive, keep: Retention, clock: Clock) -> None:
    """Archive what has been over for long enough, at most `AT_ONCE`; the next turn goes on. Raises `StoreError`, `OSError`."""
    replica = writer.replica
    taken = ripe(replica.documents, replica.end.head, clock.wall(), ended=keep.ended, most_ended=keep.most_ended)
    if not taken or not writer.has_room():
        return
    await asyncio.to_thread(into.append, taken)
    actor = f"store:{writer.label}"
    scopes = [Scope(operations=(each.operation_id,)) for each in taken]
    await asyncio.gather(
        *(writer.submit(scope, archive(each, actor), "record") for scope, each in zip(scopes, taken, strict=True))
    )


def rebuild_archive(folder: Folder, into: Archive, sync: Sync, clock: Clock, first_segment: int, until: End) -> int:
    """Write every month anew from the journal; returns how many operations it holds.

    A month that was something else is moved to `quarantine/`; what the journal at hand does not know is kept. Reads everything:
    meant for a thread. Raises `OSError`.
    """
    known = {each.operation_id: each for each in into.all()}
    made = {each.operation_id: each for each in replayed(_parsed_lines(folder.journal, first_segment, until))}
    months: dict[str, list[Archived]] = {}
    for each in (known | made).values():
        months.setdefault(each.month, []).append(each)
    for month, content in months.items():
        path = into.folder / f"{month}.jsonl"
        if path.exists():
            set_aside(folder, sync, path, "the archive was made anew from the journal", clock.wall())
        into.put(month, sorted(content, key=lambda each: int(each.key)))
    return len(made)


def _parsed_lines(journal: Path, first_segment: int, until: End) -> Iterator[tuple[bytes, Line]]:
    for data in stored_lines(journal, first_segment, until):
        line = parse(data)
        if line is not None:
            yield data, line
