"""Where theme files lie, and what of them can be used (SPEC U4).

Only this file reads them. `console.load_themes` calls it for terminal and notebook. Themes are folders of `*.toml`: in an
installed package beside the code, in a checkout at its root, and one of the store's own; a later theme of the same name wins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jobconsole.core.telling.theme import Theme, parse_theme
from jobconsole.errors import InvalidValue

_PACKAGE = Path(__file__).parent.parent
_LONGEST = 65_536  # bytes: a theme is a page of text


@dataclass(frozen=True, slots=True)
class LoadedThemes:
    """What loaded, by name, and one sentence about each file that did not."""

    themes: dict[str, Theme]
    failures: tuple[str, ...] = ()


def built_in_folders() -> tuple[Path, ...]:
    """The folder of the installed package, else that of the checkout."""
    return tuple(folder for folder in (_PACKAGE / "themes", _PACKAGE.parent / "themes") if folder.is_dir())[:1]


def load_theme_files(folders: Iterable[Path]) -> LoadedThemes:
    """Every theme in these folders; a folder that is not there holds none."""
    themes: dict[str, Theme] = {}
    failures = []
    for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
        try:
            theme = parse_theme(_read(path), path.name)
        except (InvalidValue, OSError, UnicodeDecodeError) as error:
            failures.append(str(error) if isinstance(error, InvalidValue) else f"{path.name}: cannot be read: {error}")
        else:
            themes[theme.name] = theme
    return LoadedThemes(themes, tuple(failures))


def _read(path: Path) -> str:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise InvalidValue(f"{path.name}: is no regular file; put a theme there, or none")
    with path.open("rb") as file:
        data = file.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise InvalidValue(f"{path.name}: is longer than {_LONGEST:,} bytes; a theme is a page of text")
    return data.decode()
