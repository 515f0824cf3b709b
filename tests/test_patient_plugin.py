"""The loop of the mark `patient`: time is what is waited for, never what a machine needed."""

from __future__ import annotations

import asyncio
import time

import pytest

pytestmark = pytest.mark.patient


async def test_an_hour_of_waiting_takes_no_hour() -> None:
    loop, began = asyncio.get_running_loop(), time.monotonic()
    at = loop.time()
    await asyncio.sleep(3600)
    assert loop.time() - at == pytest.approx(3600)
    assert time.monotonic() - began < 60


async def test_a_process_that_stands_still_overruns_no_limit() -> None:
    """The loop is held up for longer than the limit, and what was sent before it still comes in time."""
    served = await asyncio.start_server(_echo, "127.0.0.1", 0)
    async with served:
        reader, writer = await asyncio.open_connection(*served.sockets[0].getsockname())
        async with asyncio.timeout(0.05):
            writer.write(b"x")
            time.sleep(0.1)  # noqa: ASYNC251 - the machine stands still
            assert await reader.read(1) == b"x"
        writer.close()


async def test_a_job_in_a_thread_is_waited_for_before_time_passes() -> None:
    async with asyncio.timeout(0.05):
        await asyncio.to_thread(time.sleep, 0.1)


async def test_a_limit_is_overrun_where_nothing_comes() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(30):
            await asyncio.Event().wait()


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.read(1))
    await writer.drain()
    writer.close()
