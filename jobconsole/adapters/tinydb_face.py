"""The live documents as a TinyDB: its queries work on them, its writes are refused (STORE 1.3).

Only this file imports tinydb. Whoever knows TinyDB's Query API can search what the store holds right now without touching the
disk. Documents handed out are copies at their top level; what lies deeper is shared and must not be changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from tinydb import TinyDB
from tinydb.storages import Storage
from tinydb.table import Table

from jobconsole.errors import StoreReadOnly

Tables = dict[str, dict[str, dict[str, Any]]]


class LiveStorage(Storage):
    """Reads the documents as they are; holds no copy."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def read(self) -> Tables:
        """All tables: `{name: {key: document}}`."""
        return self._tables()

    def write(self, data: dict[str, dict[str, Any]]) -> NoReturn:
        """Refused: only commands change documents."""
        raise StoreReadOnly("documents change through the store's commands only: use submit, decide, extend or cancel")


class LiveTable(Table):
    """A table that is searched and never written. Its query cache is off: documents change under it."""

    def __init__(self, storage: Storage, name: str, cache_size: int = 0, persist_empty: bool = False) -> None:
        super().__init__(storage, name, cache_size, persist_empty)

    def _update_table(self, updater: Callable[[dict[int, Any]], None]) -> NoReturn:
        self._storage.write({})
        raise AssertionError("the live storage refuses every write")


class LiveDatabase(TinyDB):
    """TinyDB over the live documents; operations are the default table."""

    table_class = LiveTable

    def __init__(self, tables: Callable[[], Tables]) -> None:
        super().__init__(tables, storage=LiveStorage)

    def drop_tables(self) -> NoReturn:
        """Refused, as every write is."""
        self.storage.write({})
        raise AssertionError("the live storage refuses every write")

    def drop_table(self, name: str) -> NoReturn:
        """Refused, as every write is."""
        self.drop_tables()
