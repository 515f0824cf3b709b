"""The audit as callers in Python hold it: its lines, as a story, as a frame, as a file, and its proof (SPEC L2, L3, SPEC 12).

Only this file decides what can be done with an audit in hand. `api/` makes one from what the store hands out; nothing is
decoded before it is asked for, and a whole store's lines stay on the disk until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from jobconsole.core.keeping.line import events
from jobconsole.core.telling.story import story

if TYPE_CHECKING:
    import pandas

    from jobconsole.adapters.frames import Backend, Unit

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Audit(Generic[V]):
    """The audit's stored lines, of one operation or of the whole store, as they were when it was asked for.

    `blocks` are whole lines, verbatim, many at a time; they can be iterated more than once.
    """

    blocks: Iterable[bytes]
    _verify: Callable[[], V]

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The stored lines, each with its newline."""
        return tuple(self._lines())

    def story(self) -> str:
        """One line an event, in plain words (L2). Raises `AuditBroken` where a line is no event."""
        several = len({event.get("operation_id") for event in self._events()}) > 1
        return "\n".join(story(self._events(), with_operation=several))

    def to_frame(self, *, unit: Unit = "us", dtype_backend: Backend = "numpy_nullable") -> pandas.DataFrame:
        """A typed DataFrame, one row an event; the same columns and dtypes when it is empty (L2).

        Times are UTC; texts are values as they came, as in `Console.to_frame`. `unit` is that of times and durations, "us" or
        "ns"; `dtype_backend` is "numpy_nullable" or "pyarrow", as in pandas's own readers. Raises `AuditBroken` where a line is
        no event, `InvalidValue` where nanoseconds do not suffice or pyarrow is missing.
        """
        from jobconsole.adapters.frames import audit_frame_of_blocks, with_dtypes

        return with_dtypes(audit_frame_of_blocks(self.blocks), unit, dtype_backend)

    def to_file(self, path: Path | str) -> None:
        """Write it where `path` says, in the format that its ending says: .jsonl, .csv, .parquet or .xlsx.

        JSON lines are the stored ones, byte by byte, so that a copy verifies as the original does; the others are those of
        `jobconsole.write_frame`. `jobconsole.read_audit` reads all but Excel.
        """
        target = Path(path)
        if target.suffix.lower() == ".jsonl":
            with target.open("wb") as file:
                file.writelines(self.blocks)
            return
        from jobconsole.adapters.frames import write_frame

        write_frame(self.to_frame(), target)

    def verify(self) -> V:
        """Verify the whole store's chain against its anchors and records; an empty one is never valid (L3, L7)."""
        return self._verify()

    def _lines(self) -> Iterator[bytes]:
        return (line for block in self.blocks for line in block.splitlines(keepends=True))

    def _events(self) -> Iterator[dict[str, Any]]:
        return events(self._lines())

    def __len__(self) -> int:
        return sum(block.count(b"\n") for block in self.blocks)

    def __repr__(self) -> str:
        return f"<Audit of {len(self)} events: .story(), .to_frame(), .to_file(), .verify()>"
