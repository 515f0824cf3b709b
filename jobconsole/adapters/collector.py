"""The garbage collector: paused while many values are made, and seldom in programs that hold a store for long.

Only this file switches it. Loading a store and reading an audit make hundreds of thousands of values that form no cycles; full
collections would walk all of them, and all that a notebook holds, again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def settle() -> None:
    """For a program of ours that has opened its store: what it holds now it holds until it ends, and little garbage is cyclic.

    The documents are walked no more (STORE 1.3), young values less often: a full collection of a dashboard over 10,000
    operations takes 100-250 ms, in which no key is answered. Never in somebody's kernel: this sets the whole process.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 50)


@contextmanager
def paused() -> Iterator[None]:
    """Without the collector inside; as it was before, behind."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
