"""Ports for programs that must be told one before they listen on it.

Only this file decides which. Ports above 32767 are given to whoever connects or listens next: one of them that was free
when a test looked may be taken when the program comes, seconds later. Of those below nobody is given one unasked.
"""

from __future__ import annotations

import random
import socket

RANGE = range(20_000, 32_000)
KERNEL_PORTS = ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port")


def free_port() -> int:
    """A port of this machine on which nobody listens, and which nobody gets by chance."""
    for port in random.SystemRandom().sample(RANGE, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no free port was found in a hundred")


def kernel_ports() -> dict[str, int]:
    """The ports of a Jupyter kernel, as its manager is told them."""
    return {name: free_port() for name in KERNEL_PORTS}
