"""Finding lines in the journal's files: by number and by operation, exactly those that reading everything would find."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from jobconsole.adapters.journal import End, segment_path
from jobconsole.adapters.stored_events import stored_events
from jobconsole.core.keeping.line import Position
from jobconsole.errors import AuditBroken

LINES = 1_200
SEGMENTS = (1, 500, 501)  # the first `seq` of each
NAMES = ("op-1", 'op "quoted"', "op-ü", None)


def line(seq: int) -> bytes:
    """A line of 100 to 2,100 bytes; each names another operation inside its `set`, too."""
    name = NAMES[seq % len(NAMES)]
    whose = {} if name is None else {"operation_id": name}
    event = {"seq": seq, **whose, "text": "x" * (seq * 7 % 2_000), "set": {"1": {"operation_id": "op-1"}}}
    return msgspec.json.encode(event) + b"\n"


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, End]:
    """Three segments, one of a single line; behind the end of the last stands what another process is writing."""
    folder = tmp_path_factory.mktemp("journal")
    for first, behind in zip(SEGMENTS, (*SEGMENTS[1:], LINES + 1), strict=True):
        segment_path(folder, first).write_bytes(b"".join(line(seq) for seq in range(first, behind)))
    last = segment_path(folder, SEGMENTS[-1])
    end = End(SEGMENTS[-1], last.stat().st_size, Position(LINES, ""))
    with last.open("ab") as file:
        file.write(line(LINES + 1) + b'{"seq":12')
    return folder, end


@pytest.mark.parametrize("begins", [1, 2, 250, 499, 500, 501, 502, 777, 1_199, 1_200, 1_201, 5_000])
@pytest.mark.parametrize("operation_id", [None, "op-1", 'op "quoted"', "op-ü", "op-2"])
def test_a_search_finds_what_reading_everything_finds(journal: tuple[Path, End], begins: int, operation_id: str | None) -> None:
    """From the line with that number on, in every segment, and not what stands behind the end."""
    folder, end = journal
    wanted = [seq for seq in range(begins, LINES + 1) if operation_id is None or NAMES[seq % len(NAMES)] == operation_id]
    found = [each for lines in stored_events(folder, begins, end, operation_id) for each in lines]
    assert found == [line(seq) for seq in wanted]


def test_a_damaged_line_of_another_operation_hides_nothing(tmp_path: Path) -> None:
    """Wherever the search meets it, the lines that are asked for are told."""
    lines = [line(seq) for seq in range(1, 401)]
    damaged = [each if number % 4 else each[:40] + b"\x00" + each[41:] for number, each in enumerate(lines, 1)]
    segment_path(tmp_path, 1).write_bytes(b"".join(damaged))
    end = End(1, sum(map(len, damaged)), Position(400, ""))
    for begins in (1, 100, 333):
        found = [each for some in stored_events(tmp_path, begins, end, "op-ü") for each in some]
        wanted = [seq for seq in range(begins, 401) if NAMES[seq % len(NAMES)] == "op-ü"]
        assert [msgspec.json.decode(each)["seq"] for each in found] == wanted


@pytest.mark.parametrize("more", [b'"text":', b'"text":' + b"[" * 5_000 + b"]" * 5_000 + b"}"], ids=["cut", "nested"])
def test_a_damaged_line_of_the_operation_itself_is_told(tmp_path: Path, more: bytes) -> None:
    """It is never left out, as a line of another operation is."""
    damaged = b'{"seq":401,"operation_id":"op-1",' + more + b"\n"
    lines = [*(line(seq) for seq in range(1, 401)), damaged]
    segment_path(tmp_path, 1).write_bytes(b"".join(lines))
    end = End(1, sum(map(len, lines)), Position(401, ""))
    assert list(stored_events(tmp_path, 1, end, "op-ü"))
    with pytest.raises(AuditBroken, match="a line of op-1 is no event"):
        list(stored_events(tmp_path, 401, end, "op-1"))
