"""What is found in a folder: an unfinished creation is finished, damage is named, nothing is taken for an empty store (S4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jobconsole.adapters.checkpoint import HEADER_BYTES
from jobconsole.adapters.tinydb_store import FolderStore, open_store
from jobconsole.core.command import Moment, Scope
from jobconsole.core.events import Kind
from jobconsole.core.keeping.documents import Documents
from jobconsole.core.keeping.line import Position, parse
from jobconsole.core.keeping.transaction import Batch
from jobconsole.errors import StoreDamaged, StoreNewer, StoreReadOnly
from jobconsole.testing.clock import ManualClock
from tests.store.made import START, begun, counted, create, made


async def opened(home: Path, *, boot: str = "boot-1") -> FolderStore:
    """Open for writing."""
    return await open_store(home, ManualClock(boot_id=boot), label="test")


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A closed store with three live operations, a checkpoint and one before."""
    home = tmp_path / "home"
    for number in (1, 2, 3):
        store = await opened(home)
        await begun(store, made(f"op-{number}"))
        await counted(store, f"op-{number}")
        await store.close()
    return home


def segment(home: Path) -> Path:
    """The only segment."""
    return home / "journal" / "000000000001.jsonl"


# ---- the folder ---------------------------------------------------------------------------------------------------------
async def test_folder_and_files_belong_to_their_owner_alone(home: Path) -> None:
    """0700 and 0600, whatever the umask is."""
    assert home.stat().st_mode & 0o777 == 0o700
    for path in home.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


async def test_a_folder_open_to_others_is_narrowed_and_that_is_said(home: Path) -> None:
    """The records hold what jobs are about."""
    home.chmod(0o755)
    store = await opened(home)
    assert home.stat().st_mode & 0o777 == 0o700
    assert any("open to others" in note for note in store.health().notes)
    await store.close()


async def test_what_belongs_to_the_user_may_be_there_before_the_store(tmp_path: Path) -> None:
    """Providers, themes and settings are never judged."""
    home = tmp_path / "home"
    (home / "providers").mkdir(parents=True)
    (home / "config.toml").write_text("theme = 'x'\n")
    store = await opened(home)
    await begun(store, made())
    await store.close()
    assert (home / "config.toml").read_text() == "theme = 'x'\n"


def remove(name: str) -> Callable[[Path], None]:
    """Remove a file or the journal's segments."""
    return lambda home: segment(home).unlink() if name == "journal" else (home / name).unlink()


def write(name: str, text: str) -> Callable[[Path], None]:
    """Overwrite a file."""
    return lambda home: void((home / name).write_text(text))


def void(_: object) -> None:
    """Drop a value."""


NEWER = '{"format":2,"store_id":"x","machine":"","created_at":"2026-11-29T10:00:00Z"}'


@pytest.mark.rule("S4")
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("harm", "error", "says"),
    [
        (remove("store.json"), StoreDamaged, "this was a store"),
        (remove("journal"), StoreDamaged, "journal"),
        (lambda home: void(segment(home).write_bytes(b"")), StoreDamaged, "journal"),
        (write("store.json", ""), StoreDamaged, "store.json"),
        (write("store.json", "\0" * 100), StoreDamaged, "store.json"),
        (write("store.json", '{"a":'), StoreDamaged, "store.json"),
        (write("store.json", '{"_default": {"1": {"name": "of another program"}}}'), StoreDamaged, "store.json"),
        (write("store.json", NEWER), StoreNewer, "newer"),
    ],
    ids=["no identity", "no journal", "empty journal", "empty", "zeros", "cut", "foreign", "newer"],
)
async def test_a_damaged_foreign_or_newer_store_is_refused_and_left_alone(
    home: Path, harm: Callable[[Path], None], error: type[Exception], says: str, read_only: bool
) -> None:
    """Never taken for an empty one; not a byte is changed."""
    harm(home)
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.name != "lock"}
    with pytest.raises(error, match=says):
        await open_store(home, ManualClock(), label="test", read_only=read_only)
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and path.name != "lock"} == before


