"""What the engine logs becomes inert lines on stderr, for as long as a command has the store open."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest

from jobconsole.cli.invocation import Invocation
from jobconsole.cli.opening import reading
from jobconsole.cli.output import Output


@pytest.mark.rule("U3")
async def test_a_warning_of_the_engine_is_told_without_acting_on_the_terminal(tmp_path: Path) -> None:
    told = io.StringIO()
    invocation = Invocation(Output(io.StringIO(), told), home=tmp_path / "none")
    logger = logging.getLogger("jobconsole.engine.worker")
    async with reading(invocation, "test"):
        logger.warning("the provider says \x1b[2J%s", "done")
        logger.info("not told")
    logger.warning("told to nobody")
    assert told.getvalue().splitlines()[-1] == r"the provider says \x1b[2Jdone"
