"""Whether the providers' guidance was obeyed: each Retry-After and poll hint, and when the next request left (SPEC B7, L6)."""

from __future__ import annotations

import pandas as pd

from jobconsole.analysis.order import by_operation, passed
from jobconsole.core.events import Kind

ROUNDING = pd.Timedelta(milliseconds=1)
"""Both moments are stored in whole milliseconds, so their difference may be that much too small."""


def guidance(events: pd.DataFrame) -> pd.DataFrame:
    """A row for each piece of guidance: `guidance` is retry_after or poll_hint, `asked` how long it asked to wait.

    `waited` is how long it was until this operation's next status request was reserved, and `obeyed` whether that was long
    enough; both are missing where no request followed. A hint that was rejected, and recorded as such, asks for nothing; nor
    does one that a person overruled by deciding in between. A Retry-After can be overruled by nobody.
    """
    ordered = by_operation(events)
    pieces = [_given(ordered, name) for name in ("retry_after", "poll_hint")]
    given = pd.concat(pieces).sort_values(["operation_id", "op_seq"], kind="stable")
    return given[["operation_id", "provider", "at", "guidance", "asked", "waited", "obeyed"]].reset_index(drop=True)


def _given(ordered: pd.DataFrame, name: str) -> pd.DataFrame:
    asked = ordered[ordered[name].notna() & (ordered[name] > pd.Timedelta(0))]
    then = _next(ordered, Kind.CHECK_RESERVED).reindex(asked.index)
    made = asked[["operation_id", "op_seq", "provider", "at"]].copy()
    made["guidance"] = pd.Categorical([name] * len(asked), ["retry_after", "poll_hint"])
    made["asked"] = asked[name]
    made["waited"] = passed(asked, then)
    made["obeyed"] = (made["waited"] + ROUNDING >= made["asked"]).astype("boolean").mask(made["waited"].isna())
    if name == "poll_hint":
        rejected = ordered.loc[ordered["kind"] == Kind.HINT_REJECTED, "tx"]
        decided = _next(ordered, Kind.DECIDED)["op_seq"].reindex(asked.index)
        overruled = (decided < then["op_seq"]).fillna(value=False)
        made = made[~asked["tx"].isin(rejected) & ~overruled]
    return made


def _next(ordered: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    """Beside each event the next one of this kind of the same operation."""
    is_one = (ordered["kind"] == kind).to_numpy()
    places = pd.Series(range(len(ordered)), index=ordered.index, dtype="Int64").where(is_one)
    # the place of the first one behind, within the operation
    place = places.groupby(ordered["operation_id"]).shift(-1).groupby(ordered["operation_id"]).bfill()
    found = place.dropna().astype("int64")
    taken = ordered.iloc[found.to_numpy()]
    return taken.set_axis(found.index, axis="index").reindex(ordered.index)