# ---- the checkpoint (case DB-01) ----------------------------------------------------------------------------------------
def cut(data: bytes) -> bytes:
    """60 % of its length."""
    return data[: len(data) * 6 // 10]


@pytest.mark.rule("S4", "S3")
@pytest.mark.parametrize("before_too", [False, True])
@pytest.mark.parametrize(
    "damage",
    [
        cut,
        lambda data: b"",
        lambda data: data + data[-300:],
        lambda data: bytes(len(data)),
        lambda data: data[: HEADER_BYTES // 2],
        lambda data: data.replace(b"op-1", b"op-9"),
        lambda data: json.dumps({"_default": {"1": {"name": "a stranger's"}}}).encode(),
    ],
    ids=["cut", "empty", "tail of an older write", "zeros", "header only", "one word", "another program's"],
)
async def test_a_damaged_checkpoint_is_moved_aside_and_nothing_is_lost(
    home: Path, damage: Callable[[bytes], bytes], before_too: bool
) -> None:
    """The state comes from the checkpoint before or from the journal; the bad file is kept and the reason said (DB-01)."""
    names = ["operations.json", "operations.prev.json"] if before_too else ["operations.json"]
    for name in names:
        (home / name).write_bytes(damage((home / name).read_bytes()))
    reader = await open_store(home, ManualClock(), label="ls", read_only=True)
    assert [op.status_requests_used for op in await reader.operations()] == [1, 1, 1]
    await reader.close()
    store = await opened(home)
    assert [op.status_requests_used for op in await store.operations()] == [1, 1, 1]
    moved = sorted(path.name for path in (home / "quarantine").iterdir())
    assert len(moved) == 2 * len(names), "each with its reason beside it"
    assert any("moved to quarantine" in note for note in store.health().notes)
    assert await counted(store, "op-1") == 2
    await store.close()
    again = await opened(home)
    assert again.health().notes == ()
    await again.close()


# ---- the journal --------------------------------------------------------------------------------------------------------
@pytest.mark.rule("S4", "L3")
async def test_a_flipped_bit_in_acknowledged_lines_is_never_read_over(home: Path) -> None:
    """Without a checkpoint, at many places: the store opens read-only with the place named."""
    good = segment(home).read_bytes()
    for name in ("operations.json", "operations.prev.json"):
        (home / name).unlink()
    for place in range(5, len(good), 611):
        segment(home).write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
        store = await opened(home)
        assert not store.health().is_writable
        with pytest.raises(StoreDamaged, match="event"):
            await counted(store, "op-1")
        assert not (await store.verify()).is_valid
        await store.close()
    segment(home).write_bytes(good)
    store = await opened(home)
    assert await counted(store, "op-1") == 2
    await store.close()


@pytest.mark.rule("S4", "L7")
async def test_an_end_that_was_cut_after_a_clean_release_is_damage(home: Path) -> None:
    """At any length, also between two transactions: mark, anchor or checkpoint know better; the last good state is shown."""
    good = segment(home).read_bytes()
    for size in range(len(good) - 1, len(good) // 2, -197):
        segment(home).write_bytes(good[:size])
        store = await opened(home)
        assert not store.health().is_writable
        with pytest.raises(StoreDamaged, match="damaged"):
            await counted(store, "op-1")
        assert [op.operation_id for op in await store.operations()] == ["op-1", "op-2", "op-3"]
        await store.close()
        assert segment(home).read_bytes() == good[:size]


@pytest.mark.rule("S4")
@pytest.mark.parametrize("what_knows", ["mark", "anchor", "checkpoint"])
async def test_any_of_the_three_witnesses_is_enough(home: Path, what_knows: str) -> None:
    """Whole transactions cut off: the mark knows within a boot, anchor and checkpoint beyond."""
    lines = segment(home).read_bytes().splitlines(keepends=True)
    segment(home).write_bytes(b"".join(lines[:-1]))
    if what_knows != "checkpoint":
        (home / "operations.json").unlink()
        (home / "operations.prev.json").unlink()
    if what_knows != "anchor":
        (home / "anchors.jsonl").unlink()
    store = await opened(home, boot="boot-1" if what_knows == "mark" else "boot-2")
    assert not store.health().is_writable
    await store.close()


@pytest.mark.rule("S4")
async def test_a_torn_end_after_a_clean_release_is_damage(home: Path) -> None:
    """Nobody died inside: it is somebody's edit."""
    with segment(home).open("ab") as file:
        file.write(b'{"v":1,"chain":"store","seq":99')
    store = await opened(home)
    with pytest.raises(StoreDamaged, match="ended cleanly"):
        await counted(store, "op-1")
    await store.close()
    assert segment(home).read_bytes().endswith(b"99"), "nothing was cut"


@pytest.mark.rule("S4")
async def test_a_reader_without_the_lock_says_what_is_proved_to_be_damaged(home: Path) -> None:
    """An unfinished end is "not yet" to it; a hole before synced lines is said."""
    good = segment(home).read_bytes()
    for name in ("operations.json", "operations.prev.json"):
        (home / name).unlink()
    for data, is_said in ((good[:-10], False), (good.replace(b"fingerprint of op-1", b"fingerprint of op-9"), True)):
        segment(home).write_bytes(data)
        reader = await open_store(home, ManualClock(), label="ls", read_only=True)
        assert any("proves that it was there" in note for note in reader.health().notes) == is_said
        await reader.close()


@pytest.mark.rule("S4")
async def test_a_migration_met_in_the_tail_forbids_writing(home: Path) -> None:
    """A newer version has been here: reading goes on, writing needs that version."""
    store = await opened(home)
    work = Batch(Documents(), Position(*_head(home)), Moment(START, 1_000, "boot-1"), lambda owner: False)
    with segment(home).open("ab") as file:
        file.write(work.note(Kind.STORE_MIGRATED, "store:newer", to=2).lines[0])
    with pytest.raises(StoreNewer, match="newer"):
        await counted(store, "op-1")
    assert len(await store.operations()) == 3
    assert not store.health().is_writable
    await store.close()


def _head(home: Path) -> tuple[int, str]:
    last = parse(segment(home).read_bytes().splitlines(keepends=True)[-1])
    assert last is not None
    return last.seq, last.hash


async def test_a_store_of_another_machine_is_said_and_opened(home: Path) -> None:
    """Containers change their machine id: a warning, no more."""
    text = json.loads((home / "store.json").read_text())
    (home / "store.json").write_text(json.dumps({**text, "machine": "another"}))
    store = await opened(home)
    assert any("another machine" in note for note in store.health().notes)
    assert await counted(store, "op-1") == 2
    await store.close()


async def test_a_home_that_is_a_file_is_refused_with_a_way_out(tmp_path: Path) -> None:
    """The message names the option."""
    (tmp_path / "home").write_text("not a folder")
    with pytest.raises(StoreReadOnly, match="--home"):
        await opened(tmp_path / "home")


@pytest.mark.rule("S4", "S3")
async def test_batches_written_behind_a_readers_position_are_no_damage(tmp_path: Path) -> None:
    """A reader that was overtaken by two batches has not lost the first of them: it just has not read it yet."""
    home, clock = tmp_path / "home", ManualClock()
    writer = await open_store(home, clock, label="writer")
    reader = await open_store(home, clock, label="ls", read_only=True)
    for name in ("op-1", "op-2", "op-3"):
        await writer.transact(Scope(operations=(name,), creating=True), create(made(name)), kind="create")
    assert reader.health().damage == ""
    assert len(await reader.operations()) == 3
    await writer.close()
    await reader.close()


# ---- kept contracts -----------------------------------------------------------------------------------------------------
@pytest.mark.rule("S4", "X13")
async def test_a_kept_contract_that_cannot_be_read_is_none_and_one_that_is_no_text_is_another(home: Path) -> None:
    """The digest then says that it is not the one; nobody stumbles over the file."""
    store = await opened(home)
    await store.keep_contract("a" * 64, "contract = 1\r\n")
    file = home / "contracts" / f"{'a' * 64}.toml"
    assert await store.contract_text("a" * 64) == "contract = 1\r\n", "not even its line ends are others"
    file.write_bytes(b"\xff\xfe")
    assert await store.contract_text("a" * 64) == "\ufffd\ufffd"
    file.unlink()
    file.mkdir()
    assert await store.contract_text("a" * 64) is None
    await store.close()
