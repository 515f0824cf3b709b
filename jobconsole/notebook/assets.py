"""The scripts and the style sheet of all widgets, as two texts that need nothing from any network (UX 1b).

Only this file decides how the files in `static/` become the one module that anywidget loads: they are joined in this order, so
that each may use what stands before it, and none imports anything.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

SCRIPTS: Final = (
    "draw.js",
    "times.js",
    "host.js",
    "link.js",
    "rows.js",
    "options.js",
    "detail.js",
    "table.js",
    "inbox.js",
    "lanes.js",
    "widgets.js",
)
STYLES: Final = ("widgets.css",)


@cache
def script() -> str:
    """The module: its last file exports `default`."""
    return _joined(SCRIPTS)


@cache
def style() -> str:
    """The style sheet; every rule in it is below one class."""
    return _joined(STYLES)


def _joined(names: tuple[str, ...]) -> str:
    """The files without their comments and indentation: each widget sends them over its comm."""
    folder = files("jobconsole.notebook") / "static"
    lines = (line.strip() for name in names for line in (folder / name).read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/**", "/* ")))
