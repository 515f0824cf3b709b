"""The scripts and the style sheet of all widgets, as two texts that need nothing from any network (UX 1b).

Only this file decides how the files in `static/` become the one module that anywidget loads: they are joined in this order, so
that each may use what stands before it, and none imports anything. Each widget sends both texts over its comm, so what is only
there for readers stays behind: comments, indentation, blanks around operators.
"""

from __future__ import annotations

import re
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
    "lanes.js",
    "detail.js",
    "table.js",
    "inbox.js",
    "widgets.js",
)
STYLES: Final = ("widgets.css",)

_COMMENTS_AND_INDENTATION = re.compile(r"^\s*(/[/*] .*|/\*\* .*)?\n?|\s+// [^\"`\n]*$", re.MULTILINE)
_BLANKS = re.compile(r" ?(=>|===|!==|&&|\|\||\?\?|[=<>?:,{}]) ?")
_STYLE_BLANKS = re.compile(r"\s*([{};,])\s*|(?<=:) ")


@cache
def script() -> str:
    """The module: its last file exports `default`."""
    return "\n".join(map(_tight, _joined(SCRIPTS).splitlines()))


@cache
def style() -> str:
    """The style sheet; every rule in it is below one class."""
    return _STYLE_BLANKS.sub(r"\1", _joined(STYLES)).replace(";}", "}")


def _joined(names: tuple[str, ...]) -> str:
    folder = files("jobconsole.notebook") / "static"
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    return _COMMENTS_AND_INDENTATION.sub("", text)


def _tight(line: str) -> str:
    """A line of a script without needless blanks; texts in it, and a line with a template or a pattern, stay as they are."""
    if re.search(r"['`/]", line):
        return line
    return "".join(part if part.startswith('"') else _BLANKS.sub(r"\1", part) for part in re.split(r'("[^"]*")', line))
