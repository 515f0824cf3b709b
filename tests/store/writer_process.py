"""Another process on the same store, for tests: `python -m tests.store.writer_process HOME WHAT [ARGUMENT]`.

Every acknowledged thing is one line on stdout, written at once, so that the parent knows what must survive a kill.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from jobconsole.adapters.clock import SystemClock
from jobconsole.adapters.store_lock import Mark, StoreLock
from jobconsole.adapters.tinydb_store import open_store
from jobconsole.core.command import Scope
from jobconsole.errors import StoreReadOnly
from jobconsole.protocols import WorkerInfo
from tests.store.made import START, begun, changed, count_one, counted, lease, made

SEGMENT_BYTES = 200_000


def say(text: str) -> None:
    """One line, at once."""
    os.write(1, text.encode() + b"\n")


def reap(pid: int) -> None:
    """Wait for a child."""
    os.waitpid(pid, 0)


async def read_only(home: Path, _: str) -> None:
    """Open, as somebody who may only read, a folder that nobody may write; say what works."""
    clock = SystemClock()
    first = await open_store(home, clock, label="ls", read_only=True)
    await first.operations()  # everything is imported now: the other user may not be able to
    await first.close()
    if os.geteuid() == 0:
        os.setuid(65534)
    store = await open_store(home, clock, label="ls")
    say(f"reads {len(await store.operations())}")
    say(store.health().why_not)
    try:
        await counted(store, "op-1")
    except StoreReadOnly as no:
        say(str(no))
    await store.close()


async def count(home: Path, operation_id: str) -> None:
    """Count requests on one operation for ever, in batches of up to five."""
    store = await open_store(home, SystemClock(), label="count", segment_bytes=SEGMENT_BYTES)
    if await store.get(operation_id) is None:
        await begun(store, made(operation_id, max_status_requests=10**9))
    while True:
        for size in (1, 5, 2):
            told = await asyncio.gather(*(counted(store, operation_id) for _ in range(size)))
            say(f"{operation_id} {max(told)}")


async def update(home: Path, times: str) -> None:
    """Update so many different operations once each, then end cleanly."""
    store = await open_store(home, SystemClock(), label="update")
    for number in range(int(times)):
        await begun(store, made(f"op-{os.getpid()}-{number}"))
        await changed(store, f"op-{os.getpid()}-{number}", name="updated")
    await store.close()
    say("done")


async def hold(home: Path, _: str) -> None:
    """Take the store's lock and keep it."""
    lock = StoreLock(home / "lock")
    await lock.acquire()
    left = lock.mark()
    assert left is not None
    lock.write_mark(Mark("held", left.boot, os.getpid(), left.segment, left.offset, "holder"))
    say("held")
    await asyncio.sleep(600)


async def work(home: Path, worker_id: str) -> None:
    """Announce a worker, give it a lease of ten minutes on a new operation, and live on."""
    clock = SystemClock()
    store = await open_store(home, clock, label="run")
    async with store.announce(WorkerInfo(worker_id, "run", os.getpid(), START)):
        owned = lease(clock.up_ms() + 600_000, owner=f"worker:{worker_id}", boot=clock.boot_id)
        await begun(store, made("op-1", lease=owned))
        say("working")
        await asyncio.sleep(600)


async def fork(home: Path, _: str) -> None:
    """Fork with a live worker: say what the child may do, and whether the parent's locks outlive the child."""
    store = await open_store(home, SystemClock(), label="fork")
    await begun(store, made("op-1"))
    async with store.announce(WorkerInfo("w1", "run", os.getpid(), START)):
        pid = os.fork()
        if pid == 0:
            try:
                store.transact(Scope(operations=("op-1",)), count_one("op-1"), kind="reserve").send(None)
            except StoreReadOnly as no:
                say(f"child: {no}")
            say(f"child writable: {store.health().is_writable}")
            os._exit(0)
        reap(pid)
        say(f"parent counted: {await counted(store, 'op-1')}")
        say(f"parent's worker lives: {[worker.worker_id for worker in store.health().workers]}")
        pid = os.fork()
        if pid == 0:
            os.close(1)
            signal.pause()
    living = [worker.worker_id for worker in store.health().workers]
    os.kill(pid, 9)
    reap(pid)
    say(f"worker after its end: {living}")  # last: whoever has heard it may kill this process, and the child would be left
    await store.close()


if __name__ == "__main__":
    _, home, what, argument = sys.argv
    ways = {"count": count, "update": update, "hold": hold, "work": work, "fork": fork, "read_only": read_only}
    asyncio.run(ways[what](Path(home), argument))
