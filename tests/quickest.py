"""Bounds of real time that a rule names ("within a second"), on a machine that may stand still for seconds at any moment.

Only this file decides how such a bound is proved: by the quickest of a few tries, all of which must do the right thing. A pause
of the machine spoils one of them; a program that is too slow is so each time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

TRIES = 8


def quickest(within_s: float, attempt: Callable[[int], float]) -> float:
    """The least number of seconds that `attempt` measured; it is given its number, from 1, and not made again once within."""
    least = attempt(1)
    for number in range(2, TRIES + 1):
        if least < within_s:
            break
        least = min(least, attempt(number))
    return least


async def quickest_async(within_s: float, attempt: Callable[[int], Awaitable[float]]) -> float:
    """The same for a coroutine."""
    least = await attempt(1)
    for number in range(2, TRIES + 1):
        if least < within_s:
            break
        least = min(least, await attempt(number))
    return least
