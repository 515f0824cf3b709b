"""DataFrames of operations and of the audit: the only importers of pandas, and only when a frame is asked for (SPEC L2).

`arrays.py` decides how a column of plain values becomes a typed array, `audit.py` reads stored lines, `operations.py` records,
`dtypes.py` says what other dtypes a frame may have, `files.py` writes and reads files, `tables.py` says what a cell of them
holds. Console and notebook call the names below. Importing them loads nothing heavy.
"""

from __future__ import annotations

from jobconsole.adapters.frames.audit import audit_frame, audit_frame_of_blocks
from jobconsole.adapters.frames.dtypes import Backend, Unit, with_dtypes
from jobconsole.adapters.frames.files import FORMATS, read_audit, read_operations, write_frame
from jobconsole.adapters.frames.operations import OPERATIONS, operations_frame

__all__ = [
    "FORMATS",
    "OPERATIONS",
    "Backend",
    "Unit",
    "audit_frame",
    "audit_frame_of_blocks",
    "operations_frame",
    "read_audit",
    "read_operations",
    "with_dtypes",
    "write_frame",
]
