"""Figures over time: what the waiting was spent on, and how the providers behaved from hour to hour (SPEC L6)."""

from __future__ import annotations

import pandas as pd

from jobconsole.analysis.order import TERMINAL, by_operation, following, passed
from jobconsole.core.events import Kind
from jobconsole.core.judging.answer import CallError
from jobconsole.core.vocabulary import DelaySource, Phase

IN_REQUEST, FOR_PERSON, SUBMISSION = "request", "person", "submission"
REASONS = (*map(str, DelaySource), IN_REQUEST, FOR_PERSON, SUBMISSION)


def waiting_by_reason(events: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """What the time of all operations went into, indexed by reason, the longest first.

    A reason is the delay source of the plan that held meanwhile, `request` while one was under way, `person` while nothing was
    sent because somebody had to decide, `submission` before there was a job. `waited` sums up the time between the events,
    so the reasons together make up all operations' lives; what comes after the log's last event is not in it. `by` names
    another column to split by first, such as `provider`.
    """
    ordered = by_operation(events)
    waited = passed(ordered, following(ordered))
    phase = ordered["phase"].astype("str")
    reason = ordered["delay_source"].astype("str")
    reason = reason.mask(ordered["lease_token"].notna(), IN_REQUEST)
    reason = reason.mask(phase == Phase.SUBMITTING, SUBMISSION).mask(phase == Phase.ESCALATED, FOR_PERSON)
    counts = waited.notna() & reason.notna() & ~phase.isin(TERMINAL)
    made = pd.DataFrame({"reason": pd.Categorical(reason, REASONS), "waited": waited, "operation": ordered["operation_id"]})
    keys = ["reason"]
    if by is not None:
        made[by] = ordered[by]
        keys = [by, "reason"]
    grouped = made[counts].groupby(keys, observed=True)
    summed = pd.DataFrame({"waited": grouped["waited"].sum(), "operations": grouped["operation"].nunique().astype("Int64")})
    summed["share"] = (summed["waited"] / summed["waited"].sum()).astype("Float64")
    return summed.sort_values("waited", ascending=False, kind="stable")


def provider_health(events: pd.DataFrame, every: str = "1h") -> pd.DataFrame:
    """How each provider answered, in each period that had a status request, indexed by provider and the period's beginning.

    `answers` counts what came back or failed to; `good` those that spoke of the job, `not_seen` those that did not reach us as
    an answer of the API (B10), `limited` 429s, `refused` 401 and 403, `other` what could not be understood or found. `typical`
    and `slow` are the median and the 95th percentile of the time from the reservation to the record. `every` is a period as
    pandas names it.
    """
    ordered = by_operation(events)
    asked = passed(ordered.shift(1), ordered).where(ordered["kind"].shift(1) == Kind.CHECK_RESERVED)
    answered = ordered["kind"] == Kind.CHECK_ANSWERED
    verdict = ordered.loc[answered, "verdict"].astype("str")
    made = pd.DataFrame(
        {
            "provider": ordered.loc[answered, "provider"],
            "hour": ordered.loc[answered, "at"].dt.floor(every),
            "good": ~verdict.isin(list(map(str, CallError))),
            "not_seen": verdict == CallError.DELIVERY_FAILURE,
            "limited": verdict == CallError.RATE_LIMITED,
            "refused": verdict == CallError.AUTHORIZATION_DENIED,
            "other": verdict.isin([CallError.NOT_FOUND, CallError.INTEGRATION_ERROR]),
            "took": asked[answered],
        }
    )
    grouped = made.groupby(["provider", "hour"])
    names = ["good", "not_seen", "limited", "refused", "other"]
    counted = grouped[names].sum().astype("Int64")
    counted.insert(0, "answers", grouped.size().astype("Int64"))
    counted["good_share"] = (counted["good"] / counted["answers"]).astype("Float64")
    counted["typical"] = grouped["took"].median()
    counted["slow"] = grouped["took"].quantile(0.95)
    return counted
