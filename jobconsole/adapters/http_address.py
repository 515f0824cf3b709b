"""From a host's name to a connected socket: its addresses, and the first of them that answers (RFC 8305).

Only this file decides which address of a host is spoken to. `http_connection.py` calls `connected`. asyncio has such a race of
its own, which loses an open socket where it is cancelled in the moment of success; here every socket is used or closed.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

NEXT_ADDRESS_S = 0.25  # the next address is tried when one has not answered for so long

Address: TypeAlias = tuple[int, int, int, str, Any]  # as `getaddrinfo` has it


async def connected(host: str, port: int) -> socket.socket:
    """A non-blocking socket, connected to the first address that answers.

    Raises the `OSError` of the first address that failed where none answers, `socket.gaierror` or `UnicodeError` for a name
    that is not found. It has no limit of its own.
    """
    waiting = deque(interleaved(await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)))
    begun: list[asyncio.Task[socket.socket]] = []
    winner: asyncio.Task[socket.socket] | None = None
    failed: list[BaseException] = []
    running: set[asyncio.Task[socket.socket]] = set()
    try:
        while winner is None:
            if waiting:
                begun.append(asyncio.create_task(_connect(waiting.popleft())))
                running.add(begun[-1])
            elif not running:
                raise failed[0]
            limit = NEXT_ADDRESS_S if waiting else None
            done, running = await asyncio.wait(running, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            winner = next((each for each in done if each.exception() is None), None)
            failed += [error for each in done if (error := each.exception()) is not None]
        return winner.result()
    finally:
        for each in begun:
            if each is not winner:
                each.cancel()
                each.add_done_callback(_close)


def interleaved(addresses: Sequence[Address]) -> list[Address]:
    """The addresses in the order in which they are tried: the first one's family and the other in turns."""
    first = [each for each in addresses if each[0] == addresses[0][0]]
    other = [each for each in addresses if each[0] != addresses[0][0]]
    return [each for pair in zip_longest(first, other) for each in pair if each is not None]


async def _connect(address: Address) -> socket.socket:
    family, kind, protocol, _, place = address
    made = socket.socket(family, kind, protocol)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, place)
    except BaseException:
        made.close()
        raise
    return made


def _close(loser: asyncio.Task[socket.socket]) -> None:
    """Close what an attempt made that nobody waits for any more."""
    if not loser.cancelled() and loser.exception() is None:
        loser.result().close()
