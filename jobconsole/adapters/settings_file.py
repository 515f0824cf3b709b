"""The settings file of a store's folder: `config.toml`, read once when a front end starts.

Only this file reads it. It knows TOML and nothing of what the settings mean: each front end takes its own tables.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
