"""The settings file of a store's folder: `config.toml`, read once when a front end starts, and changed key by key.

Only this file reads and writes it. It knows TOML and nothing of what the settings mean: each front end takes its own tables.
A person wrote it: comments, order and layout stay, and where it cannot be changed without harm it is left alone.
"""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobconsole.adapters.sync import Sync, place_file
from jobconsole.errors import InvalidValue

NAME = "config.toml"


def read_settings_file(folder: Path) -> Mapping[str, Any]:
    """The tables of the file, empty where there is none. Raises `InvalidValue`, which names file and line."""
    path = folder / NAME
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValue(f"{path}: is not TOML: {error}") from None
    except OSError as error:
        raise InvalidValue(f"{path}: cannot be read: {error.strerror or error}") from None


def write_setting(folder: Path, table: str, key: str, value: str | bool) -> None:
    """Set one key of one table; all else stays as it was written. Raises `InvalidValue`: then the file is untouched.

    A link is followed: what it points to is replaced, not the link. Of two writers at once, one wins with a whole file.
    """
    path = (folder / NAME).resolve()
    read_settings_file(folder)  # what cannot be read is not written over
    try:
        if path.exists() and not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise InvalidValue(f"{path}: is read-only")
        _replace(path, _changed(path, table, key, value))
    except OSError as error:
        raise InvalidValue(f"{path}: cannot be written: {error.strerror or error}") from None


def _changed(path: Path, table: str, key: str, value: str | bool) -> str:
    """The file's text with the one key set."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(path.read_bytes().decode()) if path.exists() else tomlkit.document()
        if table not in document:
            document[table] = tomlkit.table()
        found = document[table]
        if not isinstance(found, dict):
            raise InvalidValue(f"{path}: {table} is no table; write [{table}]")
        found[key] = value
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise InvalidValue(f"{path}: is not TOML: {error}") from None


def _replace(path: Path, text: str) -> None:
    """In one step, with the rights that the file had: whoever reads meanwhile sees the old file or the new one."""
    rights = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    place_file(Sync(), path, text.encode())
    if rights is not None:
        path.chmod(rights)
