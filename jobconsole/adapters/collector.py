"""Pausing the garbage collector while many values are made and none is dropped.

Only this file switches it. Loading a store and reading an audit make hundreds of thousands of values that form no cycles; full
collections would walk all of them, and all that a notebook holds, again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
