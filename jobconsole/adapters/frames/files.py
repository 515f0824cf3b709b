"""Frames as files: Parquet, CSV, JSON lines, Excel; and the audit read from a store's folder or from any export (SPEC L2).

Only this file knows formats and which package each needs. `tables.py` says what a cell holds. pyarrow and openpyxl are imported
when they are needed; where one is missing, the error names it.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from jobconsole.adapters.frames.audit import audit_frame_of_blocks, first_unreadable, with_providers
from jobconsole.adapters.frames.dtypes import usual
from jobconsole.adapters.frames.operations import OPERATIONS
from jobconsole.adapters.frames.tables import conformed, guarded_cells, is_text, naive, plain, typed
from jobconsole.adapters.journal import blocks_of, segments
from jobconsole.core.keeping.line import UNREADABLE, no_event
from jobconsole.core.telling.columns import AUDIT, Column
from jobconsole.core.telling.terminal_text import inert
from jobconsole.errors import InvalidValue

if TYPE_CHECKING:
    import pandas

FORMATS: Final = ("parquet", "csv", "jsonl", "xlsx")
EXCEL_ROWS: Final = 1_048_575
_NEEDS: Final = {"parquet": "pyarrow", "xlsx": "openpyxl"}


def write_frame(frame: pandas.DataFrame, path: Path | str, form: str | None = None) -> None:
    """Write a frame; `form` is one of `FORMATS`, by default the ending of `path`. The frame itself is not changed.

    Parquet keeps every type. CSV and JSON lines hold RFC 3339 UTC times, and durations in seconds (`up` in milliseconds). Excel
    holds naive UTC times, with the zone in the heading. In CSV and Excel no text is a formula (U3). An index that was made on
    purpose becomes columns; columns of Arrow are written as the usual ones. Raises `InvalidValue` where the format is unknown,
    its package missing, or Excel has too few rows.
    """
    import pandas

    target = Path(path)
    chosen = _form(target, form)
    table = usual(frame if isinstance(frame.index, pandas.RangeIndex) else frame.reset_index())
    match chosen:
        case "parquet":
            table.to_parquet(target, engine="pyarrow", index=False)
        case "csv":
            guarded_cells(plain(table)).to_csv(target, index=False, encoding="utf-8", lineterminator="\n")
        case "jsonl":
            plain(table).to_json(target, orient="records", lines=True, force_ascii=False)
        case "xlsx":
            _write_excel(table, target)


def read_audit(path: Path | str) -> pandas.DataFrame:
    """The audit as a frame: from the folder of a store (or its `journal/`), or from an export as .jsonl, .csv or .parquet.

    The columns and dtypes are those of `console.audit().to_frame()`, whatever is read. From a folder that is being written,
    only whole transactions are taken. CSV cannot tell an empty text from none. Nothing is verified here: see `audit verify`.
    Raises `InvalidValue` where nothing of the kind is there, `AuditBroken` where a line is no event.
    """
    source = Path(path)
    if source.is_dir():
        return _of_folder(source)
    if _existing(source) == "jsonl" and _is_stored(source):
        return _whole(audit_frame_of_blocks(blocks_of([source], is_whole=True)))
    return with_providers(_read(source, AUDIT))


def read_operations(path: Path | str) -> pandas.DataFrame:
    """Operations as a frame, from what `write_frame` made of `console.to_frame()`: .jsonl, .csv or .parquet.

    Raises `InvalidValue` where nothing of the kind is there.
    """
    source = Path(path)
    _existing(source)
    return _read(source, OPERATIONS)


# ---- inside ------------------------------------------------------------------------------------------------------------------
def _form(path: Path, form: str | None) -> str:
    """The format, its package being there."""
    chosen = form or path.suffix.lower().lstrip(".")
    if chosen not in FORMATS:
        raise InvalidValue(f"{path.name}: the ending says no known format; use one of .{', .'.join(FORMATS)}")
    package = _NEEDS.get(chosen)
    if package is not None:
        try:
            importlib.import_module(package)
        except ImportError:
            raise InvalidValue(f"a .{chosen} file needs {package}, which is not installed: pip install {package}") from None
    return chosen


def _existing(path: Path) -> str:
    if not path.exists():
        raise InvalidValue(f"{path} does not exist; name a store's folder, or a file that was exported")
    chosen = _form(path, None)
    if chosen == "xlsx":
        raise InvalidValue(f"{path.name}: Excel rounds times and has lost their types; read a .parquet, .csv or .jsonl export")
    return chosen


def _of_folder(folder: Path) -> pandas.DataFrame:
    journal = folder / "journal" if (folder / "journal").is_dir() else folder
    found = segments(journal)
    if not found:
        raise InvalidValue(f"{folder} holds no audit: it is neither a store's folder nor its journal")
    return _whole(audit_frame_of_blocks(blocks_of(found)))


def _whole(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Without the beginning of a transaction whose last line is not written yet."""
    if frame.empty or frame["tx"].isna().all():
        return frame
    begun = (frame["tx"] > frame["seq"].max()).fillna(value=False)
    return frame.loc[~begun].copy() if begun.any() else frame


def _is_stored(path: Path) -> bool:
    """Whether the lines are the store's own, copied, and not those of a frame."""
    with path.open("rb") as file:
        first = file.readline()
    try:
        return not first.strip() or "v" in msgspec.json.decode(first, type=dict[str, object])
    except UNREADABLE:
        raise no_event(1, path.name) from None


def _read(path: Path, columns: Sequence[Column]) -> pandas.DataFrame:
    """A column that the file lacks is missing throughout; one that is unknown is left out."""
    import pandas

    form = _form(path, None)
    if form == "parquet":
        return conformed(pandas.read_parquet(path, engine="pyarrow"), columns)
    if form == "csv":
        table = pandas.read_csv(path, dtype="str", keep_default_na=False)
        return typed(lambda name: [cell or None for cell in table.get(name, [None] * len(table))], columns)
    rows = _rows(path, columns)
    return typed(lambda name: [row.get(name) for row in rows], columns)


def _rows(path: Path, columns: Sequence[Column]) -> list[dict[str, object]]:
    decoder, lines = msgspec.json.Decoder(dict[str, object]), path.read_bytes()
    try:
        return decoder.decode_lines(lines)
    except UNREADABLE:
        number = first_unreadable(lines, decoder)
    if columns is AUDIT:
        raise no_event(number, path.name)
    raise InvalidValue(f"line {number} of {path.name} is no operation; write it anew with console.to_frame()")


def _write_excel(frame: pandas.DataFrame, path: Path) -> None:
    if len(frame) > EXCEL_ROWS:
        raise InvalidValue(f"Excel has {EXCEL_ROWS:,} rows, the frame {len(frame):,}: write a .parquet or .csv file")
    made = guarded_cells(_printable(naive(frame)))
    made.to_excel(path, engine="openpyxl", index=False)


def _printable(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Control characters as visible escapes: a workbook that holds one cannot be opened."""
    made = frame.copy(deep=False)
    for name in made:
        if is_text(made[name]):
            made[name] = made[name].astype("str").map(inert, na_action="ignore")
    return made
