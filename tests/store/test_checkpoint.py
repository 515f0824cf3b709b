"""The checkpoint: a plain TinyDB file for strangers, a fast start for us, and nothing that matters (S3, STORE 1.3)."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tinydb import TinyDB, where

from jobconsole.adapters.checkpoint import HEADER_BYTES
from jobconsole.adapters.journal import segments, stored_lines
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.core.keeping.chain import verify
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import parse
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import StoreReadOnly
from jobconsole.protocols import Retention
from jobconsole.testing.clock import ManualClock
from tests.store.made import ACCOUNT, START, begun, changed, counted, made, put


async def opened(home: Path, clock: ManualClock, **more: Any) -> FolderStore:
    """Open for writing."""
    return await open_store(home, clock, label="test", **more)


def header(home: Path) -> dict[str, Any]:
    """The checkpoint's header."""
    record: dict[str, Any] = json.loads((home / "operations.json").read_bytes()[:HEADER_BYTES] + b"}")["_checkpoint"]["1"]
    return record


def replayed(home: Path) -> dict[str, Any]:
    """What a full replay makes of the journal."""
    documents = Documents()
    for data in stored_lines(home / "journal"):
        line = parse(data)
        assert line is not None
        documents.merge(line.set)
    return documents.tables


@pytest.mark.rule("S3")
async def test_a_strangers_plain_tinydb_opens_and_searches_the_checkpoint(tmp_path: Path, clock: ManualClock) -> None:
    """Without knowing a table's name: operations are the default table, and keys are integers."""
    store = await opened(tmp_path / "home", clock)
    for number in range(1, 6):
        await begun(store, made(f"op-{number}"))
    await changed(store, "op-2", phase=Phase.SUCCEEDED)
    await put(store, "accounts", ACCOUNT, account="acme")
    await store.close()
    with TinyDB(tmp_path / "home/operations.json", access_mode="r") as stranger:
        assert [doc["operation_id"] for doc in stranger.search(where("phase") == "waiting")] == ["op-1", "op-3", "op-4", "op-5"]
        assert len(stranger) == 5
        assert stranger.table("accounts").get(where("account") == "acme") is not None
        first = stranger.get(where("operation_id") == "op-1")
        assert stranger.get(doc_id=first.doc_id) == first


@pytest.mark.rule("S3")
async def test_the_live_documents_answer_tinydb_queries_and_refuse_its_writes(tmp_path: Path, clock: ManualClock) -> None:
    """What is searched is what the store holds now, not the last checkpoint."""
    store = await opened(tmp_path / "home", clock)
    await begun(store, made("op-1"))
    assert store.database.count(where("phase") == "waiting") == 1
    await begun(store, made("op-2"))
    assert store.database.count(where("phase") == "waiting") == 2
    assert store.database.tables() == {"_default", "accounts", "actions", "deliveries"}
    for write in (
        lambda: store.database.insert({"a": 1}),
        lambda: store.database.update({"a": 1}),
        lambda: store.database.upsert({"a": 1}, where("a") == 1),
        lambda: store.database.remove(where("phase") == "waiting"),
        lambda: store.database.truncate(),
        lambda: store.database.drop_tables(),
        lambda: store.database.drop_table("accounts"),
        lambda: store.database.table("accounts").insert({"a": 1}),
    ):
        with pytest.raises(StoreReadOnly, match="commands"):
            write()
    assert len(await store.operations()) == 2
    await store.close()


@pytest.mark.rule("S3", "S4")
async def test_what_a_stranger_writes_is_set_aside_and_said_never_taken_over(tmp_path: Path, clock: ManualClock) -> None:
    """While we are open and while we are not; our state stays ours."""
    home = tmp_path / "home"
    await (await opened(home, clock)).close()
    store = await opened(home, clock)
    await begun(store, made("op-1"))
    await store.close()
    for is_open in (False, True):
        store = await opened(home, clock)
        if not is_open:
            await store.close()
        with TinyDB(home / "operations.json") as stranger:
            stranger.update({"phase": "succeeded"})
        if not is_open:
            store = await opened(home, clock)
        clock.advance(timedelta(minutes=2))
        await counted(store, "op-1")
        await store.maintain(Retention())
        await store.close()
        op = await (reader := await open_store(home, clock, label="ls", read_only=True)).get("op-1")
        assert op is not None
        assert op.phase is Phase.WAITING
        await reader.close()
        assert any("not taken over" in note for note in store.health().notes)
    aside = [path for path in (home / "quarantine").iterdir() if not path.name.endswith(".why.json")]
    assert len(aside) == 2
    with TinyDB(home / "operations.json", access_mode="r") as stranger:
        assert stranger.count(where("phase") == "waiting") == 1


