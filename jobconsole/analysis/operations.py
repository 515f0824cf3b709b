"""Figures of single operations: where each stands, what it cost, how late its end was seen (SPEC L6)."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd

from jobconsole.analysis.order import TERMINAL, by_operation, last_events, passed
from jobconsole.core.events import Kind
from jobconsole.core.vocabulary import Phase, StateClass

STANDINGS = ("outcome", "escalation", "under way", "overdue")
GRACE = timedelta(minutes=1)
"""A deadline is booked by whoever looks next; for so long after it an operation is not overdue yet."""


def outcomes(events: pd.DataFrame) -> pd.DataFrame:
    """Where the operations stand at the end of the log, indexed by standing and phase.

    `operations` counts them; `share` is among those whose wait is over. An outcome is a terminal phase, an escalation waits
    for a person inside its bounds, and both are what a bounded wait may come to. `under way` has time left. `overdue` has
    passed its deadline and is neither: it must not exist.
    """
    last = last_events(events)
    now = events["at"].max()
    phase = last["phase"].astype("str")
    standing = pd.Series("under way", index=last.index, dtype="str")
    standing[(last["deadline_at"] + GRACE < now).fillna(value=False)] = "overdue"
    standing[phase == Phase.ESCALATED] = "escalation"
    standing[phase.isin(TERMINAL)] = "outcome"
    made = pd.DataFrame({"standing": pd.Categorical(standing, STANDINGS), "phase": last["phase"]})
    counted = made.groupby(["standing", "phase"], observed=True).size().rename("operations").astype("Int64").to_frame()
    over = counted.index.get_level_values("standing") != "under way"
    total = counted.loc[over, "operations"].sum()
    counted["share"] = (counted["operations"] / total).where(over).astype("Float64") if total else pd.NA
    return counted.astype({"share": "Float64"})


def requests_per_operation(events: pd.DataFrame) -> pd.DataFrame:
    """What each operation used of its budget, indexed by operation, the oldest first.

    `requests` counts the logged reservations of status requests: redirects, repeats and second looks are among them (B3).
    `allowed` is the limit with what people added, `share` the one of the other.
    """
    last = last_events(events)
    reserved = events.loc[events["kind"] == Kind.CHECK_RESERVED, "operation_id"].value_counts()
    made = last[["provider", "phase"]].copy()
    made["requests"] = reserved.reindex(made.index).fillna(0).astype("Int64")
    made["allowed"] = last["max_status_requests"]
    made["share"] = (made["requests"] / made["allowed"]).astype("Float64")
    return made


def detection_delay(events: pd.DataFrame) -> pd.DataFrame:
    """How long a job's end went unseen, for each job whose end was seen, indexed by operation.

    `delay` is from the provider's own end time to the event that closed the operation: by two clocks, so it can be off by
    their difference, and it is missing where the provider tells no time. `at_most` is from the last answer that still said
    waiting, or from the submission: by our clock alone, and never too small.
    """
    ordered = by_operation(events)
    answered = ordered[ordered["kind"].isin([Kind.CHECK_ANSWERED, Kind.SUBMIT_ANSWERED])].drop_duplicates(
        "operation_id", keep="last"
    )
    closed = ordered[(ordered["kind"] == Kind.CLOSED) & (ordered["tx"].isin(answered["tx"]))].set_index("operation_id")
    waited = ordered[(ordered["verdict"] == StateClass.WAITING) | (ordered["kind"] == Kind.SUBMITTED)]
    before = waited.drop_duplicates("operation_id", keep="last").set_index("operation_id").reindex(closed.index)
    told = answered.set_index("operation_id").reindex(closed.index)
    return pd.DataFrame(
        {
            "provider": closed["provider"],
            "phase": closed["phase"],
            "ended_at": told["provider_ended_at"],
            "seen_at": closed["at"],
            "delay": closed["at"] - told["provider_ended_at"],
            "at_most": passed(before, closed),
        }
    )


def burn_down(events: pd.DataFrame) -> pd.DataFrame:
    """What was left of each wait's budget after each event that changed it: a row an event, operation after operation.

    `elapsed` counts from the operation's first event, `requests_left` down from the limit, `time_left` to the deadline. An
    extension raises both; nothing else does (B4).
    """
    ordered = by_operation(events)
    made = ordered[["operation_id", "at", "kind", "phase"]].copy()
    made["elapsed"] = ordered["at"] - ordered.groupby("operation_id")["at"].transform("first")
    made["requests_left"] = ordered["max_status_requests"] - ordered["status_requests_used"]
    left = ordered["deadline_at"] - ordered["at"]
    made["time_left"] = left.mask(left < pd.Timedelta(0), pd.Timedelta(0))
    changes = [Kind.SUBMITTED, Kind.CHECK_RESERVED, Kind.EXTENDED, Kind.ESCALATED, Kind.CLOSED]
    return made[made["kind"].isin(changes)].reset_index(drop=True)
