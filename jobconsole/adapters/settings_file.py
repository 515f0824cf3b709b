"""The settings file of a store's folder: `config.toml`, read once when a front end starts, and changed key by key.

Only this file reads and writes it. It knows TOML and nothing of what the settings mean: each front end takes its own tables.
A person wrote it: comments, order and layout stay, and where it cannot be changed without harm it is left alone.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobconsole.adapters.sync import Sync, place_file
from jobconsole.errors import InvalidValue

NAME = "config.toml"
LARGEST = 1_000_000  # bytes: nobody writes more settings than that

_TOO_DEEP = "is nested too deeply; write tables and values only"


def read_settings_file(folder: Path) -> Mapping[str, Any]:
    """The tables of the file, empty where there is none. Raises `InvalidValue`: one line with file and mend."""
    path = folder / NAME
    return _tables(path, _text(path))


def write_setting(folder: Path, table: str, key: str, value: str | bool) -> None:
    """Set one key of one table; all else stays as it was written. Raises `InvalidValue`: then the file is untouched.

    A link is followed: what it points to is replaced, not the link. Of two writers at once, one wins with a whole file.
    """
    named = folder / NAME
    text = _text(named)
    _tables(named, text)  # what cannot be read is not written over
    path = Path(os.path.realpath(named))
    try:
        if path.exists() and not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise InvalidValue(f"{path}: is read-only; make it writable, or write {table}.{key} into it where it is kept")
        _replace(path, _changed(path, text, table, key, value))
    except OSError as error:
        raise InvalidValue(f"{path}: cannot be written: {error.strerror or error}; mend that, and set it again") from None


def _text(path: Path) -> str:
    """What the file says, empty where there is none. It is opened without waiting: a pipe has nobody at its other end."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _unreadable(path, error) from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise InvalidValue(f"{path}: is no regular file; put a text file there, or none")
        with os.fdopen(fd, "rb", closefd=False) as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        os.close(fd)
    if len(data) > LARGEST:
        raise InvalidValue(f"{path}: is larger than {LARGEST:,} bytes; take out what is no setting")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidValue(f"{path}: is not TOML: {error}; save it as UTF-8") from None


def _unreadable(path: Path, error: OSError) -> InvalidValue:
    return InvalidValue(f"{path}: cannot be read: {error.strerror or error}; put a file there that you may read, or none")


def _tables(path: Path, text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidValue(f"{path}: is not TOML: {error}; mend that place") from None
    except RecursionError:
        raise InvalidValue(f"{path}: {_TOO_DEEP}") from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise InvalidValue(f"{path}: a number in it has too many digits; no setting needs it") from None


def _changed(path: Path, text: str, table: str, key: str, value: str | bool) -> str:
    """The text with the one key set."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        if table not in document:
            document[table] = tomlkit.table()
        found = document[table]
        if not isinstance(found, dict):
            raise InvalidValue(f"{path}: {table} is no table; write [{table}]")
        found[key] = value
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise InvalidValue(f"{path}: is not TOML: {error}; mend that place") from None
    except RecursionError:
        raise InvalidValue(f"{path}: {_TOO_DEEP}") from None


def _replace(path: Path, text: str) -> None:
    """In one step, with the rights that the file had: whoever reads meanwhile sees the old file or the new one."""
    rights = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
    place_file(Sync(), path, text.encode(), rights=rights)
