"""jobconsole: bounded waiting for work that runs at somebody else's service.

Importing this package loads neither textual nor pandas nor ipywidgets nor httpx (SPEC 12).
"""

from __future__ import annotations

__version__ = "0.1.0"
