"""What acts and actions are about: an operation with the revision that was shown (SPEC U8).

Only this file decides its shape. Tables and screens name subjects, actions and answers take them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """What an action acts on: an operation, and the revision that the person saw."""

    operation_id: str
    revision: int