@pytest.mark.rule("S4")
async def test_checkpoint_and_tail_equal_a_full_replay(tmp_path: Path, clock: ManualClock) -> None:
    """At any place of the checkpoint, with deletions and every table."""
    home = tmp_path / "home"
    for number in range(8):
        store = await opened(home, clock, segment_bytes=9_000)
        await begun(store, made(f"op-{number}"))
        for _ in range(number):
            await counted(store, f"op-{number}")
        await put(store, "accounts", ACCOUNT, level=number)
        await put(store, "deliveries", f"d-{number}", received_at=START.isoformat())
        if number == 5:
            clock.advance(timedelta(hours=80))
            await store.maintain(Retention())
        if number % 3:
            await store.close()
        else:
            fresh = await open_store(home, clock, label="ls", read_only=True)
            assert fresh.database.storage.read() == store.database.storage.read() == replayed(home)
            await fresh.close()
            await store.close()
        assert json.loads((home / "operations.json").read_bytes())["_default"] == replayed(home)["_default"]
    assert len(segments(home / "journal")) > 2
    assert verify(stored_lines(home / "journal")).is_valid


@pytest.mark.rule("L7")
async def test_head_is_anchored_at_checkpoint_close_rotation_and_every_minute(tmp_path: Path, clock: ManualClock) -> None:
    """While events come; nothing is written while none come."""
    home = tmp_path / "home"

    def anchors() -> int:
        path = home / "anchors.jsonl"
        return len(path.read_text().splitlines()) if path.exists() else 0

    store = await opened(home, clock, segment_bytes=12_000)
    await begun(store, made())
    assert anchors() == 1
    clock.advance(59)
    await counted(store, "op-1")
    assert anchors() == 1
    clock.advance(1)
    await counted(store, "op-1")
    assert anchors() >= 2
    before, files = anchors(), len(segments(home / "journal"))
    while len(segments(home / "journal")) == files:
        await counted(store, "op-1")
    assert anchors() > before
    await store.close()
    at_close = anchors()
    again = await opened(home, clock)
    assert (await again.verify()).anchored_to == header(home)["seq"]
    await again.close()
    assert anchors() == at_close, "nothing happened: nothing is anchored"


async def test_the_checkpoint_is_renewed_when_it_is_a_minute_old_and_events_came(tmp_path: Path, clock: ManualClock) -> None:
    """By whichever process writes next; the one before stays as `operations.prev.json`."""
    home = tmp_path / "home"
    store = await opened(home, clock)
    await begun(store, made())
    await store.close()
    before = header(home)["seq"]
    store = await opened(home, clock)
    await counted(store, "op-1")
    clock.advance(61)
    await counted(store, "op-1")
    await store.close()
    assert header(home)["seq"] == before + 3, "process_opened and two counted requests"
    assert json.loads((home / "operations.prev.json").read_bytes())["_checkpoint"]["1"]["seq"] <= before + 3


async def test_a_checkpoint_by_another_process_is_not_repeated(tmp_path: Path, clock: ManualClock) -> None:
    """A handle that learns of a newer one counts its tail from there."""
    home = tmp_path / "home"
    a, b = await opened(home, clock), await opened(home, clock)
    await begun(a, made())
    clock.advance(61)
    await b.get("op-1")
    await a.maintain(Retention())
    await a.close()
    written = header(home)
    await counted(b, "op-1")
    assert header(home) == written
    await b.close()
    assert header(home)["seq"] > written["seq"]


@pytest.mark.rule("S4")
async def test_a_checkpoint_right_behind_a_closing_line_leads_to_the_next_segment(tmp_path: Path, clock: ManualClock) -> None:
    """Whoever opens from it writes to the next file, and readers of it follow."""
    home = tmp_path / "home"
    store = await opened(home, clock, segment_bytes=1)  # every batch closes its segment
    await begun(store, made())
    await store.close()
    for number in range(1, 4):
        store = await opened(home, clock, segment_bytes=1)
        reader = await open_store(home, clock, label="ls", read_only=True)
        assert await counted(store, "op-1") == number
        op = await reader.get("op-1")
        assert op is not None
        assert op.status_requests_used == number
        await reader.close()
        await store.close()
    assert len(segments(home / "journal")) == 4, "one for each batch; the next one is made by whoever writes next"
    assert verify(stored_lines(home / "journal")).is_valid


@pytest.mark.rule("S3")
async def test_segments_rotate_and_readers_follow(tmp_path: Path, clock: ManualClock) -> None:
    """The next file's name follows from the closing line; batches are never split."""
    home = tmp_path / "home"
    store = await opened(home, clock, segment_bytes=4_000)
    reader = await open_store(home, clock, label="ls", read_only=True)
    await begun(store, made())
    for number in range(1, 40):
        assert await counted(store, "op-1") == number
        if number % 7 == 0:
            op = await reader.get("op-1")
            assert op is not None
            assert op.status_requests_used == number
    files = segments(home / "journal")
    assert len(files) > 5
    for file, following in pairwise(files):
        last = parse(file.read_bytes().splitlines(keepends=True)[-1])
        assert last is not None
        assert last.kind == "segment_closed"
        assert int(following.stem) == last.seq + 1
    assert (await reader.verify()).is_valid
    assert len([line async for line in reader.events("op-1")]) == 40
    await reader.close()
    await store.close()
