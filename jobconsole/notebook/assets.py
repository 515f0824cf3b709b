"""The scripts and the style sheet of all widgets, as two texts that need nothing from any network (UX 1b).

Only this file decides how the files in `static/` become the one module that anywidget loads: they are joined in this order, so
that each may use what stands before it, and none imports anything. Each widget sends both texts over its comm, so what is only
there for readers stays behind: comments, indentation, blanks around operators, breaks after what goes on anyway.
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
    "care.js",
    "lanes.js",
    "detail.js",
    "table.js",
    "inbox.js",
    "widgets.js",
)
STYLES: Final = ("widgets.css",)

_COMMENTS_AND_INDENTATION = re.compile(r"^\s*(/[/*] .*|/\*\* .*)?\n?|\s+// [^\"`\n]*$", re.MULTILINE)
_TEXTS = re.compile(r"""("[^"]*"|`[^`]*`)""")
_BLANKS = re.compile(
    r" ?(=>|===|!==|&&|\|\||\?\?|[+*<>]=|[=<>?:,{};*]) ?| ([-+/]) (?![-+])|(?<=\)) (?=\{)|(?<=\bif) (?=\()|(?<=\bfor) (?=\()"
)
_MAY_BE_TEXT = re.compile(r"['`]|(?<! )/|/(?! )")  # a division stands between blanks
_NEEDLESS_BREAKS = re.compile(r"(?<=[;{,(\[])\n")
_STYLE_BLANKS = re.compile(r"\s*([{};,])\s*|(?<=:) ")


@cache
def script() -> str:
    """The module: its last file exports `default`."""
    return _NEEDLESS_BREAKS.sub("", "\n".join(map(tight, _joined(SCRIPTS).splitlines()))).replace(";}", "}")


@cache
def style() -> str:
    """The style sheet; every rule in it is below one class."""
    return _STYLE_BLANKS.sub(r"\1", _joined(STYLES)).replace(";}", "}")


def _joined(names: tuple[str, ...]) -> str:
    folder = files("jobconsole.notebook") / "static"
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    return _COMMENTS_AND_INDENTATION.sub("", text)


def tight(line: str) -> str:
    """A line of a script without needless blanks. Texts stay as they are, and so does a line whose texts cannot be told apart:

    one with a pattern, or with a template inside a template.
    """
    parts = _TEXTS.split(line)
    if line.count("`") > 2 or any(_MAY_BE_TEXT.search(part) for part in parts[::2]):
        return line
    return "".join(part if number % 2 else _BLANKS.sub(r"\1\2", part) for number, part in enumerate(parts))
