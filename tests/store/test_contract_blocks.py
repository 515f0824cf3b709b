"""The whole log many lines at a time, on each kind of store (STORE 5)."""

from __future__ import annotations

import pytest

from tests.store.conftest import Pair
from tests.store.made import begun, counted, lines_of, made


@pytest.mark.rule("L2")
async def test_blocks_are_the_events_verbatim_as_they_were_when_asked_for(pair: Pair) -> None:
    """They can be read twice, and hold what the other handle wrote, but nothing of what comes later."""
    await begun(pair.a, made("op-1"))
    await counted(pair.b, "op-1")
    lines = await lines_of(pair.a.events())
    blocks = await pair.a.blocks()
    await counted(pair.a, "op-1")
    assert b"".join(blocks) == b"".join(lines)
    assert b"".join(blocks) == b"".join(lines)
    assert len(b"".join(await pair.a.blocks())) > len(b"".join(lines))
