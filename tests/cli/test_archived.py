"""What ended long ago and was archived is still there for every command that looks (STORE 1.3)."""

from __future__ import annotations

import asyncio
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jobconsole.adapters.tinydb_store import open_store
from jobconsole.protocols import Retention
from jobconsole.testing.clock import ManualClock
from tests.store.made import begun, counted, ended, made

from .conftest import Shell

ENDED = datetime.now(UTC).replace(microsecond=0) - timedelta(days=8)


@pytest.fixture
def archived(shell: Shell) -> Shell:
    """A store with `old`, archived, and `new`, which has ended too."""

    async def fill(home: Path) -> None:
        clock = ManualClock(wall=ENDED)
        store = await open_store(home, clock, label="test")
        for operation_id in ("old", "new"):
            await begun(store, made(operation_id, name=f"the {operation_id} one", started_at=clock.wall()))
            await counted(store, operation_id)
            await ended(store, operation_id, clock.wall())
            clock.advance(timedelta(days=4))
        await store.maintain(Retention())
        await store.close()

    asyncio.run(fill(shell.home))
    return shell


@pytest.mark.rule("S6")
def test_ls_all_shows_it_first_and_ls_does_not(archived: Shell) -> None:
    assert [view["operation_id"] for view in archived("ls", "--all", "--json").json] == ["old", "new"]
    assert archived("ls", "--json").json == []
    assert [line.split()[0] for line in archived("ls", "--all").out.splitlines()[1:]] == ["old", "new"]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["show", "old"], "old  the old one  succeeded"),
        (["why", "old"], "as succeeded. Nothing comes next."),
        (["audit", "old"], "archived, archive "),
        (["wait", "old"], "succeeded after"),
    ],
)
def test_each_command_that_looks_finds_it(archived: Shell, args: list[str], told: str) -> None:
    looked = archived(*args)
    assert looked.code == 0
    assert told in looked.out


@pytest.mark.rule("X7")
def test_a_decision_on_it_is_refused_with_the_reason(archived: Shell) -> None:
    refused = archived("decide", "old", "close", "--reason", "late")
    assert (refused.code, "old ended as succeeded and was archived; nothing is left to decide" in refused.err) == (4, True)


@pytest.mark.rule("L7")
def test_verify_counts_it_and_a_lost_archive_is_made_anew(archived: Shell) -> None:
    assert archived("audit", "verify").code == 0
    shutil.rmtree(archived.home / "archive")
    told = archived("audit", "verify")
    assert (told.code, told.out.splitlines()[-1]) == (
        0,
        "old is missing from the archive; make it anew with: jobconsole audit rebuild-archive",
    )
    assert archived("show", "old").code == 1
    assert archived("audit", "rebuild-archive").out == "1 operation archived\n"
    assert archived("show", "old").code == 0
    assert archived("audit", "verify", "--json").json["unarchived"] == []
