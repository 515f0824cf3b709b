"""The events of operations in the order in which they happened, and the time that passed between two of them.

Only this file decides which clock counts: within one boot the boot clock, which a wall clock that was set does not move (SPEC
B2); over a restart of the machine the wall clock, as there is no other.
"""

from __future__ import annotations

import pandas as pd

from jobconsole.core.vocabulary import Phase

TERMINAL = [str(phase) for phase in Phase if phase.is_terminal]


def by_operation(events: pd.DataFrame) -> pd.DataFrame:
    """Events of operations only, each operation's together and in its own order."""
    own = events[events["operation_id"].notna()]
    return own.sort_values(["operation_id", "op_seq"], kind="stable", ignore_index=True)


def last_events(events: pd.DataFrame) -> pd.DataFrame:
    """The last event of each operation, indexed by operation in the order of their beginning."""
    ordered = by_operation(events)
    first = ordered.groupby("operation_id")["seq"].min().sort_values().index
    return ordered.drop_duplicates("operation_id", keep="last").set_index("operation_id").reindex(first)


def passed(earlier: pd.DataFrame, later: pd.DataFrame) -> pd.Series:
    """How long after `earlier` the event beside it in `later` came; missing where there is none."""
    by_boot_clock = later["up"] - earlier["up"]
    by_wall_clock = later["at"] - earlier["at"]
    same_boot = (later["boot"] == earlier["boot"]).fillna(value=False).astype("bool")
    return by_boot_clock.where(same_boot, by_wall_clock)


def following(ordered: pd.DataFrame) -> pd.DataFrame:
    """Beside each event the next one of the same operation; missing beside the last one."""
    moved = ordered.shift(-1)
    return moved.where(moved["operation_id"] == ordered["operation_id"])
